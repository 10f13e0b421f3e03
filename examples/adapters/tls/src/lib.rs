//! TLS for the adapters, by rustls, with everything chosen here and nothing process-wide: HTTP/1.1 over TLS 1.2 and 1.3, by AWS-LC.
//!
//! A client's certificate reaches the handler as a [`PeerCertificate`] in the extensions of its requests. What it is good for is the host's to say.
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
//!     Some(ClientCertificates::of(authorities).or_of_nobody()),
//! )?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::{fmt, sync::Arc};

use bytes::Bytes;

use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, aws_lc_rs};
use rustls::crypto::{verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::{DigitallySignedStruct, DistinguishedName, Error, RootCertStore, ServerConfig, SignatureScheme};

/// What a server shows, and what it asks its clients for.
#[derive(Clone)]
pub struct Tls {
    config: Arc<ServerConfig>,
    judge: Judge,
}

impl Tls {
    /// Shows the certificates of `chain`, the server's own first, for which it has `key`; and asks clients for theirs, if told to.
    ///
    /// # Errors
    /// The key is not of the certificate, or neither is of a kind that rustls knows; or clients are asked for certificates of no authority.
    pub fn new(
        chain: Vec<CertificateDer<'static>>,
        key: PrivateKeyDer<'static>,
        clients: Option<ClientCertificates>,
    ) -> Result<Self, Error> {
        // another crate's choice of a default provider must not reach in here, nor its absence make this panic
        let provider = Arc::new(aws_lc_rs::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider));
        let builder = builder.with_safe_default_protocol_versions()?;
        let asks = clients.is_some();
        let (builder, judge) = match clients {
            None => (builder.with_no_client_auth(), Judge::Handshake),
            Some(clients) => {
                let (verifier, judge) = clients.verifier(&provider)?;
                (builder.with_client_cert_verifier(verifier), judge)
            }
        };
        let mut config = builder.with_single_cert(chain, key)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        if asks {
            // who comes back proves anew what was proven, and is judged anew
            config.session_storage = Arc::new(NoServerSessionStorage {});
            config.send_tls13_tickets = 0;
        }
        Ok(Self {
            config: Arc::new(config),
            judge,
        })
    }

    /// What rustls makes of it.
    #[must_use]
    pub fn config(&self) -> &Arc<ServerConfig> {
        &self.config
    }

    /// Shakes hands over a connection that was just accepted: the stream, and the certificate of the client, if it has shown one.
    ///
    /// It waits for the client: bound it, and let it hold up no other.
    ///
    /// # Errors
    /// The client left, speaks no TLS, or showed what is not taken.
    #[cfg(feature = "tokio")]
    pub async fn accept(
        &self,
        stream: tokio::net::TcpStream,
    ) -> std::io::Result<(
        tokio_rustls::server::TlsStream<tokio::net::TcpStream>,
        Option<PeerCertificate>,
    )> {
        let acceptor = tokio_rustls::TlsAcceptor::from(Arc::clone(&self.config));
        let stream = acceptor.accept(stream).await?;
        let certificate = self.certificate(stream.get_ref().1.peer_certificates());
        Ok((stream, certificate))
    }

    /// The certificate of the client, of the `chain` that it showed in a handshake of [`config`](Self::config) that is complete.
    #[must_use]
    pub fn certificate(&self, chain: Option<&[CertificateDer<'static>]>) -> Option<PeerCertificate> {
        let (own, others) = chain?.split_first()?;
        let der = Bytes::copy_from_slice(own);
        Some(match self.judge.vouches_for(own, others) {
            true => PeerCertificate::Verified(der),
            false => PeerCertificate::Unverified(der),
        })
    }
}

/// The certificate that the client of a connection has the key of, in DER.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum PeerCertificate {
    /// An authority of the server's vouches for what it says.
    Verified(Bytes),
    /// Nobody does: it is worth its thumbprint.
    Unverified(Bytes),
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls")
            .field("judge", &self.judge)
            .finish_non_exhaustive()
    }
}

/// Whose certificates clients may connect with: each connection's is in its requests' extensions, as a [`PeerCertificate`].
///
/// A certificate whose key its sender does not have ends the handshake. So does one of nobody's, unless such are
/// [taken](Self::or_of_nobody). Revocation lists are not looked at.
#[derive(Clone, Debug)]
pub struct ClientCertificates {
    authorities: RootCertStore,
    of_nobody: bool,
    required: bool,
}

impl ClientCertificates {
    /// Those of these authorities. A client without one is served, without one.
    #[must_use]
    pub fn of(authorities: RootCertStore) -> Self {
        Self {
            authorities,
            of_nobody: false,
            required: false,
        }
    }

    /// Takes any other as well, self-signed, expired, or of an authority that nobody knows, as a [`PeerCertificate::Unverified`].
    #[must_use]
    pub fn or_of_nobody(mut self) -> Self {
        self.of_nobody = true;
        self
    }

    /// Ends the handshake of a client without one.
    #[must_use]
    pub fn required(mut self) -> Self {
        self.required = true;
        self
    }

    fn verifier(self, provider: &Arc<CryptoProvider>) -> Result<(Arc<dyn ClientCertVerifier>, Judge), Error> {
        let schemes = provider.signature_verification_algorithms;
        let anybody = Anybody {
            schemes,
            required: self.required,
        };
        if self.of_nobody && self.authorities.is_empty() {
            return Ok((Arc::new(anybody), Judge::Nobody));
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
        Ok(match self.of_nobody {
            true => (Arc::new(anybody), Judge::Authorities(authorities)),
            false => (authorities, Judge::Handshake),
        })
    }
}

/// Who says whether an authority vouches for a certificate.
#[derive(Clone, Debug)]
enum Judge {
    /// The handshake has: it lets no other pass.
    Handshake,
    /// These authorities do, once the handshake has let it pass.
    Authorities(Arc<dyn ClientCertVerifier>),
    /// There is no authority.
    Nobody,
}

impl Judge {
    fn vouches_for(&self, own: &CertificateDer<'_>, others: &[CertificateDer<'_>]) -> bool {
        match self {
            Self::Handshake => true,
            Self::Authorities(authorities) => authorities
                .verify_client_cert(own, others, UnixTime::now())
                .is_ok(),
            Self::Nobody => false,
        }
    }
}

/// Takes the certificate of anybody who has its key.
#[derive(Debug)]
struct Anybody {
    schemes: WebPkiSupportedAlgorithms,
    required: bool,
}

impl ClientCertVerifier for Anybody {
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
