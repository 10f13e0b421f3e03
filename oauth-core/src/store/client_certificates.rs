use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::vocabulary::Thumbprint;

/// Thumbprint of the certificate of a `self_signed_tls_client_auth` client and, during a rotation,
/// of the previous certificate, [RFC 8705
/// §2.2](https://www.rfc-editor.org/rfc/rfc8705#section-2.2).
///
/// The server compares only the thumbprint of the certificate. It ignores all fields of the
/// certificate, also the validity dates: a certificate is accepted while it is registered.
///
/// ```
/// use oauth_core::mtls::ClientCertificate;
/// use oauth_core::store::{RegisteredCertificates, RegisteredClient};
///
/// let certificate = ClientCertificate::from_der(b"what the client has sent to be registered");
/// let registered = RegisteredCertificates::new(certificate.thumbprint());
/// let robot = RegisteredClient::self_signed_tls("robot".parse()?, registered);
/// assert!(robot.is_confidential());
/// # Ok::<(), oauth_core::vocabulary::InvalidClientId>(())
/// ```
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct RegisteredCertificates {
    /// SHA-256 thumbprint of the current certificate.
    pub current: Thumbprint,
    /// Previous certificate, while it is still accepted.
    pub previous: Option<PreviousCertificate>,
}

/// A replaced certificate of a client.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct PreviousCertificate {
    /// SHA-256 thumbprint of the certificate.
    pub thumbprint: Thumbprint,
    /// Instant from which the certificate is refused.
    pub expires_at: SystemTime,
}

impl RegisteredCertificates {
    /// Registers the certificate with this thumbprint.
    #[must_use]
    pub const fn new(certificate: Thumbprint) -> Self {
        Self {
            current: certificate,
            previous: None,
        }
    }

    /// Replaces the current certificate. The replaced certificate is accepted until
    /// `previous_expires_at`; a certificate that was replaced earlier is no longer accepted.
    #[must_use]
    pub const fn rotate(&self, certificate: Thumbprint, previous_expires_at: SystemTime) -> Self {
        let previous = PreviousCertificate {
            thumbprint: self.current,
            expires_at: previous_expires_at,
        };
        Self {
            current: certificate,
            previous: Some(previous),
        }
    }

    /// Returns `true` if the certificate is accepted at `now`.
    #[must_use]
    pub fn accept(&self, certificate: Thumbprint, now: SystemTime) -> bool {
        let is_previous =
            |previous: &PreviousCertificate| previous.thumbprint == certificate && now < previous.expires_at;
        self.current == certificate || self.previous.as_ref().is_some_and(is_previous)
    }
}
