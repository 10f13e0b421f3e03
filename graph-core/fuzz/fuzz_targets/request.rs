#![no_main]

use bytes::Bytes;
use graph_core::http::HttpResponse;
use graph_core::{Engine, RequestContext};
use http::Request;
use juniper::{EmptyMutation, EmptySubscription, RootNode};
use libfuzzer_sys::fuzz_target;

struct Query;

#[graph_core::graph_object(context = RequestContext<()>)]
impl Query {
    fn echo(text: String, list: Option<Vec<i32>>) -> String {
        format!("{text}{list:?}")
    }
}

fuzz_target!(|body: &[u8]| {
    let root = RootNode::new(Query, EmptyMutation::new(), EmptySubscription::new());
    let engine = Engine::builder(root).build().expect("a schema");
    let request = Request::post("/graphql").header("content-type", "application/json");
    let request = request.body(Bytes::copy_from_slice(body)).expect("a request");
    if let HttpResponse::Full(response) =
        futures_executor::block_on(engine.respond(request, RequestContext::new(())))
    {
        assert!(!response.status().is_server_error());
    }
});
