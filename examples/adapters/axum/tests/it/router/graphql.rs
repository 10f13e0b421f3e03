//! Routes of GraphQL: documents, streams of events and WebSockets.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use futures_util::stream::{self, BoxStream, StreamExt};
use graph_core::subscription::transport_ws::AllowedOrigins;
use graph_core::{Engine, RequestContext, graph_object, graph_subscription};
use host_adapter_axum::{Limits, Whole, respond_graphql, serve_router};
use juniper::{EmptyMutation, RootNode};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::AbortHandle;

use super::websockets::{HANDSHAKE, ask};

type Context = RequestContext<u32>;
type Graph = Engine<Query, EmptyMutation<Context>, Subscription>;

struct Query;

#[graph_object(context = Context)]
impl Query {
    /// The number of the context.
    fn context(context: &Context) -> i32 {
        i32::try_from(*context.host()).unwrap()
    }
}

struct Subscription;

#[graph_subscription(context = Context)]
impl Subscription {
    async fn ticks() -> BoxStream<'static, i32> {
        stream::iter([1, 2]).boxed()
    }
}

async fn graphql(State(graph): State<Graph>, Whole(request): Whole) -> Response {
    let contexts = Arc::new(AtomicU32::new(0));
    let origins = AllowedOrigins::new(["http://a"]).unwrap();
    respond_graphql(&graph, request, &origins, move || {
        RequestContext::new(contexts.fetch_add(1, Ordering::Relaxed))
    })
    .await
}

/// A server until it is dropped.
struct Served(SocketAddr, AbortHandle);

fn router() -> Router {
    let schema = RootNode::new(Query, EmptyMutation::new(), Subscription);
    Router::new()
        .route("/ws", get(graphql).post(graphql))
        .with_state(Engine::builder(schema).build().unwrap())
}

impl Served {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let serving = serve_router(listener, router(), Limits::default(), std::future::pending());
        Self(address, tokio::spawn(serving).abort_handle())
    }

    /// Sends a document by POST, and returns the head and the body of the response.
    async fn post(&self, accept: &str, document: &str) -> (String, String) {
        let content = format!(r#"{{"query":"{document}"}}"#);
        let head = format!(
            "POST /ws HTTP/1.1\r\nhost: a\r\nconnection: close\r\naccept: {accept}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{content}",
            content.len()
        );
        let (mut stream, head) = ask(self.0, &head).await;
        let mut body = String::new();
        stream.read_to_string(&mut body).await.unwrap();
        (head, body)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.1.abort();
    }
}

/// Sends a masked text frame of less than 126 bytes.
async fn send(stream: &mut TcpStream, text: &str) {
    let length = u8::try_from(text.len()).unwrap();
    assert!(length < 126, "a short frame");
    let head = [0x81, 0x80 | length, 0, 0, 0, 0];
    stream
        .write_all(&[&head, text.as_bytes()].concat())
        .await
        .unwrap();
}

/// Reads a text frame of less than 126 bytes.
async fn receive(stream: &mut TcpStream) -> String {
    let mut head = [0; 2];
    stream.read_exact(&mut head).await.unwrap();
    assert_eq!(head[0], 0x81, "a text frame");
    let mut text = vec![0; head[1].into()];
    stream.read_exact(&mut text).await.unwrap();
    String::from_utf8(text).unwrap()
}

/// Returns a handshake of `graphql-transport-ws` by a page of `origin`.
fn handshake(origin: &str) -> String {
    let fields = format!("origin: {origin}\r\nsec-websocket-protocol: graphql-transport-ws\r\n\r\n");
    HANDSHAKE.replace("==\r\n\r\n", &format!("==\r\n{fields}"))
}

/// G1, G10: a document is answered with JSON, and a subscription with events until its end.
#[tokio::test]
async fn document_and_event_stream_are_answered() {
    let served = Served::new();
    let (head, body) = served.post("application/json", "{ context }").await;
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    assert_eq!(body, r#"{"data":{"context":0}}"#);

    let (head, body) = served.post("text/event-stream", "subscription { ticks }").await;
    assert!(head.contains("text/event-stream"), "{head}");
    assert!(body.contains(r#"{"data":{"ticks":1}}"#), "{body}");
    assert!(body.contains(r#"{"data":{"ticks":2}}"#), "{body}");
    assert!(body.contains("event: complete"), "{body}");
}

/// G10: each operation of a WebSocket has a context of its own.
#[tokio::test]
async fn operations_of_a_websocket_have_own_contexts() {
    let served = Served::new();
    let (mut stream, head) = ask(served.0, &handshake("http://a")).await;
    assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
    send(&mut stream, r#"{"type":"connection_init"}"#).await;
    assert_eq!(receive(&mut stream).await, r#"{"type":"connection_ack"}"#);
    for context in 0..2 {
        let subscribe = r#"{"id":"1","type":"subscribe","payload":{"query":"{ context }"}}"#;
        send(&mut stream, subscribe).await;
        let next = receive(&mut stream).await;
        assert!(
            next.contains(&format!(r#""data":{{"context":{context}}}"#)),
            "{next}"
        );
        assert!(receive(&mut stream).await.contains("complete"));
    }
    let subscribe = r#"{"id":"2","type":"subscribe","payload":{"query":"subscription { ticks }"}}"#;
    send(&mut stream, subscribe).await;
    for expected in [r#"{"ticks":1}"#, r#"{"ticks":2}"#, "complete"] {
        let message = receive(&mut stream).await;
        assert!(message.contains(expected), "{message}");
    }
}

/// G10: a page of another origin opens no WebSocket.
#[tokio::test]
async fn websocket_of_another_origin_is_refused() {
    let served = Served::new();
    let (_, head) = ask(served.0, &handshake("http://b")).await;
    assert!(head.starts_with("HTTP/1.1 403 "), "{head}");
}

/// G10: a server that opens no WebSockets refuses the handshake, and names the function that does.
#[tokio::test]
async fn handshake_under_axum_serve_is_refused() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(async { axum::serve(listener, router()).await });
    let closing = handshake("http://a").replace("connection: Upgrade", "connection: Upgrade, close");
    let (mut stream, head) = ask(address, &closing).await;
    assert!(head.starts_with("HTTP/1.1 501 "), "{head}");
    let mut body = String::new();
    stream.read_to_string(&mut body).await.unwrap();
    assert!(body.contains("serve_router"), "{body}");
    serving.abort();
}
