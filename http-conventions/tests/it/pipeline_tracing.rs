//! The pipeline gives each exchange a trace context, and its response a duration.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Response};
use http_conventions::{
    audit::audit,
    idempotency::KeyScope,
    pipeline::{Exchange, Started},
    tracing::{CallerTrust, SERVER_TIMING, Sampling, ServerTiming, TRACEPARENT},
};

use crate::pipeline_fixture::{Desk, json, request};

const KEY: (&str, &str) = ("idempotency-key", "8e03978e-40d5-43dd-bc93-6894a57f9324");
const SENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

fn begin(trust: Option<CallerTrust>) -> Exchange<Started> {
    let desk = Desk::configured(|builder| match trust {
        Some(trust) => builder.with_trace_context(trust, Sampling::NEVER),
        None => builder,
    });
    let request = request("GET", "/v1/charges", &[("traceparent", SENT)]);
    desk.conventions.begin(&request)
}

/// H31: the trace of a caller is continued if the host trusts its callers, and later stages keep
/// it; without the setting the fields are not read.
#[test]
fn trace_is_continued_for_trusted_callers() {
    assert!(begin(None).trace().is_none());
    let mut off = begin(None);
    off.adopt_trace();
    assert!(off.trace().is_none());

    let trusted = begin(Some(CallerTrust::Trusted));
    let admitted = trusted.admit(&request("GET", "/v1/charges", &[])).unwrap();
    let trace = admitted.skip_rate_limit().trace().unwrap().clone();
    assert_eq!(trace.trace_id().to_string(), TRACE);
    let mut outbound = HeaderMap::new();
    trace.apply(&mut outbound);
    assert!(
        outbound[TRACEPARENT]
            .to_str()
            .unwrap()
            .starts_with(&format!("00-{TRACE}-"))
    );
}

/// H31: a public client does not force a recording; the host may trust it after authentication.
#[test]
fn trace_of_untrusted_caller_is_adopted_by_the_host() {
    let mut exchange = begin(Some(CallerTrust::Untrusted));
    let trace = exchange.trace().unwrap();
    assert_ne!(trace.trace_id().to_string(), TRACE);
    assert!(!trace.is_sampled());
    assert_eq!(trace.link(), Some(SENT.parse().unwrap()));
    exchange.adopt_trace();
    assert_eq!(exchange.trace().unwrap().trace_id().to_string(), TRACE);
}

fn timed() -> Desk {
    Desk::configured(|builder| builder.with_server_timing())
}

fn timings(response: &Response<Bytes>) -> Vec<&str> {
    let lines = response.headers().get_all(SERVER_TIMING).iter();
    lines.map(|line| line.to_str().unwrap()).collect()
}

/// H31: each response has its duration, refusals too, and only if configured.
#[tokio::test]
async fn each_response_has_its_duration_if_configured() {
    let silent = Desk::new().send(&request("GET", "/v1/charges", &[])).await;
    assert!(timings(&silent).is_empty());
    let desk = timed();
    for target in ["/v1/charges", "/v1/nothing"] {
        let request = request("GET", target, &[]);
        let response = desk.send(&request).await;
        assert_eq!(timings(&response), ["total;dur=0"]);
        assert!(!response.headers().contains_key("timing-allow-origin"));
        assert_eq!(audit(&request, &response), []);
    }
}

/// H31: `total` follows the metrics of the handler, is written once, and a replay has its own.
#[tokio::test]
async fn total_is_the_duration_of_the_response() {
    let desk = timed();
    let request = request("POST", "/v1/charges", &[KEY]);
    let run = async |millis: u64| {
        let exchange = desk.conventions.begin(&request).admit(&request).unwrap();
        let outer = exchange.clone();
        let handler = async {
            desk.clock.advance(Duration::from_millis(millis));
            let mut response = json("{}");
            let timing = ServerTiming::new().with_metric("db", Duration::from_millis(3), "");
            timing.unwrap().apply(response.headers_mut());
            response
        };
        let exchange = exchange.skip_rate_limit();
        let response = exchange
            .run(&request, KeyScope::new("user-7", "/v1/charges"), handler)
            .await;
        outer.finish(Ok(response))
    };
    assert_eq!(timings(&run(7).await), ["db;dur=3", "total;dur=7"]);
    assert_eq!(
        timings(&run(9).await),
        ["total;dur=0"],
        "the replay measures itself"
    );
}

/// H31: the document lists `Server-Timing` if it is sent.
#[test]
fn document_lists_server_timing_if_it_is_sent() {
    let document = |desk: Desk| {
        let components = desk.conventions.openapi_components();
        let is_listed = desk.conventions.openapi_headers().contains_key("Server-Timing");
        (components["headers"].get("Server-Timing").is_some(), is_listed)
    };
    assert_eq!(document(timed()), (true, true));
    assert_eq!(document(Desk::new()), (false, false));
}

/// H31, H22: the audit accepts each valid form of `Server-Timing` and reports each other one.
#[test]
fn audit_reports_malformed_server_timing() {
    for (line, is_valid) in [
        ("db;dur=53.2, render", true),
        ("db;desc=\"a;b, c\";dur=1e3, x;dur = 5 ;y=z", true),
        ("db;dur=\"5\"", true),
        ("db;dur=fast", false),
        ("db;dur=inf", false),
        ("db;dur", false),
        ("a b;dur=1", false),
        ("db;desc=two words", false),
        (";dur=1", false),
    ] {
        let request = request("GET", "/v1/charges", &[]);
        let mut response = json("{}");
        let id = HeaderName::from_static("x-request-id");
        response
            .headers_mut()
            .insert(id, HeaderValue::from_static("checkout-7f3a"));
        response
            .headers_mut()
            .insert(SERVER_TIMING, line.parse().unwrap());
        let findings = audit(&request, &response);
        assert_eq!(findings.is_empty(), is_valid, "{line}: {findings:?}");
        assert!(
            findings
                .iter()
                .all(|finding| finding.rule().name() == "invalid-server-timing")
        );
    }
}
