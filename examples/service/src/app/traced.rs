//! Trace context of the requests that the service sends.
//!
//! A request that a handler sends belongs to the trace of the request that it handles. The messages
//! of one webhook event, to all endpoints and with all retries, are one trace, whose id is the
//! random part of the event's id. It begins at the delivery: the outbox does not store the trace of
//! the request that enqueued the event. Any other request begins a trace.

use async_trait::async_trait;
use bytes::Bytes;
use host_ports::{Entropy, Transport, TransportError};
use http::{HeaderMap, Request, Response};
use http_conventions::ports::OsEntropy;
use http_conventions::tracing::{Sampling, TRACEPARENT, TraceContext, TracePosition};
use webhook_core::event::EventId;

tokio::task_local! {
    /// Trace of the request that the task handles.
    static CURRENT: Option<TraceContext>;
}

/// Runs `handler` in the trace of the request that it handles.
pub(super) async fn within<T>(trace: Option<TraceContext>, handler: impl Future<Output = T>) -> T {
    CURRENT.scope(trace, handler).await
}

/// A transport that adds `traceparent` to each request.
#[derive(Debug)]
pub(super) struct Traced<T>(pub(super) T);

#[async_trait]
impl<T: Transport> Transport for Traced<T> {
    async fn send(&self, mut request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
        apply(request.headers_mut());
        self.0.send(request).await
    }
}

fn apply(headers: &mut HeaderMap) {
    if let Ok(Some(trace)) = CURRENT.try_with(Option::clone) {
        return trace.apply(headers);
    }
    let event = headers
        .get("webhook-id")
        .and_then(|id| id.to_str().ok()?.parse().ok());
    match event.and_then(|id| position_of(&id)) {
        Some(position) => {
            headers.insert(TRACEPARENT, position.header_value());
        }
        None => TraceContext::begin(&OsEntropy, Sampling::NEVER).apply(headers),
    }
}

/// Position of one message of the event, with a new span id. `None` for an id of another form.
fn position_of(id: &EventId) -> Option<TracePosition> {
    let mut span = [0; 8];
    OsEntropy.fill(&mut span);
    let span = u64::from_be_bytes(span).max(1);
    format!("00-{}-{span:016x}-02", trace_id(id)?).parse().ok()
}

/// Trace id of the messages of an event.
pub(super) fn trace_id(id: &EventId) -> Option<&str> {
    id.as_str()
        .strip_prefix("evt_")
        .filter(|random| random.len() == 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(id: &str) -> TracePosition {
        let mut headers = HeaderMap::new();
        headers.insert("webhook-id", id.parse().unwrap());
        apply(&mut headers);
        headers[TRACEPARENT].to_str().unwrap().parse().unwrap()
    }

    /// X8: the retries of an event and its other endpoints are one trace.
    #[test]
    fn messages_of_one_event_are_one_trace() {
        let id = EventId::generate(&OsEntropy);
        let (first, second) = (sent(id.as_str()), sent(id.as_str()));
        assert_eq!(first.trace_id().to_string(), trace_id(&id).unwrap());
        assert_eq!(second.trace_id(), first.trace_id());
        assert_ne!(second.span_id(), first.span_id());
        assert!(!first.is_sampled());
        // ids of another form, and the one that is no trace id, begin a trace
        for other in ["evt_1", "order-7", "evt_00000000000000000000000000000000"] {
            assert_ne!(sent(other).trace_id(), sent(other).trace_id());
        }
    }

    /// X8: a request that a handler sends names the handled request as its parent.
    #[tokio::test]
    async fn handler_sends_in_the_trace_of_its_request() {
        let trace = TraceContext::begin(&OsEntropy, Sampling::NEVER);
        let parent = within(Some(trace.clone()), async { sent("evt_1") }).await;
        assert_eq!(parent, trace.position());
    }
}
