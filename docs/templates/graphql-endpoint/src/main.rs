//! A GraphQL endpoint over a juniper schema, by GraphQL over HTTP.
//!
//! Depth, cost and number of fields of a query are limited before its execution. Errors of
//! resolvers are masked. Subscriptions and deferred fragments are streams.

use std::{convert::Infallible, env, error::Error, net::TcpListener};

use axum::{Router, body::Body, extract::State, response::Response, routing::any};
use futures_util::StreamExt;
use graph_core::{Engine, HttpResponse, RequestContext, graph_object};
use host_adapter_axum::{Limits, Whole, serve_router};
use juniper::{EmptyMutation, EmptySubscription, RootNode};

/// Values that resolvers use, such as a database; here none.
type Context = RequestContext<()>;
type Graph = Engine<Query, EmptyMutation<Context>, EmptySubscription<Context>>;

struct Query;

#[graph_object(context = Context)]
impl Query {
    /// Sum of the prices, in cents.
    fn total(prices: Vec<i32>) -> i32 {
        prices
            .iter()
            .fold(0, |sum, price| sum.saturating_add(*price))
    }
}

async fn graphql(State(engine): State<Graph>, Whole(request): Whole) -> Response {
    // add the principal that the service authenticated
    let context = RequestContext::new(());
    match engine.respond(request, context).await {
        HttpResponse::Full(response) => response.map(Body::from),
        HttpResponse::Stream(response) => {
            response.map(|events| Body::from_stream(events.map(Ok::<_, Infallible>)))
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let schema = RootNode::new(Query, EmptyMutation::new(), EmptySubscription::new());
    let router = Router::new()
        .route("/graphql", any(graphql))
        .with_state(Engine::builder(schema).build()?);
    let address = env::var("LISTEN").unwrap_or_else(|_| "127.0.0.1:8080".to_owned());
    let listener = TcpListener::bind(address)?;
    println!("listening on http://{}", listener.local_addr()?);
    let stopped = async { tokio::signal::ctrl_c().await.unwrap_or_default() };
    Ok(serve_router(listener, router, Limits::default(), stopped).await?)
}
