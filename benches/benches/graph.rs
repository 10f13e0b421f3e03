//! One operation from request to response, against bare juniper on the same schema and the same data.
#![expect(
    clippy::expect_used,
    reason = "a bench ends where something is not as it was set up"
)]

use std::hint::black_box;
use std::sync::LazyLock;

use bytes::Bytes;
use criterion::{BatchSize, Criterion};
use futures_util::FutureExt as _;
use graph_core::{
    Engine, RequestContext,
    http::{Answer, GraphRequest},
};
use http::Request;
use juniper::{
    EmptyMutation, EmptySubscription, GraphQLEnum, GraphQLObject, RootNode, Variables, graphql_object,
    http::GraphQLRequest, parser::parse_document_source,
};
use serde::Serialize;

type Context = RequestContext<()>;
type Schema = RootNode<Query, EmptyMutation<Context>, EmptySubscription<Context>>;

static USERS: LazyLock<Vec<User>> = LazyLock::new(|| (0..10).map(User::new).collect());

#[derive(Clone, Copy, GraphQLEnum, Serialize)]
#[graphql(context = Context)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum Role {
    Admin,
    Member,
}

#[derive(GraphQLObject, Serialize)]
#[graphql(context = Context)]
struct Author {
    id: i32,
    name: String,
}

#[derive(GraphQLObject, Serialize)]
#[graphql(context = Context)]
struct Post {
    id: i32,
    title: String,
    likes: i32,
    author: Author,
}

#[derive(Serialize)]
struct User {
    id: i32,
    name: String,
    email: String,
    age: i32,
    role: Role,
    posts: Vec<Post>,
}

impl User {
    fn new(id: i32) -> Self {
        let post = |number: i32| Post {
            id: number,
            title: format!("Post {number} of user {id}"),
            likes: 7 * number,
            author: Author {
                id,
                name: format!("User {id}"),
            },
        };
        Self {
            id,
            name: format!("User {id}"),
            email: format!("user{id}@example.com"),
            age: 20 + id,
            role: if id % 5 == 0 { Role::Admin } else { Role::Member },
            posts: vec![post(2 * id), post(2 * id + 1)],
        }
    }
}

#[graphql_object(context = Context)]
impl User {
    fn id(&self) -> i32 {
        self.id
    }
    fn name(&self) -> &str {
        &self.name
    }
    fn email(&self) -> &str {
        &self.email
    }
    fn age(&self) -> i32 {
        self.age
    }
    fn role(&self) -> Role {
        self.role
    }
    fn posts(&self, first: i32) -> Vec<&Post> {
        self.posts
            .iter()
            .take(usize::try_from(first).unwrap_or_default())
            .collect()
    }
}

struct Query;

#[graphql_object(context = Context)]
impl Query {
    fn ping() -> i32 {
        1
    }
    fn users(first: i32) -> Vec<&'static User> {
        USERS
            .iter()
            .take(usize::try_from(first).unwrap_or_default())
            .collect()
    }
}

/// What is asked, and what must come back.
struct Case {
    name: &'static str,
    query: &'static str,
    body: Bytes,
    expected: Vec<u8>,
}

impl Case {
    fn new(name: &'static str, query: &'static str, data: &impl Serialize) -> Self {
        let body = serde_json::to_vec(&serde_json::json!({ "query": query })).expect("JSON");
        Self {
            name,
            query,
            body: body.into(),
            expected: floor(data),
        }
    }

    fn request(&self) -> Request<Bytes> {
        let request = Request::post("/graphql").header("content-type", "application/json");
        request.body(self.body.clone()).expect("a request")
    }
}

#[derive(Serialize)]
struct Ping {
    ping: i32,
}

#[derive(Serialize)]
struct Users {
    users: &'static [User],
}

/// The response written by nothing but `serde_json`: no request, no schema.
fn floor(data: &impl Serialize) -> Vec<u8> {
    #[derive(Serialize)]
    struct Envelope<'d, D> {
        data: &'d D,
    }
    serde_json::to_vec(&Envelope { data }).expect("JSON")
}

fn schema() -> Schema {
    RootNode::new(Query, EmptyMutation::new(), EmptySubscription::new())
}

/// Every resolver here answers at once, so one poll is enough.
fn ready<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().expect("nothing here waits")
}

/// From the text of the operation to its result, not written yet.
fn execute(criterion: &mut Criterion, case: &Case) {
    let engine = Engine::builder(schema()).build().expect("an engine");
    let juniper = schema();
    let context = RequestContext::new(());
    let request = GraphRequest::new(case.query);

    let mut group = criterion.benchmark_group(format!("graph/execute {}", case.name));
    group.bench_function("ours", |b| {
        b.iter(|| ready(engine.execute(black_box(&request), &context)));
    });
    group.bench_function("juniper", |b| {
        let variables = Variables::new();
        b.iter(|| {
            let executed = juniper::execute(black_box(case.query), None, &juniper, &variables, &context);
            ready(executed).expect("executed")
        });
    });
    group.bench_function("juniper, one parse of it", |b| {
        b.iter(|| parse_document_source(black_box(case.query), &juniper.schema).expect("parsed"));
    });
    group.finish();
}

/// From the bytes of the request to the bytes of the response.
fn respond(criterion: &mut Criterion, case: &Case, data: &impl Serialize) {
    let engine = Engine::builder(schema()).build().expect("an engine");
    let ours = |request: Request<Bytes>| match ready(engine.respond(request, RequestContext::new(()))) {
        Answer::Full(response) => response,
        Answer::Stream(_) => unreachable!("nobody subscribed"),
    };
    let juniper = schema();
    let theirs = |body: &[u8]| {
        let request: GraphQLRequest = serde_json::from_slice(body).expect("JSON");
        let response = ready(request.execute(&juniper, &RequestContext::new(())));
        serde_json::to_vec(&response).expect("JSON")
    };
    assert_eq!(ours(case.request()).body(), &case.expected);
    assert_eq!(theirs(&case.body), case.expected);

    let mut group = criterion.benchmark_group(format!("graph/respond {}", case.name));
    group.bench_function("ours", |b| {
        b.iter_batched(|| case.request(), ours, BatchSize::SmallInput);
    });
    group.bench_function("juniper", |b| b.iter(|| theirs(black_box(&case.body))));
    group.bench_function("floor", |b| b.iter(|| floor(black_box(data))));
    group.finish();
}

fn main() {
    let mut criterion = benches::criterion();
    let (ping, users) = (Ping { ping: 1 }, Users { users: &USERS });
    let scalar = Case::new("one scalar", "{ ping }", &ping);
    let nested = "{ users(first: 10) { id name email age role posts(first: 2) { id title likes author { id name } } } }";
    let nested = Case::new("ten nested", nested, &users);
    execute(&mut criterion, &scalar);
    execute(&mut criterion, &nested);
    respond(&mut criterion, &scalar, &ping);
    respond(&mut criterion, &nested, &users);
    criterion.final_summary();
}
