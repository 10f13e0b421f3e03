//! The ports over jsonwebtoken's AWS-LC back end.
//!
//! The factories are taken from the provider constant, never from the process-wide default: that one panics
//! as soon as feature unification turns a second back end on.

use std::cell::RefCell;
use std::sync::{Arc, Weak};

use jsonwebtoken::crypto::aws_lc::DEFAULT_PROVIDER;
use jsonwebtoken::crypto::{JwtSigner, JwtVerifier};
use jsonwebtoken::jwk::EllipticCurve;
use jsonwebtoken::{DecodingKey, EncodingKey};

use super::algorithm::Algorithm;
use super::crypto::{SignatureMismatch, Signer, SigningError, Verifier};
use super::jwk::{InvalidKey, PublicKey};

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
pub(super) fn signer(pkcs8: &[u8]) -> Result<(Arc<dyn Signer>, PublicKey), InvalidKey> {
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

struct AwsLcVerifier {
    algorithm: jsonwebtoken::Algorithm,
    key: DecodingKey,
}

impl Verifier for AwsLcVerifier {
    fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), SignatureMismatch> {
        let verifier: Box<dyn JwtVerifier> =
            (DEFAULT_PROVIDER.verifier_factory)(&self.algorithm, &self.key).map_err(|_| SignatureMismatch)?;
        verifier
            .verify(message, &signature.to_vec())
            .map_err(|_| SignatureMismatch)
    }
}

/// A verifier for a key whose shape has been checked.
pub(super) fn verifier(key: &PublicKey) -> Arc<dyn Verifier> {
    let decoding = match key {
        PublicKey::P256 { x, y } => DecodingKey::from_ec_der(&[&[4], x.as_slice(), y.as_slice()].concat()),
        PublicKey::Ed25519 { x } => DecodingKey::from_ed_der(x),
        PublicKey::Rsa { n, e } => DecodingKey::from_rsa_raw_components(n, e),
    };
    let algorithm = match key.algorithm() {
        Algorithm::Es256 => jsonwebtoken::Algorithm::ES256,
        Algorithm::EdDsa => jsonwebtoken::Algorithm::EdDSA,
        Algorithm::Rs256 => jsonwebtoken::Algorithm::RS256,
    };
    Arc::new(AwsLcVerifier {
        algorithm,
        key: decoding,
    })
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
}
