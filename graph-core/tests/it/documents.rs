//! Documents: validation beyond juniper's rules, and the document cache.

use graph_core::engine::ConfigMistake;
use graph_core::http::GraphRequest;
use graph_core::limits::Limits;
use graph_core::{Engine, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, GraphQLInputObject, RootNode, graphql_vars};
use serde_json::{Value, json};

use crate::fixture::{Fixture, builder, codes, fixture, json as envelope, post_body};

type Context = RequestContext<()>;

#[derive(Clone, Copy, Debug, GraphQLInputObject)]
struct Window {
    from: i32,
    #[graphql(default = 7)]
    size: i32,
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn sum(#[graphql(default = 3)] first: i32, second: Option<i32>) -> i32 {
        first + second.unwrap_or_default()
    }

    fn window(window: Window) -> Vec<i32> {
        vec![window.from, window.size]
    }

    fn total(numbers: Vec<i32>) -> i32 {
        numbers.into_iter().sum()
    }

    #[deprecated(note = "it was")]
    fn old() -> i32 {
        1
    }

    /// Grüße, 日本 🦀
    fn greet(mut name: String) -> String {
        name.insert_str(0, "Grüße, ");
        name
    }
}

fn engine() -> Engine<Query, EmptyMutation<Context>, EmptySubscription<Context>> {
    let limits = Limits::default()
        .with_aliases(100_000)
        .with_root_fields(100_000)
        .with_tokens(100_000);
    let root = RootNode::new(Query, EmptyMutation::new(), EmptySubscription::new());
    Engine::builder(root).with_limits(limits).build().unwrap()
}

async fn ask(request: &GraphRequest) -> Value {
    json!(engine().execute(request, &RequestContext::new(())).await)
}

/// G7: a nullable variable may be used for a required argument with a default. Absent it is the
/// default; null is refused at its position.
#[tokio::test]
async fn a_nullable_variable_may_stand_for_an_argument_with_a_default() {
    let request = |variables| {
        GraphRequest::new("query ($n: Int) { sum(first: $n, second: 1) }").with_variables(variables)
    };
    assert_eq!(
        ask(&request(graphql_vars! {})).await,
        json!({ "data": { "sum": 4 } })
    );
    assert_eq!(
        ask(&request(graphql_vars! { "n": 5 })).await,
        json!({ "data": { "sum": 6 } })
    );
    let refused = ask(&request(graphql_vars! { "n": null })).await;
    assert_eq!(codes(&refused), ["BAD_USER_INPUT"]);
    assert_eq!(refused["data"], Value::Null);
    assert_eq!(refused["errors"][0]["path"], json!(["sum"]));
    // other mistakes are still reported
    for wrong in [
        "query ($n: Int, $m: Int) { sum(first: $n, second: $m) window(window: { from: $m }) { x } }",
        "query ($n: String) { sum(first: $n) }",
        "query ($n: Int) { sum(first: $n) sum(first: 1) }",
    ] {
        assert_eq!(
            codes(&ask(&GraphRequest::new(wrong)).await)[0],
            "GRAPHQL_VALIDATION_FAILED",
            "{wrong}"
        );
    }
}

/// G7: a missing input field takes its default, in the document, in a variable, and through an
/// absent variable.
#[tokio::test]
async fn an_input_field_left_out_takes_its_default() {
    for (query, expected) in [
        ("query { window(window: { from: 2 }) }", json!([2, 7])),
        ("query ($w: Window!) { window(window: $w) }", json!([2, 7])),
        (
            "query ($s: Int) { window(window: { from: 2, size: $s }) }",
            json!([2, 7]),
        ),
        (
            "query ($s: Int = 9) { window(window: { from: 2, size: $s }) }",
            json!([2, 9]),
        ),
    ] {
        let variables = graphql_vars! { "w": { "from": 2 } };
        let request = GraphRequest::new(query).with_variables(variables);
        assert_eq!(
            ask(&request).await,
            json!({ "data": { "window": expected } }),
            "{query}"
        );
    }
}

/// G3: a directive may occur once at a location.
#[tokio::test]
async fn a_directive_stands_once_at_a_place() {
    for query in [
        "{ sum @skip(if: false) @skip(if: false) }",
        "{ ... @include(if: true) @include(if: true) { sum } }",
        "{ ...F @skip(if: false) @skip(if: true) } fragment F on Query { sum }",
    ] {
        let refused = ask(&GraphRequest::new(query)).await;
        assert_eq!(codes(&refused), ["GRAPHQL_VALIDATION_FAILED"], "{query}");
    }
    let both = ask(&GraphRequest::new("{ sum @skip(if: false) @include(if: true) }")).await;
    assert_eq!(both, json!({ "data": { "sum": 3 } }));
}

/// G11: introspection takes variables, which apply to each execution of a cached document.
#[tokio::test]
async fn introspection_takes_variables() {
    let engine = engine();
    let query = "query ($name: String!, $all: Boolean = false) { t: __type(name: $name) { ...T } }
        fragment T on __Type { kind name fields(includeDeprecated: $all) { name isDeprecated } }";
    let names = |answer: &Value| {
        let fields = answer["data"]["t"]["fields"]
            .as_array()
            .unwrap_or_else(|| panic!("{answer}"))
            .iter();
        fields
            .map(|field| field["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    for _ in 0..2 {
        for (all, expected) in [
            (false, ["sum", "window", "total", "greet"].as_slice()),
            (true, &["sum", "window", "total", "old", "greet"]),
        ] {
            let variables = graphql_vars! { "name": "Query", "all": (all) };
            let request = GraphRequest::new(query).with_variables(variables);
            let answer = json!(engine.execute(&request, &RequestContext::new(())).await);
            assert_eq!(names(&answer), expected);
        }
        let request = GraphRequest::new(query).with_variables(graphql_vars! { "name": "Nothing" });
        let answer = json!(engine.execute(&request, &RequestContext::new(())).await);
        assert_eq!(answer, json!({ "data": { "t": null } }));
    }
}

/// G11: introspection equals juniper's, in the requested order and with the requested names. It
/// lacks the types without fields that juniper has for absent roots.
#[tokio::test]
async fn introspection_says_what_juniper_says() {
    let root = RootNode::new(
        Query,
        EmptyMutation::<Context>::new(),
        EmptySubscription::<Context>::new(),
    );
    let context = RequestContext::new(());
    let (theirs, _) = juniper::introspect(&root, &context, juniper::IntrospectionFormat::All).unwrap();
    let source = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/vectors/introspection.graphql"
    ));
    let ours = engine()
        .execute(&GraphRequest::new(source.unwrap()), &context)
        .await;
    let sorted = |mut schema: Value| {
        let types = schema["__schema"]["types"].as_array_mut().unwrap();
        types.retain(|ty| !ty["name"].as_str().unwrap().starts_with("_Empty"));
        types.sort_by_key(|ty| ty["name"].as_str().unwrap().to_owned());
        let directives = schema["__schema"]["directives"].as_array_mut().unwrap();
        directives.sort_by_key(|directive| directive["name"].as_str().unwrap().to_owned());
        schema
    };
    let theirs = sorted(serde_json::to_value(&theirs).unwrap());
    assert_eq!(sorted(json!(ours)["data"].clone()), theirs);
    assert!(theirs.to_string().contains("Grüße, 日本 🦀"));
}

/// G19: a selection with many keys is served; `a_wide_selection_is_collected_in_linear_work`
/// measures the cost.
#[tokio::test]
async fn a_wide_selection_is_answered() {
    let wide: String = (0..14_000).map(|at| format!("a{at}: sum ")).collect();
    let request = GraphRequest::new(format!("{{ {wide} }}"));
    let engine = engine();
    let answer = json!(engine.execute(&request, &RequestContext::new(())).await);
    assert_eq!(answer["data"]["a13999"], 3, "{}", answer["errors"]);
}

/// G1: `@skip` and `@include` follow the variables of each request of a cached document, with any
/// number of variables.
#[tokio::test]
async fn what_is_skipped_follows_the_variables() {
    let declared: String = (0..70).map(|at| format!("$v{at}: Boolean! ")).collect();
    let selected: String = (0..70)
        .map(|at| format!("a{at}: sum @include(if: $v{at}) "))
        .collect();
    for (count, declared, selected) in [
        (
            5,
            declared.split_inclusive("! ").take(5).collect(),
            selected.split_inclusive(") ").take(5).collect(),
        ),
        (70, declared, selected),
    ] {
        let query: String = format!("query ({declared}) {{ {selected} }}");
        let engine = engine();
        for round in 0..40_u32 {
            let wanted = |at: usize| (round >> (at % 5)) & 1 == 1;
            let variables = (0..count).map(|at| (format!("v{at}"), juniper::InputValue::scalar(wanted(at))));
            let request = GraphRequest::new(query.clone()).with_variables(variables.collect());
            let answer = json!(engine.execute(&request, &RequestContext::new(())).await);
            let expected: serde_json::Map<_, _> = (0..count)
                .filter(|at| wanted(*at))
                .map(|at| (format!("a{at}"), json!(3)))
                .collect();
            assert_eq!(answer["data"], Value::Object(expected), "{round}: {answer}");
        }
    }
}

/// G19: a refusal that depends on variables is not cached for other callers.
#[tokio::test]
async fn a_refusal_that_depends_on_variables_is_not_kept() {
    let limits = Limits::default().with_aliases(100_000).with_tokens(100_000);
    let shop = Fixture::new(builder().with_limits(limits));
    let many: String = (0..12_000).map(|at| format!("a{at}: __typename ")).collect();
    let query =
        format!("query ($v: Boolean!) {{ search {{ x: __typename ... @include(if: $v) {{ {many} }} }} }}");
    for _ in 0..2 {
        let refused = shop.ask_with(&query, json!({ "v": true })).await;
        assert_eq!(codes(&refused), ["MAX_COST_EXCEEDED"]);
        let fine = shop.ask_with(&query, json!({ "v": false })).await;
        assert_eq!(
            fine,
            json!({ "data": { "search": [{ "x": "Item" }, { "x": "Shelf" }] } })
        );
    }
}

/// G1: the text of a document is decoded correctly, with and without escapes, by JSON, GET and
/// value.
#[tokio::test]
async fn a_text_is_what_the_client_meant() {
    let engine = engine();
    for body in [
        r#"{"query":"{ greet(name: \"日本 🦀\") }"}"#,
        r#"{"query":"{\n greet(name: \"\u65e5\u672c \ud83e\udd80\")\t}"}"#,
        r#"{"query":"{ greet(name: \"\\u65e5\\u672c \\uD83E\\uDD80\") }"}"#,
    ] {
        for _ in 0..2 {
            let graph_core::http::HttpResponse::Full(response) =
                engine.respond(post_body(body), RequestContext::new(())).await
            else {
                panic!("a response");
            };
            assert_eq!(
                envelope(&response),
                json!({ "data": { "greet": "Grüße, 日本 🦀" } }),
                "{body}"
            );
        }
    }
    let half = r#"{"query":"{ greet(name: \"\ud83e\") }"}"#;
    let shop = fixture();
    let response = shop.send(post_body(half)).await;
    assert_eq!(
        (response.status().as_u16(), codes(&envelope(&response))),
        (400, vec!["BAD_REQUEST"])
    );
    // the operation name distinguishes documents of equal text
    let both = "query A { sum } query B { sum(first: 1) }";
    for (name, expected) in [("A", 3), ("B", 1), ("A", 3)] {
        let answer = json!(
            engine
                .execute(
                    &GraphRequest::new(both).with_operation_name(name),
                    &RequestContext::new(())
                )
                .await
        );
        assert_eq!(answer["data"]["sum"], expected);
    }
}

/// G19: documents are served even if the cache is too small for any.
#[tokio::test]
async fn documents_need_not_be_kept() {
    let shop = Fixture::new(builder().with_plan_cache(0));
    for _ in 0..3 {
        assert_eq!(shop.ask("{ ping }").await, json!({ "data": { "ping": "pong" } }));
        assert_eq!(codes(&shop.ask("{ pong }").await), ["GRAPHQL_VALIDATION_FAILED"]);
    }
}

mod twice {
    use super::{Context, graph_object};

    pub(super) struct Node;

    #[graph_object(context = Context, name = "Node")]
    impl Node {
        fn one() -> i32 {
            1
        }
    }

    pub(super) struct Other;

    #[graph_object(context = Context, name = "Node")]
    impl Other {
        fn two() -> i32 {
            2
        }
    }

    pub(super) struct Query;

    #[graph_object(context = Context)]
    impl Query {
        fn node() -> Node {
            Node
        }

        fn other() -> Option<Other> {
            None
        }
    }
}

/// G3: two types with one name are a configuration mistake.
#[test]
fn two_types_of_one_name_are_a_mistake() {
    let root = RootNode::new(twice::Query, EmptyMutation::new(), EmptySubscription::new());
    let refused = Engine::builder(root).build().unwrap_err();
    assert_eq!(refused.mistakes(), [ConfigMistake::TwoTypes("Node".to_owned())]);
}

/// G19: the response to many invalid variables (list elements, object fields, missing ones) is
/// bounded.
#[tokio::test]
async fn a_hundred_mistakes_of_variables_are_enough() {
    let numbers = vec!["x"; 2_000];
    let window: serde_json::Map<String, Value> = (0..2_000).map(|at| (format!("a{at}"), json!(1))).collect();
    let declared: String = (0..300).map(|at| format!("$v{at}: Int! ")).collect();
    let used: String = (0..300).map(|at| format!("a{at}: sum(first: $v{at}) ")).collect();
    for (query, variables) in [
        (
            "query($v: [Int!]!) { total(numbers: $v) }".to_owned(),
            json!({ "v": numbers }),
        ),
        (
            "query($v: Window!) { window(window: $v) }".to_owned(),
            json!({ "v": window }),
        ),
        (format!("query({declared}) {{ {used} }}"), json!({})),
    ] {
        let variables = serde_json::from_value(variables).unwrap();
        let answer = ask(&GraphRequest::new(&query).with_variables(variables)).await;
        assert_eq!(codes(&answer), vec!["BAD_USER_INPUT"; 100], "{query}");
    }
}
