//! One round: lease, send, settle, until nothing is due.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_util::{FutureExt, StreamExt, stream::FuturesUnordered};
use http::{HeaderValue, Method, Request, Response, header};

use super::{Dispatcher, Handled, Report};
use crate::{
    ports::{ExchangeLimits, StoreError, TransportError},
    sender::{
        Attempt, AttemptResult, Delivery, Endpoint, EndpointState, KEPT_ANSWER, LeaseRequest, Leased,
        Outcome, Settlement, StoredEvent,
    },
};

/// How long a lease outlives the deadline of its exchange: time to load, sign and settle.
const LEASE_MARGIN: Duration = Duration::from_secs(30);

/// After so many deliveries a round ends although more are due, so that its report stays small.
const LONGEST_ROUND: usize = 1024;

/// When what is due cannot be leased, because other dispatchers have all the leases its endpoint may have.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// A lease that has come to its end, not yet written.
struct Finished {
    settlement: Settlement,
    outcome: Option<Outcome>,
    endpoint_disabled: bool,
}

/// Keeps the first error: after it nothing new is begun, but what is under way is brought home.
#[derive(Default)]
struct Progress {
    report: Report,
    leased: usize,
    error: Option<StoreError>,
}

impl Progress {
    fn keep<T>(&mut self, result: Result<T, StoreError>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.error.get_or_insert(error);
                None
            }
        }
    }

    fn may_lease(&self) -> bool {
        self.error.is_none() && self.leased < LONGEST_ROUND
    }
}

impl Dispatcher {
    /// Delivers what is due until nothing more is, and says when to come back.
    ///
    /// Outcomes are written as they come in, those that came together in one step: a slow receiver keeps nobody's outcome
    /// waiting. After 1,024 deliveries it returns although more are due; `next_due` is in the past then.
    ///
    /// # Errors
    ///
    /// The first [`StoreError`]. What was under way has been brought home; what could not be written comes up again when its
    /// lease ends.
    pub async fn run_due(&self) -> Result<Report, StoreError> {
        let mut progress = Progress::default();
        let mut in_flight = FuturesUnordered::new();
        loop {
            let room = self.concurrency.saturating_sub(in_flight.len());
            // leasing for every single place that becomes free would be one commit for each delivery
            if progress.may_lease() && room * 2 >= self.concurrency {
                let leased = self.lease(room).await;
                let leased = progress.keep(leased).unwrap_or_default();
                progress.leased += leased.len();
                in_flight.extend(leased.into_iter().map(|leased| self.work(leased)));
            }
            let Some(first) = in_flight.next().await else {
                break;
            };
            let mut finished = Vec::from_iter(progress.keep(first));
            while let Some(Some(next)) = in_flight.next().now_or_never() {
                finished.extend(progress.keep(next));
            }
            let handled = self.settle(finished).await;
            let handled = progress.keep(handled).unwrap_or_default();
            progress.report.handled.extend(handled);
        }
        match progress.error {
            Some(error) => Err(error),
            None => Ok(Report {
                next_due: self.next_due(progress.leased).await?,
                ..progress.report
            }),
        }
    }

    async fn lease(&self, limit: usize) -> Result<Vec<Leased>, StoreError> {
        let now = self.clock.now();
        let lease = self.deadline.saturating_add(LEASE_MARGIN);
        let request = LeaseRequest {
            now,
            until: now.checked_add(lease).unwrap_or(now),
            limit,
            per_endpoint: self.concurrency_per_endpoint,
        };
        self.outbox.lease(&request).await
    }

    async fn next_due(&self, leased: usize) -> Result<Option<SystemTime>, StoreError> {
        let due_at = self.outbox.next_due().await?;
        let now = self.clock.now();
        Ok(due_at.map(|due_at| {
            if due_at > now || leased >= LONGEST_ROUND {
                due_at
            } else {
                now.checked_add(LOOK_AGAIN).unwrap_or(now)
            }
        }))
    }

    async fn work(&self, leased: Leased) -> Result<Finished, StoreError> {
        let Leased { delivery, event } = leased;
        let endpoint = self.endpoints.load(&delivery.id.endpoint).await?;
        let now = self.clock.now();
        match self.policy.admit(&delivery, endpoint.as_ref(), now) {
            Ok(endpoint) => self.attempt(&delivery, &event, endpoint, now).await,
            Err(decision) => Ok(Finished {
                settlement: decision.settle(&delivery, None),
                outcome: None,
                endpoint_disabled: false,
            }),
        }
    }

    async fn attempt(
        &self,
        delivery: &Delivery,
        event: &StoredEvent,
        endpoint: &Endpoint,
        started_at: SystemTime,
    ) -> Result<Finished, StoreError> {
        let exchange = self.exchange(event, endpoint, started_at).await;
        let now = self.clock.now();
        let outcome = Outcome::of(&exchange, now);
        let decision = self.policy.after_attempt(delivery, &outcome, now, self.jitter());
        // before the settlement: if we stop in between, the next 410 disables it
        if decision.disable_endpoint {
            self.endpoints
                .set_state(&endpoint.id, EndpointState::Disabled)
                .await?;
        }
        let attempt = Attempt {
            delivery: delivery.id.clone(),
            fence: delivery.fence,
            started_at,
            duration: now.duration_since(started_at).unwrap_or_default(),
            result: AttemptResult::of(&exchange),
        };
        Ok(Finished {
            settlement: decision.settle(delivery, Some(attempt)),
            outcome: Some(outcome),
            endpoint_disabled: decision.disable_endpoint,
        })
    }

    async fn exchange(
        &self,
        event: &StoredEvent,
        endpoint: &Endpoint,
        now: SystemTime,
    ) -> Result<Response<Bytes>, TransportError> {
        let target = endpoint
            .url
            .vet(&self.addresses)
            .map_err(TransportError::refused)?;
        let mut request = Request::new(event.body.clone());
        *request.method_mut() = Method::POST;
        *request.uri_mut() = target.uri().clone();
        let json = HeaderValue::from_static("application/json");
        request.headers_mut().insert(header::CONTENT_TYPE, json);
        let signature = endpoint.signers.sign(&event.id, now, &event.body);
        signature.insert_into(request.headers_mut());
        request.extensions_mut().insert(ExchangeLimits {
            timeout: self.deadline,
            max_response_body: KEPT_ANSWER,
        });
        self.transport.send(request).await
    }

    fn jitter(&self) -> u64 {
        let mut bytes = [0; 8];
        self.entropy.fill(&mut bytes);
        u64::from_le_bytes(bytes)
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
        let settled = self.outbox.settle(settlements).await?;
        let handled = effects.into_iter().zip(settled);
        let handled = handled.map(
            |((delivery, disposition, outcome, endpoint_disabled), settled)| Handled {
                delivery,
                outcome,
                disposition,
                settled,
                endpoint_disabled,
            },
        );
        Ok(handled.collect())
    }
}
