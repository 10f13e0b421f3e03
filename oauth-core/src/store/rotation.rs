use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::{AccessTokenRecord, RefreshTokenRecord};
use crate::ports::Entropy;
use crate::secret::TokenHash;

/// Rotation of a refresh token, kept in the record of the rotated token (its tombstone).
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct Rotated {
    /// Instant of the rotation.
    pub at: SystemTime,
    /// Hash of the refresh token that replaced the rotated token.
    pub successor: TokenHash,
    /// Hash of the access token that was issued with `successor`.
    pub access: TokenHash,
    /// Salt from which both new tokens were derived. `None`: the tokens are random, and the
    /// rotation cannot be retried.
    pub salt: Option<RotationSalt>,
}

impl Rotated {
    /// Creates a rotation at `at` that issued random tokens with these hashes.
    #[must_use]
    pub const fn new(at: SystemTime, successor: TokenHash, access: TokenHash) -> Self {
        Self {
            at,
            successor,
            access,
            salt: None,
        }
    }

    /// Sets the salt from which both new tokens were derived.
    #[must_use]
    pub const fn with_salt(self, salt: Option<RotationSalt>) -> Self {
        Self { salt, ..self }
    }
}

/// Current records of the two tokens that a rotation issued.
#[derive(Clone, Debug, Eq, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct Successor {
    /// Refresh token that replaced the presented token.
    pub refresh: RefreshTokenRecord,
    /// Access token that was issued with `refresh`.
    pub access: AccessTokenRecord,
}

impl Successor {
    /// Creates a successor from the two tokens of a rotation.
    #[must_use]
    pub const fn new(refresh: RefreshTokenRecord, access: AccessTokenRecord) -> Self {
        Self { refresh, access }
    }
}

/// Salt of 128 random bits that makes the derived tokens of each rotation unique; see
/// [`RetryPepper`](crate::grant::RetryPepper).
///
/// The salt is not a secret: without the presented token and the pepper it reveals nothing.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub struct RotationSalt([u8; 16]);

impl RotationSalt {
    /// Creates the salt from its bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes of the salt.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// Generates a random salt.
    #[must_use]
    pub fn generate(entropy: &dyn Entropy) -> Self {
        let mut bytes = [0; 16];
        entropy.fill(&mut bytes);
        Self(bytes)
    }
}
