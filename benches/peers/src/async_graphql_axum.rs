//! The graph of the benches behind async-graphql-axum, on loopback: prints `listening PORT` and
//! serves until it is killed.
#![allow(dead_code, reason = "the benches use more of the data and of the schemas")]

#[path = "../../benches/graph/data.rs"]
mod data;
#[path = "../../benches/graph/pause.rs"]
mod pause;
#[path = "../../benches/graph/peer.rs"]
mod peer;

use std::io;

use async_graphql::{EmptyMutation, EmptySubscription, Schema};
use async_graphql_axum::{GraphQLRequest, GraphQLResponse};
use axum::{Router, extract::State, routing::post};
use mimalloc::MiMalloc;
use tokio::{net::TcpListener, runtime};

use crate::peer::direct::Query;

// as in the bench
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

type Graph = Schema<Query, EmptyMutation, EmptySubscription>;

async fn answer(State(graph): State<Graph>, request: GraphQLRequest) -> GraphQLResponse {
    graph.execute(request.into_inner()).await.into()
}

fn main() -> io::Result<()> {
    runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(async {
            let router = Router::new().route("/graphql", post(answer));
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            println!("listening {}", listener.local_addr()?.port());
            axum::serve(listener, router.with_state(peer::direct::schema())).await
        })
}
