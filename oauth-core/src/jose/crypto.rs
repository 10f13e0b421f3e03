//! Interface between this module and the signature back ends.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// Signer with one private key of one algorithm, for example in a hardware module.
///
/// # Contract
///
/// - `sign` returns the signature in JOSE format: 64 bytes `r ‖ s` for ES256 ([RFC 7518
///   §3.4](https://www.rfc-editor.org/rfc/rfc7518#section-3.4)), 64 bytes for EdDSA.
/// - The key never changes: the server publishes the public key under a `kid` derived from it.
/// - `sign` does not wait for the network: the server calls it on the thread that serves the
///   request.
pub trait Signer: Send + Sync {
    /// Signs `message`.
    ///
    /// # Errors
    ///
    /// [`SigningError`] when the key is not available or the back end failed.
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SigningError>;
}

impl<S: Signer + ?Sized> Signer for Arc<S> {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SigningError> {
        (**self).sign(message)
    }
}

/// Verifier with one public key of one algorithm, implemented by a back end.
pub(super) trait Verifier: Send + Sync {
    /// Accepts only a valid signature of exactly these bytes. Every failure is a mismatch.
    fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), SignatureMismatch>;
}

/// The signature is not valid for this message and key.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the signature does not match")]
pub(super) struct SignatureMismatch;

/// A signature could not be created.
#[derive(Debug)]
pub struct SigningError {
    source: Box<dyn Error + Send + Sync>,
}

impl SigningError {
    /// Wraps a failure of the back end.
    pub fn new(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            source: source.into(),
        }
    }
}

impl fmt::Display for SigningError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the token could not be signed")
    }
}

impl Error for SigningError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.source)
    }
}
