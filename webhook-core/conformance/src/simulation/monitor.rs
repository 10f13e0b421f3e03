//! What the simulation knows of every delivery, and what it does not let pass.
//!
//! The monitor sees what the stores answered and what went over the network. It keeps its own, simpler account of leases and
//! never asks the code under test whether it was right.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::SystemTime,
};

use super::{
    violation::{Broken, Checked, Invariant, check},
    world::Actor,
};
use webhook_core::{
    event::EventId,
    sender::{Delivery, DeliveryId, Disposition, EndpointId, LeaseRequest, Settled, Settlement},
};

/// After so many lost leases in a row a delivery is set aside.
const QUARANTINED_AFTER: u32 = 5;

/// What is known of all deliveries of a run.
#[derive(Debug)]
pub(super) struct Monitor {
    attempts: u32,
    rows: BTreeMap<DeliveryId, Row>,
    /// Until when an endpoint asked to be left alone, by the clock of the dispatcher that was told.
    gates: BTreeMap<EndpointId, SystemTime>,
    drained: BTreeSet<Actor>,
    replays_begun: u32,
    clocks_apart: bool,
    /// Deliveries that killed their dispatchers, once for each row of them.
    guilty: u64,
    /// Deliveries that were set aside and had killed nobody.
    innocent: u64,
}

#[derive(Debug, Default)]
struct Row {
    fence: u64,
    lives: u32,
    started_at: Option<SystemTime>,
    spent: u32,
    due_at: Option<SystemTime>,
    is_over: bool,
    holder: Option<Holder>,
    /// The requests that each dispatcher may still send: one for each lease it was given, until that ends by its clock.
    permits: BTreeMap<Actor, BTreeMap<u64, SystemTime>>,
    /// How many dispatchers it has killed in a row.
    kills: u32,
    /// How many rows its attempt log must have.
    logged: BTreeSet<u64>,
}

/// A lease that is not settled.
#[derive(Debug)]
struct Holder {
    who: Actor,
    /// Its dispatcher crashed, or its store failed: it may be lost.
    excused: bool,
    asked: Asked,
}

/// What a receiver asked for, by the clock of the dispatcher that was told.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Asked {
    pub(super) message: Option<SystemTime>,
    pub(super) endpoint: Option<SystemTime>,
}

impl Monitor {
    pub(super) fn new(attempts: u32) -> Self {
        Self {
            attempts,
            rows: BTreeMap::new(),
            gates: BTreeMap::new(),
            drained: BTreeSet::new(),
            replays_begun: 0,
            clocks_apart: false,
            guilty: 0,
            innocent: 0,
        }
    }

    /// What this actor holds may be lost from now on.
    pub(super) fn excuse(&mut self, who: Actor) {
        for holder in self.rows.values_mut().filter_map(|row| row.holder.as_mut()) {
            holder.excused |= holder.who == who;
        }
    }

    /// This actor has ended, and what it was about to send is gone.
    pub(super) fn crashed(&mut self, who: Actor) {
        self.excuse(who);
        for row in self.rows.values_mut() {
            row.permits.remove(&who);
        }
    }

    /// A clock is wrong by minutes: from now on who is in good health may lose a lease.
    pub(super) fn clocks_part(&mut self) {
        self.clocks_apart = true;
    }

    /// A delivery has killed its dispatcher.
    pub(super) fn poisoned(&mut self, id: &DeliveryId) -> Checked {
        let row = self.rows.entry(id.clone()).or_default();
        row.kills += 1;
        self.guilty += u64::from(row.kills == 1);
        check(
            row.kills <= QUARANTINED_AFTER,
            Invariant::TheGuiltyAreSetAside,
            || format!("{id} has killed {} dispatchers", row.kills),
        )
    }

    pub(super) fn replay_begins(&mut self) {
        self.replays_begun += 1;
    }

    /// A lease was stored. `true` when it took over one that was lost.
    pub(super) fn leased(
        &mut self,
        who: Actor,
        request: &LeaseRequest,
        leased: &Delivery,
    ) -> Result<bool, Broken> {
        self.is_running(who)?;
        let id = &leased.id;
        let gate = self.gates.get(&id.endpoint).copied();
        let row = self.rows.entry(id.clone()).or_default();
        check(
            gate.is_none_or(|gate| gate <= request.now),
            Invariant::NeverTooEarly,
            || format!("{who} leases {id} before its endpoint wants to hear of anything"),
        )?;
        check(leased.fence > row.fence, Invariant::OneFenceSettles, || {
            format!("{who} gets fence {} of {id}, after {}", leased.fence, row.fence)
        })?;
        if row.started_at != Some(leased.started_at) {
            let is_new = row.started_at.is_none();
            check(is_new || row.is_over, Invariant::AttemptsAreBounded, || {
                format!("{id} starts anew although it was not over")
            })?;
            row.start_anew(leased.started_at);
        }
        check(!row.is_over, Invariant::OneFenceSettles, || {
            format!("{who} leases {id}, which is over")
        })?;
        check(
            row.lives <= 1 + self.replays_begun,
            Invariant::AttemptsAreBounded,
            || {
                format!(
                    "{id} has {} lives after {} replays",
                    row.lives, self.replays_begun
                )
            },
        )?;
        let due = row.due_at.is_none_or(|due_at| due_at <= request.now);
        check(due, Invariant::NeverTooEarly, || {
            format!("{who} leases {id} before it is due")
        })?;
        check(row.spent < self.attempts, Invariant::AttemptsAreBounded, || {
            format!("{id} is leased after {} of {} attempts", row.spent, self.attempts)
        })?;
        let lost = row.holder.take();
        check(
            self.clocks_apart || lost.as_ref().is_none_or(|lost| lost.excused),
            Invariant::AttemptsAreBounded,
            || format!("{who} takes {id} over from {lost:?}, which was in good health"),
        )?;
        row.fence = leased.fence;
        let permits = row.permits.entry(who).or_default();
        permits.insert(leased.fence, request.until);
        row.holder = Some(Holder {
            who,
            excused: false,
            asked: Asked::default(),
        });
        Ok(lost.is_some())
    }

    /// A delivery was ended because its dispatchers crashed again and again. So many faults were not a delivery's doing.
    pub(super) fn set_aside(&mut self, id: &DeliveryId, faults: u64) -> Checked {
        let Some(row) = self.rows.get_mut(id) else {
            return Ok(());
        };
        row.is_over = true;
        let lost = row.holder.take();
        check(
            self.clocks_apart || lost.is_none_or(|lost| lost.excused),
            Invariant::AttemptsAreBounded,
            || format!("{id} is set aside while its dispatcher is in good health"),
        )?;
        self.innocent += u64::from(row.kills == 0);
        // each was the only suspect three times; one that kills does so twice before it is a suspect itself
        let deserved = self.innocent * 3 <= faults + self.guilty * 2;
        check(
            self.clocks_apart || deserved,
            Invariant::TheGuiltyAreSetAside,
            || {
                format!(
                    "{id} is the {}. bystander that is set aside after {faults} faults",
                    self.innocent
                )
            },
        )
    }

    /// A request left.
    pub(super) fn sent(&mut self, who: Actor, id: &DeliveryId, now: SystemTime) -> Checked {
        self.is_running(who)?;
        let row = self.rows.entry(id.clone()).or_default();
        check(row.spend_permit(who, now), Invariant::AttemptsAreBounded, || {
            format!("{who} sends {id} without a lease, or a second time under one")
        })
    }

    /// A receiver answered, and perhaps asked to be left alone.
    pub(super) fn answered(&mut self, who: Actor, id: &DeliveryId, asked: Asked) {
        let holder = self.rows.get_mut(id).and_then(|row| row.holder.as_mut());
        if let Some(holder) = holder.filter(|holder| holder.who == who) {
            holder.asked = asked;
        }
    }

    /// An outcome was stored, or refused.
    pub(super) fn settled(&mut self, who: Actor, settlement: &Settlement, settled: Settled) -> Checked {
        self.is_running(who)?;
        let id = &settlement.delivery;
        let Some(row) = self.rows.get_mut(id) else {
            return Ok(());
        };
        if settlement.attempt.is_some() {
            row.logged.insert(settlement.fence);
        } else {
            row.permits.entry(who).or_default().remove(&settlement.fence);
        }
        match settled {
            Settled::Applied => {
                let holder = row.holder.take_if(|_| row.fence == settlement.fence);
                check(holder.is_some(), Invariant::OneFenceSettles, || {
                    format!(
                        "{who} settles {id} with fence {}, but {} holds it",
                        settlement.fence, row.fence
                    )
                })?;
                let asked = holder.map(|holder| holder.asked).unwrap_or_default();
                row.kills = 0;
                row.move_on(settlement, asked)?;
                if let Some(until) = asked.endpoint {
                    let gate = self.gates.entry(id.endpoint.clone()).or_insert(until);
                    *gate = until.max(*gate);
                }
                check(row.spent <= self.attempts, Invariant::AttemptsAreBounded, || {
                    format!("{id} has spent {} of {} attempts", row.spent, self.attempts)
                })
            }
            Settled::Late => {
                let acknowledged = settlement.disposition == Disposition::Acked;
                check(acknowledged && !row.is_over, Invariant::OneFenceSettles, || {
                    format!("{who} settles {id} late without an acknowledgement")
                })?;
                row.holder = None;
                row.is_over = true;
                Ok(())
            }
            Settled::Stale | Settled::Unknown => Ok(()),
        }
    }

    /// An event is gone.
    pub(super) fn purged(&self, event: &EventId) -> Checked {
        let mut rows = self.rows.iter().filter(|(id, _)| id.event == *event);
        let live = rows.find(|(_, row)| !row.is_over);
        check(live.is_none(), Invariant::NothingIsLost, || {
            format!("{live:?} is purged")
        })
    }

    /// A dispatcher was told to stop, and has.
    pub(super) fn drained(&mut self, who: Actor) -> Checked {
        self.drained.insert(who);
        let left = self.rows.iter().find(|(_, row)| {
            row.holder
                .as_ref()
                .is_some_and(|holder| holder.who == who && !holder.excused)
        });
        check(left.is_none(), Invariant::DrainedIsOver, || {
            format!("{who} stops and leaves {left:?}")
        })
    }

    /// A dispatcher runs again.
    pub(super) fn starts(&mut self, who: Actor) {
        self.drained.remove(&who);
    }

    /// When a delivery that failed was replayed last, by the operator's clock.
    pub(super) fn replayed_at(&self, id: &DeliveryId) -> Option<SystemTime> {
        self.rows.get(id).filter(|row| row.lives > 1)?.started_at
    }

    /// How many attempts the log of a delivery must have.
    pub(super) fn logged(&self, id: &DeliveryId) -> usize {
        self.rows.get(id).map_or(0, |row| row.logged.len())
    }

    fn is_running(&self, who: Actor) -> Checked {
        let runs = !self.drained.contains(&who);
        check(runs, Invariant::DrainedIsOver, || {
            format!("{who} goes on after it has stopped")
        })
    }
}

impl Row {
    /// What is known of the life before does not count, but for what may still be sent and what is in the log.
    fn start_anew(&mut self, started_at: SystemTime) {
        *self = Self {
            lives: self.lives + 1,
            started_at: Some(started_at),
            permits: std::mem::take(&mut self.permits),
            logged: std::mem::take(&mut self.logged),
            ..Self::default()
        };
    }

    /// `false` when there is none that is still good.
    fn spend_permit(&mut self, who: Actor, now: SystemTime) -> bool {
        let permits = self.permits.entry(who).or_default();
        permits.retain(|_, until| *until > now);
        permits.pop_first().is_some()
    }

    /// The step of a settlement that counts.
    fn move_on(&mut self, settlement: &Settlement, asked: Asked) -> Checked {
        self.spent += u32::from(settlement.spent);
        match settlement.disposition {
            Disposition::Acked | Disposition::Failed(_) => self.is_over = true,
            Disposition::Retry { due_at } | Disposition::Held { due_at } => {
                self.due_at = Some(due_at);
                // a store may keep less than nanoseconds, and rounds up; so do we not compare with what it keeps
                let patient = asked.message.is_none_or(|until| until <= due_at);
                check(patient, Invariant::NeverTooEarly, || {
                    format!("{} is due before its receiver asked for it", settlement.delivery)
                })?;
            }
        }
        Ok(())
    }
}
