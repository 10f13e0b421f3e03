//! The engines that are compared: each takes the bytes of a request's body to the bytes of its answer.

use std::pin::pin;
use std::task::{Context as TaskContext, Poll, Waker};

use bytes::Bytes;
use graph_core::{Engine, RequestContext, engine::Root as QueryRoot, http::Answer};
use http::Request;
use juniper::http::GraphQLRequest;
use juniper::{EmptyMutation, EmptySubscription, GraphQLTypeAsync, RootNode};

use crate::data::Case;
use crate::direct::Context;
use crate::{direct, floor, peer, yielding};

/// A response, in what it was written.
pub(crate) enum Written {
    Bytes(Bytes),
    Vec(Vec<u8>),
}

impl AsRef<[u8]> for Written {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Vec(bytes) => bytes,
        }
    }
}

/// An engine on one case.
pub(crate) struct Measured<'c> {
    pub(crate) name: &'static str,
    pub(crate) answer: Box<dyn Fn() -> Written + 'c>,
}

type Root<Q> = RootNode<Q, EmptyMutation<Context>, EmptySubscription<Context>>;

/// Every engine on `case`, ours first and the floors last; each has answered it once, by the byte as it should.
pub(crate) fn measured(case: &Case) -> Vec<Measured<'_>> {
    let expected = floor::derived(&case.data);
    let body = serde_json::json!({ "query": case.query }).to_string();
    let body = Bytes::from(body);
    let all = vec![
        ours("ours", root(direct::Query), body.clone()),
        ours("ours, yielding", root(yielding::Query), body.clone()),
        juniper_sync(root(direct::Query), body.clone()),
        juniper("juniper async", root(direct::Query), body.clone()),
        juniper("juniper async, yielding", root(yielding::Query), body.clone()),
        async_graphql("async-graphql", peer::direct::schema(), body.clone()),
        async_graphql("async-graphql, yielding", peer::yielding::schema(), body),
        plain("floor: serde derive", || floor::derived(&case.data)),
        plain("floor: by hand", || floor::by_hand(&case.data)),
    ];
    for Measured { name, answer } in &all {
        assert_eq!(answer().as_ref(), expected, "{name}, {}", case.name);
    }
    all
}

fn root<Q>(query: Q) -> Root<Q>
where
    Q: GraphQLTypeAsync<Context = Context, TypeInfo = ()> + Send,
{
    RootNode::new(query, EmptyMutation::new(), EmptySubscription::new())
}

fn plain<'c>(name: &'static str, write: impl Fn() -> Vec<u8> + 'c) -> Measured<'c> {
    let answer = Box::new(move || Written::Vec(write()));
    Measured { name, answer }
}

fn ours<Q>(name: &'static str, root: Root<Q>, body: Bytes) -> Measured<'static>
where
    Q: QueryRoot<Host = ()> + 'static,
{
    let engine = Engine::builder(root).build().expect("an engine");
    let answer = move || {
        let request = Request::post("/graphql").header("content-type", "application/json");
        let request = request.body(body.clone()).expect("a request");
        match drive(engine.respond(request, RequestContext::new(()))) {
            Answer::Full(response) => Written::Bytes(response.into_body()),
            Answer::Stream(_) => unreachable!("nobody subscribed"),
        }
    };
    Measured {
        name,
        answer: Box::new(answer),
    }
}

fn juniper_sync(root: Root<direct::Query>, body: Bytes) -> Measured<'static> {
    plain("juniper sync", move || {
        let request: GraphQLRequest = serde_json::from_slice(&body).expect("JSON");
        let response = request.execute_sync(&root, &RequestContext::new(()));
        serde_json::to_vec(&response).expect("JSON")
    })
}

fn juniper<Q>(name: &'static str, root: Root<Q>, body: Bytes) -> Measured<'static>
where
    Q: GraphQLTypeAsync<Context = Context, TypeInfo = ()> + Send + Sync + 'static,
{
    plain(name, move || {
        let request: GraphQLRequest = serde_json::from_slice(&body).expect("JSON");
        let response = drive(request.execute(&root, &RequestContext::new(())));
        serde_json::to_vec(&response).expect("JSON")
    })
}

fn async_graphql<Q>(
    name: &'static str,
    schema: async_graphql::Schema<Q, async_graphql::EmptyMutation, async_graphql::EmptySubscription>,
    body: Bytes,
) -> Measured<'static>
where
    Q: async_graphql::ObjectType + 'static,
{
    plain(name, move || {
        let request: async_graphql::Request = serde_json::from_slice(&body).expect("JSON");
        let response = drive(schema.execute(request));
        serde_json::to_vec(&response).expect("JSON")
    })
}

/// Polls until it is ready: whatever is pending here has woken itself.
fn drive<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = TaskContext::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
}
