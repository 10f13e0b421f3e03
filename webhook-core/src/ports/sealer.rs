//! Encryption of what a store keeps.

use std::sync::Arc;

/// Encrypts secrets before a store writes them, and decrypts them after it has read them.
///
/// Optional: [`SignersAtRest`](crate::sender::SignersAtRest) does without. Sync, and called for each endpoint that is read: keep
/// the key at hand, and ask a key service for it at the start.
///
/// # What an implementation must guarantee
///
/// - It is authenticated encryption under a key that is not in the store, such as AES-256-GCM with a fresh nonce for each call.
/// - [`open`](Self::open) gives back exactly what [`seal`](Self::seal) was given under the same `context`, and refuses
///   anything else: every changed bit, every other context, every other key.
/// - Where keys are changed, what was sealed with an older one is opened for as long as it may stand in a store.
///
/// The kit `sealer!` of `webhook-core-conformance` checks the second.
pub trait Sealer: Send + Sync {
    /// Encrypts `plain` for this `context`, which must be the same when it is opened and is not secret itself.
    ///
    /// # Errors
    ///
    /// [`SealError`] when there is no key, or too much was sealed with it.
    fn seal(&self, plain: &[u8], context: &[u8]) -> Result<Vec<u8>, SealError>;

    /// Decrypts what was sealed for this `context`.
    ///
    /// # Errors
    ///
    /// [`SealError`] when it was not sealed so, or with a key that is not there.
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

/// What could not be sealed or opened; the text says why, and never what.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct SealError(&'static str);

impl SealError {
    /// For this reason.
    #[must_use]
    pub const fn new(reason: &'static str) -> Self {
        Self(reason)
    }
}
