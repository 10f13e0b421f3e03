//! Errors of juniper: masked by default, unchanged with `danger_pass_field_errors`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use graph_core::engine::EngineBuilder;
use graph_core::http::{GraphRequest, HttpResponse};
use graph_core::ports::Incident;
use graph_core::{
    Batch, Engine, ErrorCode, GraphError, GraphObject, RequestContext, graph_object, graph_subscription,
};
use juniper::{FieldError, FieldResult, IntoFieldError, RootNode, ScalarValue, graphql_value};
use serde_json::{Value, json};

use crate::wire::{codes, post};

type Context = RequestContext<()>;

/// Error with a code that is not in [`ErrorCode`], and an order of keys.
fn sold_out(part: i32) -> FieldError {
    FieldError::new(
        format!("part {part} is sold out"),
        graphql_value!({ "part": part, "code": "SOLD_OUT", "next": [1, null], "shop": { "open": false } }),
    )
}

/// The same error as the client of juniper reads it.
fn sold_out_extensions(part: i32) -> String {
    format!(r#""extensions":{{"part":{part},"code":"SOLD_OUT","next":[1,null],"shop":{{"open":false}}}}"#)
}

/// Error type of a host, with its own conversion.
struct Locked;

impl<S: ScalarValue> IntoFieldError<S> for Locked {
    fn into_field_error(self) -> FieldError<S> {
        FieldError::new("locked", graphql_value!({ "code": "CONFLICT", "by": "ada" }))
    }
}

struct Part(i32);

#[graph_object(context = Context)]
impl Part {
    fn id(&self) -> i32 {
        self.0
    }

    fn stock(&self) -> FieldResult<i32> {
        match self.0 {
            2 => Err(sold_out(2)),
            stock => Ok(stock),
        }
    }

    async fn name(&self, context: &Context) -> FieldResult<Option<String>> {
        Ok(context.load::<Names>(self.0).await?)
    }

    async fn price(&self, context: &Context) -> Result<Option<i32>, GraphError> {
        context.load::<Prices>(self.0).await
    }
}

#[derive(GraphObject)]
#[graphql(context = Context)]
struct Shelf {
    parts: Vec<Part>,
}

/// Loader that fails with an error of juniper.
struct Names;

impl Batch for Names {
    type Key = i32;
    type Value = String;

    async fn load(&self, keys: Vec<i32>) -> Result<HashMap<i32, String>, GraphError> {
        let first = keys.first().copied().unwrap_or_default();
        Err(GraphError::from_field_error(sold_out(first)))
    }
}

/// Loader that fails with an error of this crate, by way of juniper's.
struct Prices;

impl Batch for Prices {
    type Key = i32;
    type Value = i32;

    async fn load(&self, _: Vec<i32>) -> Result<HashMap<i32, i32>, GraphError> {
        let error: FieldError = GraphError::not_found("no prices")
            .with_extension("list", 7)
            .into();
        Err(GraphError::from_field_error(error))
    }
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn nullable() -> FieldResult<Option<i32>> {
        Err(sold_out(1))
    }

    fn non_null() -> FieldResult<i32> {
        Err(sold_out(1))
    }

    async fn later() -> FieldResult<Option<i32>> {
        tokio::task::yield_now().await;
        Err(sold_out(1))
    }

    fn parts() -> Vec<Part> {
        (1..=3).map(Part).collect()
    }

    fn maybe() -> Vec<Option<Part>> {
        (1..=3).map(|id| Some(Part(id))).collect()
    }

    fn shelf() -> Option<Shelf> {
        Some(Shelf {
            parts: vec![Part(1), Part(2)],
        })
    }

    fn text() -> FieldResult<Option<i32>> {
        Err("plain text".into())
    }

    fn parsed() -> FieldResult<Option<i32>> {
        Ok(Some("x".parse()?))
    }

    fn own() -> Result<Option<i32>, Locked> {
        Err(Locked)
    }

    fn number() -> FieldResult<Option<i32>> {
        Err(FieldError::new("numbered", graphql_value!({ "code": 42 })))
    }

    fn bare() -> FieldResult<Option<i32>> {
        Err(FieldError::new("bare", graphql_value!(["no", "object"])))
    }

    fn coded() -> FieldResult<Option<i32>> {
        Err(GraphError::conflict("shipped").with_extension("id", 3).into())
    }

    fn masked() -> Result<Option<i32>, GraphError> {
        Err(GraphError::internal("row 7 is torn"))
    }

    fn masked_and_back() -> Result<Option<i32>, GraphError> {
        let error: FieldError = GraphError::internal("row 7 is torn").into();
        Err(GraphError::from_field_error(error))
    }

    fn panics() -> FieldResult<Option<i32>> {
        panic!("row 7 is torn")
    }
}

struct Mutation;

#[graph_object(context = Context)]
impl Mutation {
    fn refuse() -> FieldResult<Option<i32>> {
        Err(sold_out(1))
    }
}

struct Subscription;

#[graph_subscription(context = Context)]
impl Subscription {
    async fn refused() -> FieldResult<BoxStream<'static, FieldResult<i32>>> {
        Err(sold_out(1))
    }

    async fn items() -> BoxStream<'static, FieldResult<Part>> {
        stream::iter([Ok(Part(1)), Err(sold_out(9)), Ok(Part(2))]).boxed()
    }
}

type Builder = EngineBuilder<Query, Mutation, Subscription>;

struct Fixture {
    engine: Engine<Query, Mutation, Subscription>,
    incidents: Arc<Mutex<Vec<Incident>>>,
}

impl Fixture {
    fn new(switch: fn(Builder) -> Builder) -> Self {
        let incidents = Arc::<Mutex<Vec<Incident>>>::default();
        let log = Arc::clone(&incidents);
        let builder = Engine::builder(RootNode::new(Query, Mutation, Subscription));
        let builder =
            builder.with_incident_log(move |incident: &Incident| log.lock().unwrap().push(incident.clone()));
        Self {
            engine: switch(builder).build().unwrap(),
            incidents,
        }
    }

    fn masking() -> Self {
        Self::new(|builder| builder)
    }

    fn passing() -> Self {
        Self::new(Builder::danger_pass_field_errors)
    }

    fn context() -> Context {
        Context::new(()).with_loader(Names).with_loader(Prices)
    }

    /// Response as JSON text, through HTTP.
    async fn text(&self, query: &str) -> String {
        match self
            .engine
            .respond(post(query, Value::Null), Self::context())
            .await
        {
            HttpResponse::Full(response) => String::from_utf8(response.into_body().into()).unwrap(),
            HttpResponse::Stream(_) => panic!("a response is one body"),
        }
    }

    async fn ask(&self, query: &str) -> Value {
        serde_json::from_str(&self.text(query).await).unwrap()
    }

    async fn events(&self, query: &str) -> Vec<Value> {
        let events = self.engine.subscribe(GraphRequest::new(query), Self::context());
        events.map(|event| json!(event)).collect().await
    }

    fn details(&self) -> Vec<String> {
        let incidents = std::mem::take(&mut *self.incidents.lock().unwrap());
        incidents.into_iter().map(|incident| incident.detail).collect()
    }
}

/// Query with failing fields, the data beside them, and the path and the part of each error.
type Place = (&'static str, Value, Vec<(Value, i32)>);

/// Every place of an error.
fn places() -> Vec<Place> {
    vec![
        (
            "{ nullable }",
            json!({ "nullable": null }),
            vec![(json!(["nullable"]), 1)],
        ),
        ("{ nonNull }", Value::Null, vec![(json!(["nonNull"]), 1)]),
        ("{ a: later }", json!({ "a": null }), vec![(json!(["a"]), 1)]),
        (
            "{ parts { stock } }",
            Value::Null,
            vec![(json!(["parts", 1, "stock"]), 2)],
        ),
        (
            "{ maybe { stock } }",
            json!({ "maybe": [{ "stock": 1 }, null, { "stock": 3 }] }),
            vec![(json!(["maybe", 1, "stock"]), 2)],
        ),
        (
            "{ shelf { parts { stock } } }",
            json!({ "shelf": null }),
            vec![(json!(["shelf", "parts", 1, "stock"]), 2)],
        ),
        (
            "{ maybe { id name } }",
            json!({ "maybe": [{ "id": 1, "name": null }, { "id": 2, "name": null }, { "id": 3, "name": null }] }),
            (0..3).map(|at| (json!(["maybe", at, "name"]), 1)).collect(),
        ),
        (
            "mutation { refuse }",
            json!({ "refuse": null }),
            vec![(json!(["refuse"]), 1)],
        ),
    ]
}

/// G31: without the switch an error of juniper is masked at every place, and the log has its text.
#[tokio::test]
async fn masks_field_errors_by_default() {
    let fixture = Fixture::masking();
    for (query, data, errors) in places() {
        let text = fixture.text(query).await;
        let answer: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(answer["data"], data, "{query}");
        assert_eq!(
            codes(&answer),
            vec!["INTERNAL_SERVER_ERROR"; errors.len()],
            "{query}"
        );
        assert!(
            !text.contains("sold") && !text.contains("SOLD_OUT") && !text.contains("shop"),
            "{text}"
        );
        for (error, (path, _)) in answer["errors"].as_array().unwrap().iter().zip(&errors) {
            assert_eq!(error["message"], "internal server error");
            assert_eq!(&error["path"], path, "{query}");
            assert_eq!(
                error["extensions"]["correlationId"].as_str().map(str::len),
                Some(32)
            );
        }
        let details: Vec<_> = errors
            .iter()
            .map(|(_, part)| format!("part {part} is sold out"))
            .collect();
        assert_eq!(fixture.details(), details, "{query}");
    }
}

/// G31: with the switch message and extensions pass unchanged at every place; data and paths are
/// those without it, and the log stays empty.
#[tokio::test]
async fn passes_field_errors_unchanged_on_request() {
    let fixture = Fixture::passing();
    for (query, data, errors) in places() {
        let text = fixture.text(query).await;
        let answer: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(answer["data"], data, "{query}");
        let passed = answer["errors"].as_array().unwrap();
        assert_eq!(passed.len(), errors.len(), "{query}");
        for (error, (path, part)) in passed.iter().zip(&errors) {
            assert_eq!(error["message"], format!("part {part} is sold out"));
            assert_eq!(&error["path"], path, "{query}");
            assert!(error["locations"].is_array());
            assert!(text.contains(&sold_out_extensions(*part)), "{text}");
        }
        assert_eq!(fixture.details(), [""; 0], "{query}");
    }
}

/// G31: every form of an error of juniper passes; a code is added only where there is none.
#[tokio::test]
async fn passed_error_keeps_code_or_gets_one() {
    let fixture = Fixture::passing();
    for (query, message, extensions) in [
        (
            "{ text }",
            "plain text",
            json!({ "code": "INTERNAL_SERVER_ERROR" }),
        ),
        (
            "{ parsed }",
            "invalid digit found in string",
            json!({ "code": "INTERNAL_SERVER_ERROR" }),
        ),
        ("{ own }", "locked", json!({ "code": "CONFLICT", "by": "ada" })),
        ("{ number }", "numbered", json!({ "code": 42 })),
        ("{ bare }", "bare", json!({ "code": "INTERNAL_SERVER_ERROR" })),
        ("{ coded }", "shipped", json!({ "code": "CONFLICT", "id": 3 })),
        (
            "{ parts { price } }",
            "no prices",
            json!({ "code": "NOT_FOUND", "list": 7 }),
        ),
    ] {
        let text = fixture.text(query).await;
        let answer: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(answer["errors"][0]["message"], message, "{query}");
        assert_eq!(answer["errors"][0]["extensions"], extensions, "{query}");
        let errors = answer["errors"].as_array().unwrap().len();
        assert_eq!(text.matches(r#""code":"#).count(), errors, "{text}");
    }
}

/// G31: a host reads the code of a passed error from the response.
#[tokio::test]
async fn response_has_code_of_passed_error() {
    let fixture = Fixture::passing();
    for (query, code, wire) in [
        ("{ own }", ErrorCode::Conflict, "CONFLICT"),
        ("{ nullable }", ErrorCode::InternalServerError, "SOLD_OUT"),
    ] {
        let response = fixture
            .engine
            .execute(&GraphRequest::new(query), &Context::new(()))
            .await;
        let error = &response.errors()[0];
        assert_eq!(error.code(), code);
        assert_eq!(json!(error.extension("code")), json!(wire));
    }
}

/// G31, G6: masked errors of this crate and panics stay masked with the switch.
#[tokio::test]
async fn switch_does_not_unmask_internal_errors() {
    let fixture = Fixture::passing();
    for query in ["{ masked }", "{ maskedAndBack }", "{ panics }"] {
        let answer = fixture.ask(query).await;
        assert_eq!(codes(&answer), ["INTERNAL_SERVER_ERROR"], "{query}");
        assert_eq!(answer["errors"][0]["message"], "internal server error");
        assert!(!answer.to_string().contains("torn"), "{answer}");
        assert_eq!(fixture.details(), ["row 7 is torn"], "{query}");
    }
}

/// G31: errors of a subscription pass or are masked: of its start, of an event, and of a field.
#[tokio::test]
async fn subscriptions_pass_or_mask_field_errors() {
    let (masking, passing) = (Fixture::masking(), Fixture::passing());
    let refused = "subscription { refused }";
    let items = "subscription { items { id stock } }";
    let event = |answer: &Value, part: i32| {
        assert_eq!(answer["errors"][0]["message"], format!("part {part} is sold out"));
        assert!(answer["errors"][0].to_string().contains("SOLD_OUT"));
    };
    let started = passing.events(refused).await;
    assert_eq!(started.len(), 1);
    event(&started[0], 1);
    let events = passing.events(items).await;
    assert_eq!(events.len(), 3);
    assert_eq!(events[0], json!({ "data": { "items": { "id": 1, "stock": 1 } } }));
    event(&events[1], 9);
    event(&events[2], 2);
    assert_eq!(events[2]["errors"][0]["path"], json!(["items", "stock"]));
    for query in [refused, items] {
        for answer in masking
            .events(query)
            .await
            .iter()
            .filter(|event| event.get("errors").is_some())
        {
            assert_eq!(codes(answer), ["INTERNAL_SERVER_ERROR"]);
            assert!(!answer.to_string().contains("sold"), "{answer}");
        }
    }
    assert_eq!(masking.details().len(), 3);
}

/// G31: a conversion from juniper's error keeps the code of an error of this crate.
#[test]
fn conversion_restores_graph_error() {
    let error = GraphError::conflict("shipped").with_extension("id", 3);
    assert_eq!(GraphError::from_field_error(error.clone().into()), error);
    let masked = GraphError::internal("row 7 is torn");
    assert_eq!(GraphError::from_field_error(masked.clone().into()), masked);
    let foreign = GraphError::from_field_error(sold_out(4));
    assert_eq!(foreign.code(), ErrorCode::InternalServerError);
    assert_eq!(foreign.message(), "internal server error");
    assert_eq!(FieldError::from(foreign), sold_out(4));
}
