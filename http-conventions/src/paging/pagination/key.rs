//! Keys that sign cursors.

use std::{fmt, time::Duration};

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

/// Secret key that signs cursors, with its id. A cursor contains the id of its key.
#[derive(Clone)]
pub struct CursorKey {
    id: u8,
    /// Prepared HMAC state. The feature `zeroize` of the hash crate clears it and every copy.
    prepared: Hmac<Sha256>,
}

impl CursorKey {
    /// Creates a key from 256 random bits.
    ///
    /// # Security
    ///
    /// - Take the secret from [`Entropy`](crate::ports::Entropy) and use it for nothing else.
    /// - Keep the key until its last cursor has expired.
    /// - Give the keys of one keyring different ids. If ids are equal, every key with that id is
    ///   tried.
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

    /// HMAC over a payload. The caller finalizes or verifies it.
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

/// The key that signs new cursors, and the previous keys that open older cursors.
///
/// To rotate, create a keyring with a new key, and keep the old key as previous until its cursors
/// have expired.
#[derive(Clone, Debug)]
pub struct CursorKeyring {
    current: CursorKey,
    previous: Vec<CursorKey>,
    lifetime: Duration,
}

impl CursorKeyring {
    /// Creates a keyring with one key. By default cursors expire after 3 days.
    #[must_use]
    pub fn new(current: CursorKey) -> Self {
        Self {
            current,
            previous: Vec::new(),
            lifetime: Duration::from_secs(3 * 24 * 60 * 60),
        }
    }

    /// Adds a previous key. It opens cursors but does not sign new ones.
    #[must_use]
    pub fn with_previous(mut self, key: CursorKey) -> Self {
        self.previous.push(key);
        self
    }

    /// Sets the lifetime of cursors, default 3 days.
    #[must_use]
    pub fn with_lifetime(mut self, lifetime: Duration) -> Self {
        self.lifetime = lifetime;
        self
    }

    pub(super) fn current(&self) -> &CursorKey {
        &self.current
    }

    /// All keys with this id. If a rotation reuses the id, older cursors can still be opened.
    pub(super) fn keys(&self, id: u8) -> impl Iterator<Item = &CursorKey> {
        std::iter::once(&self.current)
            .chain(&self.previous)
            .filter(move |key| key.id == id)
    }

    pub(super) const fn lifetime(&self) -> Duration {
        self.lifetime
    }
}
