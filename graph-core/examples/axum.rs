//! One GraphQL endpoint in an axum service: a guarded query and a mutation.
//!
//! ```sh
//! cargo run -p graph-core --example axum -- 127.0.0.1:8080
//! curl http://127.0.0.1:8080/graphql -H 'Content-Type: application/json' \
//!     -d '{"query": "mutation { charge(amount: 500) { id amount } }"}'
//! ```
//!
//! A browser that opens `http://127.0.0.1:8080/graphql` gets the explorer. The field `charges`
//! needs the scope `read:charges`, which a client has with the header `Authorization: Bearer
//! demo`. A service verifies access tokens instead, for example with oauth-core.
#![expect(clippy::print_stdout, reason = "the example logs")]

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::{env, error::Error};

use axum::{Router, body::Body, extract::State, response::Response, routing::get};
use futures_util::StreamExt;
use graph_core::{Engine, GraphError, GraphObject, HttpResponse, Principal, RequestContext, graph_object};
use host_adapter_axum::Whole;
use http::header::AUTHORIZATION;
use juniper::{EmptySubscription, RootNode};
use tokio::net::TcpListener;

/// Value of the host in the context of each request.
type Charges = Arc<Mutex<Vec<Charge>>>;
type Context = RequestContext<Charges>;
type Graph = Engine<Query, Mutation, EmptySubscription<Context>>;

#[derive(Clone, GraphObject)]
struct Charge {
    id: i32,
    /// Amount in the smallest unit of the currency.
    amount: i32,
}

struct Query;

#[graph_object(context = Context)]
impl Query {
    /// All charges. Null for a client without the scope.
    #[graph(scope = "read:charges")]
    fn charges(context: &Context) -> Option<Vec<Charge>> {
        let charges = context.host().lock().unwrap_or_else(PoisonError::into_inner);
        Some(charges.clone())
    }
}

struct Mutation;

#[graph_object(context = Context)]
impl Mutation {
    fn charge(context: &Context, amount: i32) -> Result<Charge, GraphError> {
        if amount <= 0 {
            return Err(GraphError::bad_user_input("the amount must be positive"));
        }
        let mut charges = context.host().lock().unwrap_or_else(PoisonError::into_inner);
        let id = i32::try_from(charges.len()).map_err(GraphError::internal)?;
        let charge = Charge { id, amount };
        charges.push(charge.clone());
        Ok(charge)
    }
}

async fn graphql(State((graph, charges)): State<(Graph, Charges)>, Whole(request): Whole) -> Response {
    let mut context = RequestContext::new(charges);
    if request
        .headers()
        .get(AUTHORIZATION)
        .is_some_and(|token| token == "Bearer demo")
    {
        let scopes = "read:charges".parse().unwrap_or_default();
        context = context.with_principal(Principal::new("ada").with_scopes(scopes));
    }
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
    let schema = RootNode::new(Query, Mutation, EmptySubscription::new());
    let graph = Engine::builder(schema).build()?;
    let router = Router::new()
        .route("/graphql", get(graphql).post(graphql))
        .with_state((graph, Charges::default()));
    let listener = TcpListener::bind(address).await?;
    println!("listening on http://{}", listener.local_addr()?);
    Ok(axum::serve(listener, router).await?)
}
