//! One lease: check the delivery, sign, send, and decide on the outcome.

use std::{
    any::Any,
    panic::AssertUnwindSafe,
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use futures_util::FutureExt;
use http::{HeaderValue, Method, Request, Response, header};

use super::Dispatcher;
use crate::{
    ports::{ExchangeLimits, StoreError, TransportError},
    sender::{
        Attempt, AttemptOutcome, AttemptResult, Delivery, DeliveryDecision, Disposition, Endpoint,
        EndpointState, FailureReason, KEPT_ANSWER, Leased, Settlement, StoredEvent,
    },
};

/// Time after the response head in which the excerpt for the log is read.
const BODY_TIMEOUT: Duration = Duration::from_secs(1);

/// Outcome of a lease, not written yet.
pub(super) struct Finished {
    pub(super) settlement: Settlement,
    pub(super) outcome: Option<AttemptOutcome>,
    pub(super) endpoint_disabled: bool,
    /// Time from which another dispatcher can lease the delivery.
    pub(super) lease_ends: SystemTime,
    /// Error of the endpoint store; it does not count against the receiver.
    pub(super) failure: Option<StoreError>,
}

impl Finished {
    fn unsent(leased: &Delivery, decision: DeliveryDecision, failure: Option<StoreError>) -> Self {
        Self {
            settlement: decision.settle(leased, None),
            outcome: None,
            endpoint_disabled: false,
            lease_ends: leased.due_at,
            failure,
        }
    }

    /// Settlement for this lease that reports a disabled endpoint, without an attempt.
    pub(super) fn lease(&self) -> Settlement {
        Settlement {
            delivery: self.settlement.delivery.clone(),
            fence: self.settlement.fence,
            disposition: Disposition::Failed(FailureReason::EndpointDisabled),
            spent: false,
            hold_endpoint_until: None,
            attempt: None,
        }
    }
}

/// Message of a panic, if it is text.
pub(super) fn panicked(who: &str, panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("{who} panicked: {}", text.unwrap_or("no message"))
}

/// Calls the host's endpoint store; a panic becomes a `StoreError`.
pub(super) async fn guarded<T>(verb: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
    let answer = AssertUnwindSafe(verb).catch_unwind().await;
    answer.unwrap_or_else(|panic| Err(StoreError::unavailable(panicked("the endpoint store", &*panic))))
}

impl Dispatcher {
    pub(super) async fn work(&self, leased: Leased) -> Finished {
        let Leased { delivery, event } = leased;
        let loaded = guarded(self.endpoints.load(&delivery.id.endpoint)).await;
        let now = self.clock.now();
        let endpoint = match loaded {
            Ok(endpoint) => endpoint,
            // settled nevertheless: a lease that just ends would count as a crash
            Err(failure) => {
                let postponed = self.policy.postpone(&delivery, now);
                return Finished::unsent(&delivery, postponed, Some(failure));
            }
        };
        match self.policy.admit(&delivery, endpoint.as_ref(), now) {
            Ok(endpoint) => self.attempt(&delivery, &event, endpoint, now).await,
            Err(decision) => Finished::unsent(&delivery, decision, None),
        }
    }

    async fn attempt(
        &self,
        delivery: &Delivery,
        event: &StoredEvent,
        endpoint: &Endpoint,
        started_at: SystemTime,
    ) -> Finished {
        let exchange = self.exchange(event, endpoint, started_at).await;
        let now = self.clock.now();
        let outcome = AttemptOutcome::from_exchange(&exchange, now);
        let mut decision = self.policy.after_attempt(delivery, &outcome, now, self.jitter());
        let mut failure = None;
        // before the settlement: after a crash in between, the next 410 disables the endpoint
        if decision.disable_endpoint {
            let disabled = guarded(self.endpoints.set_state(&endpoint.id, EndpointState::Disabled));
            failure = disabled.await.err();
        }
        if failure.is_some() {
            decision = self.policy.postpone(delivery, now);
        }
        let result = AttemptResult::from_exchange(&exchange);
        let attempt = Attempt {
            delivery: delivery.id.clone(),
            fence: delivery.fence,
            started_at,
            duration: now.duration_since(started_at).unwrap_or_default(),
            // a held delivery stores no text, because no schedule limits how often it is held
            result: match decision.disposition {
                Disposition::Held { .. } => result.without_text(),
                _ => result,
            },
        };
        Finished {
            settlement: decision.settle(delivery, Some(attempt)),
            outcome: Some(outcome),
            endpoint_disabled: decision.disable_endpoint,
            lease_ends: delivery.due_at,
            failure,
        }
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
        let user_agent = self.user_agent.clone();
        request.headers_mut().insert(header::USER_AGENT, user_agent);
        let signature = endpoint.signers.sign(&event.id, now, &event.body);
        signature.insert_into(request.headers_mut());
        request.extensions_mut().insert(ExchangeLimits {
            timeout: self.deadline,
            max_response_body: KEPT_ANSWER,
            body_timeout: Some(BODY_TIMEOUT),
        });
        // a panic of the host's transport costs one attempt and leaves other exchanges running
        let sent = AssertUnwindSafe(self.transport.send(request))
            .catch_unwind()
            .await;
        sent.unwrap_or_else(|panic| Err(TransportError::other(panicked("the transport", &*panic))))
    }

    fn jitter(&self) -> u64 {
        let mut bytes = [0; 8];
        self.entropy.fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }
}
