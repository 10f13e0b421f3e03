use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::secret::{ClientSecret, TokenHash};

/// The hash of a client's secret and, while it is being replaced, of the one before.
///
/// # Security
///
/// SHA-256 without salt or stretching: enough for a secret of 256 random bits such as
/// [`ClientSecret::generate`] makes, not for a password that a person chose.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct ClientSecrets {
    /// The secret to use from now on.
    pub current: TokenHash,
    /// The one before, for as long as it still opens.
    pub previous: Option<PreviousSecret>,
}

/// A client secret that is on its way out.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct PreviousSecret {
    /// Its hash.
    pub hash: TokenHash,
    /// The instant from which it opens nothing.
    pub expires_at: SystemTime,
}

impl ClientSecrets {
    /// One secret.
    #[must_use]
    pub fn new(secret: &ClientSecret) -> Self {
        Self {
            current: secret.hash(),
            previous: None,
        }
    }

    /// `secret` from now on, and the present one too until `previous_expires_at`.
    #[must_use]
    pub fn rotated(&self, secret: &ClientSecret, previous_expires_at: SystemTime) -> Self {
        let previous = PreviousSecret {
            hash: self.current,
            expires_at: previous_expires_at,
        };
        Self {
            current: secret.hash(),
            previous: Some(previous),
        }
    }

    /// Whether `secret` opens at `now`. Looks at both hashes in constant time, whichever matches.
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
