//! Metrics of operations.

use bytes::Bytes;
use futures_util::future::FutureExt as _;
use futures_util::stream::StreamExt as _;
use graph_core::http::GraphRequest;
use graph_core::limits::Limits;
use graph_core::metrics::{Metrics, OperationMetrics, ResolverMetrics};
use graph_core::persisted::{Manifest, TrustedDocuments, TrustedMode};
use host_ports::testing::ManualClock;
use http::Request;
use serde_json::{Value, json};

use super::{Lines, TestBuilder, TestEngine, body, builder, clock, context};
use crate::fixture::{accepting, get, post, post_body};

fn measured(builder: TestBuilder) -> (TestEngine, Lines, ManualClock) {
    let (lines, clock) = (Lines::default(), clock());
    let engine = builder.with_metrics(lines.clone(), clock.clone());
    (engine.build().unwrap(), lines, clock)
}

/// G30: each request is measured once, with its outcome, codes, duration, exact size and cost.
#[tokio::test]
async fn each_operation_is_measured_once() {
    let (engine, lines, clock) = measured(builder());
    let null = || Value::Null;
    for (request, expected) in [
        (
            post("{ user { id } }", null()),
            "query - success [] 17 ms, SIZE, cost 1",
        ),
        (
            post("{ later { id } }", null()),
            "query - success [] 65 ms, SIZE, cost 1",
        ),
        (
            post("mutation M { add { id } rename { id } }", null()),
            "mutation - success [] 32 ms, SIZE, cost 20",
        ),
        (
            post(
                "{ a: user(id: 0) { id } b: user(id: 8) { id } c: user { missing } }",
                null(),
            ),
            "query - partial [NOT_FOUND INTERNAL_SERVER_ERROR] 48 ms, SIZE, cost 3",
        ),
        (
            post("{ user(id: 7) { id } }", null()),
            "query - partial [INTERNAL_SERVER_ERROR] 16 ms, SIZE, cost 1",
        ),
        (
            post("{ broken }", null()),
            "query - failure [CONFLICT] 0 ms, SIZE, cost 0",
        ),
        (
            post("{ user", null()),
            "- - refused [GRAPHQL_PARSE_FAILED] 0 ms, SIZE, cost -",
        ),
        (
            post("{ nothing other }", null()),
            "- - refused [GRAPHQL_VALIDATION_FAILED] 0 ms, SIZE, cost -",
        ),
        (
            post(
                "query Q($id: Int!) { user(id: $id) { id } }",
                json!({ "id": "one" }),
            ),
            "query - refused [BAD_USER_INPUT] 0 ms, SIZE, cost 1",
        ),
        (
            post("subscription { joined(count: 1) { id } }", null()),
            "subscription - refused [BAD_REQUEST] 0 ms, SIZE, cost COST",
        ),
        (
            post_body(json!({ "documentId": "unknown" }).to_string()),
            "- - refused [PERSISTED_QUERY_NOT_SUPPORTED] 0 ms, SIZE, cost -",
        ),
    ] {
        let body = body(&engine, request, &clock).await;
        let [line] = lines.take().try_into().unwrap();
        let line = line.replace(&format!("{} bytes", body.len()), "SIZE");
        let cost = line.rsplit(' ').next().unwrap().to_owned();
        assert_eq!(line, format!("operation {expected}").replace("COST", &cost));
    }
}

/// G30: a request that contains no operation, or a mutation by GET, is one refused operation.
#[tokio::test]
async fn requests_without_operation_are_refused_operations() {
    let (engine, lines, clock) = measured(builder());
    let write = "mutation { rename { id } }";
    for (request, expected) in [
        (post_body("{"), "- - refused [BAD_REQUEST] 0 ms, 0 bytes, cost -"),
        (
            Request::put("/graphql").body(Bytes::new()).unwrap(),
            "- - refused [BAD_REQUEST] 0 ms, 0 bytes, cost -",
        ),
        (
            get(write),
            "mutation - refused [BAD_REQUEST] 0 ms, 0 bytes, cost 10",
        ),
        (
            accepting(get(write), "text/event-stream"),
            "mutation - refused [BAD_REQUEST] 0 ms, 0 bytes, cost 10",
        ),
        (
            accepting(
                get(write),
                "multipart/mixed;subscriptionSpec=1.0,application/json",
            ),
            "mutation - refused [BAD_REQUEST] 0 ms, 0 bytes, cost 10",
        ),
    ] {
        body(&engine, request, &clock).await;
        assert_eq!(lines.take(), [format!("operation {expected}")]);
    }
    let explorer = accepting(Request::get("/graphql").body(Bytes::new()).unwrap(), "text/html");
    body(&engine, explorer, &clock).await;
    assert_eq!(lines.take(), [""; 0]);
}

/// G30: `execute` and `subscribe` measure too, and a dropped operation is cancelled.
#[tokio::test]
async fn dropped_operations_are_cancelled() {
    let (engine, lines, clock) = measured(builder());
    let context = context(&clock);
    let request = GraphRequest::new("{ user { never } }");
    let mut operation = Box::pin(engine.execute(&request, &context));
    assert!(operation.as_mut().now_or_never().is_none());
    drop(operation);
    assert_eq!(
        lines.take(),
        ["operation query - cancelled [] 16 ms, 0 bytes, cost 1"]
    );
    engine
        .execute(&GraphRequest::new("{ user { id } }"), &context)
        .await;
    let response = engine.subscribe(GraphRequest::new("{ user { id } }"), context);
    drop(response.collect::<Vec<_>>().await);
    assert_eq!(
        lines.take(),
        ["operation query - success [] 17 ms, 26 bytes, cost 1"; 2]
    );
}

/// G30: the operation has the name that a trusted document has, never that of a client.
#[tokio::test]
async fn only_trusted_documents_have_names() {
    let manifest = Manifest::new()
        .with_document("users-1", "query Users { user { id } }")
        .with_document("users-2", "{ user { id } }");
    let trusted = TrustedDocuments::new([manifest]).with_mode(TrustedMode::Off);
    let (engine, lines, clock) = measured(builder().with_trusted_documents(trusted));
    for (request, name) in [
        (json!({ "documentId": "users-1" }), "Users"),
        (json!({ "documentId": "users-2" }), "users-2"),
        (json!({ "query": "query Users { user { id } }" }), "-"),
        (json!({ "query": "query s3cr3t { user { id } }" }), "-"),
    ] {
        body(&engine, post_body(request.to_string()), &clock).await;
        let expected = format!("operation query {name} success [] 17 ms, 26 bytes, cost 1");
        assert_eq!(lines.take(), [expected]);
    }
}

/// G30: each operation of a batch is measured, without the time of the others.
#[tokio::test]
async fn batches_measure_each_operation() {
    let limits = Limits::default().with_cost(19);
    let (engine, lines, clock) = measured(builder().with_batches().with_limits(limits));
    let batch = |queries: &[&str]| {
        let all: Vec<_> = queries.iter().map(|query| json!({ "query": query })).collect();
        post_body(Value::from(all).to_string())
    };
    let first = batch(&[
        "{ user { id } }",
        "{ nothing }",
        "{ later { id } }",
        "{ user { missing } }",
    ]);
    let written = body(&engine, first, &clock).await;
    let mut bytes = 0;
    let lines_without_bytes = lines.take().into_iter().map(|line| {
        let (start, rest) = line.split_once(" ms, ").unwrap();
        let (size, end) = rest.split_once(" bytes").unwrap();
        bytes += size.parse::<usize>().unwrap();
        format!("{start} ms{end}")
    });
    assert_eq!(
        lines_without_bytes.collect::<Vec<_>>(),
        [
            "operation - - refused [GRAPHQL_VALIDATION_FAILED] 0 ms, cost -",
            "operation query - success [] 17 ms, cost 1",
            "operation query - success [] 65 ms, cost 1",
            "operation query - partial [NOT_FOUND] 16 ms, cost 1",
        ]
    );
    assert_eq!(bytes + "[,,,]".len(), written.len());
    let together = batch(&["mutation { rename { id } }", "mutation { rename { id } }"]);
    let body = body(&engine, together, &clock).await;
    let refused = format!(
        "operation mutation - refused [MAX_COST_EXCEEDED] 0 ms, {} bytes, cost 10",
        body.len()
    );
    assert_eq!(lines.take(), [refused.clone(), refused]);
}

/// G30: a refused cost is known to the metrics.
#[tokio::test]
async fn refused_cost_is_measured() {
    let limits = Limits::default().with_cost(20);
    let (engine, lines, clock) = measured(builder().with_limits(limits));
    let query = "query Q($first: Int!) { users(first: $first) { id } }";
    let body = body(&engine, post(query, json!({ "first": 1000 })), &clock).await;
    let [line] = lines.take().try_into().unwrap();
    let expected = format!(
        "operation query - refused [MAX_COST_EXCEEDED] 0 ms, {} bytes, cost 1000",
        body.len()
    );
    assert_eq!(line, expected);
}

/// Bytes of the data lines of an event stream.
fn data(body: &[u8]) -> Vec<usize> {
    let text = std::str::from_utf8(body).unwrap();
    let lines = text.lines().filter_map(|line| line.strip_prefix("data: "));
    lines.map(str::len).filter(|length| *length > 0).collect()
}

/// G30: a subscription is measured per event from its arrival, and once at the end with the sum.
#[tokio::test]
async fn subscriptions_are_measured_per_event_and_at_the_end() {
    let (engine, lines, clock) = measured(builder());
    let query = "subscription Joined { joined(count: 3) { id } }";
    let request = accepting(post(query, Value::Null), "text/event-stream");
    let body = body(&engine, request, &clock).await;
    let sizes = data(&body);
    let whole: usize = sizes.iter().sum();
    let [first, second, third, end] = lines.take().try_into().unwrap();
    let cost = end.rsplit(' ').next().unwrap();
    let event = |text: &str, size: usize| format!("event subscription - {text}, {size} bytes, cost {cost}");
    assert_eq!(first, event("success [] 1 ms", sizes[0]));
    assert_eq!(second, event("success [] 1 ms", sizes[1]));
    assert_eq!(third, event("failure [CONFLICT] 0 ms", sizes[2]));
    let expected = format!("operation subscription - partial [CONFLICT] 157 ms, {whole} bytes, cost {cost}");
    assert_eq!(end, expected);
}

/// G30: a subscription that is refused, that panics, or that the client leaves, ends once.
#[tokio::test]
async fn subscriptions_end_once() {
    let (engine, lines, clock) = measured(builder());
    let outcomes = || -> Vec<String> {
        let lines = lines.take();
        let ends = lines.iter().filter(|line| line.starts_with("operation"));
        ends.map(|line| line.split(" ms").next().unwrap().to_owned())
            .collect()
    };
    for accept in ["text/event-stream", "multipart/mixed;subscriptionSpec=1.0"] {
        let sent = |query: &str| accepting(post(query, Value::Null), accept);
        body(&engine, sent("subscription { closed { id } }"), &clock).await;
        assert_eq!(outcomes(), ["operation subscription - refused [FORBIDDEN] 0"]);
        body(&engine, sent("subscription { joined(count: 9) { id } }"), &clock).await;
        let [end] = outcomes().try_into().unwrap();
        assert_eq!(
            end,
            "operation subscription - failure [CONFLICT INTERNAL_SERVER_ERROR] 462"
        );
    }
    let request = GraphRequest::new("subscription { joined(count: 2) { id } }");
    let mut events = Box::pin(engine.subscribe(request, context(&clock)));
    events.next().await.unwrap();
    drop(events);
    assert_eq!(outcomes(), ["operation subscription - cancelled [] 56"]);
}

/// G30: an operation with deferred parts is one operation with the bytes of all payloads.
#[tokio::test]
async fn deferred_parts_are_one_operation() {
    let (engine, lines, clock) = measured(builder().with_incremental_delivery());
    let query = "{ user { id ... @defer { friend { id missing } } } }";
    let sent = |query: &str, accept| accepting(post(query, Value::Null), accept);
    for accept in [
        "multipart/mixed;deferSpec=20220824",
        "multipart/mixed;incrementalSpec=v0.2",
    ] {
        let body = body(&engine, sent(query, accept), &clock).await;
        let text = String::from_utf8(body).unwrap();
        let payloads = text.lines().filter(|line| line.starts_with('{'));
        let bytes: usize = payloads.map(str::len).sum();
        let [line] = lines.take().try_into().unwrap();
        let expected = format!("operation query - partial [NOT_FOUND] 26 ms, {bytes} bytes, cost 2");
        assert_eq!(line, expected, "{text}");
    }
    // nothing is deferred
    let request = sent(
        "{ user { ... @defer(if: false) { id } } }",
        "multipart/mixed;deferSpec=20220824",
    );
    body(&engine, request, &clock).await;
    assert_eq!(
        lines.take(),
        ["operation query - success [] 17 ms, 26 bytes, cost 1"]
    );
}

/// G30: a panic of the hook changes no response.
#[tokio::test]
async fn panic_of_hook_changes_nothing() {
    struct Broken;

    impl Metrics for Broken {
        fn operation(&self, _: &OperationMetrics<'_>) {
            panic!("the metrics are full");
        }

        fn event(&self, _: &OperationMetrics<'_>) {
            panic!("the metrics are full");
        }

        fn resolver(&self, _: &ResolverMetrics<'_>) {
            panic!("the metrics are full");
        }
    }

    let clock = clock();
    let broken = builder()
        .with_resolver_metrics(Broken, clock.clone())
        .build()
        .unwrap();
    let whole = builder().build().unwrap();
    let live = accepting(
        post("subscription { joined(count: 2) { id name } }", Value::Null),
        "text/event-stream",
    );
    let query = post("{ user(id: 7) { id } later { id friend { name } } }", Value::Null);
    for request in [query, live] {
        let expected = body(&whole, request.clone(), &clock).await;
        assert_eq!(body(&broken, request, &clock).await, expected);
    }
}
