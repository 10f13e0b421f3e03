//! Which certificates of clients reach the handler, and as what.

use rustls::version::{TLS12, TLS13};

use super::*;

fn of_authority(authority: &Authority) -> Option<ClientCertificates> {
    Some(ClientCertificates::of(authority.roots()))
}

fn of_anybody(authority: &Authority) -> Option<ClientCertificates> {
    Some(ClientCertificates::of(authority.roots()).or_of_nobody())
}

/// X3, O19: the certificate of the connection reaches the handler to the byte, with each of its requests, under both versions of TLS.
#[test]
fn a_certificate_reaches_the_handler_with_every_request() {
    for clients in [of_authority, of_anybody] {
        let running = Running::start(clients);
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

/// X3, O19: where no certificate is asked for, or none shown, there is none; and one in a header is a header.
#[test]
fn a_connection_without_a_certificate_has_none() {
    let claiming = b"GET / HTTP/1.1\r\nhost: a\r\nclient-cert: :AAAA:\r\nx-client-cert: AAAA\r\nx-ssl-cert: AAAA\r\n\r\n";
    let asks_nobody = Running::start(|_| None);
    let robot = asks_nobody.authority.issue("robot.example");
    assert_eq!(asks_nobody.told(Some(robot)).unwrap(), "-");
    for running in [
        asks_nobody,
        Running::start(of_authority),
        Running::start(of_anybody),
    ] {
        assert_eq!(running.told(None).unwrap(), "-");
        let mut peer = running.connect(running.authority.client(None));
        assert_eq!(peer.ask(claiming).unwrap(), "-");
    }
}

/// X3, O19: what an authority does not say, or no longer, or not of clients, ends the handshake where certificates have to be its, and is
/// worth its thumbprint elsewhere.
#[test]
fn what_no_authority_vouches_for_is_never_verified() {
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
    let strict = Running::start(of_authority);
    for (index, identity) in identities(&strict.authority).into_iter().enumerate() {
        assert!(strict.told(Some(identity)).is_err(), "{index}");
    }
    let nobody_to_ask =
        |_: &Authority| Some(ClientCertificates::of(rustls::RootCertStore::empty()).or_of_nobody());
    for running in [Running::start(of_anybody), Running::start(nobody_to_ask)] {
        for (index, identity) in identities(&running.authority).into_iter().enumerate() {
            let expected = format!("unverified {}", hex(&identity));
            assert_eq!(running.told(Some(identity)).unwrap(), expected, "{index}");
        }
    }
}

/// X3, O19: certificates are public; who shows one without its key does not get past the handshake.
#[test]
fn a_certificate_without_its_key_ends_the_handshake() {
    for clients in [of_authority, of_anybody] {
        let running = Running::start(clients);
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

/// X3, O19: where certificates are required there is no connection without one.
#[test]
fn a_required_certificate_is_required() {
    for clients in [of_authority, of_anybody] {
        let running = Running::start(|authority| clients(authority).map(ClientCertificates::required));
        assert!(running.told(None).is_err());
        let robot = running.authority.issue("robot.example");
        assert!(running.told(Some(robot)).unwrap().starts_with("verified "));
    }
}

/// X3, O19: who comes back proves again what was proven: no session is resumed, in which nobody would be asked.
#[test]
fn each_connection_proves_its_certificate_anew() {
    let running = Running::start(of_anybody);
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

/// X3: certificates of no authority make a server that nobody could use, which is said at once.
#[test]
fn a_server_without_an_authority_to_ask_is_none() {
    let own = Authority::new().issue(SERVER);
    let clients = ClientCertificates::of(rustls::RootCertStore::empty());
    assert!(Tls::new(own.chain, own.key, Some(clients)).is_err());
    let [own, other] = [(), ()].map(|()| Authority::new().issue(SERVER));
    assert!(
        Tls::new(own.chain, other.key, None).is_err(),
        "the key of another"
    );
}
