//! Signature back end with AWS-LC.

use std::sync::Arc;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::PublicKeyComponents;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, ED25519, EcdsaKeyPair, Ed25519KeyPair, KeyPair,
    ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256, VerificationAlgorithm,
};

use crate::jose::crypto::{SignatureMismatch, Signer, SigningError, Verifier};
use crate::jose::jwk::{InvalidKey, PublicKey};

struct P256Signer(EcdsaKeyPair);

impl Signer for P256Signer {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SigningError> {
        let signature = self.0.sign(&SystemRandom::new(), message);
        Ok(signature.map_err(SigningError::new)?.as_ref().to_vec())
    }
}

struct Ed25519Signer(Ed25519KeyPair);

impl Signer for Ed25519Signer {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SigningError> {
        let signature = self.0.try_sign(message).map_err(SigningError::new)?;
        Ok(signature.as_ref().to_vec())
    }
}

/// Decodes an ES256 or Ed25519 key from PKCS#8.
pub(in crate::jose) fn signer(pkcs8: &[u8]) -> Result<(Arc<dyn Signer>, PublicKey), InvalidKey> {
    if let Ok(key) = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8) {
        // uncompressed point: 4, then x and y of 32 bytes each
        let [4, point @ ..] = key.public_key().as_ref() else {
            return Err(InvalidKey);
        };
        let (x, y) = point.split_at_checked(32).ok_or(InvalidKey)?;
        let public = PublicKey::p256(x, y)?;
        return Ok((Arc::new(P256Signer(key)), public));
    }
    let key = Ed25519KeyPair::from_pkcs8(pkcs8).map_err(|_| InvalidKey)?;
    let public = PublicKey::ed25519(key.public_key().as_ref())?;
    Ok((Arc::new(Ed25519Signer(key)), public))
}

/// Verifier with a parsed key. `None` if AWS-LC refused the key, for example because its point is
/// not on the curve. Without a key every signature is a mismatch.
struct ParsedVerifier(Option<ParsedPublicKey>);

impl ParsedVerifier {
    fn point(algorithm: &'static dyn VerificationAlgorithm, point: &[u8]) -> Self {
        Self(ParsedPublicKey::new(algorithm, point).ok())
    }

    fn rsa(n: &[u8], e: &[u8]) -> Self {
        let components = PublicKeyComponents { n, e };
        Self(components.to_parsed_public_key(&RSA_PKCS1_2048_8192_SHA256).ok())
    }
}

impl Verifier for ParsedVerifier {
    fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), SignatureMismatch> {
        let key = self.0.as_ref().ok_or(SignatureMismatch)?;
        key.verify_sig(message, signature).map_err(|_| SignatureMismatch)
    }
}

/// Creates a verifier for a key whose format was checked.
pub(in crate::jose) fn verifier(key: &PublicKey) -> Arc<dyn Verifier> {
    match key {
        PublicKey::P256 { x, y } => {
            // an uncompressed point begins with 4
            let point = [&[4], x.as_slice(), y.as_slice()].concat();
            Arc::new(ParsedVerifier::point(&ECDSA_P256_SHA256_FIXED, &point))
        }
        PublicKey::Ed25519 { x } => Arc::new(ParsedVerifier::point(&ED25519, x)),
        PublicKey::Rsa { n, e } => Arc::new(ParsedVerifier::rsa(n, e)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jose::SigningKey;
    use crate::ports::entropy_fn;

    /// A key whose point is not on its curve gets a verifier, which refuses all signatures.
    #[test]
    fn a_point_off_its_curve_verifies_nothing() {
        let keys = [
            SigningKey::generate_es256(&entropy_fn(|bytes: &mut [u8]| bytes.fill(7))).unwrap(),
            SigningKey::generate_ed25519(&entropy_fn(|bytes: &mut [u8]| bytes.fill(7))).unwrap(),
        ];
        let off_the_curve = [
            PublicKey::P256 {
                x: [1; 32],
                y: [1; 32],
            },
            PublicKey::P256 {
                x: [0xff; 32],
                y: [0xff; 32],
            },
            PublicKey::Ed25519 { x: [0xff; 32] },
        ];
        for key in &off_the_curve {
            let verifier = verifier(key);
            for signature in keys.iter().map(|key| key.sign(b"m").unwrap()) {
                assert_eq!(
                    verifier.verify(b"m", &signature),
                    Err(SignatureMismatch),
                    "{key:?}"
                );
            }
            for signature in [&[0_u8; 64] as &[u8], &[]] {
                assert_eq!(
                    verifier.verify(b"m", signature),
                    Err(SignatureMismatch),
                    "{key:?}"
                );
            }
        }
    }
}
