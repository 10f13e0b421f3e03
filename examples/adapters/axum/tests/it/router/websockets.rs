//! Routes that answer with an upgrade.

use std::net::{SocketAddr, TcpListener};

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use axum::routing::get;
use host_adapter_axum::websocket::{Socket, Upgrade};
use host_adapter_axum::{ConventionsLayer, Limits, Whole, serve_router};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{Running, conventions};

pub(super) const HANDSHAKE: &str = "GET /ws HTTP/1.1\r\nhost: a\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\
    sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

async fn echo(Whole(_): Whole) -> Response {
    let upgrade = Upgrade::new(1000, async |mut socket: Socket| {
        while let Some(message) = socket.incoming.recv().await {
            let Ok(()) = socket.outgoing.send(message).await else {
                return;
            };
        }
    });
    upgrade.into_response::<Body>(None)
}

/// Opens a connection, sends `request` and reads the head of its response.
pub(super) async fn ask(address: SocketAddr, request: &str) -> (TcpStream, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    (stream, String::from_utf8(head).unwrap())
}

/// X3, G10: a route inside the layer answers with a WebSocket, or 400 without a handshake.
#[tokio::test]
async fn route_answers_with_a_websocket() {
    let running = Running::new();
    let router = Router::new()
        .route("/ws", get(echo))
        .layer(ConventionsLayer::new(conventions(&running.clock)));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let forever = std::future::pending();
    let serving = tokio::spawn(serve_router(listener, router, Limits::default(), forever));

    let (mut stream, head) = ask(address, HANDSHAKE).await;
    assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
    assert!(
        head.contains("\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"),
        "{head}"
    );
    // a masked text frame of two bytes, and its echo
    stream
        .write_all(&[0x81, 0x82, 0, 0, 0, 0, b'h', b'i'])
        .await
        .unwrap();
    let mut echoed = [0; 4];
    stream.read_exact(&mut echoed).await.unwrap();
    assert_eq!(&echoed, b"\x81\x02hi");

    for broken in [
        HANDSHAKE.replace("upgrade: websocket\r\n", ""),
        HANDSHAKE.replace("version: 13", "version: 8"),
    ] {
        let (_, head) = ask(address, &broken).await;
        assert!(head.starts_with("HTTP/1.1 400 "), "{head}");
    }
    serving.abort();
}
