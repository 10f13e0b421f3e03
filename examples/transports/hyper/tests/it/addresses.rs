//! The ways to talk a host into its own network.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use host_ports::address::AddressPolicy;
use host_ports::{Transport, TransportErrorKind};
use host_transport_hyper::HyperTransport;
use tokio::time::timeout;

use crate::receiver::{LOOPBACK, NAME, Receiver, post, resolves_to};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

async fn kind(transport: &HyperTransport, url: &str) -> TransportErrorKind {
    transport.send(post(url)).await.unwrap_err().kind()
}

/// W10: a literal address is judged as it stands, before a socket is opened.
#[tokio::test]
async fn a_private_literal_is_refused() {
    let receiver = Receiver::bind().await;
    let transport = HyperTransport::new(receiver.strict_policy());
    for host in [
        "127.0.0.1",
        "[::ffff:127.0.0.1]",
        "0.0.0.0",
        "[::1]",
        "2130706433",
        "0x7f.1",
    ] {
        let refused = kind(&transport, &receiver.url("http", host)).await;
        assert_eq!(refused, TransportErrorKind::RefusedAddress, "{host}");
    }
    assert!(!receiver.was_called());
}

/// W10: metadata services are refused by address and by name.
#[tokio::test]
async fn a_metadata_service_is_refused() {
    let transport = HyperTransport::new(AddressPolicy::new()).with_resolver(resolves_to(&["203.0.114.1"]));
    for url in [
        "https://169.254.169.254/",
        "https://metadata.google.internal/",
        "https://[fd00:ec2::254]/",
    ] {
        assert_eq!(
            kind(&transport, url).await,
            TransportErrorKind::RefusedAddress,
            "{url}"
        );
    }
}

/// W10: a public name may point anywhere, so what it resolves to is judged.
#[tokio::test]
async fn a_name_that_resolves_to_a_private_address_is_refused() {
    let receiver = Receiver::bind().await;
    for address in [
        "127.0.0.1",
        "::ffff:127.0.0.1",
        "10.0.0.1",
        "fe80::1",
        "169.254.169.254",
    ] {
        let transport = HyperTransport::new(receiver.strict_policy()).with_resolver(resolves_to(&[address]));
        let refused = kind(&transport, &receiver.url("http", NAME)).await;
        assert_eq!(refused, TransportErrorKind::RefusedAddress, "{address}");
    }
    assert!(!receiver.was_called());
}

/// W10: one private address among public ones refuses the name, in whatever order they come.
#[tokio::test]
async fn a_mixed_answer_is_refused() {
    let receiver = Receiver::bind().await;
    for mix in [["127.0.0.1", "10.0.0.1"], ["10.0.0.1", "127.0.0.1"]] {
        let transport = HyperTransport::new(receiver.loopback_policy()).with_resolver(resolves_to(&mix));
        let refused = kind(&transport, &receiver.url("http", NAME)).await;
        assert_eq!(refused, TransportErrorKind::RefusedAddress, "{mix:?}");
    }
    assert!(!receiver.was_called());
}

/// W10: the connection goes to the address that was vetted; a name that changes between two looks is looked at once.
#[tokio::test]
async fn a_rebinding_name_is_resolved_once_and_vetted_again_next_time() {
    let receiver = Receiver::bind().await;
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let transport = HyperTransport::new(receiver.loopback_policy()).with_resolver(move |_: &str| {
        let private: IpAddr = "10.0.0.1".parse().unwrap();
        Ok(vec![if count.fetch_add(1, Ordering::SeqCst) == 0 {
            LOOPBACK
        } else {
            private
        }])
    });
    let url = receiver.url("http", NAME);
    let (sent, _) = tokio::join!(transport.send(post(&url)), receiver.answer(OK));
    assert_eq!(
        (sent.unwrap().status().as_u16(), asked.load(Ordering::SeqCst)),
        (200, 1)
    );
    assert_eq!(kind(&transport, &url).await, TransportErrorKind::RefusedAddress);
}

/// W10: a redirect would leave the vetted address, so it is handed back.
#[tokio::test]
async fn a_redirect_is_not_followed() {
    let (receiver, elsewhere) = (Receiver::bind().await, Receiver::bind().await);
    let transport = HyperTransport::new(receiver.loopback_policy());
    let location = elsewhere.url("http", "127.0.0.1");
    let answer =
        format!("HTTP/1.1 307 Temporary Redirect\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n");
    let url = receiver.url("http", "127.0.0.1");
    let (sent, _) = tokio::join!(transport.send(post(&url)), receiver.answer(answer.as_bytes()));
    let sent = sent.unwrap();
    assert_eq!(
        (
            sent.status().as_u16(),
            sent.headers()["location"].to_str().unwrap()
        ),
        (307, &*location)
    );
    assert!(!elsewhere.was_called());
}

/// A name without an address is no verdict on the receiver: its operator may be changing it right now.
#[tokio::test]
async fn a_name_without_an_address_is_a_failed_connection() {
    let nowhere = HyperTransport::new(AddressPolicy::new()).with_resolver(resolves_to(&[]));
    assert_eq!(
        kind(&nowhere, "https://hooks.example.com/").await,
        TransportErrorKind::Connect
    );
    let broken = HyperTransport::new(AddressPolicy::new())
        .with_resolver(|_: &str| Err(std::io::Error::other("no name server answers")));
    assert_eq!(
        kind(&broken, "https://hooks.example.com/").await,
        TransportErrorKind::Connect
    );
}

/// One dead address of several does not stop a delivery.
#[tokio::test]
async fn the_next_address_is_tried_when_one_is_closed() {
    let receiver = Receiver::bind().await;
    let both = resolves_to(&["127.0.0.2", "127.0.0.1"]);
    let transport = HyperTransport::new(receiver.loopback_policy()).with_resolver(both);
    let url = receiver.url("http", NAME);
    let (sent, _) = tokio::join!(transport.send(post(&url)), receiver.answer(OK));
    assert_eq!(sent.unwrap().status(), 200);
}

/// Four dead addresses of one family do not hide the one of the other that lives.
#[tokio::test]
async fn a_dead_family_does_not_hide_the_other() {
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
            HyperTransport::new(receiver.loopback_policy()).with_resolver(resolves_to(&addresses));
        let (sent, answered) = tokio::join!(
            transport.send(post(&url)),
            timeout(Duration::from_secs(9), receiver.answer(OK))
        );
        assert_eq!(sent.unwrap().status(), 200, "{family}");
        assert!(answered.is_ok());
    }
}
