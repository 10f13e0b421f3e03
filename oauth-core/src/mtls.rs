//! Tokens that are bound to a certificate, [RFC 8705 §3](https://www.rfc-editor.org/rfc/rfc8705#section-3).
//!
//! TLS ends at the host, and so does everything about certificates but one thing: which one the client connected with. The host puts it
//! into the extensions of the requests that it hands on, and the [authorization server](crate::server) binds tokens to it, of clients that
//! are [registered for it](crate::store::SenderConstraint::MutualTls); the [resource server](crate::resource) demands it.

use sha2::{Digest, Sha256};

use crate::vocabulary::{Confirmation, Thumbprint};

/// The certificate that a client has proven to have, in the handshake of the connection that a request came over.
///
/// # Security
///
/// Only what ends TLS knows it. Never make one of a header, unless it was written by a proxy of yours that removes such headers of
/// everybody else.
///
/// ```
/// use oauth_core::mtls::ClientCertificate;
///
/// let der = b"what the TLS library gives for the certificate of the peer";
/// let mut request = http::Request::post("/token").body(())?;
/// request.extensions_mut().insert(ClientCertificate::from_der(der));
/// # Ok::<(), http::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ClientCertificate(Thumbprint);

impl ClientCertificate {
    /// The certificate of these bytes, in DER.
    #[must_use]
    pub fn from_der(der: &[u8]) -> Self {
        Self(Thumbprint::from_bytes(Sha256::digest(der).into()))
    }

    /// What a token that is bound to it has as `cnf`.
    #[must_use]
    pub const fn confirmation(self) -> Confirmation {
        Confirmation::Certificate(self.0)
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
