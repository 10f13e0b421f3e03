//! Uses of client certificates, [RFC 8705](https://www.rfc-editor.org/rfc/rfc8705).

use std::time::SystemTime;

use crate::error::Reason;
use crate::mtls::ClientCertificate;
use crate::store::ClientAuthentication;

/// Uses of client certificates that the server enables. Default: none.
#[derive(Clone, Copy, Default)]
pub(super) struct CertificateUse {
    /// Certificate-bound tokens.
    pub(super) bound_tokens: bool,
    /// `tls_client_auth`
    pub(super) names: bool,
    /// `self_signed_tls_client_auth`
    pub(super) self_signed: bool,
}

impl CertificateUse {
    /// Checks the certificate of a client that is registered for authentication by certificate.
    /// Accepts clients of all other methods.
    pub(super) fn admits(
        self,
        registered: &ClientAuthentication,
        presented: Option<&ClientCertificate>,
        now: SystemTime,
    ) -> Result<(), Reason> {
        let is_offered = match registered {
            ClientAuthentication::Tls(_) => self.names,
            ClientAuthentication::SelfSignedTls(_) => self.self_signed,
            _ => return Ok(()),
        };
        if !is_offered {
            return Err(Reason::ClientAuthenticationMismatch);
        }
        let presented = presented.ok_or(Reason::ClientCertificateMissing)?;
        let is_its_own = match registered {
            ClientAuthentication::Tls(_) if !presented.is_verified() => {
                return Err(Reason::ClientCertificateUnverified);
            }
            ClientAuthentication::Tls(name) => presented.bears(name),
            ClientAuthentication::SelfSignedTls(certificates) => {
                certificates.accept(presented.thumbprint(), now)
            }
            _ => false,
        };
        is_its_own.then_some(()).ok_or(Reason::ClientCertificateMismatch)
    }

    /// Returns the enabled authentication methods, by their names in the metadata.
    pub(super) fn methods(self) -> impl Iterator<Item = &'static str> {
        [
            (self.names, "tls_client_auth"),
            (self.self_signed, "self_signed_tls_client_auth"),
        ]
        .into_iter()
        .filter_map(|(is_offered, name)| is_offered.then_some(name))
    }
}
