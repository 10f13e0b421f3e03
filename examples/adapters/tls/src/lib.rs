//! TLS for the server adapters: rustls with aws-lc-rs, HTTP/1.1 over TLS 1.2 and 1.3. No
//! process-wide crypto provider is installed or used.
//!
//! The adapter adds the client's certificate to the extensions of each request, as a
//! [`PeerCertificate`]. The host decides which access a certificate grants.
//!
//! ```no_run
//! use rustls::RootCertStore;
//! use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};
//! use host_tls::{ClientCertificates, Tls};
//!
//! let chain = CertificateDer::pem_file_iter("server.pem")?.collect::<Result<_, _>>()?;
//! let mut authorities = RootCertStore::empty();
//! authorities.add(CertificateDer::from_pem_file("clients.pem")?)?;
//! let tls = Tls::new(
//!     chain,
//!     PrivateKeyDer::from_pem_file("server.key")?,
//!     Some(ClientCertificates::new(authorities).with_unverified()),
//! )?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::{
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

use bytes::Bytes;

use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, aws_lc_rs};
use rustls::crypto::{verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{ClientHello, NoServerSessionStorage, ResolvesServerCert, WebPkiClientVerifier};
use rustls::sign::CertifiedKey;
use rustls::{DigitallySignedStruct, DistinguishedName, Error, RootCertStore, ServerConfig, SignatureScheme};

/// TLS configuration of a server: its certificate, and its rules for client certificates.
#[derive(Clone)]
pub struct Tls {
    config: Arc<ServerConfig>,
    certificate: Arc<Current>,
    verification: Verification,
}

impl Tls {
    /// Creates a configuration from the certificate `chain` of the server and its private `key`.
    /// The server's own certificate is the first of `chain`. With `clients`, the server requests
    /// client certificates.
    ///
    /// # Errors
    ///
    /// - The key does not belong to the certificate, or rustls does not support its type.
    /// - `clients` has no authority and does not accept unverified certificates.
    pub fn new(
        chain: Vec<CertificateDer<'static>>,
        key: PrivateKeyDer<'static>,
        clients: Option<ClientCertificates>,
    ) -> Result<Self, Error> {
        // independent of the process-wide provider, which may be absent
        let provider = Arc::new(aws_lc_rs::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider));
        let builder = builder.with_safe_default_protocol_versions()?;
        let asks = clients.is_some();
        let (builder, verification) = match clients {
            None => (builder.with_no_client_auth(), Verification::Handshake),
            Some(clients) => {
                let (verifier, verification) = clients.verifier(&provider)?;
                (builder.with_client_cert_verifier(verifier), verification)
            }
        };
        let certificate = CertifiedKey::from_der(chain, key, &provider)?;
        let certificate = Arc::new(Current(RwLock::new(Arc::new(certificate))));
        let mut config = builder.with_cert_resolver(Arc::clone(&certificate) as _);
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        if asks {
            // each connection proves and verifies its certificate in a full handshake
            config.session_storage = Arc::new(NoServerSessionStorage {});
            config.send_tls13_tickets = 0;
        }
        Ok(Self {
            config: Arc::new(config),
            certificate,
            verification,
        })
    }

    /// Replaces the certificate for the connections that begin from now on, in all clones. Open
    /// connections continue.
    ///
    /// # Errors
    ///
    /// The key does not belong to the certificate, or rustls does not support its type. The former
    /// certificate stays in use.
    pub fn replace_certificate(
        &self,
        chain: Vec<CertificateDer<'static>>,
        key: PrivateKeyDer<'static>,
    ) -> Result<(), Error> {
        let next = CertifiedKey::from_der(chain, key, self.config.crypto_provider())?;
        let mut current = self.certificate.0.write().unwrap_or_else(PoisonError::into_inner);
        *current = Arc::new(next);
        Ok(())
    }

    /// Configuration for rustls.
    #[must_use]
    pub fn config(&self) -> &Arc<ServerConfig> {
        &self.config
    }

    /// Performs the handshake on an accepted connection. Returns the stream, and the certificate if
    /// the client sent a certificate.
    ///
    /// The handshake has no timeout. The caller applies a timeout, and runs each handshake in a
    /// task of its own.
    ///
    /// # Errors
    ///
    /// - The client closed the connection or does not speak TLS.
    /// - The server refused the client's certificate, or requires a certificate and received none.
    #[cfg(feature = "tokio")]
    pub async fn accept<S>(
        &self,
        stream: S,
    ) -> std::io::Result<(tokio_rustls::server::TlsStream<S>, Option<PeerCertificate>)>
    where
        S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
    {
        let acceptor = tokio_rustls::TlsAcceptor::from(Arc::clone(&self.config));
        let stream = acceptor.accept(stream).await?;
        let certificate = self.certificate(stream.get_ref().1.peer_certificates());
        Ok((stream, certificate))
    }

    /// Returns the client's certificate; `None` if the client sent no certificate. `chain` is the
    /// client's chain, as rustls returns it after a handshake with [`config`](Self::config).
    #[must_use]
    pub fn certificate(&self, chain: Option<&[CertificateDer<'static>]>) -> Option<PeerCertificate> {
        let (own, others) = chain?.split_first()?;
        let der = Bytes::copy_from_slice(own);
        Some(match self.verification.vouches_for(own, others) {
            true => PeerCertificate::Verified(der),
            false => PeerCertificate::Unverified(der),
        })
    }
}

/// Certificate of the next connection.
#[derive(Debug)]
struct Current(RwLock<Arc<CertifiedKey>>);

impl ResolvesServerCert for Current {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let current = self.0.read().unwrap_or_else(PoisonError::into_inner);
        Some(Arc::clone(&current))
    }
}

/// Client certificate in DER. The client has proven that it holds the private key.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum PeerCertificate {
    /// Issued by an authority that the server trusts. The names in the certificate can be trusted.
    Verified(Bytes),
    /// Not verified. Only the thumbprint of the certificate identifies the client.
    Unverified(Bytes),
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls")
            .field("verification", &self.verification)
            .finish_non_exhaustive()
    }
}

/// Rules for client certificates: the server requests one and decides which it accepts. The
/// certificate of a connection is in the extensions of its requests, as a [`PeerCertificate`].
///
/// The handshake fails if the client does not hold the private key. It also fails for an unverified
/// certificate, unless [`with_unverified`](Self::with_unverified) is set. Revocation lists are not
/// checked.
#[derive(Clone, Debug)]
pub struct ClientCertificates {
    authorities: RootCertStore,
    accepts_unverified: bool,
    required: bool,
}

impl ClientCertificates {
    /// Accepts certificates that these authorities issued, and clients without a certificate.
    #[must_use]
    pub fn new(authorities: RootCertStore) -> Self {
        Self {
            authorities,
            accepts_unverified: false,
            required: false,
        }
    }

    /// Also accepts all other certificates (self-signed, expired, of an unknown authority), as
    /// [`PeerCertificate::Unverified`].
    #[must_use]
    pub fn with_unverified(mut self) -> Self {
        self.accepts_unverified = true;
        self
    }

    /// Requires a certificate: the handshake of a client without one fails.
    #[must_use]
    pub fn required(mut self) -> Self {
        self.required = true;
        self
    }

    fn verifier(
        self,
        provider: &Arc<CryptoProvider>,
    ) -> Result<(Arc<dyn ClientCertVerifier>, Verification), Error> {
        let schemes = provider.signature_verification_algorithms;
        let any_certificate = AnyCertificate {
            schemes,
            required: self.required,
        };
        if self.accepts_unverified && self.authorities.is_empty() {
            return Ok((Arc::new(any_certificate), Verification::None));
        }
        let roots = Arc::new(self.authorities);
        let authorities = WebPkiClientVerifier::builder_with_provider(roots, Arc::clone(provider));
        let authorities = match self.required {
            true => authorities,
            false => authorities.allow_unauthenticated(),
        };
        let authorities = authorities
            .build()
            .map_err(|error| Error::General(error.to_string()))?;
        Ok(match self.accepts_unverified {
            true => (Arc::new(any_certificate), Verification::Authorities(authorities)),
            false => (authorities, Verification::Handshake),
        })
    }
}

/// Verifies that an authority issued a certificate.
#[derive(Clone, Debug)]
enum Verification {
    /// The handshake fails unless an authority issued the certificate.
    Handshake,
    /// The handshake accepts every certificate; these authorities verify it afterwards.
    Authorities(Arc<dyn ClientCertVerifier>),
    /// There is no authority: every certificate is unverified.
    None,
}

impl Verification {
    fn vouches_for(&self, own: &CertificateDer<'_>, others: &[CertificateDer<'_>]) -> bool {
        match self {
            Self::Handshake => true,
            Self::Authorities(authorities) => authorities
                .verify_client_cert(own, others, UnixTime::now())
                .is_ok(),
            Self::None => false,
        }
    }
}

/// Accepts any certificate whose private key the client holds.
#[derive(Debug)]
struct AnyCertificate {
    schemes: WebPkiSupportedAlgorithms,
    required: bool,
}

impl ClientCertVerifier for AnyCertificate {
    fn client_auth_mandatory(&self) -> bool {
        self.required
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.schemes)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.schemes)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes.supported_schemes()
    }
}
