//! Size limit of a response head.

use host_ports::{Transport, TransportErrorKind};
use host_transport_conformance::receiver::{Receiver, post, read_request};
use host_transport_hyper::HyperTransport;
use tokio::io::AsyncWriteExt as _;

/// Result of an exchange whose response has header fields of this size, plus four bytes per field.
async fn with_fields_of(bytes: usize) -> Result<usize, TransportErrorKind> {
    let receiver = Receiver::bind().await;
    let transport = HyperTransport::new(receiver.loopback_policy());
    let length = "content-length: 0\r\n";
    let filler = "x".repeat(bytes - length.len() - "x-filler: \r\n".len());
    let answer = format!("HTTP/1.1 200 OK\r\n{length}x-filler: {filler}\r\n\r\n");
    let answering = async {
        let (mut stream, _) = receiver.listener.accept().await.unwrap();
        read_request(&mut stream).await;
        // a transport that has read enough closes the connection
        stream.write_all(answer.as_bytes()).await.ok();
    };
    let request = post(&receiver.url("http", "127.0.0.1"));
    let (sent, ()) = tokio::join!(transport.send(request), answering);
    sent.map(|response| response.headers()["x-filler"].len())
        .map_err(|error| error.kind())
}

/// W12: 65,536 bytes of header fields are read; one more is too large.
#[tokio::test]
async fn header_fields_over_65536_bytes_are_too_large() {
    assert_eq!(with_fields_of(65_536).await, Ok(65_536 - 31));
    for bytes in [65_537, 70_000, 73_728, 100_000, 200_000] {
        let refused = with_fields_of(bytes).await;
        assert_eq!(refused, Err(TransportErrorKind::TooLarge), "{bytes}");
    }
}
