//! Trace context of the requests that the service sends.
//!
//! A request that a handler sends belongs to the trace of the request that it handles. So does each
//! message of a webhook: the outbox stores the position of the request that enqueued the event, and
//! a refund stores that of the request that queued it. Any other request begins a trace.

use async_trait::async_trait;
use bytes::Bytes;
use host_ports::{Transport, TransportError};
use http::{HeaderMap, Request, Response};
use http_conventions::ports::OsEntropy;
use http_conventions::tracing::{Sampling, TRACEPARENT, TraceContext};
use webhook_core::sender::TraceParent;

tokio::task_local! {
    /// Trace of the request that the task handles.
    static CURRENT: Option<TraceContext>;
}

/// Runs `handler` in the trace of the request that it handles.
pub(super) async fn within<T>(trace: Option<TraceContext>, handler: impl Future<Output = T>) -> T {
    CURRENT.scope(trace, handler).await
}

/// Position of the request that the task handles, for the events that it enqueues.
pub(super) fn current() -> Option<TraceParent> {
    parent(&CURRENT.try_with(Option::clone).ok().flatten()?)
}

/// Position in a trace, for the events of the request.
pub(super) fn parent(trace: &TraceContext) -> Option<TraceParent> {
    trace.position().to_string().parse().ok()
}

/// A transport that adds `traceparent` to each request without one.
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
    if headers.contains_key(TRACEPARENT) {
        return;
    }
    let trace = CURRENT.try_with(Option::clone).ok().flatten();
    let trace = trace.unwrap_or_else(|| TraceContext::begin(&OsEntropy, Sampling::NEVER));
    trace.apply(headers);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(traceparent: Option<&str>) -> TraceParent {
        let mut headers = HeaderMap::new();
        if let Some(value) = traceparent {
            headers.insert(TRACEPARENT, value.parse().unwrap());
        }
        apply(&mut headers);
        headers[TRACEPARENT].to_str().unwrap().parse().unwrap()
    }

    /// X8: the message of a webhook has its place in a trace; any other request begins one.
    #[tokio::test]
    async fn only_a_request_without_a_trace_gets_one() {
        let message = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-02";
        assert_eq!(sent(Some(message)).to_string(), message);
        let inside = within(Some(TraceContext::begin(&OsEntropy, Sampling::NEVER)), async {
            sent(Some(message))
        });
        assert_eq!(inside.await.to_string(), message);
        assert_ne!(sent(None).to_string(), sent(None).to_string());
        assert_eq!(current(), None);
    }

    /// X8: a request that a handler sends names the handled request as its parent.
    #[tokio::test]
    async fn handler_sends_in_the_trace_of_its_request() {
        let trace = TraceContext::begin(&OsEntropy, Sampling::NEVER);
        let (parent, current) = within(Some(trace.clone()), async { (sent(None), current()) }).await;
        assert_eq!(parent.to_string(), trace.position().to_string());
        assert_eq!(current, Some(parent));
    }
}
