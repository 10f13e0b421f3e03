//! What stands between this module and whatever makes and checks raw signatures.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// Signs bytes with one private key of one algorithm.
///
/// # What an implementation must guarantee
///
/// - The answer is the signature as JOSE wants it: 64 bytes `r ‖ s` for ES256
///   ([RFC 7518 §3.4](https://www.rfc-editor.org/rfc/rfc7518#section-3.4)), 64 bytes for EdDSA.
/// - The key never changes: its public half is published under a key id made from it.
/// - It does not wait for a network: it is called on the thread that serves the request.
pub trait Signer: Send + Sync {
    /// Signs `message`.
    ///
    /// # Errors
    ///
    /// The key is out of reach or the back end failed.
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SigningError>;
}

impl<S: Signer + ?Sized> Signer for Arc<S> {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SigningError> {
        (**self).sign(message)
    }
}

/// Checks signatures with one public key of one algorithm; a back end implements it.
pub(super) trait Verifier: Send + Sync {
    /// Accepts nothing but a valid signature of exactly these bytes; whatever else goes wrong is a mismatch.
    fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), SignatureMismatch>;
}

/// The signature is not one of this message and key; why it is not stays unsaid.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the signature does not match")]
pub(super) struct SignatureMismatch;

/// A signature could not be made.
#[derive(Debug)]
pub struct SigningError {
    source: Box<dyn Error + Send + Sync>,
}

impl SigningError {
    /// A failure of the back end.
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
