//! Subscriptions in an axum service: over WebSocket (`graphql-transport-ws`), and over server-sent
//! events (`graphql-sse`).
//!
//! ```sh
//! cargo run -p graph-core --example subscriptions -- 127.0.0.1:8080
//! curl -N http://127.0.0.1:8080/graphql -H 'Accept: text/event-stream' \
//!     -H 'Content-Type: application/json' -d '{"query": "subscription { ticks }"}'
//! ```
//!
//! Open `http://127.0.0.1:8080/graphql` in a browser, or connect a WebSocket of graphql-ws or
//! Apollo Client to the same URL, outside of a browser. Clients need no token; a service checks
//! the payload of `connection_init` in `authenticate`.
#![expect(clippy::print_stdout, reason = "the example logs")]
#![expect(clippy::disallowed_methods, reason = "a host reads the clock")]

use std::convert::Infallible;
use std::future::{self, Future};
use std::time::{Duration, SystemTime};
use std::{env, error::Error};

use axum::body::Body;
use axum::{Router, extract::State, response::Response, routing::get};
use futures_util::stream::{self, BoxStream, StreamExt};
use graph_core::ports::timer_fn;
use graph_core::subscription::transport_ws::{AllowedOrigins, ConnectionInit, ConnectionLimits, Handshake};
use graph_core::{Engine, HttpResponse, RequestContext, graph_object, graph_subscription};
use host_adapter_axum::websocket::graph::{Admission, Host, serve};
use host_adapter_axum::websocket::{Socket, Upgrade};
use host_adapter_axum::{Limits, Whole, serve_router};
use juniper::{EmptyMutation, RootNode};
use tokio::time::sleep;

type Context = RequestContext<()>;
type Graph = Engine<Query, EmptyMutation<Context>, Subscription>;

struct Query;

#[graph_object(context = Context)]
impl Query {
    fn now() -> String {
        format!("{:?}", SystemTime::now())
    }
}

struct Subscription;

#[graph_subscription(context = Context)]
impl Subscription {
    /// Counts from 1 to `count`, each 100 milliseconds.
    async fn ticks(#[graphql(default = 3)] count: i32) -> BoxStream<'static, i32> {
        let tick = async |tick| {
            sleep(Duration::from_millis(100)).await;
            tick
        };
        stream::iter(1..=count).then(tick).boxed()
    }
}

/// Functions that a WebSocket needs.
struct Connected(Graph);

impl Host for Connected {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn sleep_until(&self, time: SystemTime) -> impl Future<Output = ()> + Send {
        sleep(time.duration_since(SystemTime::now()).unwrap_or_default())
    }

    async fn authenticate(&self, _init: ConnectionInit) -> Admission {
        let graph = self.0.clone();
        Admission::Accepted {
            expires_at: None,
            operations: Box::new(move |operation| {
                graph.subscribe(operation, RequestContext::new(())).boxed()
            }),
        }
    }
}

async fn graphql(State(graph): State<Graph>, Whole(request): Whole) -> Response {
    if Upgrade::is_requested(request.headers()) {
        // no page of a browser may connect: list origins by `AllowedOrigins::new`
        return match Handshake::read(request.headers(), &AllowedOrigins::default()) {
            Err(foreign) => foreign.into_response().map(Body::from),
            Ok(handshake) => open(graph, handshake),
        };
    }
    match graph.respond(request, RequestContext::new(())).await {
        HttpResponse::Full(response) => response.map(Body::from),
        HttpResponse::Stream(response) => response.map(|events| {
            let events = events.with_keep_alive(timer_fn(sleep), Duration::from_secs(10));
            Body::from_stream(events.map(Ok::<_, Infallible>))
        }),
    }
}

fn open(graph: Graph, handshake: Handshake) -> Response {
    let limits = ConnectionLimits::default();
    let session = async move |socket: Socket| {
        let connection = handshake.open(limits, SystemTime::now());
        serve(socket, connection, &Connected(graph), future::pending()).await;
    };
    Upgrade::new(limits.message(), session).into_response(handshake.subprotocol())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let address = env::args().nth(1).ok_or("missing argument: address")?;
    let schema = RootNode::new(Query, EmptyMutation::new(), Subscription);
    let router = Router::new()
        .route("/graphql", get(graphql).post(graphql))
        .with_state(Engine::builder(schema).build()?);
    let listener = std::net::TcpListener::bind(address)?;
    println!("listening on http://{}", listener.local_addr()?);
    // `axum::serve` cannot open the WebSockets of host-adapter-axum
    Ok(serve_router(listener, router, Limits::default(), future::pending()).await?)
}
