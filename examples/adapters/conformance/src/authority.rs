//! A certificate authority for tests, and certificates that it did not issue.

use std::fmt;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
};
use rustls::client::ResolvesClientCert;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, RootCertStore, SignatureScheme, SupportedProtocolVersion};

/// A certificate authority for tests.
pub struct Authority {
    der: CertificateDer<'static>,
    issuer: Issuer<'static, KeyPair>,
}

impl fmt::Debug for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Authority")
    }
}

/// A certificate chain and its private key.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "tests pair a chain with a foreign key")]
pub struct Identity {
    /// The certificate, then those of its issuers.
    pub chain: Vec<CertificateDer<'static>>,
    /// The private key of the certificate.
    pub key: PrivateKeyDer<'static>,
}

impl Identity {
    /// First certificate of the chain, in DER.
    ///
    /// # Panics
    ///
    /// The chain is empty.
    #[must_use]
    pub fn own(&self) -> &[u8] {
        self.chain.first().unwrap()
    }

    /// Creates a self-signed certificate for `name`.
    #[must_use]
    pub fn self_signed(name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let certificate = params(name).self_signed(&key).unwrap();
        Self::of(vec![certificate.der().clone()], &key)
    }

    fn of(chain: Vec<CertificateDer<'static>>, key: &KeyPair) -> Self {
        let key = PrivatePkcs8KeyDer::from(key.serialize_der()).into();
        Self { chain, key }
    }
}

fn params(name: &str) -> CertificateParams {
    CertificateParams::new([name.to_owned()]).unwrap()
}

impl Default for Authority {
    fn default() -> Self {
        Self::new()
    }
}

impl Authority {
    /// Creates an authority with a new key.
    #[must_use]
    pub fn new() -> Self {
        let mut params = params("authority.example");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let key = KeyPair::generate().unwrap();
        let der = params.self_signed(&key).unwrap().der().clone();
        let issuer = Issuer::new(params, key);
        Self { der, issuer }
    }

    /// Trust anchors that contain only the certificate of this authority.
    #[must_use]
    pub fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        roots.add(self.der.clone()).unwrap();
        roots
    }

    /// Issues a certificate for `name`, valid for servers and clients.
    #[must_use]
    pub fn issue(&self, name: &str) -> Identity {
        self.issue_with(name, |_| {})
    }

    pub(crate) fn issue_with(&self, name: &str, change: impl FnOnce(&mut CertificateParams)) -> Identity {
        let mut params = params(name);
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        Identity::of(vec![certificate.der().clone()], &key)
    }

    /// Issues a certificate that is signed with the key of a client, which is not an authority.
    pub(crate) fn issue_by_a_client(&self, name: &str) -> Identity {
        let between = params("client.example");
        let key = KeyPair::generate().unwrap();
        let of_client = between.signed_by(&key, &self.issuer).unwrap().der().clone();
        let by_client = Issuer::new(between, key);
        let key = KeyPair::generate().unwrap();
        let certificate = params(name).signed_by(&key, &by_client).unwrap();
        Identity::of(vec![certificate.der().clone(), of_client], &key)
    }

    pub(crate) fn only_for_servers(params: &mut CertificateParams) {
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    }

    pub(crate) fn expired(params: &mut CertificateParams) {
        params.not_before = rcgen::date_time_ymd(2001, 1, 1);
        params.not_after = rcgen::date_time_ymd(2002, 1, 1);
    }

    /// The configuration of a client that trusts this authority and sends the certificate, if there
    /// is one.
    pub(crate) fn client(&self, identity: Option<Identity>) -> ClientConfig {
        self.client_of(rustls::DEFAULT_VERSIONS, identity)
    }

    pub(crate) fn client_of(
        &self,
        versions: &[&'static SupportedProtocolVersion],
        identity: Option<Identity>,
    ) -> ClientConfig {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)
            .unwrap()
            .with_root_certificates(self.roots());
        match identity {
            None => builder.with_no_client_auth(),
            Some(identity) => builder.with_client_cert_resolver(Arc::new(Always::new(identity))),
        }
    }
}

/// Sends one certificate to every server, even if the key belongs to another certificate.
#[derive(Debug)]
struct Always(Arc<CertifiedKey>);

impl Always {
    fn new(Identity { chain, key }: Identity) -> Self {
        let key = aws_lc_rs::sign::any_supported_type(&key).unwrap();
        Self(Arc::new(CertifiedKey::new(chain, key)))
    }
}

impl ResolvesClientCert for Always {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0))
    }

    fn has_certs(&self) -> bool {
        true
    }
}
