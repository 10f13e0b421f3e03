//! Introspection and its limits.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use graph_core::http::GraphRequest;
use graph_core::limits::{LimitMode, Limits, Measured};
use graph_core::{Engine, RequestContext};
use juniper::{EmptyMutation, EmptySubscription, RootNode};
use serde_json::json;

use crate::fixture::{Fixture, Mutation, Query, Subscription, builder, codes, fixture};

/// G11: introspection describes the host's schema.
#[tokio::test]
async fn the_schema_can_be_read() {
    let shop = fixture();
    let query = r#"{ __schema { queryType { name } } __type(name: "ItemConnection") { fields { name type { kind ofType { kind } } } } }"#;
    let answer = shop.ask(query).await;
    assert_eq!(answer["data"]["__schema"]["queryType"]["name"], "Query");
    assert_eq!(answer["data"]["__type"]["fields"][0]["name"], "edges");
    assert_eq!(
        answer["data"]["__type"]["fields"][0]["type"],
        json!({ "kind": "NON_NULL", "ofType": { "kind": "LIST" } })
    );
}

/// G11: if disabled, `__schema` and `__type` are refused with their code at any position;
/// `__typename` works.
#[tokio::test]
async fn introspection_can_be_switched_off() {
    let by_schema = Engine::builder(RootNode::new(Query, Mutation, Subscription).disable_introspection());
    for builder in [builder().without_introspection(), by_schema] {
        let shop = Fixture::new(builder);
        for query in [
            "{ ping __schema { queryType { name } } }",
            "{ ping x: __type(name: \"Item\") { name } }",
            "{ ping ...F } fragment F on Query { ... { __schema { queryType { name } } } }",
        ] {
            let answer = shop.ask(query).await;
            assert_eq!(codes(&answer), ["INTROSPECTION_DISABLED"], "{query}");
            assert!(answer.get("data").is_none());
        }
        assert_eq!(shop.shop.calls(), 0);
        assert_eq!(
            shop.ask("{ __typename }").await,
            json!({ "data": { "__typename": "Query" } })
        );
    }
}

struct Looping;

#[graph_core::graph_object(context = RequestContext<()>)]
impl Looping {
    fn query() -> Self {
        Self
    }
}

/// G11, G3: a nested query root does not bypass the switch, and introspection there, which juniper
/// cannot execute, is refused before anything runs.
#[tokio::test]
async fn introspection_is_served_at_the_root_only() {
    for (switched_on, code) in [
        (false, "INTROSPECTION_DISABLED"),
        (true, "GRAPHQL_VALIDATION_FAILED"),
    ] {
        let schema = RootNode::new(Looping, EmptyMutation::new(), EmptySubscription::new());
        let builder = Engine::builder(schema);
        let engine = if switched_on {
            builder
        } else {
            builder.without_introspection()
        };
        let engine = engine.build().unwrap();
        for query in [
            "{ query { __schema { queryType { name } } } }",
            "{ query { query { ...F } } } fragment F on Looping { ... { x: __type(name: \"Looping\") { name } } }",
        ] {
            let request = GraphRequest::new(query);
            let answer = json!(engine.execute(&request, &RequestContext::new(())).await);
            assert_eq!(codes(&answer), [code], "{query}");
            assert!(answer.get("data").is_none());
        }
    }
}

/// G11, G17: the usual introspection query passes the limits, a recursive one does not.
#[tokio::test]
async fn introspection_is_free_but_not_endless() {
    let shop = fixture();
    let usual = "{ __schema { types { name fields(includeDeprecated: true) { name args { name type { name ofType { name \
        ofType { name ofType { name ofType { name ofType { name ofType { name ofType { name } } } } } } } } } } \
        inputFields { name } interfaces { name } possibleTypes { name } } } }";
    let answer = shop.ask(usual).await;
    assert!(answer.get("errors").is_none(), "{}", answer["errors"]);
    // neither depth nor cost: one level and a budget of 0 are enough
    let frugal = Fixture::new(builder().with_limits(Limits::default().with_depth(1).with_cost(0)));
    assert!(frugal.ask(usual).await.get("errors").is_none());
    let level = |inner: String| format!("fields {{ type {{ name {inner} }} }}");
    let two = level(level(String::new()));
    let answer = shop.ask(&format!("{{ __schema {{ types {{ {two} }} }} }}")).await;
    assert!(answer.get("errors").is_none(), "{}", answer["errors"]);
    let circle = (0..3).fold(String::new(), |inner, _| level(inner));
    let answer = shop
        .ask(&format!("{{ ping __schema {{ types {{ {circle} }} }} }}"))
        .await;
    assert_eq!(codes(&answer), ["MAX_DEPTH_EXCEEDED"]);
    assert_eq!(shop.shop.calls(), 0);
}

/// G11, G17, G19: recursive introspection is refused before its response is computed, also in
/// measuring modes and with variables.
#[tokio::test]
async fn introspection_in_circles_is_refused_in_every_mode() {
    let told = Arc::new(AtomicUsize::new(0));
    for mode in [LimitMode::Enforce, LimitMode::Measure, LimitMode::Report] {
        let count = Arc::clone(&told);
        let limits = Limits::default().with_mode(mode);
        let log = move |_: &Measured<'_>| {
            count.fetch_add(1, Ordering::SeqCst);
        };
        let shop = Fixture::new(builder().with_limits(limits).with_limit_log(log));
        let circle = (0..5).fold(String::new(), |inner, _| {
            format!("fields {{ type {{ name {inner} }} }}")
        });
        for query in [
            format!("{{ __schema {{ types {{ {circle} }} }} }}"),
            format!("query($n: Int = 1) {{ items(first: $n) {{ id }} __schema {{ types {{ {circle} }} }} }}"),
        ] {
            let answer = shop.ask(&query).await;
            assert_eq!(codes(&answer), ["MAX_DEPTH_EXCEEDED"], "{mode:?} {query}");
            assert!(answer.get("data").is_none());
        }
    }
    // refused before the check that depends on variables
    assert_eq!(told.load(Ordering::SeqCst), 0);
}

/// G11, G19: aliases in lists in lists, where nothing else bounds them, say the same only so often.
#[tokio::test]
async fn the_answer_of_introspection_is_bounded() {
    let shop = Fixture::new(builder().with_limits(Limits::default().with_mode(LimitMode::Measure)));
    let aliases = |count: usize, what: &str| {
        (0..count)
            .map(|at| format!("{}{at}: {what} ", "a".repeat(60)))
            .collect::<String>()
    };
    let asked = |count: usize| {
        let (outer, inner) = (
            aliases(count, "fields { type { ...I } }"),
            aliases(count, "fields { name }"),
        );
        format!("{{ __schema {{ types {{ {outer} }} }} }} fragment I on __Type {{ {inner} }}")
    };
    assert!(shop.ask(&asked(4)).await.get("errors").is_none());
    let answer = shop.ask(&asked(60)).await;
    assert_eq!(codes(&answer), ["MAX_COST_EXCEEDED"]);
}
