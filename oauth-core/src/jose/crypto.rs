//! Interface between this module and the signature back ends.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use super::algorithm::Algorithm;

/// Signer with one private key for one algorithm. Hosts implement it for keys in a hardware module.
///
/// # Contract
///
/// - `sign` returns the signature in JOSE format: `r ‖ s` for ES256, ES384 and ES512, of 64, 96 and
///   132 bytes ([RFC 7518 §3.4](https://www.rfc-editor.org/rfc/rfc7518#section-3.4)); 64 bytes for
///   EdDSA; for RSA as many bytes as the modulus has.
/// - The key never changes: the server publishes the public key under a `kid` derived from it.
/// - `sign` does not block, for example on the network: the server calls it on the thread that
///   serves the request.
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

/// Verifier with one public key, implemented by a back end.
pub(super) trait Verifier: Send + Sync {
    /// Returns `Ok` only if `signature` is a valid signature of `message` by `algorithm`, which
    /// must be an algorithm of the key. Every failure is a [`SignatureMismatch`].
    fn verify(&self, algorithm: Algorithm, message: &[u8], signature: &[u8])
    -> Result<(), SignatureMismatch>;
}

/// The signature is not valid for this message and key.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the signature does not match")]
pub(super) struct SignatureMismatch;

/// Error for a token that could not be signed.
#[derive(Debug)]
pub struct SigningError {
    source: Box<dyn Error + Send + Sync>,
}

impl SigningError {
    /// Creates an error with a failure of the signer as its source.
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
