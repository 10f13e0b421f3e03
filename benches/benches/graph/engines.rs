//! The compared engines: each turns the bytes of a request into the bytes of its response.

use std::pin::pin;
use std::task::{Context as TaskContext, Poll, Waker};

use bytes::Bytes;
use graph_core::http::{GraphRequest, HttpResponse};
use graph_core::{Engine, RequestContext, engine::Root as QueryRoot};
use http::Request;
use juniper::http::GraphQLRequest;
use juniper::{EmptyMutation, EmptySubscription, GraphQLType, GraphQLTypeAsync, RootNode};

use crate::data::Case;
use crate::direct::Context;
use crate::{direct, floor, peer, yielding};

/// The schema with synchronous fields, for juniper's executor.
pub(crate) mod theirs {
    direct!(::juniper::graphql_object(context = Context));
}

/// A response in its own buffer type.
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
    pub(crate) answer: Box<dyn Fn(Request<Bytes>) -> Written + 'c>,
}

type Root<Q> = RootNode<Q, EmptyMutation<Context>, EmptySubscription<Context>>;

/// A request for `case`, as a server passes it on.
pub(crate) fn request(case: &Case) -> Request<Bytes> {
    let body = serde_json::json!({ "query": case.query }).to_string();
    let request = Request::post("/graphql").header("content-type", "application/json");
    request.body(body.into()).expect("a request")
}

/// Every engine on `case`, ours first and the floors last; each has given the expected bytes once.
pub(crate) fn measured(case: &Case) -> Vec<Measured<'_>> {
    let expected = floor::derived(&case.data);
    let all = vec![
        ours("ours", root(direct::ours::Query)),
        executed("ours, without HTTP", root(direct::ours::Query), case),
        ours("ours, yielding", root(yielding::ours::Query)),
        executed("ours, yielding, without HTTP", root(yielding::ours::Query), case),
        juniper_sync(root(theirs::Query)),
        juniper("juniper async", root(theirs::Query)),
        juniper("juniper async, yielding", root(yielding::theirs::Query)),
        async_graphql("async-graphql", peer::direct::schema()),
        async_graphql("async-graphql, yielding", peer::yielding::schema()),
        plain("floor: serde derive", |_| floor::derived(&case.data)),
        plain("floor: by hand", |_| floor::by_hand(&case.data)),
    ];
    for Measured { name, answer } in &all {
        assert_eq!(answer(request(case)).as_ref(), expected, "{name}, {}", case.name);
    }
    all
}

fn root<Q>(query: Q) -> Root<Q>
where
    Q: GraphQLType<Context = Context, TypeInfo = ()>,
{
    RootNode::new(query, EmptyMutation::new(), EmptySubscription::new())
}

fn plain<'c>(name: &'static str, write: impl Fn(&[u8]) -> Vec<u8> + 'c) -> Measured<'c> {
    let answer = Box::new(move |request: Request<Bytes>| Written::Vec(write(request.body())));
    Measured { name, answer }
}

/// The whole endpoint: media types, body, response with its headers.
fn ours<Q: QueryRoot<Host = ()>>(name: &'static str, root: Root<Q>) -> Measured<'static> {
    let engine = Engine::builder(root).build().expect("an engine");
    let answer = move |request| match drive(engine.respond(request, RequestContext::new(()))) {
        HttpResponse::Full(response) => Written::Bytes(response.into_body()),
        HttpResponse::Stream(_) => unreachable!("no operation is a subscription"),
    };
    let answer = Box::new(answer);
    Measured { name, answer }
}

/// From a parsed body to the bytes of the response.
fn executed<Q: QueryRoot<Host = ()>>(name: &'static str, root: Root<Q>, case: &Case) -> Measured<'static> {
    let engine = Engine::builder(root).build().expect("an engine");
    let request = GraphRequest::new(&*case.query);
    let answer = move |_| {
        let response = drive(engine.execute(&request, &RequestContext::new(())));
        Written::Bytes(response.into_json())
    };
    let answer = Box::new(answer);
    Measured { name, answer }
}

fn juniper_sync(root: Root<theirs::Query>) -> Measured<'static> {
    plain("juniper sync", move |body| {
        let request: GraphQLRequest = serde_json::from_slice(body).expect("JSON");
        let response = request.execute_sync(&root, &RequestContext::new(()));
        serde_json::to_vec(&response).expect("JSON")
    })
}

fn juniper<Q>(name: &'static str, root: Root<Q>) -> Measured<'static>
where
    Q: GraphQLTypeAsync<Context = Context, TypeInfo = ()> + Send + Sync + 'static,
{
    plain(name, move |body| {
        let request: GraphQLRequest = serde_json::from_slice(body).expect("JSON");
        let response = drive(request.execute(&root, &RequestContext::new(())));
        serde_json::to_vec(&response).expect("JSON")
    })
}

fn async_graphql<Q>(
    name: &'static str,
    schema: async_graphql::Schema<Q, async_graphql::EmptyMutation, async_graphql::EmptySubscription>,
) -> Measured<'static>
where
    Q: async_graphql::ObjectType + 'static,
{
    plain(name, move |body| {
        let request: async_graphql::Request = serde_json::from_slice(body).expect("JSON");
        let response = drive(schema.execute(request));
        serde_json::to_vec(&response).expect("JSON")
    })
}

/// Polls until the future is ready: every pending future here has woken itself.
fn drive<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = TaskContext::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
}
