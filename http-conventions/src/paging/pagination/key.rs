//! The keys that sign cursors.

use std::{fmt, time::Duration};

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

/// One secret that signs cursors, and the number by which cursors name it.
#[derive(Clone)]
pub struct CursorKey {
    id: u8,
    /// The key, worked in once; the feature `zeroize` of the hash clears it, and every copy.
    prepared: Hmac<Sha256>,
}

impl CursorKey {
    /// A key of 256 random bits.
    ///
    /// # Security
    ///
    /// Take the secret from [`Entropy`](crate::ports::Entropy), keep it for as long as its cursors live, and use it for
    /// nothing else. Keys of one keyring should have different ids: each that has the id of a cursor is tried.
    #[must_use]
    #[expect(clippy::expect_used, reason = "HMAC takes keys of any length")]
    pub fn new(id: u8, secret: [u8; 32]) -> Self {
        let secret = Zeroizing::new(secret);
        Self {
            id,
            prepared: Hmac::new_from_slice(secret.as_slice()).expect("a key of any length"),
        }
    }

    pub(super) const fn id(&self) -> u8 {
        self.id
    }

    /// The MAC over a payload, ready to be finished or compared.
    pub(super) fn mac(&self, payload: &[u8]) -> Hmac<Sha256> {
        self.prepared.clone().chain_update(payload)
    }
}

impl fmt::Debug for CursorKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CursorKey")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// The key that signs new cursors, and those that still open old ones.
///
/// To rotate, make a new key the current one and keep the old one as previous for one lifetime.
#[derive(Clone, Debug)]
pub struct CursorKeyring {
    current: CursorKey,
    previous: Vec<CursorKey>,
    lifetime: Duration,
}

impl CursorKeyring {
    /// One key, and cursors that live for three days.
    #[must_use]
    pub fn new(current: CursorKey) -> Self {
        Self {
            current,
            previous: Vec::new(),
            lifetime: Duration::from_secs(3 * 24 * 60 * 60),
        }
    }

    /// Opens cursors of this key too.
    #[must_use]
    pub fn with_previous(mut self, key: CursorKey) -> Self {
        self.previous.push(key);
        self
    }

    /// With this lifetime of a cursor.
    #[must_use]
    pub fn with_lifetime(mut self, lifetime: Duration) -> Self {
        self.lifetime = lifetime;
        self
    }

    pub(super) fn current(&self) -> &CursorKey {
        &self.current
    }

    /// Every key that cursors call by this number: who rotates and keeps it does not lose the cursors of before.
    pub(super) fn keys(&self, id: u8) -> impl Iterator<Item = &CursorKey> {
        std::iter::once(&self.current)
            .chain(&self.previous)
            .filter(move |key| key.id == id)
    }

    pub(super) const fn lifetime(&self) -> Duration {
        self.lifetime
    }
}
