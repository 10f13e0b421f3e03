//! Signature back end with RustCrypto: pure Rust, with deterministic signatures for ES256 and
//! EdDSA.

use std::sync::Arc;

use p256::pkcs8::DecodePrivateKey;
use rsa::signature::{SignatureEncoding, Signer as _, Verifier as _};
use rsa::{BoxedUint, RsaPublicKey};
use sha2::Sha256;

use crate::jose::crypto::{SignatureMismatch, Signer, SigningError, Verifier};
use crate::jose::jwk::{InvalidKey, PublicKey, RSA_BITS};

struct P256Signer(p256::ecdsa::SigningKey);

impl Signer for P256Signer {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SigningError> {
        let signature: p256::ecdsa::Signature = self.0.try_sign(message).map_err(SigningError::new)?;
        Ok(signature.to_vec())
    }
}

struct Ed25519Signer(ed25519_dalek::SigningKey);

impl Signer for Ed25519Signer {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SigningError> {
        let signature = self.0.try_sign(message).map_err(SigningError::new)?;
        Ok(signature.to_vec())
    }
}

/// Decodes an ES256 or Ed25519 key from PKCS#8.
pub(in crate::jose) fn signer(pkcs8: &[u8]) -> Result<(Arc<dyn Signer>, PublicKey), InvalidKey> {
    if let Ok(key) = p256::ecdsa::SigningKey::from_pkcs8_der(pkcs8) {
        let point = key.verifying_key().to_sec1_point(false);
        let (Some(x), Some(y)) = (point.x(), point.y()) else {
            return Err(InvalidKey);
        };
        let public = PublicKey::p256(x, y)?;
        return Ok((Arc::new(P256Signer(key)), public));
    }
    let key = ed25519_dalek::SigningKey::from_pkcs8_der(pkcs8).map_err(|_| InvalidKey)?;
    let public = PublicKey::ed25519(key.verifying_key().as_bytes())?;
    Ok((Arc::new(Ed25519Signer(key)), public))
}

struct P256Verifier(p256::ecdsa::VerifyingKey);

impl Verifier for P256Verifier {
    fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), SignatureMismatch> {
        p256::ecdsa::Signature::from_slice(signature)
            .and_then(|signature| self.0.verify(message, &signature))
            .map_err(|_| SignatureMismatch)
    }
}

struct Ed25519Verifier(ed25519_dalek::VerifyingKey);

impl Verifier for Ed25519Verifier {
    fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), SignatureMismatch> {
        // strict, because under a key of small order one signature is valid for several messages
        ed25519_dalek::Signature::from_slice(signature)
            .and_then(|signature| self.0.verify_strict(message, &signature))
            .map_err(|_| SignatureMismatch)
    }
}

struct RsaVerifier(rsa::pkcs1v15::VerifyingKey<Sha256>);

impl Verifier for RsaVerifier {
    fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), SignatureMismatch> {
        rsa::pkcs1v15::Signature::try_from(signature)
            .and_then(|signature| self.0.verify(message, &signature))
            .map_err(|_| SignatureMismatch)
    }
}

/// Verifier for a key that RustCrypto refused, for example because its point is not on the curve.
/// Every signature is a mismatch.
struct Nothing;

impl Verifier for Nothing {
    fn verify(&self, _: &[u8], _: &[u8]) -> Result<(), SignatureMismatch> {
        Err(SignatureMismatch)
    }
}

fn or_nothing<V: Verifier + 'static, E>(verifier: Result<V, E>) -> Arc<dyn Verifier> {
    match verifier {
        Ok(verifier) => Arc::new(verifier),
        Err(_) => Arc::new(Nothing),
    }
}

fn number(bytes: &[u8]) -> BoxedUint {
    BoxedUint::from_be_slice_vartime(bytes)
}

/// Creates a verifier for a key whose format was checked.
pub(in crate::jose) fn verifier(key: &PublicKey) -> Arc<dyn Verifier> {
    match key {
        PublicKey::P256 { x, y } => {
            // an uncompressed point begins with 4
            let point = [&[4], x.as_slice(), y.as_slice()].concat();
            or_nothing(p256::ecdsa::VerifyingKey::from_sec1_bytes(&point).map(P256Verifier))
        }
        PublicKey::Ed25519 { x } => {
            or_nothing(ed25519_dalek::VerifyingKey::from_bytes(x).map(Ed25519Verifier))
        }
        PublicKey::Rsa { n, e } => or_nothing(
            RsaPublicKey::new_with_size_limits(number(n), number(e), RSA_BITS)
                .map(|key| RsaVerifier(rsa::pkcs1v15::VerifyingKey::new(key))),
        ),
    }
}
