//! Bytes of a WebSocket handshake.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use bytes::Bytes;
use host_adapter_conformance::refuse;
use host_adapter_hyper::serve;
use host_adapter_hyper::websocket::{Socket, Upgrade};
use http::Request;
use http_body_util::Full;

/// X3, G10: the response headers are spelled as in RFC 6455, because some clients compare case.
/// Other responses of the connection keep the lower case of hyper.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn handshake_headers_are_spelled_as_in_rfc_6455() {
    let handler = async |request: Request<Bytes>| {
        let upgrade = Upgrade::new(1000, async |socket: Socket| drop(socket));
        match request.uri().path() {
            "/ws" => upgrade.into_response::<Full<Bytes>>(Some("echo")),
            _ => http::Response::default(),
        }
    };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let forever = std::future::pending();
    let serving = tokio::spawn(serve(listener, handler, refuse, Default::default(), forever));
    let asking = tokio::task::spawn_blocking(move || {
        let mut stream = TcpStream::connect(address).unwrap();
        let mut ask = |request: &str| {
            stream.write_all(request.as_bytes()).unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                head.push(byte[0]);
            }
            String::from_utf8(head).unwrap()
        };
        let plain = ask("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
        let handshake = ask(
            "GET /ws HTTP/1.1\r\nhost: a\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\
            sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        );
        (plain, handshake)
    });
    let (plain, handshake) = asking.await.unwrap();
    serving.abort();
    assert!(plain.contains("\r\ncontent-length: 0\r\n"), "{plain}");
    for line in [
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
        "Sec-WebSocket-Protocol: echo",
    ] {
        assert!(handshake.contains(&format!("\r\n{line}\r\n")), "{handshake}");
    }
}
