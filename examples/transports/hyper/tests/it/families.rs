//! Names with IPv4 and IPv6 addresses.

use std::time::Duration;

use host_ports::Transport;
use host_transport_conformance::Names;
use host_transport_conformance::receiver::{NAME, Receiver, post};
use host_transport_hyper::HyperTransport;
use tokio::time::timeout;

use crate::Resolver;

const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

/// Four dead addresses of one family do not hide the live address of the other.
#[tokio::test]
async fn dead_family_does_not_hide_the_other() {
    let receiver = Receiver::bind().await;
    let url = receiver.url("http", NAME);
    for (family, addresses) in [
        (
            "IPv6 is dead",
            [
                "::1",
                "::ffff:127.0.0.2",
                "::ffff:127.0.0.3",
                "::ffff:127.0.0.4",
                "127.0.0.1",
            ],
        ),
        (
            "IPv4 is dead",
            [
                "127.0.0.2",
                "127.0.0.3",
                "127.0.0.4",
                "127.0.0.5",
                "::ffff:127.0.0.1",
            ],
        ),
    ] {
        let transport =
            HyperTransport::new(receiver.loopback_policy()).with_resolver(Resolver(Names::fixed(&addresses)));
        let (sent, answered) = tokio::join!(
            transport.send(post(&url)),
            timeout(Duration::from_secs(9), receiver.answer(OK))
        );
        assert_eq!(sent.unwrap().status(), 200, "{family}");
        assert!(answered.is_ok());
    }
}
