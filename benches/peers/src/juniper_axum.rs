//! The graph of the benches behind juniper_axum, on loopback: prints `listening PORT` and serves
//! until it is killed.
//!
//! `juniper-axum execute_sync` executes synchronously, for hosts whose resolvers all are; without
//! it, as its documentation does.
#![allow(dead_code, reason = "the benches use more of the data")]

#[path = "../../benches/graph/data.rs"]
mod data;

use std::{env, io, sync::Arc};

use axum::{Router, extract::State, routing::post};
use juniper::{EmptyMutation, EmptySubscription, GraphQLEnum, RootNode, graphql_object};
use juniper_axum::{extract::JuniperRequest, response::JuniperResponse};
use mimalloc::MiMalloc;
use tokio::{net::TcpListener, runtime};

// as in the bench
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

struct Context;

impl juniper::Context for Context {}

#[derive(Clone, Copy, GraphQLEnum)]
enum Role {
    Admin,
    Member,
}

struct Author(&'static data::Author);

#[graphql_object(context = Context)]
impl Author {
    fn id(&self) -> i32 {
        self.0.id
    }
    fn name(&self) -> &str {
        &self.0.name
    }
}

struct Post(&'static data::Post);

#[graphql_object(context = Context)]
impl Post {
    fn id(&self) -> i32 {
        self.0.id
    }
    fn title(&self) -> &str {
        &self.0.title
    }
    fn likes(&self) -> i32 {
        self.0.likes
    }
    fn author(&self) -> Author {
        Author(&self.0.author)
    }
}

struct User(&'static data::User);

#[graphql_object(context = Context)]
impl User {
    fn id(&self) -> i32 {
        self.0.id
    }
    fn name(&self) -> &str {
        &self.0.name
    }
    fn email(&self) -> &str {
        &self.0.email
    }
    fn age(&self) -> i32 {
        self.0.age
    }
    fn role(&self) -> Role {
        match self.0.role {
            data::Role::Admin => Role::Admin,
            data::Role::Member => Role::Member,
        }
    }
    fn posts(&self, first: i32) -> Vec<Post> {
        data::posts(self.0, first).map(Post).collect()
    }
}

struct Query;

#[graphql_object(context = Context)]
impl Query {
    fn ping() -> i32 {
        1
    }
    fn users(first: i32) -> Vec<User> {
        data::users(first).map(User).collect()
    }
}

type Schema = RootNode<Query, EmptyMutation<Context>, EmptySubscription<Context>>;

async fn answer(
    State(schema): State<Arc<Schema>>,
    JuniperRequest(request): JuniperRequest,
) -> JuniperResponse {
    JuniperResponse(request.execute(&schema, &Context).await)
}

async fn answer_sync(
    State(schema): State<Arc<Schema>>,
    JuniperRequest(request): JuniperRequest,
) -> JuniperResponse {
    JuniperResponse(request.execute_sync(&schema, &Context))
}

fn main() -> io::Result<()> {
    let is_sync = env::args().nth(1).as_deref() == Some("execute_sync");
    let answer = if is_sync { post(answer_sync) } else { post(answer) };
    let schema = Schema::new(Query, EmptyMutation::new(), EmptySubscription::new());
    let router = Router::new().route("/graphql", answer);
    runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            println!("listening {}", listener.local_addr()?.port());
            axum::serve(listener, router.with_state(Arc::new(schema))).await
        })
}
