#![no_main]

use graph_core::http::GraphRequest;
use graph_core::{Engine, GraphError, RequestContext, graph_object};
use juniper::{EmptyMutation, EmptySubscription, RootNode, ToInputValue as _};
use libfuzzer_sys::fuzz_target;

struct Query;

#[graph_object(context = RequestContext<()>)]
impl Query {
    fn echo(text: Option<String>, #[graphql(default = vec![Some(1)])] list: Vec<Option<i32>>) -> String {
        format!("{text:?}{list:?}")
    }
    fn all() -> Vec<Option<Query>> {
        vec![Some(Query), None, Some(Query)]
    }
    async fn later() -> Result<Query, GraphError> {
        Err(GraphError::not_found("never"))
    }
}

fuzz_target!(|input: (&str, i32)| {
    let (query, number) = input;
    let root = RootNode::new(Query, EmptyMutation::new(), EmptySubscription::new());
    let engine = Engine::builder(root).build().expect("a schema");
    let variables = [("v".to_owned(), number.to_input_value())].into_iter().collect();
    let request = GraphRequest::new(query).with_variables(variables);
    let response = futures_executor::block_on(engine.execute(&request, &RequestContext::new(())));
    assert!(std::str::from_utf8(&response.to_json()).expect("UTF-8").starts_with('{'));
});
