//! Writes outcomes to the outbox, and retries failed writes.

use std::{collections::BTreeSet, mem};

use super::{
    Handled,
    exchange::{Finished, guarded},
    round::{Ended, Round},
};
use crate::sender::{EndpointId, EndpointState, HealthEvent, Receipt, Settlement};

/// Number of consecutive failed writes after which the store itself is assumed to fail.
const FAILURES: usize = 2;

impl Round<'_> {
    /// Writes outcomes, and those that could not be written before.
    ///
    /// The future must not be dropped before it ends: its outcomes would be lost and sent again.
    pub(super) async fn settle(&mut self, ended: Vec<Ended>) -> Vec<Handled> {
        let finished = self.finished(ended);
        let mut handled = match self.write(finished).await {
            Ok(handled) => handled,
            // one outcome may make the batch fail, so each is written alone
            Err(several) if several.len() > 1 => self.write_each(several).await,
            Err(one) => {
                self.unwritten.extend(one);
                Vec::new()
            }
        };
        if !self.is_paused() {
            handled.extend(self.settle_again().await);
        }
        handled
    }

    /// Writes unwritten outcomes whose leases have not ended.
    pub(super) async fn settle_again(&mut self) -> Vec<Handled> {
        let unwritten = mem::take(&mut self.unwritten);
        self.write_each(unwritten).await
    }

    fn finished(&mut self, ended: Vec<Ended>) -> Vec<Finished> {
        self.suspects -= ended.iter().filter(|ended| ended.is_suspect).count();
        let mut finished: Vec<Finished> = ended
            .into_iter()
            .filter_map(|ended| self.keep(ended.result))
            .collect();
        // reported without a pause: the store still serves other endpoints
        self.errors
            .extend(finished.iter_mut().filter_map(|finished| finished.failure.take()));
        finished
    }

    /// Writes the outcomes one by one. Failed ones are kept, after those that were not tried.
    async fn write_each(&mut self, outcomes: Vec<Finished>) -> Vec<Handled> {
        let (mut outcomes, mut handled) = (outcomes.into_iter(), Vec::new());
        let mut failed = Vec::new();
        let mut in_a_row = 0;
        while in_a_row < FAILURES
            && let Some(outcome) = outcomes.next()
        {
            if outcome.lease_ends <= self.dispatcher.clock.now() {
                // another dispatcher may hold the delivery, so its event is sent again
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

    /// Writes outcomes in one batch, or returns them.
    async fn write(&mut self, outcomes: Vec<Finished>) -> Result<Vec<Handled>, Vec<Finished>> {
        if outcomes.is_empty() {
            return Ok(Vec::new());
        }
        let settlements = outcomes.iter().map(|outcome| outcome.settlement.clone());
        let receipts = self.dispatcher.outbox.settle(settlements.collect());
        let receipts = self.exchanges.beside(receipts).await;
        let Some(receipts) = self.keep(receipts) else {
            return Err(outcomes);
        };
        let mut disabled = BTreeSet::new();
        let mut handled = Vec::with_capacity(outcomes.len());
        for (outcome, receipt) in outcomes.into_iter().zip(receipts) {
            let given_up = matches!(receipt.health, Some(HealthEvent::Disabled { .. }));
            let lease = given_up.then(|| outcome.lease());
            let mut written = outcome.written(receipt);
            if let Some(lease) = lease {
                let endpoint = &written.delivery.endpoint;
                written.endpoint_disabled =
                    disabled.contains(endpoint) || self.disable(endpoint, lease).await;
                disabled.extend(written.endpoint_disabled.then(|| endpoint.clone()));
            }
            handled.push(written);
        }
        Ok(handled)
    }

    /// Disables a failing endpoint, and resets its health only after that: after a crash in
    /// between, the next failure disables it again.
    async fn disable(&mut self, endpoint: &EndpointId, lease: Settlement) -> bool {
        let endpoints = &self.dispatcher.endpoints;
        let disabled = guarded(endpoints.set_state(endpoint, EndpointState::Disabled));
        let disabled = self.exchanges.beside(disabled).await;
        let disabled = match disabled {
            Ok(disabled) => disabled,
            // reported without a pause: the next failure disables the endpoint again
            Err(error) => {
                self.errors.push(error);
                return false;
            }
        };
        let confirmed = self.dispatcher.outbox.settle(vec![lease]);
        let confirmed = self.exchanges.beside(confirmed).await;
        self.keep(confirmed);
        disabled
    }
}

impl Finished {
    /// Report for the host, after the settlement was written.
    fn written(self, Receipt { settled, health }: Receipt) -> Handled {
        Handled {
            delivery: self.settlement.delivery,
            outcome: self.outcome,
            disposition: self.settlement.disposition,
            settled,
            endpoint_disabled: self.endpoint_disabled,
            health,
        }
    }
}
