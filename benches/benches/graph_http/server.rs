//! The compared servers, and the floors: the same bytes, known in advance.

use std::{convert::Infallible, future::pending, io};

use axum::{Router, body::Body, extract::State, routing::post};
use bytes::Bytes;
use graph_core::{Engine, RequestContext, http::HttpResponse};
use host_adapter_axum::Whole;
use http::{HeaderValue, Request, StatusCode, header::CONTENT_TYPE};
use http_body_util::{BodyExt as _, Full};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use juniper::{EmptyMutation, EmptySubscription, RootNode};
use tokio::net::TcpListener;

use crate::direct::Context;
use crate::direct::ours::Query;

type Mutation = EmptyMutation<Context>;
type Subscription = EmptySubscription<Context>;
type Schema = RootNode<Query, Mutation, Subscription>;
type Graph = Engine<Query, Mutation, Subscription>;

/// Serves until it is killed; `known` is the response of the floors.
pub(crate) async fn serve(what: &str, known: Vec<u8>) -> io::Result<()> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    println!("listening {}", listener.local_addr()?.port());
    let known = Bytes::from(known);
    let schema = RootNode::new(Query, EmptyMutation::new(), EmptySubscription::new());
    let (limits, never) = (Default::default(), pending());
    match what {
        "ours, host-adapter-hyper" => {
            let engine = engine(schema);
            let handler = move |request| {
                let engine = engine.clone();
                async move { ours(&engine, request).await.map(Full::new) }
            };
            host_adapter_hyper::serve(listener, handler, refuse, limits, never).await
        }
        "ours, host-adapter-axum" => {
            let handler = async |State(engine): State<Graph>, Whole(request): Whole| {
                ours(&engine, request).await.map(Body::from)
            };
            let router = Router::new().route("/graphql", post(handler));
            let router = router.with_state(engine(schema));
            host_adapter_axum::serve_router(listener, router, Default::default(), never).await
        }
        "floor: hyper" => hyper(listener, known).await,
        "floor: axum" => {
            let handler = async |State(known): State<Bytes>, _: Bytes| ([(CONTENT_TYPE, JSON)], known);
            let router = Router::new().route("/graphql", post(handler));
            serve_router(listener, router.with_state(known)).await
        }
        _ => {
            let handler = move |_: Request<Bytes>| {
                let known = known.clone();
                async { answer(known).map(Full::new) }
            };
            host_adapter_hyper::serve(listener, handler, refuse, limits, never).await
        }
    }
}

const JSON: HeaderValue = HeaderValue::from_static("application/json");

fn answer(body: Bytes) -> http::Response<Bytes> {
    let mut response = http::Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response
}

fn refuse(_: &Request<()>, status: StatusCode) -> http::Response<Bytes> {
    let mut response = http::Response::default();
    *response.status_mut() = status;
    response
}

fn engine(schema: Schema) -> Graph {
    Engine::builder(schema).build().expect("an engine")
}

async fn ours(engine: &Graph, request: Request<Bytes>) -> http::Response<Bytes> {
    match engine.respond(request, RequestContext::new(())).await {
        HttpResponse::Full(response) => response,
        HttpResponse::Stream(_) => unreachable!("no operation is a subscription"),
    }
}

/// Serves as the documentation of axum does, and those of the peers.
async fn serve_router(listener: std::net::TcpListener, router: Router) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    axum::serve(TcpListener::from_std(listener)?, router).await
}

/// Reads the body and answers with the known bytes.
async fn hyper(listener: std::net::TcpListener, known: Bytes) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = TcpListener::from_std(listener)?;
    loop {
        let (stream, _) = listener.accept().await?;
        let known = known.clone();
        let service = service_fn(move |request: Request<Incoming>| {
            let known = known.clone();
            async {
                request.into_body().collect().await.ok();
                Ok::<_, Infallible>(answer(known).map(Full::new))
            }
        });
        let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
        tokio::spawn(connection);
    }
}
