//! Spans of operations, resolvers and batches, and secrets that they must not contain.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use graph_core::memory::MemoryPersisted;
use graph_core::persisted::{AutomaticPersistedQueries, DocumentHash};
use graph_core::{Principal, RequestContext};
use host_ports::testing::ManualClock;
use http::Request;
use serde_json::{Value, json};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::{TestEngine, clock};
use crate::fixture::{Context, Fixture, accepting, builder, get, post, post_body};

/// Span with its fields, and the number of the span around it.
#[derive(Clone, Debug, Default)]
struct Seen {
    parent: Option<u64>,
    fields: BTreeMap<String, String>,
}

/// Records all spans and events, on one thread.
#[derive(Clone, Default)]
struct Everything {
    spans: Arc<Mutex<Vec<Seen>>>,
    /// Entered spans, the innermost last.
    entered: Arc<Mutex<Vec<u64>>>,
}

struct Fields<'f>(&'f mut BTreeMap<String, String>);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }
}

impl Everything {
    fn note(&self, metadata: &Metadata<'_>, record: impl FnOnce(&mut Fields<'_>)) -> Id {
        let mut seen = Seen {
            parent: self.entered.lock().unwrap().last().copied(),
            fields: BTreeMap::from([("name".to_owned(), metadata.name().to_owned())]),
        };
        record(&mut Fields(&mut seen.fields));
        let mut spans = self.spans.lock().unwrap();
        spans.push(seen);
        Id::from_u64(spans.len().try_into().unwrap())
    }

    /// Spans as lines, indented below the spans around them; each with its name, or `otel.name`.
    fn tree(&self) -> Vec<String> {
        let spans = self.spans.lock().unwrap();
        let lines = spans.iter().map(|seen| {
            let mut around = seen.parent;
            let mut line = String::new();
            while let Some(parent) = around {
                line.push_str("  ");
                around = spans[usize::try_from(parent).unwrap() - 1].parent;
            }
            let name = seen.fields.get("otel.name").unwrap_or(&seen.fields["name"]);
            line + name
        });
        lines.collect()
    }

    fn take(&self) -> Vec<BTreeMap<String, String>> {
        assert_eq!(*self.entered.lock().unwrap(), [0; 0], "every span is left");
        let spans = std::mem::take(&mut *self.spans.lock().unwrap());
        spans.into_iter().map(|seen| seen.fields).collect()
    }
}

impl Subscriber for Everything {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.note(span.metadata(), |fields| span.record(fields))
    }

    fn record(&self, id: &Id, values: &Record<'_>) {
        let at = usize::try_from(id.into_u64()).unwrap() - 1;
        // a span of an earlier request is still open
        if let Some(seen) = self.spans.lock().unwrap().get_mut(at) {
            values.record(&mut Fields(&mut seen.fields));
        }
    }

    fn event(&self, event: &Event<'_>) {
        self.note(event.metadata(), |fields| event.record(fields));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, id: &Id) {
        self.entered.lock().unwrap().push(id.into_u64());
    }

    fn exit(&self, id: &Id) {
        assert_eq!(self.entered.lock().unwrap().pop(), Some(id.into_u64()));
    }
}

const SECRET: &str = "s3cr3tT0ken";

fn shop(builder: crate::fixture::ShopBuilder) -> Fixture {
    let store = Arc::new(MemoryPersisted::new(1 << 20));
    let automatic =
        AutomaticPersistedQueries::new(store, ManualClock::new(std::time::SystemTime::UNIX_EPOCH));
    Fixture::new(builder.with_automatic_persisted_queries(automatic))
}

/// Context of a principal whose every value is secret.
fn context(shop: &Fixture) -> Context {
    let principal = Principal::new(SECRET).with_scopes(SECRET.parse().unwrap());
    RequestContext::new(Arc::clone(&shop.shop))
        .with_principal(principal)
        .with_correlation_id(SECRET)
}

fn fields<'f>(expected: impl IntoIterator<Item = (&'f str, &'f str)>) -> BTreeMap<String, String> {
    let owned = expected
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
    owned.collect()
}

const BY_VARIABLE: &str = "query Items($id: Int!) { item(id: $id) { id } }";

/// Request, with the type and the name of its operation, and the code of its first error.
type Case = (
    Request<Bytes>,
    &'static str,
    Option<&'static str>,
    Option<&'static str>,
);

const LIVE: &str = "subscription Live { added(count: 1) { id } }";

fn successful() -> Vec<Case> {
    let long = format!("query {} {{ ping }}", "N".repeat(100));
    let hash = DocumentHash::digest("{ ping }").to_string();
    let hashed = json!({ "query": "{ ping }", "extensions": {
        "persistedQuery": { "version": 1, "sha256Hash": hash }, "token": SECRET } });
    let by_variable = post(BY_VARIABLE, json!({ "id": 1, "other": SECRET }));
    let add = post("mutation Add { add(id: 2) { id } }", Value::Null);
    let events = accepting(get(LIVE), "text/event-stream");
    let parts = accepting(post(LIVE, Value::Null), "multipart/mixed;subscriptionSpec=1.0");
    vec![
        (by_variable, "query", Some("Items"), None),
        (add, "mutation", Some("Add"), None),
        (post(&long, Value::Null), "query", Some(CUT), None),
        (post_body(hashed.to_string()), "query", None, None),
        (events, "subscription", Some("Live"), None),
        (parts, "subscription", Some("Live"), None),
    ]
}

const CUT: &str = "NNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNN";

fn failing() -> Vec<Case> {
    let masked = Some("INTERNAL_SERVER_ERROR");
    let item = |id: i32| post(&format!("{{ item(id: {id}) {{ id }} }}"), Value::Null);
    let later = "query Later { ping ... @defer { item(id: 0) { id } } }";
    let later = accepting(post(later, Value::Null), "multipart/mixed;deferSpec=20220824");
    let refused = post(BY_VARIABLE, json!({ "id": SECRET }));
    let by_get = get("mutation { add(id: 2) { id } }");
    vec![
        (item(8), "query", None, masked),
        (item(7), "query", None, masked),
        (later, "query", Some("Later"), Some("NOT_FOUND")),
        (refused, "query", Some("Items"), Some("BAD_USER_INPUT")),
        (by_get, "mutation", None, Some("BAD_REQUEST")),
    ]
}

/// G6, G30: an operation is a server span with its type, and its name truncated to 64 characters,
/// in every outcome.
#[tokio::test]
async fn operation_is_a_server_span() {
    let (subscriber, shop) = (Everything::default(), shop(builder().with_incremental_delivery()));
    let _watching = tracing::subscriber::set_default(subscriber.clone());
    for (request, kind, name, error) in [successful(), failing()].concat() {
        shop.send_in(request, context(&shop)).await;
        let [seen] = subscriber.take().try_into().unwrap();
        let mut expected = fields([
            ("name", "GraphQL Operation"),
            ("otel.kind", "server"),
            ("otel.name", kind),
            ("graphql.operation.type", kind),
        ]);
        expected.extend(fields(name.map(|name| ("graphql.operation.name", name))));
        let error = error.map(|code| [("otel.status_code", "ERROR"), ("error.type", code)]);
        expected.extend(fields(error.into_iter().flatten()));
        assert_eq!(seen, expected);
    }
}

/// G30: a batch has a span for each operation.
#[tokio::test]
async fn batch_has_a_span_for_each_operation() {
    let (subscriber, shop) = (Everything::default(), shop(builder().with_batches()));
    let _watching = tracing::subscriber::set_default(subscriber.clone());
    let batch =
        json!([{ "query": "{ ping }" }, { "query": "{" }, { "query": "mutation { refund(id: 1) { id } }" }]);
    shop.send(post_body(batch.to_string())).await;
    assert_eq!(subscriber.tree(), ["query", "GraphQL Operation", "mutation"]);
    let errors = subscriber
        .take()
        .into_iter()
        .map(|mut seen| seen.remove("error.type"));
    let expected = [None, Some("GRAPHQL_PARSE_FAILED"), Some("UNAUTHENTICATED")];
    assert_eq!(
        errors.collect::<Vec<_>>(),
        expected.map(|code| code.map(str::to_owned))
    );
}

/// G6, G30: a refused operation shows no text, variable, unknown operation name or principal.
#[tokio::test]
async fn a_span_shows_no_secret() {
    let (subscriber, shop) = (Everything::default(), shop(builder().with_resolver_spans()));
    let _watching = tracing::subscriber::set_default(subscriber.clone());
    for refused in [
        post(BY_VARIABLE, json!({ "id": SECRET })),
        post(&format!("query {SECRET} {{ {SECRET} }}"), json!(null)),
        post(&format!("{{ item(id: \"{SECRET}\") {{ id }} }}"), json!(null)),
        post(&format!("{{ {SECRET}"), json!(null)),
        post_body(json!({ "documentId": SECRET, "operationName": SECRET }).to_string()),
        post_body(SECRET),
    ] {
        shop.send_in(refused, context(&shop)).await;
        let [seen] = subscriber.take().try_into().unwrap();
        assert_eq!(seen["name"], "GraphQL Operation");
        assert_eq!(seen["otel.status_code"], "ERROR");
        assert!(!format!("{seen:?}").contains(SECRET), "{seen:?}");
    }
    let live = format!("subscription {{ echo(text: \"{SECRET}\") }}");
    for executed in [
        post(BY_VARIABLE, json!({ "id": 1, "other": SECRET })),
        post(
            "query Q($text: String!) { ping @include(if: true) stock(after: $text) { edges { cursor } } }",
            json!({ "text": SECRET }),
        ),
        accepting(post(&live, json!(null)), "text/event-stream"),
    ] {
        shop.send_in(executed, context(&shop)).await;
        let seen = subscriber.take();
        assert!(seen.len() > 1, "{seen:?}");
        assert!(!format!("{seen:?}").contains(SECRET), "{seen:?}");
    }
}

/// G30: the text of the document is in the span only if the host asks for it, and never the
/// variables.
#[tokio::test]
async fn document_text_is_opted_in() {
    let (subscriber, shop) = (Everything::default(), shop(builder().with_documents_in_spans()));
    let _watching = tracing::subscriber::set_default(subscriber.clone());
    shop.send_in(
        post(BY_VARIABLE, json!({ "id": 1, "other": SECRET })),
        context(&shop),
    )
    .await;
    let [seen] = subscriber.take().try_into().unwrap();
    assert_eq!(seen["graphql.document"], BY_VARIABLE);
    assert!(!format!("{seen:?}").contains(SECRET), "{seen:?}");
}

/// Spans of one operation, as a tree.
async fn tree(engine: &TestEngine, request: Request<Bytes>) -> (Vec<String>, Vec<BTreeMap<String, String>>) {
    let subscriber = Everything::default();
    let _watching = tracing::subscriber::set_default(subscriber.clone());
    let body = super::body(engine, request, &clock()).await;
    assert!(!body.is_empty());
    (subscriber.tree(), subscriber.take())
}

fn observed() -> TestEngine {
    let builder = super::builder().with_incremental_delivery();
    builder.with_resolver_spans().build().unwrap()
}

/// G30: each resolver is a span with its names and its path, around the spans that it opens, and
/// beside the spans of the fields below.
#[tokio::test]
async fn resolvers_are_spans_of_the_operation() {
    let query = "{ me: user { id friend { id } } users(first: 2) { who: id missing } user(id: 8) { id } }";
    let (tree, seen) = tree(&observed(), post(query, Value::Null)).await;
    assert_eq!(
        tree,
        [
            "query",
            "  Query.users",
            "  User.id",
            "  User.missing",
            "  User.id",
            "  User.missing",
            "  Query.user",
            "    SQL",
            // the first field, whose selection is asynchronous
            "  Query.user",
            "    SQL",
            "  User.id",
            "  User.friend",
            "    friend",
            "  User.id",
        ]
    );
    let resolver = |parent, field, coordinate, path| {
        fields([
            ("name", "GraphQL Resolver"),
            ("otel.name", coordinate),
            ("graphql.field.name", field),
            ("graphql.field.parent_type", parent),
            ("graphql.field.schema_coordinate", coordinate),
            ("graphql.field.path", path),
        ])
    };
    assert_eq!(seen[8], resolver("Query", "user", "Query.user", "me"));
    assert_eq!(seen[4], resolver("User", "id", "User.id", "users[1].who"));
    assert_eq!(seen[13], resolver("User", "id", "User.id", "me.friend.id"));
    let failed = |mut expected: BTreeMap<String, String>, code| {
        expected.extend(fields([("otel.status_code", "ERROR"), ("error.type", code)]));
        expected
    };
    let missing = resolver("User", "missing", "User.missing", "users[0].missing");
    assert_eq!(seen[3], failed(missing, "NOT_FOUND"));
    let masked = resolver("Query", "user", "Query.user", "user");
    assert_eq!(seen[6], failed(masked, "INTERNAL_SERVER_ERROR"));
}

/// G30: a batch of a loader is a span with its size, beside the resolvers that wait for it.
#[tokio::test]
async fn batches_of_loaders_are_spans() {
    let query = "{ users(first: 3) { name } user(id: 4) { name } }";
    let (tree, seen) = tree(&observed(), post(query, Value::Null)).await;
    let at = seen
        .iter()
        .position(|seen| seen["name"] == "GraphQL DataLoader Batch")
        .unwrap();
    assert_eq!(tree[at..], ["  GraphQL DataLoader Batch", "    SQL"]);
    let name = format!("{}::Names", module_path!().trim_end_matches("::spans"));
    let batch = |size| {
        fields([
            ("name", "GraphQL DataLoader Batch"),
            ("graphql.dataloader.name", name.as_str()),
            ("graphql.dataloader.batch.size", size),
        ])
    };
    assert_eq!(seen[at], batch("4"));
    assert_eq!(tree.iter().filter(|line| *line == "  User.name").count(), 4);

    let (_, seen) = self::tree(&observed(), post("{ user(id: 13) { name } }", Value::Null)).await;
    let mut failed = batch("1");
    failed.extend(fields([
        ("otel.status_code", "ERROR"),
        ("error.type", "CONFLICT"),
    ]));
    assert_eq!(seen[4], failed);
}

/// G30: events of a subscription and deferred parts have spans below the operation.
#[tokio::test]
async fn later_resolvers_are_spans_of_the_operation() {
    let live = "subscription { joined(count: 2) { id friend { id } } }";
    let live = accepting(post(live, Value::Null), "text/event-stream");
    let event = ["  User.id", "  User.friend", "    friend", "  User.id"].as_slice();
    let (lines, _) = tree(&observed(), live).await;
    assert_eq!(
        lines,
        [&["subscription", "  Subscription.joined"], event, event].concat()
    );
    let deferred = "{ user { ... @defer { id friend { id } } } }";
    let deferred = accepting(post(deferred, Value::Null), "multipart/mixed;deferSpec=20220824");
    let (lines, _) = tree(&observed(), deferred).await;
    assert_eq!(lines, [&["query", "  Query.user", "    SQL"], event].concat());
}

/// G30: a panic leaves the span of its resolver, which has the code.
#[tokio::test]
async fn panic_leaves_the_span_of_its_resolver() {
    let query = "{ user(id: 7) { id } later { explodes } end: user { id } }";
    let (tree, seen) = tree(&observed(), post(query, Value::Null)).await;
    let failed = seen
        .iter()
        .zip(&tree)
        .filter(|(seen, _)| seen.contains_key("error.type"));
    let failed: Vec<_> = failed.map(|(_, line)| line.as_str()).collect();
    assert_eq!(failed, ["query", "  Query.user", "  User.explodes"]);
}

/// G30: without the option there are no spans of resolvers and batches.
#[tokio::test]
async fn resolvers_have_no_spans_by_default() {
    let engine = super::builder().build().unwrap();
    let (tree, _) = tree(&engine, post("{ users(first: 3) { id name } }", Value::Null)).await;
    assert_eq!(tree, ["query", "  SQL"]);
}

/// G30: a path is cut to 256 bytes.
#[tokio::test]
async fn long_paths_are_cut() {
    let alias = "a".repeat(300);
    let (_, seen) = tree(&observed(), post(&format!("{{ {alias}: broken }}"), Value::Null)).await;
    assert_eq!(seen[1]["graphql.field.path"], format!("{}...", "a".repeat(256)));
}
