//! Mutual TLS, [RFC 8705](https://www.rfc-editor.org/rfc/rfc8705): certificate-bound tokens, and
//! client authentication by certificate.
//!
//! The host terminates TLS and puts the [`ClientCertificate`] of the connection into the extensions
//! of each request. This crate never reads a certificate from a header. The [authorization
//! server](crate::server) [authenticates](crate::store::RegisteredClient::tls) clients by the
//! certificate, and binds the tokens of clients that are [registered for
//! it](crate::store::SenderConstraint::MutualTls). The [resource server](crate::resource) requires
//! the certificate for bound tokens.
//!
//! | method | trust | sufficient for |
//! |---|---|---|
//! | [`from_der`](ClientCertificate::from_der) | the TLS handshake proved possession of the key; the content is unverified | bound tokens, `self_signed_tls_client_auth` |
//! | [`with_verified_names`](ClientCertificate::with_verified_names) | a CA that the host trusts verified the names | also `tls_client_auth`, which compares the names |

mod distinguished_name;
mod name;
#[cfg(feature = "x509")]
mod x509;

use std::sync::Arc;

use sha2::{Digest, Sha256};

pub use name::{CertificateName, InvalidCertificateName};
#[cfg(feature = "x509")]
pub use x509::UnreadableCertificate;

use crate::vocabulary::{Confirmation, Thumbprint};

/// Client certificate of a TLS connection, whose handshake proved possession of its key.
///
/// # Security
///
/// Take the certificate from the TLS connection. Take it from a header only behind a TLS proxy of
/// the host, and only if the proxy removes this header from the requests of clients.
///
/// ```
/// use oauth_core::mtls::{CertificateName, ClientCertificate};
///
/// let der = b"what the TLS library gives for the certificate of the peer";
/// let self_signed = ClientCertificate::from_der(der);
/// assert!(!self_signed.bears(&CertificateName::san_dns("robot.example")?));
///
/// // a CA verified these names
/// let names = [CertificateName::san_dns("robot.example")?];
/// let verified = ClientCertificate::from_der(der).with_verified_names(names);
/// assert!(verified.bears(&CertificateName::san_dns("robot.example")?));
///
/// let mut request = http::Request::post("/token").body(())?;
/// request.extensions_mut().insert(verified);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ClientCertificate {
    thumbprint: Thumbprint,
    /// `None` without verified names.
    names: Option<Arc<[CertificateName]>>,
}

impl ClientCertificate {
    /// Creates a certificate from its DER bytes. Its content counts as unverified, as for a
    /// self-signed certificate.
    #[must_use]
    pub fn from_der(der: &[u8]) -> Self {
        Self {
            thumbprint: Thumbprint::from_bytes(Sha256::digest(der).into()),
            names: None,
        }
    }

    /// Adds the names in the certificate, which a CA verified: the subject, and each subject
    /// alternative name.
    ///
    /// # Security
    ///
    /// Call this method only if the TLS library verified the chain for client authentication on
    /// this connection, up to a CA that the host trusts to name clients. A library that is
    /// configured to accept any certificate has verified nothing.
    #[must_use]
    pub fn with_verified_names(mut self, names: impl IntoIterator<Item = CertificateName>) -> Self {
        self.names = Some(names.into_iter().collect());
        self
    }

    /// Returns the SHA-256 thumbprint of the DER bytes: `x5t#S256`.
    #[must_use]
    pub const fn thumbprint(&self) -> Thumbprint {
        self.thumbprint
    }

    /// Returns the `cnf` of tokens that are bound to the certificate.
    #[must_use]
    pub const fn confirmation(&self) -> Confirmation {
        Confirmation::Certificate(self.thumbprint)
    }

    /// Returns `true` if the host added [verified names](Self::with_verified_names).
    #[must_use]
    pub const fn is_verified(&self) -> bool {
        self.names.is_some()
    }

    /// Returns `true` if the verified names include `name`, in the same field and as a whole.
    #[must_use]
    pub fn bears(&self, name: &CertificateName) -> bool {
        self.names.as_deref().is_some_and(|names| names.contains(name))
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    /// O19, MT1: the certificate and the thumbprint of RFC 8705 appendix A.
    #[test]
    fn the_certificate_of_rfc_8705_has_its_thumbprint() {
        let der = "MIIBBjCBrAIBAjAKBggqhkjOPQQDAjAPMQ0wCwYDVQQDDARtdGxzMB4XDTE4MTAxODEyMzcwOVoXDTIyMDUwMjEyMzcwOVowDzENMAsGA1UEAwwEbXRsczBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABNcnyxwqV6hY8QnhxxzFQ03C7HKW9OylMbnQZjjJ/Au08/coZwxS7LfA4vOLS9WuneIXhbGGWvsDSb0tH6IxLm8wCgYIKoZIzj0EAwIDSQAwRgIhAP0RC1E+vwJD/D1AGHGzuri+hlV/PpQEKTWUVeORWz83AiEA5x2eXZOVbUlJSGQgjwD5vaUaKlLR50Q2DmFfQj1L+SY=";
        let mut der = STANDARD.decode(der).unwrap();
        let confirmation = ClientCertificate::from_der(&der).confirmation();
        assert_eq!(
            serde_json::to_string(&confirmation).unwrap(),
            r#"{"x5t#S256":"A4DtL2JmUMhAsvJj5tKyn64SqzmuXbMrJa0n761y5v0"}"#
        );
        assert_eq!(confirmation.token_type(), "Bearer");
        let last = der.len() - 1;
        der[last] ^= 1;
        assert_ne!(ClientCertificate::from_der(&der).confirmation(), confirmation);
    }
}
