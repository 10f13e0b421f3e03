//! Configurations that cannot serve are refused when they are made.

use host_adapter_conformance::authority::Authority;
use host_tls::{ClientCertificates, Tls};
use rustls::{Error, RootCertStore};

/// X3: client certificates that must be verified need an authority. Without one no client could
/// connect.
#[test]
fn rejects_verified_clients_without_roots() {
    let own = Authority::new().issue("server.example");
    let clients = ClientCertificates::new(RootCertStore::empty());
    assert!(Tls::new(own.chain, own.key, Some(clients)).is_err());
}

/// X3: the private key must belong to the certificate.
#[test]
fn rejects_key_of_another_certificate() {
    let [own, other] = [(), ()].map(|()| Authority::new().issue("server.example"));
    let refused = Tls::new(own.chain.clone(), other.key, None);
    assert!(matches!(refused, Err(Error::InconsistentKeys(_))));
    assert!(Tls::new(own.chain, own.key, None).is_ok());
}

/// X7: a certificate is replaced in all clones, and only by one that can be used.
#[test]
fn unusable_certificate_does_not_replace_the_former() {
    let [own, next, other] = [(), (), ()].map(|()| Authority::new().issue("server.example"));
    let tls = Tls::new(own.chain, own.key, None).unwrap();
    let refused = tls.clone().replace_certificate(next.chain.clone(), other.key);
    assert!(matches!(refused, Err(Error::InconsistentKeys(_))));
    assert!(tls.replace_certificate(next.chain, next.key).is_ok());
}
