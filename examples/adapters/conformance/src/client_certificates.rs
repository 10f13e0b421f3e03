//! Client certificates: those that reach the handler, and those that fail the handshake.

/// The cases.
#[host_ports_conformance::kit(client_certificates)]
mod cases {
    use std::sync::Arc;

    use host_tls::ClientCertificates;
    use rustls::RootCertStore;
    use rustls::version::{TLS12, TLS13};

    use crate::Adapter;
    use crate::authority::{Authority, Identity};
    use crate::secure::{GET, Running, hex};

    fn of_authority(authority: &Authority) -> Option<ClientCertificates> {
        Some(ClientCertificates::new(authority.roots()))
    }

    fn of_anybody(authority: &Authority) -> Option<ClientCertificates> {
        Some(ClientCertificates::new(authority.roots()).with_unverified())
    }

    /// X3, O19: the handler gets the certificate of the connection unchanged with each request,
    /// under TLS 1.2 and 1.3.
    pub fn certificate_reaches_the_handler(adapter: &Arc<Adapter>) {
        for clients in [of_authority, of_anybody] {
            let running = Running::start(adapter, clients);
            for version in [&TLS12, &TLS13] {
                let robot = running.authority.issue("robot.example");
                let expected = format!("verified {}", hex(&robot));
                let config = running.authority.client_of(&[version], Some(robot));
                let mut peer = running.connect(config);
                for _ in 0..2 {
                    assert_eq!(peer.ask(GET).unwrap(), expected);
                }
                assert_eq!(peer.0.conn.alpn_protocol(), None, "none was asked for");
            }
        }
    }

    /// X3, O19: the handler gets no certificate if the server requested none or the client sent
    /// none. A certificate in a header is ignored.
    pub fn connection_without_certificate_has_none(adapter: &Arc<Adapter>) {
        let claiming = b"GET / HTTP/1.1\r\nhost: a\r\nclient-cert: :AAAA:\r\nx-client-cert: AAAA\r\nx-ssl-cert: AAAA\r\n\r\n";
        let asks_nobody = Running::start(adapter, |_| None);
        let robot = asks_nobody.authority.issue("robot.example");
        assert_eq!(asks_nobody.told(Some(robot)).unwrap(), "-");
        for running in [
            asks_nobody,
            Running::start(adapter, of_authority),
            Running::start(adapter, of_anybody),
        ] {
            assert_eq!(running.told(None).unwrap(), "-");
            let mut peer = running.connect(running.authority.client(None));
            assert_eq!(peer.ask(claiming).unwrap(), "-");
        }
    }

    /// X3, O19: a certificate that is self-signed, of another authority, expired or not for clients
    /// fails the handshake if it must be verified, and is `Unverified` otherwise.
    pub fn untrusted_certificate_is_never_verified(adapter: &Arc<Adapter>) {
        let stranger = Authority::new();
        let identities = |authority: &Authority| {
            [
                Identity::self_signed("robot.example"),
                stranger.issue("robot.example"),
                authority.issue_by_a_client("robot.example"),
                authority.issue_with("robot.example", Authority::expired),
                authority.issue_with("robot.example", Authority::only_for_servers),
            ]
        };
        let strict = Running::start(adapter, of_authority);
        for (index, identity) in identities(&strict.authority).into_iter().enumerate() {
            assert!(strict.told(Some(identity)).is_err(), "{index}");
        }
        let nobody_to_ask =
            |_: &Authority| Some(ClientCertificates::new(RootCertStore::empty()).with_unverified());
        for running in [
            Running::start(adapter, of_anybody),
            Running::start(adapter, nobody_to_ask),
        ] {
            for (index, identity) in identities(&running.authority).into_iter().enumerate() {
                let expected = format!("unverified {}", hex(&identity));
                assert_eq!(running.told(Some(identity)).unwrap(), expected, "{index}");
            }
        }
    }

    /// X3, O19: a client with a certificate but without its private key fails the handshake.
    pub fn certificate_without_its_key_fails_the_handshake(adapter: &Arc<Adapter>) {
        for clients in [of_authority, of_anybody] {
            let running = Running::start(adapter, clients);
            for version in [&TLS12, &TLS13] {
                let (robot, thief) = (
                    running.authority.issue("robot.example"),
                    running.authority.issue("thief.example"),
                );
                let stolen = Identity {
                    chain: robot.chain,
                    key: thief.key,
                };
                let config = running.authority.client_of(&[version], Some(stolen));
                assert!(running.connect(config).ask(GET).is_err());
            }
        }
    }

    /// X3, O19: if certificates are required, a client without one fails the handshake.
    pub fn missing_required_certificate_fails_the_handshake(adapter: &Arc<Adapter>) {
        for clients in [of_authority, of_anybody] {
            let running = Running::start(adapter, |authority| {
                clients(authority).map(ClientCertificates::required)
            });
            assert!(running.told(None).is_err());
            let robot = running.authority.issue("robot.example");
            assert!(running.told(Some(robot)).unwrap().starts_with("verified "));
        }
    }

    /// X3, O19: each connection proves its certificate in a full handshake. No session is resumed.
    pub fn no_tls_session_is_resumed(adapter: &Arc<Adapter>) {
        let running = Running::start(adapter, of_anybody);
        for version in [&TLS12, &TLS13] {
            let robot = running.authority.issue("robot.example");
            let config = running.authority.client_of(&[version], Some(robot));
            for _ in 0..3 {
                let mut peer = running.connect(config.clone());
                assert!(peer.ask(GET).unwrap().starts_with("verified "));
                assert_eq!(peer.0.conn.handshake_kind(), Some(rustls::HandshakeKind::Full));
            }
        }
    }
}

pub use cases::*;
