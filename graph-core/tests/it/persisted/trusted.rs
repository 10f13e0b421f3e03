//! Trusted documents (G14).

use std::sync::{Arc, Mutex};

use graph_core::engine::ConfigMistake;
use graph_core::limits::Limits;
use graph_core::memory::MemoryPersisted;
use graph_core::persisted::{Manifest, TrustedDocuments, TrustedMode, Untrusted};
use serde_json::json;

use super::{by_id, extensions, got, hash, hashed, over, registering};
use crate::fixture::{Fixture, accepting, builder, codes, json as envelope, post, post_body};

const PING: &str = "query Ping { ping }";
const ADD: &str = "mutation Add { add(id: 1) { id } }";

/// Manifests of one client: by SHA-256 as Apollo, by another digest as Relay.
fn manifests() -> [Manifest; 2] {
    let apollo = json!({
        "format": "apollo-persisted-query-manifest",
        "version": 1,
        "operations": [{ "id": hash(PING), "name": "Ping", "type": "query", "body": PING }],
    });
    let relay =
        json!({ "0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d": ADD, "both": "query A { ping } query B { viewer }" });
    [apollo, relay].map(|manifest| Manifest::from_json(manifest.to_string().as_bytes()).unwrap())
}

fn trusting(mode: TrustedMode) -> Fixture {
    Fixture::new(builder().with_trusted_documents(TrustedDocuments::new(manifests()).with_mode(mode)))
}

/// G14: in enforcing mode a trusted document runs by its id in every form, by POST and GET, with or
/// without operation name.
#[tokio::test]
async fn a_listed_document_runs_by_its_id() {
    let shop = trusting(TrustedMode::Enforce);
    let pinged = json!({ "data": { "ping": "pong" } });
    let named = json!({ "operationName": "Ping", "extensions": extensions(&hash(PING)) });
    for request in [
        hashed(PING),
        registering(PING),
        by_id(&format!("sha256:{}", hash(PING))),
        by_id(&hash(PING)),
        post_body(named.to_string()),
        got(&[("documentId", &hash(PING))]),
        post_body(json!({ "documentId": "both", "operationName": "A" }).to_string()),
    ] {
        assert_eq!(envelope(&shop.send(request).await), pinged);
    }
    let added = envelope(&shop.send(by_id("0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d")).await);
    assert_eq!(added, json!({ "data": { "add": { "id": 1 } } }));
    let by_get = shop
        .send(got(&[("documentId", "0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d")]))
        .await;
    assert_eq!(by_get.status(), 405);
    for unresolved in [
        json!({ "documentId": "both" }),
        json!({ "documentId": "both", "operationName": "C" }),
    ] {
        let answer = envelope(&shop.send(post_body(unresolved.to_string())).await);
        assert_eq!(codes(&answer), ["OPERATION_RESOLUTION_FAILURE"]);
    }
}

/// G14: in enforcing mode nothing else runs, and the client is not told to send its text, as JSON
/// or events, by POST or GET.
#[tokio::test]
async fn nothing_outside_an_enforced_list_runs() {
    let shop = trusting(TrustedMode::Enforce);
    for (request, code) in [
        (hashed("{ ping }"), "PERSISTED_QUERY_NOT_IN_LIST"),
        (registering("{ ping }"), "PERSISTED_QUERY_NOT_IN_LIST"),
        (by_id("unknown"), "PERSISTED_QUERY_NOT_IN_LIST"),
        (by_id("BOTH"), "PERSISTED_QUERY_NOT_IN_LIST"),
        (post("{ ping }", json!(null)), "PERSISTED_QUERY_ID_REQUIRED"),
        (post(PING, json!(null)), "PERSISTED_QUERY_ID_REQUIRED"),
        (
            post("{ __schema { types { name } } }", json!(null)),
            "PERSISTED_QUERY_ID_REQUIRED",
        ),
        (post("{", json!(null)), "PERSISTED_QUERY_ID_REQUIRED"),
        (crate::fixture::get("{ ping }"), "PERSISTED_QUERY_ID_REQUIRED"),
    ] {
        let response = shop.send(request.clone()).await;
        assert_eq!(response.status(), 200);
        assert_eq!(codes(&envelope(&response)), [code]);
        let strict = shop
            .send(accepting(request.clone(), "application/graphql-response+json"))
            .await;
        assert_eq!(strict.status(), 400);
        let events = shop.send(accepting(request, "text/event-stream")).await;
        let body = String::from_utf8_lossy(events.body()).into_owned();
        assert!(body.contains(code) && !body.contains("\"data\""), "{body}");
    }
    assert_eq!(shop.shop.calls(), 0);
}

/// G14: in enforcing mode clients cannot register documents, even with a store.
#[tokio::test]
async fn nothing_is_registered_beside_an_enforced_list() {
    let store = Arc::new(MemoryPersisted::new(1 << 20));
    let trusted = TrustedDocuments::new(manifests());
    let engine = builder().with_trusted_documents(trusted);
    let shop = Fixture::new(engine.with_automatic_persisted_queries(over(store.clone())));
    let refused = envelope(&shop.send(registering("{ ping }")).await);
    assert_eq!(codes(&refused), ["PERSISTED_QUERY_NOT_IN_LIST"]);
    assert!(
        envelope(&shop.send(registering(PING)).await)
            .get("errors")
            .is_none()
    );
    assert!(store.is_empty());
}

/// G14: a trusted id with another text is refused.
#[tokio::test]
async fn a_listed_id_with_another_text_is_refused() {
    for mode in [TrustedMode::Off, TrustedMode::Log, TrustedMode::Enforce] {
        let shop = trusting(mode);
        let body = json!({ "query": "{ viewer }", "extensions": extensions(&hash(PING)) });
        let response = shop.send(post_body(body.to_string())).await;
        assert_eq!(response.status(), 400);
        assert_eq!(codes(&envelope(&response)), ["PERSISTED_QUERY_MISMATCH"]);
        assert_eq!(shop.shop.calls(), 0);
    }
}

/// G14: logging mode runs everything and reports untrusted documents; off mode reports nothing.
#[tokio::test]
async fn a_dry_run_tells_what_would_be_refused() {
    for (mode, told) in [
        (TrustedMode::Off, 0),
        (TrustedMode::Log, 2),
        (TrustedMode::Enforce, 2),
    ] {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        let trusted =
            TrustedDocuments::new(manifests())
                .with_mode(mode)
                .with_log(move |asked: &Untrusted<'_>| {
                    let id = asked.id.map(ToString::to_string);
                    let subject = asked.principal.map(|principal| principal.subject().to_owned());
                    log.lock()
                        .unwrap()
                        .push((id, asked.text.map(str::to_owned), subject));
                });
        let shop = Fixture::new(builder().with_trusted_documents(trusted));
        let free = shop.ask_in("{ ping }", shop.ada()).await;
        assert_eq!(free.get("errors").is_none(), mode != TrustedMode::Enforce);
        assert!(envelope(&shop.send(hashed(PING)).await).get("errors").is_none());
        let unknown = envelope(&shop.send(by_id("unknown")).await);
        assert_eq!(codes(&unknown), ["PERSISTED_QUERY_NOT_IN_LIST"]);
        let expected = [
            (None, Some("{ ping }".to_owned()), Some("ada".to_owned())),
            (Some("unknown".to_owned()), None, None),
        ];
        assert_eq!(*asked.lock().unwrap(), expected[..told]);
    }
}

/// G14, G3: an engine is not built with documents that violate the schema, the limits or their
/// hash; all mistakes are reported.
#[tokio::test]
async fn an_engine_does_not_start_with_a_list_that_drifted() {
    let deep = "{ item(id: 1) { parent { id } } }";
    let manifest = Manifest::new()
        .with_document("fits", "{ ping }")
        .with_document("fits", "{ ping }")
        .with_document("gone", "{ removed }")
        .with_document("broken", "{")
        .with_document("empty", "fragment F on Item { id }")
        .with_document("deep", deep)
        .with_document("second", "query A { ping } query B { removed }")
        .with_document(hash("{ ping }"), "{ viewer }")
        .with_document("fits", "{ viewer }");
    let limits = Limits::default().with_depth(2);
    let built = builder()
        .with_limits(limits)
        .with_trusted_documents(TrustedDocuments::new([manifest]))
        .build();
    let mistakes = built.unwrap_err().mistakes().to_vec();
    let ids: Vec<_> = mistakes
        .iter()
        .map(|mistake| match mistake {
            ConfigMistake::TrustedDocument { id, .. } => id.clone(),
            ConfigMistake::TwoDocuments(id) => format!("twice {id}"),
            other => panic!("{other}"),
        })
        .collect();
    let wrong = format!("sha256:{}", hash("{ ping }"));
    assert_eq!(
        ids,
        ["gone", "broken", "empty", "deep", "second", &wrong, "twice fits"]
    );
    let told = mistakes[0].to_string();
    assert!(
        told.starts_with("the trusted document `gone` is invalid: "),
        "{told}"
    );
    assert!(told.contains("removed"), "{told}");
}

/// G14, G18: a trusted document is subject to limits that depend on variables.
#[tokio::test]
async fn a_listed_document_is_priced_by_its_variables() {
    let sized = "query ($n: Int) { search(first: $n) { ... on Item { id } } }";
    let trusted = TrustedDocuments::new([Manifest::new().with_document("sized", sized)]);
    let shop = Fixture::new(builder().with_trusted_documents(trusted));
    let asked = |n: i32| post_body(json!({ "documentId": "sized", "variables": { "n": n } }).to_string());
    assert!(envelope(&shop.send(asked(1)).await).get("errors").is_none());
    let dear = envelope(&shop.send(asked(1_000_000)).await);
    assert_eq!(codes(&dear), ["MAX_COST_EXCEEDED"]);
}

/// G14, G18: a batch does not bypass the allow-list: each operation is looked up separately.
#[tokio::test]
async fn a_batch_is_no_way_around_the_list() {
    let trusted = TrustedDocuments::new(manifests());
    let store = Arc::new(MemoryPersisted::new(1 << 20));
    let engine = builder().with_trusted_documents(trusted).with_batches();
    let shop = Fixture::new(engine.with_automatic_persisted_queries(over(store.clone())));
    let batch = json!([
        { "documentId": hash(PING) },
        { "query": "{ viewer }" },
        { "query": "{ viewer }", "extensions": extensions(&hash("{ viewer }")) },
        { "query": "{ viewer }", "documentId": "both", "operationName": "B" },
        { "documentId": "both", "operationName": "B" },
        { "query": "query B { viewer }", "operationName": "B", "id": "both" },
        { "extensions": extensions(&hash("{ viewer }")) },
    ]);
    let answers = envelope(&shop.send(post_body(batch.to_string())).await);
    let told: Vec<Vec<&str>> = answers.as_array().unwrap().iter().map(codes).collect();
    let expected: [&[&str]; 7] = [
        &[],
        &["PERSISTED_QUERY_ID_REQUIRED"],
        &["PERSISTED_QUERY_NOT_IN_LIST"],
        &["PERSISTED_QUERY_MISMATCH"],
        &[],
        &["PERSISTED_QUERY_ID_REQUIRED"],
        &["PERSISTED_QUERY_NOT_IN_LIST"],
    ];
    assert_eq!(told, expected);
    assert!(store.is_empty());
}
