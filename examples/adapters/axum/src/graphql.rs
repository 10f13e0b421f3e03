//! Response of a GraphQL endpoint: one document, a stream of events, or a WebSocket.

use std::convert::Infallible;
use std::future::{Future, pending};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::StreamExt;
use graph_core::engine::{Root, SubscriptionRoot};
use graph_core::ports::{Clock, SystemClock, timer_fn};
use graph_core::subscription::transport_ws::{AllowedOrigins, ConnectionInit, ConnectionLimits, Handshake};
use graph_core::{Engine, HttpResponse, RequestContext};
use host_websocket::graph::{Admission, Host, serve};
use host_websocket::hyper::Switch;
use host_websocket::{Socket, Upgrade};
use http::{Request, StatusCode};
use http_conventions::errors::Problem;
use tokio::time::sleep;

/// Interval of comments in a silent stream.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// Returns the response of a GraphQL endpoint to `request`: the route passes GET and POST to it.
///
/// - `context` makes the context of each operation, with new loaders.
/// - A stream of events (`text/event-stream`, `multipart/mixed`) gets a comment every 10 s while it
///   is silent.
/// - A handshake of a WebSocket is answered with `graphql-transport-ws`, with the
///   [default limits](ConnectionLimits). The payload of `connection_init` is ignored.
///   [`serve_router`](crate::serve_router) opens the WebSocket; under `axum::serve`, which cannot,
///   the response is 501.
/// - `origins` are those whose pages may open a WebSocket, also the origin of the service itself.
///   The default lists none: then no browser can. A handshake of another origin gets 403.
///
/// # Security
///
/// The function authenticates no client. The handler checks the headers of the request, and passes
/// a `context` with the [principal](RequestContext::with_principal). A WebSocket or a stream does
/// not end when the credentials expire. A service whose clients send a token in `connection_init`,
/// or whose tokens expire, uses [`websocket::graph::serve`](host_websocket::graph::serve).
///
/// ```
/// use axum::{Router, extract::State, response::Response, routing::get};
/// use graph_core::subscription::transport_ws::AllowedOrigins;
/// use graph_core::{Engine, RequestContext, graph_object};
/// use host_adapter_axum::{Whole, respond_graphql};
/// use juniper::{EmptyMutation, EmptySubscription, RootNode};
///
/// type Context = RequestContext<()>;
/// type Graph = Engine<Query, EmptyMutation<Context>, EmptySubscription<Context>>;
///
/// struct Query;
///
/// #[graph_object(context = Context)]
/// impl Query {
///     fn ping() -> &'static str {
///         "pong"
///     }
/// }
///
/// async fn graphql(State(graph): State<Graph>, Whole(request): Whole) -> Response {
///     let origins = AllowedOrigins::default();
///     respond_graphql(&graph, request, &origins, || RequestContext::new(())).await
/// }
///
/// let schema = RootNode::new(Query, EmptyMutation::new(), EmptySubscription::new());
/// let router: Router = Router::new()
///     .route("/graphql", get(graphql).post(graphql))
///     .with_state(Engine::builder(schema).build()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub async fn respond_graphql<Q, M, S>(
    engine: &Engine<Q, M, S>,
    request: Request<Bytes>,
    origins: &AllowedOrigins,
    context: impl Fn() -> RequestContext<Q::Host> + Send + Sync + 'static,
) -> Response
where
    Q: Root,
    M: Root<Host = Q::Host>,
    S: SubscriptionRoot<Host = Q::Host>,
{
    if Upgrade::is_requested(request.headers()) {
        // without the switch of this server, the 101 would reach the client and open nothing
        if request.extensions().get::<Switch>().is_none() {
            return unopened();
        }
        return match Handshake::read(request.headers(), origins) {
            Err(foreign) => foreign.into_response().map(Body::from),
            Ok(handshake) => open(engine.clone(), Arc::new(context), handshake),
        };
    }
    match engine.respond(request, context()).await {
        HttpResponse::Full(response) => response.map(Body::from),
        HttpResponse::Stream(response) => response.map(|events| {
            let events = events.with_keep_alive(timer_fn(sleep), KEEP_ALIVE);
            Body::from_stream(events.map(Ok::<_, Infallible>))
        }),
    }
}

/// Returns the response of a server that opens no WebSockets.
fn unopened() -> Response {
    let problem = Problem::of_status(StatusCode::NOT_IMPLEMENTED);
    let detail = "this server opens no WebSockets: serve the router by `serve_router` of host-adapter-axum";
    problem.with_detail(detail).into_response().map(Body::from)
}

/// Returns the response that opens a WebSocket.
fn open<Q, M, S, C>(engine: Engine<Q, M, S>, context: Arc<C>, handshake: Handshake) -> Response
where
    Q: Root,
    M: Root<Host = Q::Host>,
    S: SubscriptionRoot<Host = Q::Host>,
    C: Fn() -> RequestContext<Q::Host> + Send + Sync + 'static,
{
    let limits = ConnectionLimits::default();
    let session = async move |socket: Socket| {
        let connection = handshake.open(limits, SystemClock.now());
        serve(socket, connection, &Open { engine, context }, pending()).await;
    };
    Upgrade::new(limits.message(), session).into_response(handshake.subprotocol())
}

/// Accepts each client of a WebSocket.
struct Open<Q, M, S, C>
where
    Q: Root,
    M: Root<Host = Q::Host>,
    S: SubscriptionRoot<Host = Q::Host>,
{
    engine: Engine<Q, M, S>,
    context: Arc<C>,
}

impl<Q, M, S, C> Host for Open<Q, M, S, C>
where
    Q: Root,
    M: Root<Host = Q::Host>,
    S: SubscriptionRoot<Host = Q::Host>,
    C: Fn() -> RequestContext<Q::Host> + Send + Sync + 'static,
{
    fn now(&self) -> SystemTime {
        SystemClock.now()
    }

    fn sleep_until(&self, time: SystemTime) -> impl Future<Output = ()> + Send {
        sleep(time.duration_since(self.now()).unwrap_or_default())
    }

    async fn authenticate(&self, _init: ConnectionInit) -> Admission {
        let (engine, context) = (self.engine.clone(), Arc::clone(&self.context));
        Admission::Accepted {
            expires_at: None,
            operations: Box::new(move |operation| engine.subscribe(operation, context()).boxed()),
        }
    }
}
