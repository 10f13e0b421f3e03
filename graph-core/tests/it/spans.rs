//! Tracing spans of operations, and secrets that they must not contain.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use graph_core::memory::MemoryPersisted;
use graph_core::persisted::{AutomaticPersistedQueries, DocumentHash};
use graph_core::{Principal, RequestContext};
use host_ports::testing::ManualClock;
use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::fixture::{Context, Fixture, accepting, builder, get, post, post_body};

/// Records all spans and events.
#[derive(Clone, Default)]
struct Everything {
    seen: Arc<Mutex<Vec<BTreeMap<String, String>>>>,
    spans: Arc<AtomicU64>,
}

struct Fields<'f>(&'f mut BTreeMap<String, String>);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }
}

impl Everything {
    fn note(&self, metadata: &Metadata<'_>, record: impl FnOnce(&mut Fields<'_>)) {
        let mut fields = BTreeMap::from([("name".to_owned(), metadata.name().to_owned())]);
        record(&mut Fields(&mut fields));
        self.seen.lock().unwrap().push(fields);
    }

    fn taken(&self) -> Vec<BTreeMap<String, String>> {
        std::mem::take(&mut *self.seen.lock().unwrap())
    }
}

impl Subscriber for Everything {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.note(span.metadata(), |fields| span.record(fields));
        Id::from_u64(1 + self.spans.fetch_add(1, Ordering::SeqCst))
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        let mut fields = BTreeMap::new();
        values.record(&mut Fields(&mut fields));
        self.seen.lock().unwrap().push(fields);
    }

    fn event(&self, event: &Event<'_>) {
        self.note(event.metadata(), |fields| event.record(fields));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

const SECRET: &str = "s3cr3tT0ken";

fn shop() -> Fixture {
    let store = Arc::new(MemoryPersisted::new(1 << 20));
    let automatic =
        AutomaticPersistedQueries::new(store, ManualClock::new(std::time::SystemTime::UNIX_EPOCH));
    Fixture::new(builder().with_automatic_persisted_queries(automatic))
}

/// Context of a principal whose every value is secret.
fn context(shop: &Fixture) -> Context {
    let principal = Principal::new(SECRET).with_scopes(SECRET.parse().unwrap());
    RequestContext::new(Arc::clone(&shop.shop))
        .with_principal(principal)
        .with_correlation_id(SECRET)
}

const BY_VARIABLE: &str = "query Items($id: Int!) { item(id: $id) { id } }";

/// G6: an operation is a span with its type and its name, truncated to 64 characters, in every
/// outcome.
#[tokio::test]
async fn an_operation_is_a_span_with_its_name() {
    let (subscriber, shop) = (Everything::default(), shop());
    let _watching = tracing::subscriber::set_default(subscriber.clone());
    let null = || json!(null);
    let long = "N".repeat(100);
    let hashed = json!({ "query": "{ ping }", "extensions": {
        "persistedQuery": { "version": 1, "sha256Hash": DocumentHash::digest("{ ping }").to_string() }, "token": SECRET } });
    let followed = accepting(
        get("subscription Live { added(count: 1) { id } }"),
        "text/event-stream",
    );
    for (request, kind, name) in [
        (
            post(BY_VARIABLE, json!({ "id": 1, "other": SECRET })),
            "query",
            Some("Items".to_owned()),
        ),
        (post("{ item(id: 8) { id } }", null()), "query", None),
        (post("{ item(id: 7) { id } }", null()), "query", None),
        (
            post("mutation Add { add(id: 2) { id } }", null()),
            "mutation",
            Some("Add".to_owned()),
        ),
        (
            post(&format!("query {long} {{ ping }}"), null()),
            "query",
            Some("N".repeat(64)),
        ),
        (post_body(hashed.to_string()), "query", None),
        (followed, "subscription", Some("Live".to_owned())),
    ] {
        shop.send_in(request, context(&shop)).await;
        let [seen] = subscriber.taken().try_into().unwrap();
        let mut expected = BTreeMap::from([
            ("name".to_owned(), "graphql".to_owned()),
            ("graphql.operation.type".to_owned(), format!("{kind:?}")),
        ]);
        expected.extend(name.map(|name| ("graphql.operation.name".to_owned(), format!("{name:?}"))));
        assert_eq!(seen, expected);
    }
}

/// G6: a refused operation shows no text, variable, unknown operation name or principal.
#[tokio::test]
async fn a_span_shows_no_secret() {
    let (subscriber, shop) = (Everything::default(), shop());
    let _watching = tracing::subscriber::set_default(subscriber.clone());
    for refused in [
        post(BY_VARIABLE, json!({ "id": SECRET })),
        post(&format!("query {SECRET} {{ {SECRET} }}"), json!(null)),
        post(&format!("{{ item(id: \"{SECRET}\") {{ id }} }}"), json!(null)),
        post(&format!("{{ {SECRET}"), json!(null)),
        post_body(json!({ "documentId": SECRET, "operationName": SECRET }).to_string()),
    ] {
        shop.send_in(refused, context(&shop)).await;
    }
    let seen = subscriber.taken();
    assert!(!format!("{seen:?}").contains(SECRET), "{seen:?}");
}
