//! Limit modes, status profiles, and introspection per request.

use std::sync::{Arc, Mutex};

use graph_core::http::{GraphRequest, StatusProfile};
use graph_core::limits::{LimitMode, Limits, Measured};
use graph_core::memory::MemoryPersisted;
use graph_core::persisted::AutomaticPersistedQueries;
use host_ports::testing::ManualClock;
use serde_json::json;

use crate::fixture::{Fixture, accepting, builder, codes, fixture, get, json as envelope, post, post_body};

const DEEP: &str = "{ a: item(id: 1) { parent { id } } }";

fn tight(mode: LimitMode) -> Limits {
    Limits::default()
        .with_depth(2)
        .with_aliases(0)
        .with_cost(1)
        .with_mode(mode)
}

/// G18: in enforcing mode an operation above a limit is refused; in the other modes it runs and is
/// logged.
#[tokio::test]
async fn limits_are_enforced_measured_or_reported() {
    for (mode, runs, reports) in [
        (LimitMode::Enforce, false, false),
        (LimitMode::Measure, true, false),
        (LimitMode::Report, true, true),
    ] {
        let measured = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&measured);
        let shop = Fixture::new(builder().with_limits(tight(mode)).with_limit_log(
            move |measured: &Measured<'_>| {
                let codes: Vec<_> = measured.exceeded.iter().map(|code| code.as_str()).collect();
                log.lock()
                    .unwrap()
                    .push((measured.estimate.cost(), measured.estimate.depth(), codes));
            },
        ));
        let within = shop.ask("{ ping }").await;
        assert_eq!(within["data"], json!({ "ping": "pong" }));
        let above = shop.ask(DEEP).await;
        assert_eq!(above.get("data").is_some(), runs, "{above}");
        let exceeded = ["MAX_DEPTH_EXCEEDED", "MAX_ALIASES_EXCEEDED", "MAX_COST_EXCEEDED"];
        if runs {
            let expected = [(0, 1, vec![]), (2, 3, exceeded.to_vec())];
            assert_eq!(*measured.lock().unwrap(), expected);
        } else {
            assert_eq!(codes(&above), exceeded);
        }
        let told = json!({ "cost": { "estimated": 2, "limit": 1, "exceeded": exceeded } });
        assert_eq!(above.get("extensions"), reports.then_some(&told));
        let told = json!({ "cost": { "estimated": 0, "limit": 1 } });
        assert_eq!(within.get("extensions"), reports.then_some(&told));
    }
}

/// G18: a size from a variable is checked and logged for each request.
#[tokio::test]
async fn what_variables_ask_for_is_measured_each_time() {
    let measured = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&measured);
    let shop = Fixture::new(builder().with_limit_log(move |measured: &Measured<'_>| {
        log.lock()
            .unwrap()
            .push((measured.estimate.cost(), measured.exceeded.len()));
    }));
    let query = "query ($n: Int) { search(first: $n) { ... on Item { id } } }";
    for (n, refused) in [(1, false), (20_000, true), (20_000, true), (2, false)] {
        let answer = shop.ask_with(query, json!({ "n": n })).await;
        assert_eq!(codes(&answer) == ["MAX_COST_EXCEEDED"], refused);
    }
    assert_eq!(
        *measured.lock().unwrap(),
        [(1, 0), (20_000, 1), (20_000, 1), (2, 0)]
    );
}

/// G18: the sum of a batch is logged if it exceeds a limit, in every mode; a stream is logged once.
#[tokio::test]
async fn a_batch_is_measured_as_one() {
    let pings = json!([{ "query": "{ ping }" }, { "query": "{ ping }" }]);
    for (mode, runs) in [(LimitMode::Enforce, false), (LimitMode::Measure, true)] {
        let measured = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&measured);
        let limits = Limits::default().with_root_fields(1).with_mode(mode);
        let shop = Fixture::new(builder().with_batches().with_limits(limits).with_limit_log(
            move |measured: &Measured<'_>| {
                let codes: Vec<_> = measured.exceeded.iter().map(|code| code.as_str()).collect();
                log.lock().unwrap().push((measured.estimate.root_fields(), codes));
            },
        ));
        let answer = shop.send(post_body(pings.to_string())).await;
        assert_eq!(answer.status() == 200, runs);
        let together = (2, vec!["MAX_COST_EXCEEDED"]);
        let within = (1, vec![]);
        let told = std::mem::take(&mut *measured.lock().unwrap());
        assert_eq!(told, [within.clone(), within.clone(), together]);
        shop.send(post_body(json!([{ "query": "{ ping }" }]).to_string()))
            .await;
        shop.send(accepting(get("{ ping }"), "text/event-stream")).await;
        assert_eq!(*measured.lock().unwrap(), [within.clone(), within]);
    }
}

/// G18: a client can request the cost of its operation if the host allows it, with data and with
/// errors.
#[tokio::test]
async fn a_client_may_ask_what_an_operation_costs() {
    let asking = |query: &str| {
        let mut request = post(query, json!(null));
        request
            .headers_mut()
            .insert("graphql-cost", http::HeaderValue::from_static("report"));
        request
    };
    let (shop, silent) = (Fixture::new(builder().with_cost_reports()), fixture());
    let told = json!({ "cost": { "estimated": 1, "limit": 10_000 } });
    for query in ["{ item(id: 1) { id } }", "{ item(id: 0) { id } }"] {
        let answer = envelope(&shop.send(asking(query)).await);
        assert_eq!(answer["extensions"], told, "{answer}");
        assert!(shop.ask(query).await.get("extensions").is_none());
        assert!(
            envelope(&silent.send(asking(query)).await)
                .get("extensions")
                .is_none()
        );
    }
    let refused = envelope(&shop.send(asking("{ nothing }")).await);
    assert!(refused.get("extensions").is_none());
    let request = GraphRequest::new("{ item(id: 1) { id } }").with_cost_report();
    let response = shop.engine.execute(&request, &shop.anonymous()).await;
    assert_eq!(serde_json::to_value(&response).unwrap()["extensions"], told);
    assert_eq!(
        response.to_json(),
        r#"{"data":{"item":{"id":1}},"extensions":{"cost":{"estimated":1,"limit":10000}}}"#
    );
}

/// G11: a request setting overrides the engine's introspection setting; `__typename` always works.
#[tokio::test]
async fn introspection_is_switched_by_request() {
    let (on, off) = (fixture(), Fixture::new(builder().without_introspection()));
    let query = "{ __typename __schema { queryType { name } } }";
    let allowed =
        json!({ "data": { "__typename": "Query", "__schema": { "queryType": { "name": "Query" } } } });
    // alternating: a cached plan must not decide
    for _ in 0..2 {
        assert_eq!(on.ask_in(query, on.anonymous()).await, allowed);
        let hidden = on.ask_in(query, on.anonymous().without_introspection()).await;
        assert_eq!(codes(&hidden), ["INTROSPECTION_DISABLED"]);
        let hidden = off.ask_in(query, off.anonymous()).await;
        assert_eq!(codes(&hidden), ["INTROSPECTION_DISABLED"]);
        assert_eq!(off.ask_in(query, off.ada().with_introspection()).await, allowed);
        let name = on
            .ask_in("{ __typename }", on.anonymous().without_introspection())
            .await;
        assert_eq!(name, json!({ "data": { "__typename": "Query" } }));
    }
}

/// G5: the statuses of both profiles in both media types.
#[tokio::test]
async fn statuses_are_those_of_the_edition() {
    let automatic = || {
        let store = Arc::new(MemoryPersisted::default());
        AutomaticPersistedQueries::new(store, ManualClock::new(std::time::SystemTime::UNIX_EPOCH))
    };
    let audited = Fixture::new(builder().with_automatic_persisted_queries(automatic()));
    let edition = builder().with_status_profile(StatusProfile::September2026);
    let edition = Fixture::new(edition.with_automatic_persisted_queries(automatic()));
    let hash = |hash: &str| json!({ "version": 1, "sha256Hash": hash });
    let zeroes = "0".repeat(64);
    let query = |query: &str| json!({ "query": query }).to_string();
    // body; status as JSON; status as a GraphQL response by the audits and by the edition
    for (body, json_status, strict, of_edition) in [
        (query("{ ping }"), 200, 200, 200),
        (query("{ ping item(id: 0) { id } }"), 200, 200, 294),
        (query("{ broken }"), 200, 200, 294),
        (query("{"), 200, 400, 400),
        (query("{ nothing }"), 200, 400, 422),
        (
            query("query ($n: Int!) { items(first: $n) { id } }"),
            200,
            400,
            422,
        ),
        (query("query A { ping } query B { ping }"), 200, 400, 422),
        (query("{ items(first: 20000) { id } }"), 200, 400, 422),
        ("{".to_owned(), 400, 400, 400),
        ("[]".to_owned(), 400, 400, 400),
        (r#"{"qeury":"{ ping }"}"#.to_owned(), 400, 400, 422),
        (
            r#"{"query":"{ ping }","variables":[7]}"#.to_owned(),
            400,
            400,
            422,
        ),
        (r#"{"query":7}"#.to_owned(), 400, 400, 422),
        (
            json!({ "extensions": { "persistedQuery": hash(&zeroes) } }).to_string(),
            200,
            200,
            404,
        ),
        (
            json!({ "query": "{ ping }", "extensions": { "persistedQuery": hash(&zeroes) } }).to_string(),
            400,
            400,
            400,
        ),
        (query("subscription { live { id } }"), 200, 400, 422),
    ] {
        for (shop, accept, expected) in [
            (&audited, "application/json", json_status),
            (&edition, "application/json", json_status),
            (&audited, "application/graphql-response+json", strict),
            (&edition, "application/graphql-response+json", of_edition),
        ] {
            let response = shop.send(accepting(post_body(body.clone()), accept)).await;
            assert_eq!(response.status().as_u16(), expected, "{body} as {accept}");
        }
    }
}
