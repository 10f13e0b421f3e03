//! One lease: check the delivery, sign, send, and decide on the outcome.

use std::{
    any::Any,
    panic::AssertUnwindSafe,
    sync::{Arc, PoisonError},
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use futures_util::FutureExt;
use http::{Method, Request, Response, StatusCode, header};

use super::{Dispatcher, Limits};
use crate::{
    ports::{ExchangeLimits, StoreError, TransportError},
    sender::{
        Attempt, AttemptOutcome, AttemptResult, ClockSkew, Delivery, DeliveryDecision, DeliveryEvent,
        Disposition, Endpoint, EndpointState, KEPT_ANSWER, Leased, Owner, Settlement, Standing, StoredEvent,
        TraceParent, content::Content, trace::TRACEPARENT,
    },
};

/// Time after the response head in which the excerpt for the log is read.
const BODY_TIMEOUT: Duration = Duration::from_secs(1);

/// Result of loading the endpoint of a lease together with the other endpoints of a turn.
pub(super) enum LoadedEndpoint {
    /// The call failed, so the endpoint is loaded alone.
    Unloaded,
    /// The endpoint, if it is registered.
    Loaded(Option<Arc<Endpoint>>),
}

/// Outcome of a lease, not written yet.
pub(super) struct Finished {
    pub(super) settlement: Settlement,
    pub(super) outcome: Option<AttemptOutcome>,
    pub(super) endpoint_disabled: bool,
    /// Bulkhead whose place the lease uses.
    pub(super) standing: Standing,
    /// Time from which another dispatcher can lease the delivery.
    pub(super) lease_ends: SystemTime,
    /// Number of failed calls of `settle` that contained this outcome.
    pub(super) failed_writes: u32,
    /// Error of the endpoint store, or panic of the host's code, to report. The endpoint's health
    /// ignores it.
    pub(super) failure: Option<StoreError>,
    /// Error of the local clock that explains the outcome.
    pub(super) skew: Option<ClockSkew>,
    /// `true` if the endpoint was loaded and belongs to a tenant.
    pub(super) is_tenants: bool,
}

/// Error of the local clock that may explain a refusal.
#[derive(Clone, Copy)]
enum Suspicion {
    Confirmed(ClockSkew),
    /// Too few hosts are known.
    Undecided,
}

impl Suspicion {
    fn confirmed(self) -> Option<ClockSkew> {
        match self {
            Self::Confirmed(skew) => Some(skew),
            Self::Undecided => None,
        }
    }
}

impl Finished {
    fn unsent(leased: &Delivery, decision: DeliveryDecision, standing: Standing) -> Self {
        Self {
            settlement: decision.settle(leased, None),
            outcome: None,
            endpoint_disabled: false,
            standing,
            lease_ends: leased.due_at,
            failed_writes: 0,
            failure: None,
            skew: None,
            is_tenants: false,
        }
    }
}

/// Formats the message of a panic in the code of `who`.
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
    pub(super) async fn work(&self, leased: &Leased, endpoint: LoadedEndpoint) -> Finished {
        let (delivery, standing) = (&leased.delivery, leased.standing);
        let loaded = match endpoint {
            LoadedEndpoint::Loaded(endpoint) => Ok(endpoint),
            LoadedEndpoint::Unloaded => {
                let loaded = guarded(self.endpoints.load(&delivery.id.endpoint));
                let loaded = self.within(Limits::LOAD, loaded).await;
                loaded.map(|endpoint| endpoint.map(Arc::new))
            }
        };
        let now = self.clock.now();
        let endpoint = match loaded {
            Ok(endpoint) => endpoint,
            // settled all the same, because an unsettled lease would count as lost
            Err(failure) => {
                let postponed = self.policy.postpone(delivery, now);
                return Finished {
                    failure: Some(failure),
                    ..Finished::unsent(delivery, postponed, standing)
                };
            }
        };
        match self
            .policy
            .admit(delivery, &leased.event.audience, endpoint.as_deref(), now)
        {
            Ok(endpoint) => {
                self.attempt(delivery, &leased.event, endpoint, (standing, now))
                    .await
            }
            Err(decision) => Finished::unsent(delivery, decision, standing),
        }
    }

    /// Outcome of a lease in which the host's classification or entropy panicked.
    pub(super) fn panicked(&self, leased: &Leased, panic: &(dyn Any + Send)) -> Finished {
        let decision = self.policy.after_panic(&leased.delivery, self.clock.now());
        Finished {
            failure: Some(StoreError::unavailable(panicked("the exchange", panic))),
            ..Finished::unsent(&leased.delivery, decision, leased.standing)
        }
    }

    async fn attempt(
        &self,
        delivery: &Delivery,
        event: &StoredEvent,
        endpoint: &Endpoint,
        (standing, started_at): (Standing, SystemTime),
    ) -> Finished {
        let begun = self.clock.monotonic();
        let trace = event.trace.map(|trace| trace.message(&*self.entropy));
        let exchange = self.exchange(event, endpoint, trace, started_at).await;
        let now = self.clock.now();
        let duration = self.clock.monotonic().saturating_sub(begun);
        let outcome = AttemptOutcome::from_exchange(&exchange, now);
        self.record(&DeliveryEvent::Attempted {
            delivery: &delivery.id,
            outcome,
            duration,
            trace,
        });
        let mut decision =
            self.policy
                .after_attempt(delivery, &outcome, endpoint.classification, now, self.jitter());
        let suspicion = self.suspect_clock(endpoint, &exchange, now);
        if suspicion.is_some() && self.skew_hold {
            decision = self.policy.hold_for_skew(delivery, now);
        }
        let mut failure = None;
        // before the settlement is written: after a crash in between, the next 410 disables the
        // endpoint
        if decision.disable_endpoint {
            let disabled = guarded(self.endpoints.set_state(&endpoint.id, EndpointState::Disabled));
            failure = self.within(Limits::LOAD, disabled).await.err();
        }
        if failure.is_some() {
            decision = self.policy.postpone(delivery, now);
        }
        let result = AttemptResult::from_exchange(&exchange);
        let attempt = Attempt {
            delivery: delivery.id.clone(),
            fence: delivery.fence,
            started_at,
            duration,
            // a held delivery stores no text, because no schedule limits how often it is held
            result: match decision.disposition {
                Disposition::Held { .. } => result.without_text(),
                _ => result,
            },
        };
        Finished {
            settlement: Settlement {
                rate: endpoint.rate,
                ..decision.settle(delivery, Some(attempt))
            },
            outcome: Some(outcome),
            endpoint_disabled: decision.disable_endpoint,
            standing,
            lease_ends: delivery.due_at,
            failed_writes: 0,
            failure,
            skew: suspicion.and_then(Suspicion::confirmed),
            is_tenants: endpoint.owner != Owner::Operator,
        }
    }

    /// Compares the local clock with the response, and checks whether an error of the clock
    /// explains a 400 or 401.
    fn suspect_clock(
        &self,
        endpoint: &Endpoint,
        exchange: &Result<Response<Bytes>, TransportError>,
        now: SystemTime,
    ) -> Option<Suspicion> {
        let response = exchange.as_ref().ok()?;
        let date = response.headers().get(header::DATE);
        let date = date.and_then(|date| httpdate::parse_http_date(date.to_str().ok()?).ok());
        let (host, monotonic) = (endpoint.url.host(), self.clock.monotonic());
        let mut estimator = self.skew.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(date) = date {
            estimator.observe(host, date, now, monotonic);
        }
        let is_refusal = matches!(
            response.status(),
            StatusCode::BAD_REQUEST | StatusCode::UNAUTHORIZED
        );
        if !is_refusal {
            return None;
        }
        let Some(skew) = estimator.explains(date, now) else {
            let is_undecided = date.is_some() && estimator.is_undecided(host, monotonic);
            return is_undecided.then_some(Suspicion::Undecided);
        };
        drop(estimator);
        let held = self.skew_hold;
        self.record(&DeliveryEvent::ClockSkewed { skew, held });
        Some(Suspicion::Confirmed(skew))
    }

    async fn exchange(
        &self,
        event: &StoredEvent,
        endpoint: &Endpoint,
        trace: Option<TraceParent>,
        now: SystemTime,
    ) -> Result<Response<Bytes>, TransportError> {
        let target = endpoint
            .url
            .vet(&self.addresses)
            .map_err(TransportError::refused)?;
        let Content { body, headers } = Content::of(event, endpoint.content, &self.source);
        let signature = endpoint.signers.sign(&event.id, now, &body);
        let mut request = Request::new(body);
        *request.method_mut() = Method::POST;
        *request.uri_mut() = target.uri().clone();
        *request.headers_mut() = headers;
        for (name, value) in endpoint.headers.iter() {
            request.headers_mut().insert(name, value.clone());
        }
        let user_agent = self.user_agent.clone();
        request.headers_mut().insert(header::USER_AGENT, user_agent);
        if let Some(trace) = trace {
            request.headers_mut().insert(TRACEPARENT, trace.header_value());
        }
        signature.insert_into(request.headers_mut());
        request.extensions_mut().insert(ExchangeLimits {
            timeout: self.deadline,
            max_response_body: KEPT_ANSWER,
            body_timeout: Some(BODY_TIMEOUT),
        });
        // a panic of the host's transport costs one attempt and leaves other exchanges running
        let sent = AssertUnwindSafe(self.transport.send(request)).catch_unwind();
        // the transport enforces the deadline; if it does not, the exchange is dropped
        match self.before(self.deadline + Limits::TRANSPORT_GRACE, sent).await {
            Some(Ok(response)) => response,
            Some(Err(panic)) => Err(TransportError::other(panicked("the transport", &*panic))),
            None => Err(TransportError::timeout()),
        }
    }

    fn jitter(&self) -> u64 {
        let mut bytes = [0; 8];
        self.entropy.fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }
}
