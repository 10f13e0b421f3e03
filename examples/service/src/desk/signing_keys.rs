//! Signing keys, which all processes on the database share.

use std::fmt;
use std::time::SystemTime;

use zeroize::Zeroizing;

use super::{Desk, DeskError};

/// A private key with its place in the order of the keys of its purpose.
#[derive(Clone)]
pub(crate) struct StoredKey {
    pub(crate) number: u32,
    /// Start of its use.
    pub(crate) signs_from: SystemTime,
    /// Private key in PKCS #8.
    pub(crate) pem: Zeroizing<String>,
}

impl StoredKey {
    pub(crate) fn new(number: u32, signs_from: SystemTime, pem: impl Into<String>) -> Self {
        let pem = Zeroizing::new(pem.into());
        Self {
            number,
            signs_from,
            pem,
        }
    }
}

/// Does not show the private key.
impl fmt::Debug for StoredKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredKey")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

impl Desk {
    /// Reads the keys of a purpose, in ascending order of their numbers.
    pub(crate) async fn signing_keys(&self, purpose: &'static str) -> Result<Vec<StoredKey>, DeskError> {
        self.store.signing_keys(purpose).await
    }

    /// Stores a key unless another process has stored one with its number.
    pub(crate) async fn insert_signing_key(
        &self,
        purpose: &'static str,
        key: StoredKey,
    ) -> Result<(), DeskError> {
        self.store.insert_signing_key(purpose, key).await
    }

    /// Deletes the keys of a purpose whose numbers are below `number`.
    pub(crate) async fn delete_signing_keys(
        &self,
        purpose: &'static str,
        number: u32,
    ) -> Result<(), DeskError> {
        self.store.delete_signing_keys(purpose, number).await
    }
}
