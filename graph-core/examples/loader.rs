//! Batched loading (DataLoader) in an axum service: one query for the customers of all charges.
//!
//! ```sh
//! cargo run -p graph-core --example loader -- 127.0.0.1:8080
//! curl http://127.0.0.1:8080/graphql -H 'Content-Type: application/json' \
//!     -d '{"query": "{ charges { id customer { name } } }"}'
//! ```
//!
//! The log has one line for each batch: a hundred charges of three customers load three customers
//! at once. No timer delays the batch; the engine loads when no resolver can make progress.
#![expect(clippy::print_stdout, reason = "the example logs")]

use std::collections::HashMap;
use std::convert::Infallible;
use std::{env, error::Error};

use axum::{Router, body::Body, extract::State, response::Response, routing::get};
use futures_util::StreamExt;
use graph_core::{Batch, Engine, GraphError, GraphObject, HttpResponse, RequestContext, graph_object};
use host_adapter_axum::Whole;
use juniper::{EmptyMutation, EmptySubscription, RootNode};
use tokio::net::TcpListener;

type Context = RequestContext<()>;
type Graph = Engine<Query, EmptyMutation<Context>, EmptySubscription<Context>>;

#[derive(Clone, GraphObject)]
struct Customer {
    id: i32,
    name: String,
}

/// Loads customers by id.
struct Customers;

impl Batch for Customers {
    type Key = i32;
    type Value = Customer;

    /// A service runs one query here, such as `SELECT … WHERE id = ANY($1)`.
    async fn load(&self, ids: Vec<i32>) -> Result<HashMap<i32, Customer>, GraphError> {
        println!("loaded {} customers", ids.len());
        let customer = |id| Customer {
            id,
            name: format!("customer {id}"),
        };
        Ok(ids.into_iter().map(|id| (id, customer(id))).collect())
    }
}

struct Charge(i32);

#[graph_object(context = Context)]
impl Charge {
    fn id(&self) -> i32 {
        self.0
    }

    async fn customer(&self, context: &Context) -> Result<Option<Customer>, GraphError> {
        context.load::<Customers>(self.0 % 3).await
    }
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn charges() -> Vec<Charge> {
        (1..=100).map(Charge).collect()
    }
}

async fn graphql(State(graph): State<Graph>, Whole(request): Whole) -> Response {
    // loaders belong to a request: their values are cached as long as it runs
    let context = RequestContext::new(()).with_loader(Customers);
    match graph.respond(request, context).await {
        HttpResponse::Full(response) => response.map(Body::from),
        HttpResponse::Stream(response) => {
            response.map(|events| Body::from_stream(events.map(Ok::<_, Infallible>)))
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let address = env::args().nth(1).ok_or("missing argument: address")?;
    let schema = RootNode::new(Query, EmptyMutation::new(), EmptySubscription::new());
    let router = Router::new()
        .route("/graphql", get(graphql).post(graphql))
        .with_state(Engine::builder(schema).build()?);
    let listener = TcpListener::bind(address).await?;
    println!("listening on http://{}", listener.local_addr()?);
    Ok(axum::serve(listener, router).await?)
}
