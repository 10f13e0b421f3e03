//! Monitor: an independent record of every delivery, and its checks.
//!
//! The monitor sees the results of the stores and the messages of the network. It keeps its own,
//! simpler record of leases and never uses the code under test for a check.

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

/// Number of consecutive lost leases after which a delivery is quarantined.
const QUARANTINED_AFTER: u32 = 5;

/// Record of all deliveries of a run.
#[derive(Debug)]
pub(super) struct Monitor {
    attempts: u32,
    rows: BTreeMap<DeliveryId, Row>,
    /// Ends of the pauses that endpoints requested, by the clock of the dispatcher that got the
    /// response.
    gates: BTreeMap<EndpointId, SystemTime>,
    drained: BTreeSet<Actor>,
    replays_begun: u32,
    clocks_apart: bool,
    /// Number of deliveries that crashed a dispatcher; a replayed delivery can count again.
    guilty: u64,
    /// Number of quarantined deliveries that crashed no dispatcher.
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
    /// Requests that each dispatcher may send: one per lease, until the lease ends by the
    /// dispatcher's clock. The key is the fencing token.
    permits: BTreeMap<Actor, BTreeMap<u64, SystemTime>>,
    /// Number of dispatchers in a row that the delivery crashed.
    kills: u32,
    /// Fencing tokens of the rows that the attempt log must have.
    logged: BTreeSet<u64>,
}

/// Lease that is not settled.
#[derive(Debug)]
struct Holder {
    who: Actor,
    /// The dispatcher crashed, or its store failed: the lease may be lost.
    excused: bool,
    asked: Asked,
}

/// End of a receiver's `Retry-After`, by the clock of the dispatcher that got the response.
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

    /// Allows this actor to lose its leases from now on.
    pub(super) fn excuse(&mut self, who: Actor) {
        for holder in self.rows.values_mut().filter_map(|row| row.holder.as_mut()) {
            holder.excused |= holder.who == who;
        }
    }

    /// Records a crash of this actor, which can send no more requests under its leases.
    pub(super) fn crashed(&mut self, who: Actor) {
        self.excuse(who);
        for row in self.rows.values_mut() {
            row.permits.remove(&who);
        }
    }

    /// Records that a clock is wrong by minutes: from now on healthy dispatchers may lose leases.
    pub(super) fn clocks_part(&mut self) {
        self.clocks_apart = true;
    }

    /// Records that a delivery crashed its dispatcher.
    pub(super) fn poisoned(&mut self, id: &DeliveryId) -> Checked {
        let row = self.rows.entry(id.clone()).or_default();
        row.kills += 1;
        self.guilty += u64::from(row.kills == 1);
        check(
            row.kills <= QUARANTINED_AFTER,
            Invariant::OnlyCrashersAreQuarantined,
            || format!("{id} has crashed {} dispatchers", row.kills),
        )
    }

    pub(super) fn replay_begins(&mut self) {
        self.replays_begun += 1;
    }

    /// Records a lease; returns `true` if it took over a lost one.
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
            || format!("{who} leases {id} before `Retry-After` of its endpoint"),
        )?;
        check(leased.fence > row.fence, Invariant::OneFenceSettles, || {
            format!(
                "{who} gets fencing token {} of {id}, after {}",
                leased.fence, row.fence
            )
        })?;
        if row.started_at != Some(leased.started_at) {
            let is_new = row.started_at.is_none();
            check(is_new || row.is_over, Invariant::AttemptsAreBounded, || {
                format!("{id} restarts although it was live")
            })?;
            row.start_anew(leased.started_at);
        }
        check(!row.is_over, Invariant::OneFenceSettles, || {
            format!("{who} leases {id}, which is final")
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
            || format!("{who} takes {id} over from {lost:?}, which was healthy"),
        )?;
        row.fence = leased.fence;
        // the due time was checked by this dispatcher's clock; if the lease is lost, the delivery
        // stays due
        row.due_at = None;
        let permits = row.permits.entry(who).or_default();
        permits.insert(leased.fence, request.until);
        row.holder = Some(Holder {
            who,
            excused: false,
            asked: Asked::default(),
        });
        Ok(lost.is_some())
    }

    /// Records a quarantined delivery. `faults` counts the faults that no delivery caused.
    pub(super) fn set_aside(&mut self, id: &DeliveryId, faults: u64) -> Checked {
        let Some(row) = self.rows.get_mut(id) else {
            return Ok(());
        };
        row.is_over = true;
        let lost = row.holder.take();
        check(
            self.clocks_apart || lost.is_none_or(|lost| lost.excused),
            Invariant::AttemptsAreBounded,
            || format!("{id} is quarantined while its dispatcher is healthy"),
        )?;
        self.innocent += u64::from(row.kills == 0);
        // each was the only suspect in three crashes; a delivery that crashes dispatchers causes
        // two crashes before it is the only suspect
        let deserved = self.innocent * 3 <= faults + self.guilty * 2;
        check(
            self.clocks_apart || deserved,
            Invariant::OnlyCrashersAreQuarantined,
            || {
                format!(
                    "{id} is quarantined as number {} without a crash of its own, after {faults} faults",
                    self.innocent
                )
            },
        )
    }

    /// Records a request.
    pub(super) fn sent(&mut self, who: Actor, id: &DeliveryId, now: SystemTime) -> Checked {
        self.is_running(who)?;
        let row = self.rows.entry(id.clone()).or_default();
        check(row.spend_permit(who, now), Invariant::AttemptsAreBounded, || {
            format!("{who} sends {id} without a lease, or a second time under one")
        })
    }

    /// Records a response and its `Retry-After`.
    pub(super) fn answered(&mut self, who: Actor, id: &DeliveryId, asked: Asked) {
        let holder = self.rows.get_mut(id).and_then(|row| row.holder.as_mut());
        if let Some(holder) = holder.filter(|holder| holder.who == who) {
            holder.asked = asked;
        }
    }

    /// Records an outcome that was stored or refused.
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
                        "{who} settles {id} with fencing token {}, but {} holds it",
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

    /// Records a deleted event.
    pub(super) fn purged(&self, event: &EventId) -> Checked {
        let mut rows = self.rows.iter().filter(|(id, _)| id.event == *event);
        let live = rows.find(|(_, row)| !row.is_over);
        check(live.is_none(), Invariant::NothingIsLost, || {
            format!("{live:?} is purged")
        })
    }

    /// Records that a dispatcher has stopped on request.
    pub(super) fn drained(&mut self, who: Actor) -> Checked {
        self.drained.insert(who);
        let left = self.rows.iter().find(|(_, row)| {
            row.holder
                .as_ref()
                .is_some_and(|holder| holder.who == who && !holder.excused)
        });
        check(left.is_none(), Invariant::StoppedDispatcherIsIdle, || {
            format!("{who} stops and leaves {left:?} unsettled")
        })
    }

    /// Records that a dispatcher runs again.
    pub(super) fn starts(&mut self, who: Actor) {
        self.drained.remove(&who);
    }

    /// Time of the latest replay of a delivery, by the operator's clock.
    pub(super) fn replayed_at(&self, id: &DeliveryId) -> Option<SystemTime> {
        self.rows.get(id).filter(|row| row.lives > 1)?.started_at
    }

    /// Number of attempts that the log of a delivery must have.
    pub(super) fn logged(&self, id: &DeliveryId) -> usize {
        self.rows.get(id).map_or(0, |row| row.logged.len())
    }

    fn is_running(&self, who: Actor) -> Checked {
        let runs = !self.drained.contains(&who);
        check(runs, Invariant::StoppedDispatcherIsIdle, || {
            format!("{who} continues after it has stopped")
        })
    }
}

impl Row {
    /// Resets the record for a replay, except open permits and the log.
    fn start_anew(&mut self, started_at: SystemTime) {
        *self = Self {
            lives: self.lives + 1,
            started_at: Some(started_at),
            permits: std::mem::take(&mut self.permits),
            logged: std::mem::take(&mut self.logged),
            ..Self::default()
        };
    }

    /// Uses a permit; `false` if there is no valid one.
    fn spend_permit(&mut self, who: Actor, now: SystemTime) -> bool {
        let permits = self.permits.entry(who).or_default();
        permits.retain(|_, until| *until > now);
        permits.pop_first().is_some()
    }

    /// Applies the step of a settlement that counts.
    fn move_on(&mut self, settlement: &Settlement, asked: Asked) -> Checked {
        self.spent += u32::from(settlement.spent);
        match settlement.disposition {
            Disposition::Acked | Disposition::Failed(_) => self.is_over = true,
            Disposition::Retry { due_at } | Disposition::Held { due_at } => {
                self.due_at = Some(due_at);
                // a store may round up, so the stored time is not compared
                let patient = asked.message.is_none_or(|until| until <= due_at);
                check(patient, Invariant::NeverTooEarly, || {
                    format!("{} is due before its receiver asked for it", settlement.delivery)
                })?;
            }
        }
        Ok(())
    }
}
