use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::vocabulary::Thumbprint;

/// The certificate of a client that is known by it and not by a name, and, while it is being replaced, the one before:
/// [RFC 8705 §2.2](https://www.rfc-editor.org/rfc/rfc8705#section-2.2).
///
/// Nothing in it is looked at, not even its dates: it is good for as long as it is registered.
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
    /// The certificate to use from now on.
    pub current: Thumbprint,
    /// The one before, for as long as it is still taken.
    pub previous: Option<PreviousCertificate>,
}

/// A client's certificate that is on its way out.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct PreviousCertificate {
    /// Which one.
    pub thumbprint: Thumbprint,
    /// The instant from which it is another's.
    pub expires_at: SystemTime,
}

impl RegisteredCertificates {
    /// One certificate.
    #[must_use]
    pub const fn new(certificate: Thumbprint) -> Self {
        Self {
            current: certificate,
            previous: None,
        }
    }

    /// `certificate` from now on, and the present one too until `previous_expires_at`.
    #[must_use]
    pub const fn rotated(&self, certificate: Thumbprint, previous_expires_at: SystemTime) -> Self {
        let previous = PreviousCertificate {
            thumbprint: self.current,
            expires_at: previous_expires_at,
        };
        Self {
            current: certificate,
            previous: Some(previous),
        }
    }

    /// Whether a certificate is the client's at `now`.
    #[must_use]
    pub fn accept(&self, certificate: Thumbprint, now: SystemTime) -> bool {
        let is_previous =
            |previous: &PreviousCertificate| previous.thumbprint == certificate && now < previous.expires_at;
        self.current == certificate || self.previous.as_ref().is_some_and(is_previous)
    }
}
