//! Messages of an event continue the trace of the request that enqueued it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use http::StatusCode;
use webhook_core::sender::{DeliveryEvent, DeliveryMetrics, Enqueue, Outbox, StaticHeaders, TraceParent};

use super::fixture::{Fixture, answer, event, start};

const REQUEST: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

#[derive(Default)]
struct Traces(Mutex<Vec<Option<TraceParent>>>);

impl DeliveryMetrics for Traces {
    fn record(&self, event: &DeliveryEvent<'_>) {
        if let DeliveryEvent::Attempted { trace, .. } = event {
            self.0.lock().unwrap().push(*trace);
        }
    }
}

/// Values of `traceparent` in the messages of an event to two endpoints, one of which is repeated.
async fn sent(trace: Option<TraceParent>) -> Vec<Option<String>> {
    let script = [StatusCode::OK, StatusCode::SERVICE_UNAVAILABLE, StatusCode::OK];
    let mut fixture = Fixture::scripted(script.map(answer))
        .with_endpoints(&["ep_1", "ep_2"])
        .await;
    let traces = Arc::new(Traces::default());
    fixture.dispatcher = fixture.dispatcher.with_metrics(traces.clone());
    let endpoints = ["ep_1", "ep_2"].map(|id| id.parse().unwrap());
    let enqueue = Enqueue::to(event("evt_1").in_trace(trace), endpoints, start());
    fixture.outbox.enqueue(enqueue).await.unwrap();
    fixture.run().await;
    fixture.clock.advance(std::time::Duration::from_secs(3600));
    fixture.run().await;
    let requests = fixture.transport.requests();
    let values = requests
        .iter()
        .map(|request| request.headers().get("traceparent"));
    let values: Vec<_> = values
        .map(|value| value.map(|value| value.to_str().unwrap().to_owned()))
        .collect();
    let told = traces.0.lock().unwrap().clone();
    assert_eq!(
        told.iter()
            .map(|trace| trace.map(|trace| trace.to_string()))
            .collect::<Vec<_>>(),
        values
    );
    values
}

/// The fields of a `traceparent`: version, trace id, span id and flags.
fn fields(traceparent: &str) -> [&str; 4] {
    let fields: Vec<&str> = traceparent.split('-').collect();
    fields.try_into().unwrap()
}

/// W25, W34, H31: every message, also a repeated one, is a span of its own in the trace of the
/// request; the metrics hook gets it.
#[tokio::test]
async fn messages_continue_the_trace_of_the_request() {
    let sent = sent(Some(REQUEST.parse().unwrap())).await;
    let [version, trace_id, span_id, flags] = fields(REQUEST);
    let mut spans = BTreeSet::from([span_id]);
    for message in &sent {
        let message = fields(message.as_ref().unwrap());
        assert_eq!([message[0], message[1], message[3]], [version, trace_id, flags]);
        spans.insert(message[2]);
    }
    assert_eq!(spans.len(), 4, "{sent:?}");
}

/// H31: without a trace, messages have no `traceparent`.
#[tokio::test]
async fn event_without_trace_has_no_traceparent() {
    assert_eq!(sent(None).await, [None, None, None]);
}

/// W25, H31: a customer cannot set the trace of a message.
#[test]
fn static_headers_cannot_set_the_trace() {
    for name in ["traceparent", "tracestate", "TraceParent"] {
        assert!(StaticHeaders::new([(name, REQUEST)]).is_err(), "{name}");
    }
}

/// H31: only a `traceparent` is a trace; its grammar is tested in http-conventions.
#[test]
fn only_a_traceparent_is_read() {
    let read: TraceParent = REQUEST.parse().unwrap();
    assert_eq!(read.to_string(), REQUEST);
    assert_eq!(read.trace_id().to_string(), fields(REQUEST)[1]);
    for text in [
        "",
        "00",
        &REQUEST.replace("0af", "0AF"),
        &format!("{REQUEST}\r\nx: y"),
    ] {
        assert!(text.parse::<TraceParent>().is_err(), "{text}");
    }
}
