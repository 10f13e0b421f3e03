//! The ports over AWS-LC: jsonwebtoken's back end, and public keys without it, because it would parse them anew for each
//! signature.
//!
//! The factories are taken from the provider constant, never from the process-wide default: that one panics
//! as soon as feature unification turns a second back end on.

use std::cell::RefCell;
use std::sync::{Arc, Weak};

use aws_lc_rs::rsa::PublicKeyComponents;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256, VerificationAlgorithm,
};
use jsonwebtoken::EncodingKey;
use jsonwebtoken::crypto::JwtSigner;
use jsonwebtoken::crypto::aws_lc::DEFAULT_PROVIDER;
use jsonwebtoken::jwk::EllipticCurve;

use crate::jose::crypto::{SignatureMismatch, Signer, SigningError, Verifier};
use crate::jose::jwk::{InvalidKey, PublicKey};

/// A private key of the back end, not yet taken apart by it.
struct PrivateKey {
    algorithm: jsonwebtoken::Algorithm,
    encoded: EncodingKey,
}

impl PrivateKey {
    fn parse(&self) -> Result<Box<dyn JwtSigner>, jsonwebtoken::errors::Error> {
        (DEFAULT_PROVIDER.signer_factory)(&self.algorithm, &self.encoded)
    }
}

/// The parsed keys of one thread, each as long as somebody holds it.
type ParsedKeys = Vec<(Weak<PrivateKey>, Box<dyn JwtSigner>)>;

thread_local! {
    /// A boxed `JwtSigner` is neither `Send` nor `Sync`, and parsing a P-256 key costs almost as much as
    /// signing with it, so each thread parses a key once. A dropped key leaves with the next one that comes.
    static PARSED: RefCell<ParsedKeys> = const { RefCell::new(Vec::new()) };
}

struct AwsLcSigner(Arc<PrivateKey>);

impl AwsLcSigner {
    fn sign_with(&self, parsed: &mut ParsedKeys, message: &[u8]) -> Result<Vec<u8>, SigningError> {
        let own = parsed
            .iter()
            .find(|(key, _)| key.as_ptr() == Arc::as_ptr(&self.0));
        if let Some((_, signer)) = own {
            return signer.try_sign(message).map_err(SigningError::new);
        }
        let signer = self.0.parse().map_err(SigningError::new)?;
        let signature = signer.try_sign(message).map_err(SigningError::new);
        parsed.retain(|(key, _)| key.strong_count() > 0);
        parsed.push((Arc::downgrade(&self.0), signer));
        signature
    }
}

impl Signer for AwsLcSigner {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SigningError> {
        PARSED
            .try_with(|parsed| self.sign_with(&mut parsed.borrow_mut(), message))
            .map_err(SigningError::new)?
    }
}

/// Reads a PKCS#8 document of an ES256 or Ed25519 key.
pub(in crate::jose) fn signer(pkcs8: &[u8]) -> Result<(Arc<dyn Signer>, PublicKey), InvalidKey> {
    let keys = &DEFAULT_PROVIDER.key_utils;
    let (algorithm, encoded, public) = if let Ok((EllipticCurve::P256, x, y)) =
        (keys.ec_pub_components_from_private_key)(pkcs8, jsonwebtoken::Algorithm::ES256)
    {
        (
            jsonwebtoken::Algorithm::ES256,
            EncodingKey::from_ec_der(pkcs8),
            PublicKey::p256(&x, &y)?,
        )
    } else {
        let x = (keys.ed_pub_components_from_private_key)(pkcs8, &EllipticCurve::Ed25519)
            .map_err(|_| InvalidKey)?;
        (
            jsonwebtoken::Algorithm::EdDSA,
            EncodingKey::from_ed_der(pkcs8),
            PublicKey::ed25519(&x)?,
        )
    };
    let key = PrivateKey { algorithm, encoded };
    key.parse().map_err(|_| InvalidKey)?;
    Ok((Arc::new(AwsLcSigner(Arc::new(key))), public))
}

/// A parsed key; without one, because the bytes are no point of the curve, nothing is ever accepted.
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

/// A verifier for a key whose shape has been checked.
pub(in crate::jose) fn verifier(key: &PublicKey) -> Arc<dyn Verifier> {
    match key {
        PublicKey::P256 { x, y } => {
            // an uncompressed point begins with a 4
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

    /// However often keys are rotated, a thread keeps what lives and one dropped key at most.
    #[test]
    fn a_thread_forgets_dropped_keys() {
        let key = |byte| SigningKey::generate_es256(&move |bytes: &mut [u8]| bytes.fill(byte)).unwrap();
        let kept = key(1);
        for byte in 2..50 {
            let rotated = key(byte);
            for key in [&rotated, &kept, &rotated] {
                assert_eq!(key.public_key().verify(b"m", &key.sign(b"m").unwrap()), Ok(()));
            }
            drop(rotated);
            let parsed = PARSED.with_borrow(Vec::len);
            assert!(parsed <= 3, "{parsed} keys are kept");
        }
    }

    /// A key that is no point of its curve can be held, and nothing passes under it.
    #[test]
    fn a_point_off_its_curve_verifies_nothing() {
        let keys = [
            SigningKey::generate_es256(&|bytes: &mut [u8]| bytes.fill(7)).unwrap(),
            SigningKey::generate_ed25519(&|bytes: &mut [u8]| bytes.fill(7)).unwrap(),
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
