//! Signature back end with RustCrypto: pure Rust, with deterministic signatures for ECDSA and
//! EdDSA. It does not sign by RSA, because its RSA implementation has a timing leak.

use std::sync::Arc;

use p256::pkcs8::DecodePrivateKey;
use rsa::signature::{SignatureEncoding, Signer as _, Verifier as _};
use rsa::{BoxedUint, RsaPublicKey};
use sha2::{Sha256, Sha384, Sha512};

use crate::jose::algorithm::Algorithm;
use crate::jose::crypto::{SignatureMismatch, Signer, SigningError, Verifier};
use crate::jose::jwk::{InvalidKey, PublicKey, RSA_BITS};

/// Implements ECDSA on one curve.
macro_rules! ecdsa {
    ($curve:ident, $signer:ident, $verifier:ident, $decode:ident) => {
        struct $signer($curve::ecdsa::SigningKey);

        impl Signer for $signer {
            fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SigningError> {
                let signature: $curve::ecdsa::Signature =
                    self.0.try_sign(message).map_err(SigningError::new)?;
                Ok(signature.to_vec())
            }
        }

        fn $decode(pkcs8: &[u8]) -> Result<(Arc<dyn Signer>, PublicKey), InvalidKey> {
            let key = $curve::ecdsa::SigningKey::from_pkcs8_der(pkcs8).map_err(|_| InvalidKey)?;
            let point = key.verifying_key().to_sec1_point(false);
            let (Some(x), Some(y)) = (point.x(), point.y()) else {
                return Err(InvalidKey);
            };
            let public = PublicKey::$curve(x, y)?;
            Ok((Arc::new($signer(key)), public))
        }

        struct $verifier($curve::ecdsa::VerifyingKey);

        impl $verifier {
            /// Creates a verifier from an uncompressed point, which begins with 4.
            fn new(x: &[u8], y: &[u8]) -> Result<Self, impl Sized> {
                $curve::ecdsa::VerifyingKey::from_sec1_bytes(&[&[4], x, y].concat()).map(Self)
            }
        }

        impl Verifier for $verifier {
            fn verify(
                &self,
                _: Algorithm,
                message: &[u8],
                signature: &[u8],
            ) -> Result<(), SignatureMismatch> {
                $curve::ecdsa::Signature::from_slice(signature)
                    .and_then(|signature| self.0.verify(message, &signature))
                    .map_err(|_| SignatureMismatch)
            }
        }
    };
}

ecdsa!(p256, P256Signer, P256Verifier, p256_signer);
ecdsa!(p384, P384Signer, P384Verifier, p384_signer);
ecdsa!(p521, P521Signer, P521Verifier, p521_signer);

struct Ed25519Signer(ed25519_dalek::SigningKey);

impl Signer for Ed25519Signer {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SigningError> {
        let signature = self.0.try_sign(message).map_err(SigningError::new)?;
        Ok(signature.to_vec())
    }
}

/// Decodes a key for this algorithm from PKCS#8.
pub(in crate::jose) fn signer(
    algorithm: Algorithm,
    pkcs8: &[u8],
) -> Result<(Arc<dyn Signer>, PublicKey), InvalidKey> {
    match algorithm {
        Algorithm::Es256 => p256_signer(pkcs8),
        Algorithm::Es384 => p384_signer(pkcs8),
        Algorithm::Es512 => p521_signer(pkcs8),
        Algorithm::EdDsa => {
            let key = ed25519_dalek::SigningKey::from_pkcs8_der(pkcs8).map_err(|_| InvalidKey)?;
            let public = PublicKey::ed25519(key.verifying_key().as_bytes())?;
            Ok((Arc::new(Ed25519Signer(key)), public))
        }
        _ => Err(InvalidKey),
    }
}

struct Ed25519Verifier(ed25519_dalek::VerifyingKey);

impl Verifier for Ed25519Verifier {
    fn verify(&self, _: Algorithm, message: &[u8], signature: &[u8]) -> Result<(), SignatureMismatch> {
        // strict, because under a key of small order one signature is valid for several messages
        ed25519_dalek::Signature::from_slice(signature)
            .and_then(|signature| self.0.verify_strict(message, &signature))
            .map_err(|_| SignatureMismatch)
    }
}

struct RsaVerifier(RsaPublicKey);

impl Verifier for RsaVerifier {
    fn verify(
        &self,
        algorithm: Algorithm,
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), SignatureMismatch> {
        use rsa::{pkcs1v15, pss};
        fn check<S>(
            key: &impl rsa::signature::Verifier<S>,
            message: &[u8],
            signature: &[u8],
        ) -> Result<(), SignatureMismatch>
        where
            S: SignatureEncoding,
        {
            S::try_from(signature)
                .map_err(|_| SignatureMismatch)
                .and_then(|signature| key.verify(message, &signature).map_err(|_| SignatureMismatch))
        }
        let key = self.0.clone();
        match algorithm {
            Algorithm::Rs256 => check(&pkcs1v15::VerifyingKey::<Sha256>::new(key), message, signature),
            Algorithm::Rs384 => check(&pkcs1v15::VerifyingKey::<Sha384>::new(key), message, signature),
            Algorithm::Rs512 => check(&pkcs1v15::VerifyingKey::<Sha512>::new(key), message, signature),
            Algorithm::Ps256 => check(&pss::VerifyingKey::<Sha256>::new(key), message, signature),
            Algorithm::Ps384 => check(&pss::VerifyingKey::<Sha384>::new(key), message, signature),
            Algorithm::Ps512 => check(&pss::VerifyingKey::<Sha512>::new(key), message, signature),
            _ => Err(SignatureMismatch),
        }
    }
}

/// Verifier for a key that RustCrypto refused, for example because its point is not on the curve.
/// Every signature is a mismatch.
struct Nothing;

impl Verifier for Nothing {
    fn verify(&self, _: Algorithm, _: &[u8], _: &[u8]) -> Result<(), SignatureMismatch> {
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
        PublicKey::P256 { x, y } => or_nothing(P256Verifier::new(x, y)),
        PublicKey::P384 { x, y } => or_nothing(P384Verifier::new(x, y)),
        PublicKey::P521 { x, y } => or_nothing(P521Verifier::new(x, y)),
        PublicKey::Ed25519 { x } => {
            or_nothing(ed25519_dalek::VerifyingKey::from_bytes(x).map(Ed25519Verifier))
        }
        PublicKey::Rsa { n, e } => {
            or_nothing(RsaPublicKey::new_with_size_limits(number(n), number(e), RSA_BITS).map(RsaVerifier))
        }
    }
}
