//! Documents and values that juniper's parser and rules read differently from graphql-js.

use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt as _, StreamExt as _};
use graph_core::http::{GraphRequest, HttpResponse};
use graph_core::limits::Limits;
use graph_core::{Engine, GraphEnum, RequestContext, graph_object, graph_subscription};
use juniper::macros::reflect;
use juniper::marker::IsInputType;
use juniper::meta::MetaType;
use juniper::parser::ScalarToken;
use juniper::{
    ArcStr, EmptyMutation, FromInputValue, GraphQLEnum, GraphQLInputObject, GraphQLType, GraphQLValue, ID,
    InputValue, ParseScalarResult, ParseScalarValue, Registry, RootNode, ScalarValue,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::wire::{json as envelope, post_body};

type Context = RequestContext<()>;

#[derive(Clone, Copy, Debug, GraphEnum, GraphQLEnum)]
enum Shade {
    LightGrey,
    Black,
}

#[derive(Clone, Debug, GraphQLInputObject)]
struct Brush {
    #[graphql(default = Shade::LightGrey)]
    shade: Shade,
    #[graphql(default = "say \"hi\"\\\n")]
    label: String,
}

#[derive(Clone, Debug, GraphQLInputObject)]
struct Palette {
    #[graphql(default = vec![Brush { shade: Shade::Black, label: "a\"b".to_owned() }])]
    brushes: Vec<Brush>,
}

/// Exactly one of its fields is set.
#[derive(Clone, Debug, GraphQLInputObject)]
enum Choice {
    Name(String),
    Number(i32),
}

/// Scalar that takes any value.
#[derive(Clone)]
struct AnyJson(String);

impl<S: ScalarValue> GraphQLType<S> for AnyJson {
    fn name((): &()) -> Option<ArcStr> {
        Some("AnyJson".into())
    }

    fn meta((): &(), registry: &mut Registry<S>) -> MetaType<S> {
        registry.build_scalar_type::<Self>(&()).into_meta()
    }
}

impl<S: ScalarValue> GraphQLValue<S> for AnyJson {
    type Context = ();
    type TypeInfo = ();

    fn type_name(&self, (): &()) -> Option<ArcStr> {
        Some("AnyJson".into())
    }
}

impl<S: ScalarValue> FromInputValue<S> for AnyJson {
    type Error = String;

    fn from_input_value(value: &InputValue<S>) -> Result<Self, String> {
        Ok(Self(value.to_string()))
    }
}

impl<S: ScalarValue> ParseScalarValue<S> for AnyJson {
    fn from_str(value: ScalarToken<'_>) -> ParseScalarResult<S> {
        <String as ParseScalarValue<S>>::from_str(value)
    }
}

impl<S: ScalarValue> IsInputType<S> for AnyJson {}

impl<S: ScalarValue> reflect::BaseType<S> for AnyJson {
    const NAME: reflect::Type = "AnyJson";
}

impl<S: ScalarValue> reflect::BaseSubTypes<S> for AnyJson {
    const NAMES: reflect::Types = &["AnyJson"];
}

impl<S: ScalarValue> reflect::WrappedType<S> for AnyJson {
    const VALUE: reflect::WrappedValue = 1;
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn shade(#[graphql(default = Shade::Black)] of: Shade) -> Shade {
        of
    }

    fn palette(#[graphql(default = Palette { brushes: Vec::new() })] of: Palette) -> String {
        let Palette { brushes } = of;
        format!("{brushes:?}")
    }

    fn users(ids: Vec<i32>) -> Vec<User> {
        ids.into_iter().map(User).collect()
    }

    fn float(of: f64) -> f64 {
        of
    }

    fn integer(of: i32) -> i32 {
        of
    }

    fn id(of: ID) -> ID {
        of
    }

    fn text(of: String) -> String {
        of
    }

    fn any(of: AnyJson) -> String {
        of.0
    }

    fn choice(of: Choice) -> String {
        match of {
            Choice::Name(name) => format!("name {name}"),
            Choice::Number(number) => format!("number {number}"),
        }
    }

    fn me() -> User {
        User(1)
    }

    fn f() -> i32 {
        1
    }
}

struct User(i32);

#[graph_object(context = Context)]
impl User {
    fn id(&self) -> i32 {
        self.0
    }

    fn me(&self) -> Self {
        Self(self.0)
    }
}

struct Subscription;

#[graph_subscription(context = Context)]
impl Subscription {
    async fn count() -> BoxStream<'static, i32> {
        stream::iter(0..1).boxed()
    }
}

type TestEngine = Engine<Query, EmptyMutation<Context>, Subscription>;

fn engine() -> TestEngine {
    let limits = Limits::default()
        .with_aliases(100_000)
        .with_root_fields(100_000)
        .with_tokens(100_000)
        .with_cost(1_000_000);
    let root = RootNode::new(Query, EmptyMutation::new(), Subscription);
    Engine::builder(root).with_limits(limits).build().unwrap()
}

async fn ask(query: &str) -> Value {
    with(query, json!({})).await
}

/// Response to a request that was read from JSON.
async fn with(query: &str, variables: Value) -> Value {
    sent(&json!({ "query": query, "variables": variables }).to_string()).await
}

/// Response to the request with this body.
async fn sent(body: &str) -> Value {
    let response = engine()
        .respond(post_body(body.to_owned()), RequestContext::new(()))
        .await;
    match response {
        HttpResponse::Full(response) => envelope(&response),
        HttpResponse::Stream(_) => panic!("a stream"),
    }
}

/// Code and message of the first error, with its first location.
fn first(answer: &Value) -> (&str, &str, (u64, u64)) {
    let error = &answer["errors"][0];
    let place = &error["locations"][0];
    (
        error["extensions"]["code"].as_str().unwrap_or_default(),
        error["message"].as_str().unwrap_or_default(),
        (
            place["line"].as_u64().unwrap_or_default(),
            place["column"].as_u64().unwrap_or_default(),
        ),
    )
}

/// G21: published defaults are GraphQL literals: escaped strings, names of enum values, nested
/// objects.
#[tokio::test]
async fn defaults_are_published_as_literals() {
    let query = r#"{ q: __type(name: "Query") { fields { name args { defaultValue } } }
        b: __type(name: "Brush") { inputFields { defaultValue } }
        p: __type(name: "Palette") { inputFields { defaultValue } } }"#;
    let answer = ask(query).await;
    let default = |at: usize| answer["data"]["q"]["fields"][at]["args"][0]["defaultValue"].clone();
    assert_eq!(default(0), "BLACK");
    assert_eq!(default(1), "{brushes: []}");
    let of = |ty: &str, at: usize| answer["data"][ty]["inputFields"][at]["defaultValue"].clone();
    assert_eq!(of("b", 0), "LIGHT_GREY");
    assert_eq!(of("b", 1), r#""say \"hi\"\\\n""#);
    assert_eq!(of("p", 0), r#"[{shade: BLACK, label: "a\"b"}]"#);
    let sdl = engine().sdl();
    for line in [
        "shade(of: Shade! = BLACK): Shade!",
        "shade: Shade! = LIGHT_GREY",
        r#"label: String! = "say \"hi\"\\\n""#,
        r#"brushes: [Brush!]! = [{shade: BLACK, label: "a\"b"}]"#,
    ] {
        assert!(sdl.contains(line), "{line}\n{sdl}");
    }
    // the literals are accepted where the defaults are
    let literal = of("p", 0);
    let answer = ask(&format!(
        "{{ palette(of: {{ brushes: {} }}) }}",
        literal.as_str().unwrap()
    ))
    .await;
    assert_eq!(
        answer["data"]["palette"],
        r#"[Brush { shade: Black, label: "a\"b" }]"#
    );
}

/// G21: lists of different lengths are different arguments. Merging them gave wrong data.
#[tokio::test]
async fn arguments_with_different_lists_conflict() {
    for (one, other) in [("[1]", "[1, 2]"), ("[1, 2]", "[1]"), ("[]", "[1]"), ("[1]", "1")] {
        let query = format!(
            "{{ users(ids: {one}) {{ id }} ...F }} fragment F on Query {{ users(ids: {other}) {{ id }} }}"
        );
        let answer = ask(&query).await;
        let (code, message, _) = first(&answer);
        assert_eq!(code, "GRAPHQL_VALIDATION_FAILED");
        assert!(message.contains("they have differing arguments"), "{message}");
    }
    let same = "{ users(ids: [1, 2]) { id } ...F } fragment F on Query { users(ids: [1 2]) { me { id } } }";
    assert_eq!(
        ask(same).await["data"],
        json!({ "users": [{ "id": 1, "me": { "id": 1 } }, { "id": 2, "me": { "id": 2 } }] })
    );
}

proptest! {
    /// G21: a float in JSON variables keeps its exact value.
    #[test]
    fn floats_in_variables_keep_their_value(bits in any::<u64>()) {
        let float = f64::from_bits(bits);
        prop_assume!(float.is_finite());
        let body = format!(r#"{{"query":"query($f: Float!) {{ float(of: $f) }}","variables":{{"f":{float:e}}}}}"#);
        let answer = sent(&body).now_or_never().unwrap();
        let echoed = answer["data"]["float"].to_string();
        prop_assert_eq!(echoed.parse::<f64>().map(f64::to_bits), Ok(float.to_bits()), "{}", body);
    }
}

/// G21: numbers of any size are literals of `Float` and `ID`; a JSON `1.0` is an `Int`.
#[tokio::test]
async fn numbers_are_read_as_by_graphql_js() {
    for (query, expected) in [
        (
            "{ float(of: 12345678901234567890) }",
            json!({ "float": 12_345_678_901_234_567_890.0 }),
        ),
        ("{ float(of: 1e300) }", json!({ "float": 1e300 })),
        ("{ float(of: 4) }", json!({ "float": 4.0 })),
        (
            "{ id(of: 12345678901234567890) }",
            json!({ "id": "12345678901234567890" }),
        ),
        ("{ id(of: \"a\") }", json!({ "id": "a" })),
    ] {
        assert_eq!(ask(query).await["data"], expected, "{query}");
    }
    let query = "query($i: Int!) { integer(of: $i) }";
    assert_eq!(
        with(query, json!({ "i": 1.0 })).await["data"],
        json!({ "integer": 1 })
    );
    for (value, why) in [
        (
            json!(1.5),
            "got invalid value 1.5; Int cannot represent non-integer value: 1.5",
        ),
        (
            json!(1e10),
            "Int cannot represent non 32-bit signed integer value: 10000000000",
        ),
        (json!("1"), "Int cannot represent non-integer value: \"1\""),
    ] {
        let answer = with(query, json!({ "i": value })).await;
        let (code, message, _) = first(&answer);
        assert!(code == "BAD_USER_INPUT" && message.contains(why), "{message}");
    }
}

/// G21: leading zeros are refused, a CR ends a line, escapes are decoded.
#[tokio::test]
async fn syntax_is_that_of_the_specification() {
    let answer = ask("{ integer(of: 01) }").await;
    assert_eq!(
        first(&answer),
        (
            "GRAPHQL_PARSE_FAILED",
            "Syntax Error: Invalid number, unexpected digit after 0: \"1\".",
            (1, 16)
        )
    );
    let answer = ask("{\r  # 𝄞 comment\r\n  f  \"𝄞\" ? }").await;
    assert_eq!(first(&answer).2, (3, 6));
    for (literal, text) in [
        (r#""\u{1F600}é\u00e9\uD83D\uDE00""#, "😀éé😀"),
        (r#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t"),
        ("\"\"\"\r\n    a\r      b \\\"\"\"\r\n  \"\"\"", "a\n  b \"\"\""),
    ] {
        assert_eq!(
            ask(&format!("{{ text(of: {literal}) }}")).await["data"]["text"],
            text
        );
    }
    // descriptions on executable documents
    let answer = ask("\"what\" query Q(\"which\" $i: Int! = 2) { integer(of: $i) }").await;
    assert_eq!(answer["data"], json!({ "integer": 2 }));
}

/// G21: a document with definitions of the type system is parsed and fails validation.
#[tokio::test]
async fn type_system_definitions_fail_validation() {
    let answer = ask("type Query { f: Int } { f }").await;
    assert_eq!(
        first(&answer),
        (
            "GRAPHQL_VALIDATION_FAILED",
            "The \"Query\" definition is not executable.",
            (1, 1)
        )
    );
}

/// G21: custom scalars take literals of any form, with variables in them.
#[tokio::test]
async fn custom_scalars_take_lists_and_objects() {
    let query = "query($v: String) { any(of: { a: [1, RED, { b: $v }], c: null }) }";
    let answer = with(query, json!({ "v": "x" })).await;
    assert_eq!(answer["data"]["any"], r#"{a: [1, RED, {b: "x"}], c: null}"#);
    let answer = with(
        "query($v: AnyJson!) { any(of: $v) }",
        json!({ "v": { "a": [1, { "b": true }] } }),
    )
    .await;
    assert_eq!(answer["data"]["any"], "{a: [1, {b: true}]}");
}

/// G21: a `@oneOf` input object takes exactly one field, and no nullable variable.
#[tokio::test]
async fn one_of_takes_one_value() {
    assert_eq!(
        ask("{ choice(of: { number: 1 }) }").await["data"]["choice"],
        "number 1"
    );
    for (query, why) in [
        (
            "{ choice(of: { number: 1, name: \"a\" }) }",
            "must specify exactly one key",
        ),
        ("{ choice(of: {}) }", "must specify exactly one key"),
        (
            "{ choice(of: { name: null }) }",
            "Field \"Choice.name\" must be non-null.",
        ),
        (
            "query($n: Int) { choice(of: { number: $n }) }",
            "must be non-nullable",
        ),
    ] {
        let answer = ask(query).await;
        let (code, message, _) = first(&answer);
        assert!(
            code == "GRAPHQL_VALIDATION_FAILED" && message.contains(why),
            "{message}"
        );
    }
    let query = "query($c: Choice!) { choice(of: $c) }";
    assert_eq!(
        with(query, json!({ "c": { "name": "a" } })).await["data"]["choice"],
        "name a"
    );
    for (value, why) in [
        (
            json!({}),
            "Exactly one key must be specified for OneOf type \"Choice\".",
        ),
        (
            json!({ "name": "a", "number": 1 }),
            "Exactly one key must be specified",
        ),
        (json!({ "name": null }), "Field \"name\" must be non-null."),
    ] {
        let answer = with(query, json!({ "c": value })).await;
        let (code, message, _) = first(&answer);
        assert!(code == "BAD_USER_INPUT" && message.contains(why), "{message}");
    }
}

/// G21: the number of fields under one response key is no reason to refuse a document.
#[tokio::test]
async fn many_equal_fields_are_one_field() {
    let answer = ask(&format!("{{ {} }}", "f ".repeat(500))).await;
    assert_eq!(answer, json!({ "data": { "f": 1 } }));
    let spreads: String = (0..90).map(|at| format!("...F{at} ")).collect();
    let fragments: String = (0..90)
        .map(|at| format!("fragment F{at} on User {{ id me {{ id me {{ id me {{ id }} }} }} }} "))
        .collect();
    let answer = ask(&format!("{{ me {{ {spreads} }} }} {fragments}")).await;
    let user = json!({ "id": 1, "me": { "id": 1, "me": { "id": 1, "me": { "id": 1 } } } });
    assert_eq!(answer, json!({ "data": { "me": user } }));
}

/// G21: a subscription has one response key, however often it is selected, without conditions.
#[tokio::test]
async fn subscription_has_one_response_key() {
    for (query, why) in [
        (
            "subscription { ...A ...B } fragment A on Subscription { count } fragment B on Subscription { count }",
            "",
        ),
        ("subscription { count count }", ""),
        (
            "subscription S { count again: count }",
            "Subscription \"S\" must select only one top level field.",
        ),
        (
            "subscription { __typename }",
            "must not select an introspection top level field",
        ),
        (
            "subscription { count @include(if: true) }",
            "must not use `@skip` or `@include`",
        ),
    ] {
        let events = engine().subscribe(GraphRequest::new(query), RequestContext::new(()));
        let answers: Vec<_> = events.collect().await;
        let answer = json!(answers[0]);
        match why {
            "" => assert_eq!(answer, json!({ "data": { "count": 0 } }), "{query}"),
            why => assert!(first(&answer).1.contains(why), "{answer}"),
        }
    }
}

/// G21: `null` is no condition.
#[tokio::test]
async fn null_is_no_condition() {
    for query in ["{ f @skip(if: null) }", "{ f @include(if: null) }"] {
        let answer = ask(query).await;
        assert_eq!(
            first(&answer),
            (
                "GRAPHQL_VALIDATION_FAILED",
                "Expected value of type \"Boolean!\", found null.",
                (1, if query.contains("skip") { 15 } else { 18 })
            )
        );
    }
    let answer = with(
        "query($c: Boolean = true) { f @skip(if: $c) }",
        json!({ "c": null }),
    )
    .await;
    assert_eq!(first(&answer).0, "BAD_USER_INPUT", "{answer}");
}
