//! Encryption of secrets at rest.

use std::sync::Arc;

/// Encrypts secrets before a store writes them, and decrypts them after the store has read them.
///
/// A sealer is optional: [`SecretsAtRest`](crate::sender::SecretsAtRest) also stores plain text.
///
/// # Contract
///
/// - Use authenticated encryption with a key that is not in the store, for example AES-256-GCM with
///   a new nonce for each call.
/// - [`open`](Self::open) returns exactly the bytes that [`seal`](Self::seal) received for the same
///   `context`. It refuses bytes that were changed, and bytes that were sealed for another context
///   or under another key.
/// - After a change of the key, `open` still decrypts with the old key until no store holds its
///   output.
///
/// The kit `sealer!` of `webhook-core-conformance` checks the second rule.
///
/// # Performance
///
/// Both methods are synchronous and called once for each endpoint that is loaded. Fetch the key
/// from a key service at startup and keep it in memory.
pub trait Sealer: Send + Sync {
    /// Encrypts `plain` for `context`, which is not secret and must be the same in
    /// [`open`](Self::open).
    ///
    /// # Errors
    ///
    /// [`SealError`] if there is no key, or the key was used too often.
    fn seal(&self, plain: &[u8], context: &[u8]) -> Result<Vec<u8>, SealError>;

    /// Decrypts `sealed` for `context`.
    ///
    /// # Errors
    ///
    /// [`SealError`] if `sealed` is not the output of [`seal`](Self::seal) for this `context`, or
    /// its key is unknown.
    fn open(&self, sealed: &[u8], context: &[u8]) -> Result<Vec<u8>, SealError>;
}

impl<S: Sealer + ?Sized> Sealer for Arc<S> {
    fn seal(&self, plain: &[u8], context: &[u8]) -> Result<Vec<u8>, SealError> {
        (**self).seal(plain, context)
    }

    fn open(&self, sealed: &[u8], context: &[u8]) -> Result<Vec<u8>, SealError> {
        (**self).open(sealed, context)
    }
}

/// Error: encryption or decryption failed. The message names the reason, never the content.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct SealError(&'static str);

impl SealError {
    /// Creates an error with a reason.
    #[must_use]
    pub const fn new(reason: &'static str) -> Self {
        Self(reason)
    }
}
