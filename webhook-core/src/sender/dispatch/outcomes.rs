//! Turns: writes outcomes to the outbox and leases due deliveries; retries failed writes.

use std::{collections::BTreeSet, mem, time::Duration};

use super::{
    Handled, Limits,
    exchange::{Finished, guarded},
    round::{Ended, Round, failed_unsent},
};
use crate::ports::StoreError;
use crate::sender::{
    DeliveryEvent, Disposition, EndpointId, EndpointState, FailureReason, HealthEvent, Leases, Receipt,
    Settlement, Turn, TurnRequest,
};

/// Number of consecutive failed writes after which the store itself is assumed to fail.
const FAILURES: usize = 2;

/// Number of failed writes of one outcome after which it is given up. Its event is then sent again.
const MOST_FAILURES: u32 = 20;

impl Round<'_> {
    /// Writes outcomes and leases due deliveries, in one call of the outbox.
    ///
    /// Not cancel-safe: if the future is dropped, its outcomes are lost and the events are sent
    /// again.
    pub(super) async fn turn(&mut self, ended: Vec<Ended>) -> Vec<Handled> {
        let finished = self.finished(ended);
        let mut handled = Vec::new();
        if !self.is_paused() {
            handled = self.settle_again().await;
            if self.is_paused() {
                // the store has just failed
                self.unwritten.extend(finished);
                return handled;
            }
        }
        let Some(lease) = self.lease_request(&finished).await else {
            handled.extend(self.settle_now(finished).await);
            return handled;
        };
        let (owner, limit) = (lease.owner, lease.limit);
        let settlements = finished
            .iter()
            .map(|outcome| outcome.settlement.clone())
            .collect();
        let request = TurnRequest {
            settlements,
            lease: Some(lease),
        };
        let dispatcher = self.dispatcher;
        let begun = dispatcher.clock.monotonic();
        let turn = dispatcher.within(Limits::VERB, dispatcher.outbox.turn(request));
        let turn = self.exchanges.beside(turn).await;
        let turn = turn.and_then(|turn| complete(&turn.receipts, finished.len()).map(|()| turn));
        let Some(Turn {
            receipts,
            leases,
            next_due,
        }) = self.keep(turn)
        else {
            // the store may have given leases to this owner that this process does not know
            if let Some(membership) = self.membership {
                membership.retire(owner);
            }
            handled.extend(self.settle_apart(finished).await);
            return handled;
        };
        self.due_at = next_due;
        let duration = dispatcher.clock.monotonic().saturating_sub(begun);
        self.record_turn(receipts.len(), &leases, limit, duration);
        let Leases { leased, set_aside } = leases;
        self.set_aside.extend(set_aside.into_iter().map(failed_unsent));
        self.start(leased).await;
        handled.extend(self.written(finished, receipts).await);
        handled
    }

    /// Writes outcomes, then earlier outcomes whose write failed.
    pub(super) async fn settle(&mut self, ended: Vec<Ended>) -> Vec<Handled> {
        let finished = self.finished(ended);
        let mut handled = self.settle_now(finished).await;
        if !self.is_paused() {
            handled.extend(self.settle_again().await);
        }
        handled
    }

    /// Writes outcomes whose earlier write failed and whose leases have not ended.
    pub(super) async fn settle_again(&mut self) -> Vec<Handled> {
        let unwritten = mem::take(&mut self.unwritten);
        let handled = self.write_each(unwritten).await;
        if let Some(membership) = self.membership {
            let left = membership.leave_retired(self.dispatcher);
            self.exchanges.beside(left).await;
        }
        handled
    }

    async fn settle_now(&mut self, finished: Vec<Finished>) -> Vec<Handled> {
        match self.write(finished).await {
            Ok(handled) => handled,
            Err(outcomes) => self.settle_apart(outcomes).await,
        }
    }

    /// Writes the outcomes of a failed batch one by one, because one of them may be the cause. A
    /// batch of one waits for the next try.
    async fn settle_apart(&mut self, outcomes: Vec<Finished>) -> Vec<Handled> {
        if outcomes.len() > 1 {
            return self.write_each(outcomes).await;
        }
        self.unwritten.extend(outcomes);
        Vec::new()
    }

    fn finished(&mut self, ended: Vec<Ended>) -> Vec<Finished> {
        let mut finished = Vec::with_capacity(ended.len());
        for mut ended in ended {
            self.suspects -= usize::from(ended.is_suspect);
            // reported without a pause: the store still serves other endpoints
            self.errors.extend(ended.finished.failure.take());
            finished.push(ended.finished);
        }
        finished
    }

    /// Writes outcomes one by one, until two in a row fail. Keeps the others for later: first those
    /// that were not tried, then those that failed.
    async fn write_each(&mut self, outcomes: Vec<Finished>) -> Vec<Handled> {
        let (mut outcomes, mut handled) = (outcomes.into_iter(), Vec::new());
        let mut failed = Vec::new();
        let mut in_a_row = 0;
        while in_a_row < FAILURES
            && let Some(outcome) = outcomes.next()
        {
            if self.is_lost(&outcome) {
                continue;
            }
            match self.write(vec![outcome]).await {
                Ok(written) => {
                    handled.extend(written);
                    in_a_row = 0;
                }
                Err(unwritten) => {
                    failed.extend(unwritten);
                    in_a_row += 1;
                }
            }
        }
        self.unwritten.extend(outcomes.chain(failed));
        handled
    }

    /// Gives up an outcome, and returns `true`, if its lease has ended or if 20 writes of it
    /// failed. Another dispatcher may hold the delivery then; its event is sent again.
    fn is_lost(&mut self, outcome: &Finished) -> bool {
        let has_ended = outcome.lease_ends <= self.dispatcher.clock.now();
        let cannot_be_written = outcome.failed_writes >= MOST_FAILURES;
        if !has_ended && !cannot_be_written {
            return false;
        }
        self.release(outcome.standing, outcome.settlement.owner);
        if let Some(membership) = self.membership.filter(|_| cannot_be_written) {
            membership.retire(outcome.settlement.owner);
        }
        true
    }

    /// Writes outcomes in one batch, or returns them.
    async fn write(&mut self, outcomes: Vec<Finished>) -> Result<Vec<Handled>, Vec<Finished>> {
        if outcomes.is_empty() {
            return Ok(Vec::new());
        }
        let settlements = outcomes.iter().map(|outcome| outcome.settlement.clone());
        let dispatcher = self.dispatcher;
        let receipts = dispatcher.outbox.settle(settlements.collect());
        let receipts = self
            .exchanges
            .beside(dispatcher.within(Limits::VERB, receipts))
            .await;
        let receipts = receipts.and_then(|all| complete(&all, outcomes.len()).map(|()| all));
        match self.keep(receipts) {
            Some(receipts) => Ok(self.written(outcomes, receipts).await),
            None => Err(outcomes
                .into_iter()
                .map(|outcome| Finished {
                    failed_writes: outcome.failed_writes.saturating_add(1),
                    ..outcome
                })
                .collect()),
        }
    }

    /// Reports written outcomes, frees their places, and disables endpoints that failed for five
    /// days.
    async fn written(&mut self, outcomes: Vec<Finished>, receipts: Vec<Receipt>) -> Vec<Handled> {
        let mut disabled = BTreeSet::new();
        let mut announced = Vec::new();
        let mut handled = Vec::with_capacity(outcomes.len());
        for (outcome, receipt) in outcomes.into_iter().zip(receipts) {
            self.release(outcome.standing, outcome.settlement.owner);
            let is_tenants = outcome.is_tenants;
            let given_up = matches!(receipt.health, Some(HealthEvent::Disabled { .. }));
            let lease = given_up.then(|| outcome.lease());
            let mut written = outcome.written(receipt);
            self.dispatcher.record(&DeliveryEvent::Settled {
                delivery: &written.delivery,
                disposition: written.disposition,
                settled: written.settled,
                health: written.health,
            });
            if let Some(lease) = lease {
                let endpoint = &written.delivery.endpoint;
                written.endpoint_disabled =
                    disabled.contains(endpoint) || self.disable(endpoint, lease).await;
                disabled.extend(written.endpoint_disabled.then(|| endpoint.clone()));
            }
            if is_tenants {
                announced.extend(self.dispatcher.operational_events(&written));
            }
            handled.push(written);
        }
        for event in announced {
            let stored = self.exchanges.beside(self.dispatcher.announce(&event)).await;
            // reported without a pause
            self.errors.extend(stored.err());
        }
        handled
    }

    /// Disables a failing endpoint, then resets its health. After a crash in between, the next
    /// failure disables it again. Returns `true` if the endpoint was disabled.
    async fn disable(&mut self, endpoint: &EndpointId, lease: Settlement) -> bool {
        let dispatcher = self.dispatcher;
        let disabled = guarded(dispatcher.endpoints.set_state(endpoint, EndpointState::Disabled));
        let disabled = self
            .exchanges
            .beside(dispatcher.within(Limits::LOAD, disabled))
            .await;
        let disabled = match disabled {
            Ok(disabled) => disabled,
            // reported without a pause: the next failure disables the endpoint again
            Err(error) => {
                self.errors.push(error);
                return false;
            }
        };
        let confirmed = dispatcher.outbox.settle(vec![lease]);
        let confirmed = self
            .exchanges
            .beside(dispatcher.within(Limits::VERB, confirmed))
            .await;
        self.keep(confirmed);
        disabled
    }

    fn record_turn(&self, settled: usize, leases: &Leases, limit: usize, duration: Duration) {
        let dispatcher = self.dispatcher;
        for aside in &leases.set_aside {
            let (delivery, reason) = (&aside.delivery, aside.reason);
            dispatcher.record(&DeliveryEvent::SetAside { delivery, reason });
        }
        let age = |due_at| dispatcher.clock.now().duration_since(due_at).unwrap_or_default();
        dispatcher.record(&DeliveryEvent::Turn {
            settled,
            leased: leases.leased.len(),
            duration,
            backlog_age: match self.due_at {
                Some(due_at) => Some(age(due_at)),
                None => (leases.leased.len() < limit).then_some(Duration::ZERO),
            },
        });
    }
}

/// Checks that the store returned a receipt for each settlement.
fn complete(receipts: &[Receipt], settlements: usize) -> Result<(), StoreError> {
    if receipts.len() == settlements {
        return Ok(());
    }
    Err(StoreError::corrupt(
        "the outbox returned another number of receipts",
    ))
}

impl Finished {
    /// Settlement under this lease, without an attempt, that reports the endpoint as disabled.
    fn lease(&self) -> Settlement {
        Settlement {
            delivery: self.settlement.delivery.clone(),
            fence: self.settlement.fence,
            owner: self.settlement.owner,
            disposition: Disposition::Failed(FailureReason::EndpointDisabled),
            spent: false,
            hold_endpoint_until: None,
            rate: None,
            attempt: None,
        }
    }

    /// Report for the host, after the settlement was written.
    fn written(self, Receipt { settled, health }: Receipt) -> Handled {
        Handled {
            delivery: self.settlement.delivery,
            outcome: self.outcome,
            disposition: self.settlement.disposition,
            settled,
            endpoint_disabled: self.endpoint_disabled,
            health,
            skew: self.skew,
        }
    }
}
