//! What is under way: leases taken, exchanges in the air, outcomes to be written.

use std::{
    ops::ControlFlow,
    pin::pin,
    time::{Duration, SystemTime},
};

use futures_util::{
    FutureExt, StreamExt,
    future::{BoxFuture, Either, select},
    stream::FuturesUnordered,
};

use super::{Dispatcher, Handled, Report, exchange::Finished};
use crate::{
    ports::StoreError,
    sender::{Disposition, EndpointState, HealthEvent, LeaseRequest, Leases, Receipt, SetAside, Settled},
};

/// How long a lease outlives the deadline of its exchange: time to load, sign and settle.
const LEASE_MARGIN: Duration = Duration::from_secs(30);

/// After so many deliveries a round ends although more are due, so that its report stays small.
const LONGEST_ROUND: usize = 1024;

/// When what is due cannot be leased, because all the leases its endpoint may have are under way.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

impl Dispatcher {
    /// Delivers what is due until nothing more is, and says when to come back.
    ///
    /// The simple form, for a single pass: it returns only when its last exchange has ended, and looks for new work only when
    /// one of them ends. [`run`](Self::run) is for a service. Outcomes are written as they come in, those that came together in
    /// one step: a slow receiver keeps nobody's outcome waiting. After 1,024 deliveries it returns although more are due;
    /// `next_due` is in the past then.
    ///
    /// # Errors
    ///
    /// The first [`StoreError`]. What was under way has been brought home; what could not be written comes up again when its
    /// lease ends.
    pub async fn run_due(&self) -> Result<Report, StoreError> {
        let mut round = Round::new(self);
        let mut handled = Vec::new();
        let mut leased = 0;
        loop {
            if leased < LONGEST_ROUND {
                leased += round.lease().await;
                handled.append(&mut round.set_aside);
            }
            let Some(finished) = round.finished().await else {
                break;
            };
            handled.extend(round.settle(finished).await);
        }
        round.end()?;
        let due_at = self.outbox.next_due().await?;
        let next_due = if leased < LONGEST_ROUND {
            due_at.map(|due_at| self.not_at_once(due_at))
        } else {
            due_at
        };
        Ok(Report { handled, next_due })
    }

    /// Delivers, until `wait` says to stop. `settled` is told what became of each lease, once that is written.
    ///
    /// Whenever there are places free, `wait` is called with the moment at which something becomes due, if there is one. Its
    /// future should end at that moment, or as soon as a new event is stored, and answer [`ControlFlow::Continue`]: what is
    /// due is then sent at once, however many other exchanges hang. It is dropped when an exchange ends, and made anew; so a
    /// wake must stay told until it is heard, as tokio's `Notify::notify_one` does. With no place free it is called with
    /// `None`, as only an exchange that ends can change that.
    ///
    /// After [`ControlFlow::Break`] nothing more is leased, and `run` returns when all that is under way is settled.
    ///
    /// # Errors
    ///
    /// The first [`StoreError`], after what was under way has been brought home; what could not be written comes up again when
    /// its lease ends. Wait a little and call again.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::{ops::ControlFlow, time::SystemTime};
    /// # use webhook_core::{ports::StoreError, sender::Dispatcher};
    /// # use tokio::sync::{Notify, watch};
    /// async fn deliver(dispatcher: Dispatcher, new_event: &Notify, stop: watch::Receiver<bool>) -> Result<(), StoreError> {
    ///     let wait = |next_due: Option<SystemTime>| {
    ///         let mut stop = stop.clone();
    ///         async move {
    ///             tokio::select! {
    ///                 () = sleep_until(next_due) => ControlFlow::Continue(()),
    ///                 () = new_event.notified() => ControlFlow::Continue(()),
    ///                 _ = stop.wait_for(|stop| *stop) => ControlFlow::Break(()),
    ///             }
    ///         }
    ///     };
    ///     dispatcher.run(wait, |handled| println!("{handled:?}")).await
    /// }
    /// # async fn sleep_until(_: Option<SystemTime>) {}
    /// ```
    pub async fn run<F>(
        &self,
        mut wait: impl FnMut(Option<SystemTime>) -> F,
        mut settled: impl FnMut(Handled),
    ) -> Result<(), StoreError>
    where
        F: Future<Output = ControlFlow<()>>,
    {
        let mut round = Round::new(self);
        loop {
            round.lease().await;
            round.set_aside.drain(..).for_each(&mut settled);
            let next_due = round.next_due().await;
            if round.error.is_some() {
                break;
            }
            let ControlFlow::Continue(finished) = round.finished_or(wait(next_due)).await else {
                break;
            };
            round.settle(finished).await.into_iter().for_each(&mut settled);
        }
        while let Some(finished) = round.finished().await {
            round.settle(finished).await.into_iter().for_each(&mut settled);
        }
        round.end()
    }

    async fn lease(&self, limit: usize) -> Result<Leases, StoreError> {
        let now = self.clock.now();
        let lease = self.deadline + LEASE_MARGIN;
        let request = LeaseRequest {
            now,
            until: now.checked_add(lease).unwrap_or(now),
            limit,
            per_endpoint: self.concurrency_per_endpoint,
            quarantine_after: self.quarantine_after,
        };
        self.outbox.lease(&request).await
    }

    /// What is due and was not leased a moment ago cannot be leased a moment later either.
    fn not_at_once(&self, due_at: SystemTime) -> SystemTime {
        let now = self.clock.now();
        if due_at > now {
            due_at
        } else {
            now.checked_add(LOOK_AGAIN).unwrap_or(now)
        }
    }

    async fn settle(&self, finished: Vec<Finished>) -> Result<Vec<Handled>, StoreError> {
        if finished.is_empty() {
            return Ok(Vec::new());
        }
        let (settlements, effects): (Vec<_>, Vec<_>) = finished
            .into_iter()
            .map(
                |Finished {
                     settlement,
                     outcome,
                     endpoint_disabled,
                 }| {
                    let effect = (
                        settlement.delivery.clone(),
                        settlement.disposition,
                        outcome,
                        endpoint_disabled,
                    );
                    (settlement, effect)
                },
            )
            .unzip();
        let receipts = self.outbox.settle(settlements).await?;
        let handled = effects.into_iter().zip(receipts);
        let handled = handled.map(
            |((delivery, disposition, outcome, endpoint_disabled), Receipt { settled, health })| Handled {
                delivery,
                outcome,
                disposition,
                settled,
                endpoint_disabled,
                health,
            },
        );
        Ok(handled.collect())
    }
}

/// The exchanges of one call, and the first error: after it nothing new is begun, but what is under way is brought home.
struct Round<'d> {
    dispatcher: &'d Dispatcher,
    under_way: FuturesUnordered<BoxFuture<'d, Result<Finished, StoreError>>>,
    set_aside: Vec<Handled>,
    error: Option<StoreError>,
}

impl<'d> Round<'d> {
    fn new(dispatcher: &'d Dispatcher) -> Self {
        Self {
            dispatcher,
            under_way: FuturesUnordered::new(),
            set_aside: Vec::new(),
            error: None,
        }
    }

    /// Fills every free place with what is due, and says how many it filled.
    async fn lease(&mut self) -> usize {
        let room = self.room();
        if room == 0 {
            return 0;
        }
        let leases = self.dispatcher.lease(room).await;
        let Leases { leased, set_aside } = self.keep(leases).unwrap_or_default();
        self.set_aside.extend(set_aside.into_iter().map(failed_unsent));
        let (count, dispatcher) = (leased.len(), self.dispatcher);
        let exchanges = leased.into_iter().map(|leased| dispatcher.work(leased).boxed());
        self.under_way.extend(exchanges);
        count
    }

    /// When there is something for the free places.
    async fn next_due(&mut self) -> Option<SystemTime> {
        if self.room() == 0 {
            return None;
        }
        let due_at = self.dispatcher.outbox.next_due().await;
        let due_at = self.keep(due_at).flatten()?;
        Some(self.dispatcher.not_at_once(due_at))
    }

    /// What has ended, once something has; `None` when nothing is under way. May be dropped: it loses nothing.
    async fn finished(&mut self) -> Option<Vec<Result<Finished, StoreError>>> {
        let mut finished = vec![self.under_way.next().await?];
        while let Some(Some(next)) = self.under_way.next().now_or_never() {
            finished.push(next);
        }
        Some(finished)
    }

    /// What has ended, once something has or `wait` says to go on.
    async fn finished_or(
        &mut self,
        wait: impl Future<Output = ControlFlow<()>>,
    ) -> ControlFlow<(), Vec<Result<Finished, StoreError>>> {
        let wait = pin!(wait);
        if self.under_way.is_empty() {
            return wait.await.map_continue(|()| Vec::new());
        }
        match select(pin!(self.finished()), wait).await {
            Either::Left((finished, _)) => ControlFlow::Continue(finished.unwrap_or_default()),
            Either::Right((told, _)) => told.map_continue(|()| Vec::new()),
        }
    }

    /// Writes outcomes. Must not be dropped half way, or they are lost and sent again.
    async fn settle(&mut self, finished: Vec<Result<Finished, StoreError>>) -> Vec<Handled> {
        let finished = finished
            .into_iter()
            .filter_map(|ended| self.keep(ended))
            .collect();
        let handled = self.dispatcher.settle(finished).await;
        let mut handled = self.keep(handled).unwrap_or_default();
        for handled in &mut handled {
            if let Some(HealthEvent::Disabled { .. }) = handled.health {
                handled.endpoint_disabled = self.disable(handled).await;
            }
        }
        handled
    }

    async fn disable(&mut self, given_up: &Handled) -> bool {
        let endpoint = &given_up.delivery.endpoint;
        let endpoints = &self.dispatcher.endpoints;
        let disabled = endpoints.set_state(endpoint, EndpointState::Disabled).await;
        self.keep(disabled).unwrap_or_default()
    }

    fn end(self) -> Result<(), StoreError> {
        self.error.map_or(Ok(()), Err)
    }

    /// How many exchanges may be begun.
    fn room(&self) -> usize {
        if self.error.is_some() {
            return 0;
        }
        self.dispatcher.concurrency.saturating_sub(self.under_way.len())
    }

    fn keep<T>(&mut self, result: Result<T, StoreError>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.error.get_or_insert(error);
                None
            }
        }
    }
}

fn failed_unsent(SetAside { delivery, reason }: SetAside) -> Handled {
    Handled {
        delivery,
        outcome: None,
        disposition: Disposition::Failed(reason),
        settled: Settled::Applied,
        endpoint_disabled: false,
        health: None,
    }
}
