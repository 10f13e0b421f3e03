use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::{AccessTokenRecord, RefreshTokenRecord};
use crate::ports::Entropy;
use crate::secret::TokenHash;

/// What a tombstone tells: when a refresh token was exchanged, and for what.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct Rotated {
    /// When it was exchanged.
    pub at: SystemTime,
    /// The refresh token that took its place.
    pub successor: TokenHash,
    /// The access token that was issued with that one.
    pub access: TokenHash,
    /// What the two were derived with; none when they were made at random, and cannot be made again.
    pub salt: Option<RotationSalt>,
}

impl Rotated {
    /// An exchange at `at` for two tokens that were made at random.
    #[must_use]
    pub const fn new(at: SystemTime, successor: TokenHash, access: TokenHash) -> Self {
        Self {
            at,
            successor,
            access,
            salt: None,
        }
    }

    /// With the salt that the two tokens were derived with, if they were.
    #[must_use]
    pub const fn with_salt(self, salt: Option<RotationSalt>) -> Self {
        Self { salt, ..self }
    }
}

/// What one rotation issued, as it is now.
#[derive(Clone, Debug, Eq, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct Successor {
    /// The refresh token that took the place of the presented one.
    pub refresh: RefreshTokenRecord,
    /// The access token that was issued with it.
    pub access: AccessTokenRecord,
}

impl Successor {
    /// The two tokens of one rotation.
    #[must_use]
    pub const fn new(refresh: RefreshTokenRecord, access: AccessTokenRecord) -> Self {
        Self { refresh, access }
    }
}

/// 128 random bits that set one rotation apart from every other; see [`RetryPepper`](crate::grant::RetryPepper).
///
/// Not a secret: without the token that was presented and the pepper it leads to nothing.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub struct RotationSalt([u8; 16]);

impl RotationSalt {
    /// The salt of these bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The bytes of the salt.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// A new random salt.
    #[must_use]
    pub fn generate(entropy: &dyn Entropy) -> Self {
        let mut bytes = [0; 16];
        entropy.fill(&mut bytes);
        Self(bytes)
    }
}
