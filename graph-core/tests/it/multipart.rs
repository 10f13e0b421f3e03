//! Subscriptions as `multipart/mixed`, by Apollo's protocol.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{FutureExt as _, StreamExt as _};
use graph_core::http::{EventStream, HttpResponse, StatusProfile};
use graph_core::ports::{Sleep, Timer};
use http::{Request, Response};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use crate::fixture::{Context, Fixture, accepting, builder, codes, fixture, get, json as envelope, post};

const PARTS: &str = "multipart/mixed;subscriptionSpec=1.0";
const APOLLO: &str = "multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/graphql-response+json,application/json;q=0.9";
const ADDED: &str = "subscription { added(count: 2) { id } }";

fn content_type(response: &Response<Bytes>) -> &str {
    response.headers()["content-type"].to_str().unwrap()
}

/// Start of each response.
const OPENING: &str =
    "\r\n--graphql\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}\r\n--graphql\r\n";

/// End of each response.
const CLOSING: &str = "content-type: application/json\r\ncontent-length: 2\r\n\r\n{}\r\n--graphql--\r\n";

/// Response with the parts `bodies`, and the closing delimiter.
fn parts(bodies: &[&str]) -> String {
    let part = |body: &&str| {
        let length = body.len();
        format!("content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}\r\n--graphql\r\n")
    };
    let parts: String = bodies.iter().map(part).collect();
    format!("{OPENING}{parts}{CLOSING}")
}

/// Bodies of the parts between the first and the last heartbeat, as the parser of Apollo Client
/// splits them.
fn bodies(text: &str) -> Vec<Value> {
    let parts = text.strip_prefix(OPENING).unwrap();
    let parts = parts.strip_suffix(CLOSING).unwrap();
    let parts = parts.strip_suffix("\r\n--graphql\r\n").unwrap();
    parts
        .split("\r\n--graphql")
        .map(|part| {
            let (head, body) = part.split_once("\r\n\r\n").unwrap();
            assert!(
                head.ends_with(&format!("\r\ncontent-length: {}", body.len())),
                "{head}"
            );
            serde_json::from_str(body).unwrap()
        })
        .collect()
}

/// Source of the events of `live`.
fn feed(shop: &Fixture) -> mpsc::UnboundedSender<i32> {
    let (feed, receiver) = mpsc::unbounded_channel();
    *shop.shop.feed.lock().unwrap() = Some(receiver);
    feed
}

async fn open(shop: &Fixture, request: Request<Bytes>, context: Context) -> EventStream {
    match shop.engine.respond(request, context).await {
        HttpResponse::Stream(response) => response.into_body(),
        HttpResponse::Full(response) => panic!("{response:?}"),
    }
}

/// G25: each event is a part with a payload; the closing delimiter ends the response.
#[tokio::test]
async fn events_are_parts_until_the_closing_delimiter() {
    let shop = fixture();
    for request in [post(ADDED, Value::Null), get(ADDED)] {
        let response = shop.send_in(accepting(request, APOLLO), shop.ada()).await;
        assert_eq!(response.status(), 200);
        assert_eq!(
            content_type(&response),
            "multipart/mixed;boundary=graphql;subscriptionSpec=1.0"
        );
        assert_eq!(response.headers()["cache-control"], "private, no-store");
        assert_eq!(response.headers()["vary"], "accept");
        assert_eq!(response.headers()["x-accel-buffering"], "no");
        let expected = parts(&[
            r#"{"payload":{"data":{"added":{"id":1}}}}"#,
            r#"{"payload":{"data":{"added":{"id":2}}}}"#,
        ]);
        assert_eq!(response.body(), &expected);
    }
}

/// G25: a chunk ends with the line of a delimiter, so a client reads a part before the next event,
/// also a client that reads whole lines or the length of the part.
#[tokio::test]
async fn part_is_complete_before_next_event() {
    let shop = fixture();
    let feed = feed(&shop);
    let request = accepting(post("subscription { live { id } }", Value::Null), PARTS);
    let mut chunks = open(&shop, request, shop.anonymous()).await;
    assert_eq!(chunks.next().await.unwrap(), OPENING);
    assert!(chunks.next().now_or_never().is_none());
    feed.send(7).unwrap();
    assert_eq!(
        chunks.next().await.unwrap(),
        "content-type: application/json\r\ncontent-length: 38\r\n\r\n\
         {\"payload\":{\"data\":{\"live\":{\"id\":7}}}}\r\n--graphql\r\n"
    );
    assert!(chunks.next().now_or_never().is_none());
    drop(feed);
    assert_eq!(chunks.next().await.unwrap(), CLOSING);
    assert_eq!(chunks.next().await, None);
}

/// G25: a subscription without events is a heartbeat and the closing delimiter.
#[tokio::test]
async fn subscription_without_events_has_one_part() {
    let shop = fixture();
    let request = post("subscription { added(count: 0) { id } }", Value::Null);
    let response = shop.send_in(accepting(request, PARTS), shop.ada()).await;
    assert_eq!(response.body(), &parts(&[]));
}

/// G25: `Accept` selects parts for a subscription and the other format for a query.
#[tokio::test]
async fn accept_selects_the_format() {
    let (json, graphql) = ("application/json", "application/graphql-response+json");
    let (parts, events) = ("multipart/mixed", "text/event-stream");
    let shop = fixture();
    for (accept, subscription, query) in [
        (PARTS, parts, json),
        (APOLLO, parts, graphql),
        (
            "multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/json",
            parts,
            json,
        ),
        (
            r#"multipart/mixed; boundary="graphql"; subscriptionSpec="1.0", application/json"#,
            parts,
            json,
        ),
        (
            r#"application/json , Multipart/Mixed ; SubscriptionSpec = "1.0" ; boundary=graphql"#,
            parts,
            json,
        ),
        (
            "application/graphql-response+json, application/json, multipart/mixed;subscriptionSpec=1.0",
            parts,
            graphql,
        ),
        (
            "application/json, multipart/mixed;subscriptionSpec=1.0;q=0.1",
            parts,
            json,
        ),
        ("*/*, multipart/mixed;subscriptionSpec=1.0", parts, json),
        (
            "multipart/mixed;q=0, multipart/mixed;subscriptionSpec=1.0",
            parts,
            json,
        ),
        (
            "multipart/mixed;deferSpec=20220824, multipart/mixed;subscriptionSpec=1.0",
            parts,
            json,
        ),
        (
            "multipart/mixed;subscriptionSpec=1.0, text/event-stream",
            parts,
            events,
        ),
        (
            "multipart/mixed;subscriptionSpec=1.0, text/event-stream, application/json",
            parts,
            events,
        ),
        (
            "text/event-stream, multipart/mixed;subscriptionSpec=1.0",
            events,
            events,
        ),
        (
            "multipart/mixed;subscriptionSpec=1.0;q=0.5, text/event-stream",
            events,
            events,
        ),
        (
            "text/event-stream;q=0.5, multipart/mixed;subscriptionSpec=1.0",
            parts,
            events,
        ),
        ("text/event-stream, multipart/mixed", events, events),
        // no parts: a range without the parameter, or none at all
        (json, json, json),
        ("*/*", json, json),
        (
            "application/json, multipart/mixed;subscriptionSpec=1.0;q=0",
            json,
            json,
        ),
        (
            "application/json, multipart/mixed;subscriptionSpec=2.0",
            json,
            json,
        ),
        ("application/json, multipart/mixed", json, json),
        ("application/json, multipart/*;subscriptionSpec=1.0", json, json),
        ("multipart/mixed;deferSpec=20220824, application/json", json, json),
        ("multipart/mixed", "", ""),
        ("multipart/mixed;deferSpec=20220824", "", ""),
        ("multipart/mixed;subscriptionSpec=2.0", "", ""),
        ("multipart/mixed;subscriptionSpec=1.0;q=0", "", ""),
    ] {
        for (text, expected) in [(ADDED, subscription), ("{ ping }", query)] {
            let request = accepting(post(text, Value::Null), accept);
            let response = shop.send_in(request, shop.ada()).await;
            let status = if expected.is_empty() { 406 } else { 200 };
            assert_eq!(response.status(), status, "{accept}: {text}");
            assert!(content_type(&response).starts_with(expected), "{accept}: {text}");
            let refused = envelope_or_null(&response)["errors"].is_array();
            assert_eq!(
                refused,
                expected.is_empty() || (text == ADDED && expected == json),
                "{accept}: {text}"
            );
        }
    }
}

fn envelope_or_null(response: &Response<Bytes>) -> Value {
    serde_json::from_slice(response.body()).unwrap_or_default()
}

/// G25: a query and a mutation are ordinary responses, executed once.
#[tokio::test]
async fn query_and_mutation_are_ordinary_responses() {
    let shop = fixture();
    for (text, data) in [
        ("{ ping }", json!({ "ping": "pong" })),
        ("mutation { add(id: 1) { id } }", json!({ "add": { "id": 1 } })),
    ] {
        let response = shop.send(accepting(post(text, Value::Null), APOLLO)).await;
        assert_eq!(
            content_type(&response),
            "application/graphql-response+json; charset=utf-8"
        );
        assert_eq!(envelope(&response), json!({ "data": data }));
    }
    assert_eq!(shop.shop.calls(), 2);
}

/// G25: an operation that does not start gets its status, without parts.
#[tokio::test]
async fn refused_operation_is_an_ordinary_response() {
    let september = Fixture::new(builder().with_status_profile(StatusProfile::September2026));
    let audited = fixture();
    for (text, code, status) in [
        ("subscription {", "GRAPHQL_PARSE_FAILED", 400),
        ("subscription { nothing }", "GRAPHQL_VALIDATION_FAILED", 422),
        (
            "subscription { added { id } live { id } }",
            "GRAPHQL_VALIDATION_FAILED",
            422,
        ),
        (
            "subscription ($n: Int!) { added(count: $n) { id } }",
            "BAD_USER_INPUT",
            422,
        ),
        (ADDED, "UNAUTHENTICATED", 401),
    ] {
        for (shop, accept, expected) in [
            (&audited, APOLLO, 400),
            (&audited, PARTS, 200),
            (&september, APOLLO, status),
        ] {
            let response = shop.send(accepting(post(text, Value::Null), accept)).await;
            assert_eq!(response.status(), expected, "{text}");
            let envelope = envelope(&response);
            assert_eq!(codes(&envelope)[0], code, "{text}");
            assert_eq!(envelope.get("data"), None, "{text}");
        }
    }
    assert_eq!((audited.shop.calls(), september.shop.calls()), (0, 0));
    let response = audited
        .send(accepting(crate::fixture::post_body("{"), APOLLO))
        .await;
    assert_eq!(response.status(), 400);
    assert_eq!(codes(&envelope(&response)), ["BAD_REQUEST"]);
}

/// G25, G1: GET runs no mutation, also for a client that accepts parts.
#[tokio::test]
async fn get_runs_no_mutation() {
    let shop = fixture();
    for accept in [
        PARTS,
        APOLLO,
        "multipart/mixed;subscriptionSpec=1.0, text/event-stream",
    ] {
        let request = accepting(get("mutation { add(id: 1) { id } }"), accept);
        let response = shop.send(request).await;
        assert_eq!(response.status(), 405, "{accept}");
        assert_eq!(response.headers()["allow"], "POST");
    }
    assert_eq!(shop.shop.calls(), 0);
}

/// G25, G20: a POST that needs no preflight starts no subscription.
#[tokio::test]
async fn simple_post_needs_preflight_header() {
    let shop = fixture();
    let mut request = accepting(post(ADDED, Value::Null), APOLLO);
    let plain = http::HeaderValue::from_static("text/plain");
    request.headers_mut().insert("content-type", plain);
    let response = shop.send_in(request.clone(), shop.ada()).await;
    assert_eq!(response.status(), 400);
    let value = http::HeaderValue::from_static("1");
    request.headers_mut().insert("apollo-require-preflight", value);
    let response = shop.send_in(request, shop.ada()).await;
    assert_eq!(response.status(), 415);
    assert_eq!(shop.shop.calls(), 0);
}

/// G25, G6: a failed event is a payload with masked errors; later events follow.
#[tokio::test]
async fn failed_event_is_a_payload_with_errors() {
    let shop = fixture();
    let request = accepting(post("subscription { failing { id } }", Value::Null), PARTS);
    let response = shop.send(request).await;
    let text = std::str::from_utf8(response.body()).unwrap();
    let bodies = bodies(text);
    assert_eq!(
        bodies[0],
        json!({ "payload": { "data": { "failing": { "id": 1 } } } })
    );
    assert_eq!(bodies[1]["payload"]["data"], Value::Null);
    assert_eq!(codes(&bodies[1]["payload"]), ["INTERNAL_SERVER_ERROR"]);
    assert_eq!(
        bodies[2],
        json!({ "payload": { "data": { "failing": { "id": 3 } } } })
    );
    assert!(!text.contains("10.0.0.9"));
}

/// G25, G19: a panic of the source ends the stream with `payload: null` and errors.
#[tokio::test]
async fn panic_ends_the_stream_with_errors() {
    let shop = fixture();
    let request = accepting(post("subscription { exploding { id } }", Value::Null), PARTS);
    let response = shop.send(request).await;
    let bodies = bodies(std::str::from_utf8(response.body()).unwrap());
    assert_eq!(bodies.len(), 2);
    assert_eq!(
        bodies[0],
        json!({ "payload": { "data": { "exploding": { "id": 1 } } } })
    );
    assert_eq!(bodies[1]["payload"], Value::Null);
    assert_eq!(codes(&bodies[1]), ["INTERNAL_SERVER_ERROR"]);
    assert_eq!(shop.ask("{ ping }").await, json!({ "data": { "ping": "pong" } }));
}

/// G25: a payload with the text of a delimiter, or with non-ASCII text, stays one part.
#[tokio::test]
async fn payload_cannot_end_its_part() {
    let shop = fixture();
    for name in [
        "\r\n--graphql--\r\n",
        "--graphql",
        "\r\n\r\n{}",
        "Gr\u{fc}\u{df}e \u{1f600}\u{2028}",
    ] {
        let variables = json!({ "text": name });
        let request = post("subscription ($text: String!) { echo(text: $text) }", variables);
        let response = shop.send(accepting(request, PARTS)).await;
        let bodies = bodies(std::str::from_utf8(response.body()).unwrap());
        assert_eq!(bodies, [json!({ "payload": { "data": { "echo": name } } })]);
    }
}

/// Interval and waker of a wait.
type Wait = (Duration, oneshot::Sender<()>);

/// Timer that the test fires.
#[derive(Clone, Default)]
struct Manual(Arc<Mutex<Vec<Wait>>>);

impl Timer for Manual {
    fn sleep(&self, duration: Duration) -> Sleep {
        let (fire, fired) = oneshot::channel();
        self.0.lock().unwrap().push((duration, fire));
        Box::pin(fired.map(drop))
    }
}

impl Manual {
    /// Ends the wait that began last.
    fn fire(&self) {
        let (duration, fire) = self.0.lock().unwrap().pop().unwrap();
        assert_eq!(duration, Duration::from_secs(5));
        fire.send(()).unwrap();
    }
}

/// G25: a silent stream sends a heartbeat after each interval, in its own format.
#[tokio::test]
async fn silent_stream_sends_heartbeats() {
    let part = "content-type: application/json\r\ncontent-length: 2\r\n\r\n{}\r\n--graphql\r\n";
    for (accept, heartbeat) in [(PARTS, part), ("text/event-stream", ":\n\n")] {
        let shop = fixture();
        let feed = feed(&shop);
        let request = accepting(post("subscription { live { id } }", Value::Null), accept);
        let chunks = open(&shop, request, shop.anonymous()).await;
        let timer = Manual::default();
        let mut chunks = chunks.with_keep_alive(timer.clone(), Duration::from_secs(5));
        if accept == PARTS {
            assert_eq!(chunks.next().await.unwrap(), OPENING);
        }
        for _ in 0..2 {
            assert!(chunks.next().now_or_never().is_none());
            timer.fire();
            assert_eq!(chunks.next().await.unwrap(), heartbeat);
        }
        // an event restarts the interval
        assert!(chunks.next().now_or_never().is_none());
        feed.send(7).unwrap();
        assert_ne!(chunks.next().await.unwrap(), heartbeat);
        assert!(chunks.next().now_or_never().is_none());
        assert_eq!(
            timer
                .0
                .lock()
                .unwrap()
                .iter()
                .filter(|(_, fire)| !fire.is_closed())
                .count(),
            1
        );
        drop(feed);
        assert_ne!(chunks.next().await.unwrap(), heartbeat);
        assert_eq!(chunks.next().await, None);
        assert!(timer.0.lock().unwrap().iter().all(|(_, fire)| fire.is_closed()));
    }
}

/// G25: dropping the response ends the subscription; nothing runs before the host polls.
#[tokio::test]
async fn dropped_response_ends_the_subscription() {
    let shop = fixture();
    let feed = feed(&shop);
    let request = accepting(post("subscription { live { id } }", Value::Null), PARTS);
    let mut chunks = open(&shop, request, shop.anonymous()).await;
    assert_eq!(chunks.next().await.unwrap(), OPENING);
    assert!(!feed.is_closed());
    drop(chunks);
    assert!(feed.is_closed());

    let request = accepting(post("subscription { exploding { id } }", Value::Null), PARTS);
    let mut chunks = open(&shop, request, shop.anonymous()).await;
    chunks.next().await.unwrap();
    chunks.next().await.unwrap();
    drop(chunks);
    // the second event, which panics, was never polled
    assert!(shop.incidents.lock().unwrap().is_empty());
}

/// G25: a batch is a JSON array, also for a client that accepts parts.
#[tokio::test]
async fn batch_of_client_with_parts_is_json() {
    let shop = Fixture::new(builder().with_batches());
    let request = crate::fixture::post_body(r#"[{"query":"{ ping }"}]"#);
    let response = shop.send(accepting(request, APOLLO)).await;
    assert_eq!(envelope(&response), json!([{ "data": { "ping": "pong" } }]));
}
