//! Building an engine.

use futures_util::StreamExt as _;
use graph_core::engine::ConfigMistake;
use graph_core::limits::{FieldCost, Limits};
use graph_core::{Engine, RequestContext};
use juniper::{EmptyMutation, EmptySubscription, RootNode};
use serde_json::json;

use crate::fixture::{Context, Query, Shop, ShopEngine, builder, codes};

/// G18: a cost for an unknown field protects nothing, so the engine is not built.
#[test]
fn every_mistake_is_reported_at_once() {
    let described = builder()
        .with_field_cost("Query.itmes", FieldCost::weight(1))
        .with_field_cost("Query", FieldCost::weight(1))
        .with_field_cost(
            "Query.items",
            FieldCost::sliced_by(["first", "limit", "first.limit"]),
        )
        .with_limits(Limits::default().with_depth(0));
    let refused = described.build().unwrap_err();
    let expected = [
        ConfigMistake::UnknownField("Query".to_owned()),
        ConfigMistake::UnknownField("Query.itmes".to_owned()),
        ConfigMistake::UnknownArgument("Query.items(limit)".to_owned()),
        ConfigMistake::UnknownArgument("Query.items(first.limit)".to_owned()),
        ConfigMistake::NothingAllowed("depth"),
    ];
    assert_eq!(refused.mistakes(), expected);
    assert_eq!(
        refused.to_string(),
        "cannot build the engine: the schema has no field `Query`, the schema has no field `Query.itmes`, \
         the schema has no argument `Query.items(limit)`, \
         the schema has no argument `Query.items(first.limit)`, the limit of depth is 0"
    );
}

/// G2: a schema without mutations and subscriptions refuses them, also as events.
#[tokio::test]
async fn a_schema_may_have_queries_only() {
    let schema = RootNode::new(
        Query,
        EmptyMutation::<Context>::new(),
        EmptySubscription::<Context>::new(),
    );
    let engine = Engine::builder(schema).build().unwrap();
    for query in [
        "mutation { add(id: 1) { id } }",
        "subscription { added { id } }",
        "mutation { __typename }",
    ] {
        let request = graph_core::http::GraphRequest::new(query);
        let answers: Vec<_> = engine
            .subscribe(request, RequestContext::new(Shop::new()))
            .collect()
            .await;
        let answer = json!(answers[0]);
        assert!(answer.get("data").is_none(), "{answer}");
        assert!(
            ["GRAPHQL_VALIDATION_FAILED", "OPERATION_RESOLUTION_FAILURE"].contains(&codes(&answer)[0]),
            "{answer}"
        );
    }
}

/// The engine can be cloned and shared between threads.
#[test]
fn an_engine_is_clone_send_and_sync() {
    fn is<T: Clone + Send + Sync + 'static>() {}
    is::<ShopEngine>();
    is::<Context>();
}
