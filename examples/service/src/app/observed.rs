//! One structured event and one measurement for each request.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_conventions::forwarding::TrustedProxies;
use http_conventions::pipeline::Exchange;
use http_conventions::routing::RequestId;
use http_conventions::tracing::{TraceContext, TracePosition};
use tracing::{Span, error_span, info};

use super::effects::Effect;
use super::metrics::{Metrics, known_method};

/// Label of the requests that no route takes.
const UNMATCHED: &str = "unmatched";

/// Route, principal and effects of a request, recorded by its stages. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct Findings(Arc<Found>);

#[derive(Debug, Default)]
struct Found {
    route: OnceLock<&'static str>,
    principal: OnceLock<String>,
    effects: Mutex<Vec<Effect>>,
}

impl Findings {
    /// Takes the effects that were recorded so far, each once.
    pub(super) fn take_effects(&self) -> Vec<Effect> {
        std::mem::take(&mut *self.0.effects.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

tokio::task_local! {
    /// Findings of the request that the task handles.
    static CURRENT: Findings;
}

/// Runs `handler`, whose records are the findings of its request.
pub(super) async fn within<T>(findings: Findings, handler: impl Future<Output = T>) -> T {
    CURRENT.scope(findings, handler).await
}

/// Records the template of the request's route. The first call decides.
pub(super) fn record_route(template: &'static str) {
    // fails outside of a request
    let _recorded = CURRENT.try_with(|findings| findings.0.route.set(template));
}

/// Records the subject of the request's token or session. The first call decides.
pub(super) fn record_principal(subject: &str) {
    let _recorded = CURRENT.try_with(|findings| findings.0.principal.set(subject.to_owned()));
}

/// Records a resource that the request has changed.
pub(super) fn record_effect(effect: Effect) {
    // fails outside of a request, for example in a stream of GraphQL
    let _recorded = CURRENT.try_with(|findings| {
        let mut effects = findings.0.effects.lock().unwrap_or_else(PoisonError::into_inner);
        if !effects.contains(&effect) {
            effects.push(effect);
        }
    });
}

/// A request from its begin to its response. Dropping it before [`end`](Self::end) records a client
/// that disconnected.
pub(super) struct Observation {
    metrics: Arc<Metrics>,
    method: Method,
    began: Instant,
    address: Option<IpAddr>,
    link: Option<TracePosition>,
    findings: Findings,
    span: Span,
    is_ended: bool,
}

impl Observation {
    pub(super) fn begin<Stage>(
        metrics: &Arc<Metrics>,
        proxies: &TrustedProxies,
        exchange: &Exchange<Stage>,
        request: &Request<Bytes>,
    ) -> Self {
        let peer = request.extensions().get::<SocketAddr>();
        Self {
            metrics: Arc::clone(metrics),
            method: request.method().clone(),
            began: Instant::now(),
            address: peer.map(|peer| proxies.client_address(peer.ip(), request.headers())),
            link: exchange.trace().and_then(TraceContext::link),
            findings: Findings::default(),
            span: span(exchange.id(), exchange.trace()),
            is_ended: false,
        }
    }

    /// Span of the request: every event in it has the ids of the request and of its trace.
    pub(super) const fn span(&self) -> &Span {
        &self.span
    }

    pub(super) const fn findings(&self) -> &Findings {
        &self.findings
    }

    /// Records the response.
    pub(super) fn end(mut self, status: StatusCode) {
        self.is_ended = true;
        let route = self.route();
        self.metrics
            .record_request(&self.method, route, status, self.began.elapsed());
        self.log(Some(status));
    }

    fn route(&self) -> &'static str {
        self.findings.0.route.get().copied().unwrap_or(UNMATCHED)
    }

    fn log(&self, status: Option<StatusCode>) {
        let _entered = self.span.enter();
        info!(
            target: "service::request",
            method = known_method(&self.method),
            route = self.route(),
            status = status.map(|status| status.as_u16()),
            milliseconds = self.began.elapsed().as_secs_f64() * 1e3,
            principal = self.findings.0.principal.get().map(String::as_str),
            address = self.address.map(display),
            linked_trace_id = self.link.map(|link| display(link.trace_id())),
            "{}",
            if status.is_some() { "request" } else { "client disconnected" },
        );
    }
}

impl Drop for Observation {
    fn drop(&mut self) {
        if !self.is_ended {
            self.log(None);
        }
    }
}

/// Records a request that the server refused before it reached the app.
pub(super) fn record_refusal(metrics: &Metrics, head: &Request<()>, response: &Response<Bytes>) {
    let status = response.status();
    metrics.record_request(head.method(), UNMATCHED, status, std::time::Duration::ZERO);
    let id = response.headers().get("x-request-id");
    info!(
        target: "service::request",
        method = known_method(head.method()),
        route = UNMATCHED,
        status = status.as_u16(),
        request_id = id.and_then(|id| id.to_str().ok()),
        address = head.extensions().get::<SocketAddr>().map(|peer| display(peer.ip())),
        "refused by the server",
    );
}

fn span(id: &RequestId, trace: Option<&TraceContext>) -> Span {
    // at the most severe level, so that each event has the ids whatever the filter of the log
    error_span!(
        target: "service::request",
        "request",
        request_id = id.as_str(),
        trace_id = trace.map(|trace| display(trace.trace_id())),
    )
}
