//! Certificates of clients, [RFC 8705](https://www.rfc-editor.org/rfc/rfc8705): what tokens are bound to, and what clients authenticate by.
//!
//! TLS ends at the host, and so does everything about certificates but one thing: which one the client connected with. The host puts it
//! as a [`ClientCertificate`] into the extensions of the requests that it hands on; no header ever becomes one here. The
//! [authorization server](crate::server) binds tokens to it, of clients that are
//! [registered for it](crate::store::SenderConstraint::MutualTls), and knows clients by it that
//! [authenticate so](crate::store::RegisteredClient::tls); the [resource server](crate::resource) demands it.
//!
//! Two kinds of trust, and the value says which. [`from_der`](ClientCertificate::from_der) takes the handshake's word that the client has the
//! key, and nobody's word for what the certificate says: enough to bind tokens, and to be recognized by
//! `self_signed_tls_client_auth`. [`with_verified_names`](ClientCertificate::with_verified_names) adds the names that an authority which the
//! host trusts vouches for; `tls_client_auth` compares these alone.

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

/// The certificate that a client has proven to have, in the handshake of the connection that a request came over.
///
/// # Security
///
/// Only what ends TLS knows it. Never make one of a header, unless it was written by a proxy of yours that removes such headers of
/// everybody else.
///
/// ```
/// use oauth_core::mtls::{CertificateName, ClientCertificate};
///
/// let der = b"what the TLS library gives for the certificate of the peer";
/// let self_signed = ClientCertificate::from_der(der);
/// assert!(!self_signed.bears(&CertificateName::san_dns("robot.example")?));
///
/// // an authority was asked, and this is what it signed
/// let verified = ClientCertificate::from_der(der).with_verified_names([CertificateName::san_dns("robot.example")?]);
/// assert!(verified.bears(&CertificateName::san_dns("robot.example")?));
///
/// let mut request = http::Request::post("/token").body(())?;
/// request.extensions_mut().insert(verified);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ClientCertificate {
    thumbprint: Thumbprint,
    /// None where nobody vouches for it but its holder.
    names: Option<Arc<[CertificateName]>>,
}

impl ClientCertificate {
    /// The certificate of these bytes, in DER. Nothing that it says of itself is believed: it is as good as one that its holder
    /// has signed.
    #[must_use]
    pub fn from_der(der: &[u8]) -> Self {
        Self {
            thumbprint: Thumbprint::from_bytes(Sha256::digest(der).into()),
            names: None,
        }
    }

    /// The same, with what an authority says of its holder: the subject and each subject alternative name that can be compared.
    ///
    /// # Security
    ///
    /// For a certificate whose whole chain was verified for this connection, up to an authority that the host trusts to name clients: by
    /// the TLS library, at this instant, for the purpose of clients. A certificate that the library was told to let pass is not one.
    #[must_use]
    pub fn with_verified_names(mut self, names: impl IntoIterator<Item = CertificateName>) -> Self {
        self.names = Some(names.into_iter().collect());
        self
    }

    /// The SHA-256 of its DER: `x5t#S256`.
    #[must_use]
    pub const fn thumbprint(&self) -> Thumbprint {
        self.thumbprint
    }

    /// What a token that is bound to it has as `cnf`.
    #[must_use]
    pub const fn confirmation(&self) -> Confirmation {
        Confirmation::Certificate(self.thumbprint)
    }

    /// Whether an authority vouches for its names.
    #[must_use]
    pub const fn is_verified(&self) -> bool {
        self.names.is_some()
    }

    /// Whether an authority says that its holder is called this: in the same field, and equal as a whole.
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
