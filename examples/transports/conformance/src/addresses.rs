//! Cases of the address policy: URLs and names that lead into the host's own network (SSRF).

/// The cases.
#[host_ports_conformance::kit(addresses)]
mod cases {
    use std::io;
    use std::net::IpAddr;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use bytes::Bytes;
    use host_ports::address::AddressPolicy;
    use host_ports::{Transport, TransportErrorKind};
    use http::Request;

    use crate::receiver::{LOOPBACK, NAME, Receiver, post};
    use crate::{Maker, Names, Setup};

    const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

    async fn kind(transport: &dyn Transport, url: &str) -> TransportErrorKind {
        transport.send(post(url)).await.unwrap_err().kind()
    }

    /// W10, O22: a private literal address is refused before a socket is opened.
    pub async fn private_literal_is_refused(make: &Arc<Maker>) {
        let receiver = Receiver::bind().await;
        let transport = make.make(Setup::new(receiver.strict_policy()));
        for host in ["127.0.0.1", "[::ffff:127.0.0.1]", "0.0.0.0", "[::1]"] {
            let refused = kind(&*transport, &receiver.url("http", host)).await;
            assert_eq!(refused, TransportErrorKind::RefusedAddress, "{host}");
        }
        assert!(!receiver.was_called());
    }

    /// W10, O22: an odd spelling of a private address is refused, and is not given to the resolver
    /// as a name.
    pub async fn odd_spelling_of_a_literal_is_refused(make: &Arc<Maker>) {
        let receiver = Receiver::bind().await;
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        let names = Names::from_fn(move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
            Ok(vec![LOOPBACK])
        });
        let transport = make.make(Setup::new(receiver.strict_policy()).with_names(names));
        for host in [
            "127.0.0.1.",
            "127.1",
            "2130706433",
            "017700000001",
            "0x7f000001",
            "0x7f.1",
            "0177.0.0.1",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]",
            "[::127.0.0.1]",
            "[64:ff9b::7f00:1]",
        ] {
            let refused = kind(&*transport, &receiver.url("http", host)).await;
            assert_eq!(refused, TransportErrorKind::RefusedAddress, "{host}");
        }
        assert_eq!(count.load(Ordering::SeqCst), 0, "a literal was resolved");
        // the crate `http` rejects a percent-encoded host
        let encoded = Request::post(receiver.url("http", "%3127.0.0.1"));
        assert!(encoded.body(Bytes::new()).is_err());
        assert!(!receiver.was_called());
    }

    /// W10, O22: metadata services are refused by address and by name.
    pub async fn metadata_service_is_refused(make: &Arc<Maker>) {
        let names = Names::fixed(&["203.0.114.1"]);
        let transport = make.make(Setup::new(AddressPolicy::new()).with_names(names));
        for url in [
            "https://169.254.169.254/",
            "https://metadata.google.internal/",
            "https://[fd00:ec2::254]/",
        ] {
            assert_eq!(
                kind(&*transport, url).await,
                TransportErrorKind::RefusedAddress,
                "{url}"
            );
        }
    }

    /// W10, O22: a name that resolves to a private address is refused.
    pub async fn name_of_a_private_address_is_refused(make: &Arc<Maker>) {
        let receiver = Receiver::bind().await;
        for address in [
            "127.0.0.1",
            "::ffff:127.0.0.1",
            "10.0.0.1",
            "fe80::1",
            "169.254.169.254",
        ] {
            let setup = Setup::new(receiver.strict_policy()).with_names(Names::fixed(&[address]));
            let refused = kind(&*make.make(setup), &receiver.url("http", NAME)).await;
            assert_eq!(refused, TransportErrorKind::RefusedAddress, "{address}");
        }
        assert!(!receiver.was_called());
    }

    /// W10, O22: a name with an allowed and a refused address is refused, in either order.
    pub async fn mixed_addresses_are_refused(make: &Arc<Maker>) {
        let receiver = Receiver::bind().await;
        for mix in [["127.0.0.1", "10.0.0.1"], ["10.0.0.1", "127.0.0.1"]] {
            let setup = Setup::new(receiver.loopback_policy()).with_names(Names::fixed(&mix));
            let refused = kind(&*make.make(setup), &receiver.url("http", NAME)).await;
            assert_eq!(refused, TransportErrorKind::RefusedAddress, "{mix:?}");
        }
        assert!(!receiver.was_called());
    }

    /// W10: a name is resolved once for each exchange, and the connection goes to the vetted
    /// address.
    pub async fn rebinding_name_is_resolved_once(make: &Arc<Maker>) {
        let receiver = Receiver::bind().await;
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        let names = Names::from_fn(move |_| {
            let private: IpAddr = [10, 0, 0, 1].into();
            Ok(vec![match counted.fetch_add(1, Ordering::SeqCst) {
                0 => LOOPBACK,
                _ => private,
            }])
        });
        let transport = make.make(Setup::new(receiver.loopback_policy()).with_names(names));
        let url = receiver.url("http", NAME);
        let (sent, _) = tokio::join!(transport.send(post(&url)), receiver.answer(OK));
        assert_eq!(
            (sent.unwrap().status().as_u16(), count.load(Ordering::SeqCst)),
            (200, 1)
        );
        // a reused connection must not bypass the second resolution
        assert_eq!(kind(&*transport, &url).await, TransportErrorKind::RefusedAddress);
    }

    /// A name that does not resolve is `Connect`, not `RefusedAddress`.
    pub async fn unresolved_name_is_a_failed_connection(make: &Arc<Maker>) {
        let broken = Names::from_fn(|_| Err(io::Error::other("no name server answers")));
        for names in [Names::fixed(&[]), broken] {
            let transport = make.make(Setup::new(AddressPolicy::new()).with_names(names));
            let failed = kind(&*transport, "https://hooks.example.com/").await;
            assert_eq!(failed, TransportErrorKind::Connect);
        }
    }

    /// If the first address refuses the connection, the transport tries the next one.
    pub async fn next_address_is_tried_when_one_is_closed(make: &Arc<Maker>) {
        let receiver = Receiver::bind().await;
        let names = Names::fixed(&["127.0.0.2", "127.0.0.1"]);
        let transport = make.make(Setup::new(receiver.loopback_policy()).with_names(names));
        let url = receiver.url("http", NAME);
        let (sent, _) = tokio::join!(transport.send(post(&url)), receiver.answer(OK));
        assert_eq!(sent.unwrap().status(), 200);
    }
}

pub use cases::*;
