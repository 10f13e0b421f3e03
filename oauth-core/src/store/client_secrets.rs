use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::secret::{ClientSecret, TokenHash};

/// Hash of a client's secret and, during a rotation, of the previous secret.
///
/// # Security
///
/// The hash is SHA-256 without salt or key stretching. It protects a secret of
/// [`ClientSecret::generate`], which has 256 random bits, but not a password that a person chose.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct ClientSecrets {
    /// SHA-256 hash of the current secret.
    pub current: TokenHash,
    /// Previous secret, while it is still accepted.
    pub previous: Option<PreviousSecret>,
}

/// A replaced client secret.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct PreviousSecret {
    /// SHA-256 hash of the secret.
    pub hash: TokenHash,
    /// Instant from which the secret is refused.
    pub expires_at: SystemTime,
}

impl ClientSecrets {
    /// Registers one secret.
    #[must_use]
    pub fn new(secret: &ClientSecret) -> Self {
        Self {
            current: secret.hash(),
            previous: None,
        }
    }

    /// Replaces the current secret. The replaced secret is accepted until `previous_expires_at`; a
    /// secret that was replaced earlier is no longer accepted.
    #[must_use]
    pub fn rotate(&self, secret: &ClientSecret, previous_expires_at: SystemTime) -> Self {
        let previous = PreviousSecret {
            hash: self.current,
            expires_at: previous_expires_at,
        };
        Self {
            current: secret.hash(),
            previous: Some(previous),
        }
    }

    /// Returns `true` if `secret` is accepted at `now`. Both hashes are compared in constant time.
    #[must_use]
    pub fn accept(&self, secret: &ClientSecret, now: SystemTime) -> bool {
        let presented = secret.hash();
        let current = self.current.matches(&presented);
        let previous = self
            .previous
            .as_ref()
            .is_some_and(|previous| previous.hash.matches(&presented) & (now < previous.expires_at));
        current | previous
    }
}
