//! Signature back end with AWS-LC.

use std::sync::{Arc, OnceLock};

use aws_lc_rs::encoding::AsDer;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{self, KeySize, PublicKeyComponents};
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED,
    ECDSA_P384_SHA384_FIXED_SIGNING, ECDSA_P521_SHA512_FIXED, ECDSA_P521_SHA512_FIXED_SIGNING, ED25519,
    EcdsaKeyPair, EcdsaSigningAlgorithm, Ed25519KeyPair, KeyPair, ParsedPublicKey,
    RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, RSA_PKCS1_SHA256,
    RSA_PKCS1_SHA384, RSA_PKCS1_SHA512, RSA_PSS_2048_8192_SHA256, RSA_PSS_2048_8192_SHA384,
    RSA_PSS_2048_8192_SHA512, RSA_PSS_SHA256, RSA_PSS_SHA384, RSA_PSS_SHA512, RsaParameters,
    RsaSignatureEncoding, VerificationAlgorithm,
};
use zeroize::Zeroizing;

use crate::jose::algorithm::Algorithm;
use crate::jose::crypto::{SignatureMismatch, Signer, SigningError, Verifier};
use crate::jose::jwk::{InvalidKey, PublicKey};

struct EcdsaSigner(EcdsaKeyPair);

impl Signer for EcdsaSigner {
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

struct RsaSigner {
    key: rsa::KeyPair,
    encoding: &'static RsaSignatureEncoding,
}

impl Signer for RsaSigner {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SigningError> {
        let mut signature = vec![0; self.key.public_modulus_len()];
        let random = SystemRandom::new();
        let signed = self.key.sign(self.encoding, &random, message, &mut signature);
        signed.map_err(SigningError::new)?;
        Ok(signature)
    }
}

/// Generates an RSA key of 2048 bits, as PKCS#8, with the random numbers of AWS-LC.
pub(in crate::jose) fn generate_rsa() -> Result<Zeroizing<Vec<u8>>, InvalidKey> {
    let key = rsa::KeyPair::generate(KeySize::Rsa2048).map_err(|_| InvalidKey)?;
    let document = key.as_der().map_err(|_| InvalidKey)?;
    Ok(Zeroizing::new(document.as_ref().to_vec()))
}

/// Decodes a key for this algorithm from PKCS#8.
pub(in crate::jose) fn signer(
    algorithm: Algorithm,
    pkcs8: &[u8],
) -> Result<(Arc<dyn Signer>, PublicKey), InvalidKey> {
    match algorithm {
        Algorithm::Es256 => ecdsa_signer(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8, PublicKey::p256),
        Algorithm::Es384 => ecdsa_signer(&ECDSA_P384_SHA384_FIXED_SIGNING, pkcs8, PublicKey::p384),
        Algorithm::Es512 => ecdsa_signer(&ECDSA_P521_SHA512_FIXED_SIGNING, pkcs8, PublicKey::p521),
        Algorithm::EdDsa => {
            let key = Ed25519KeyPair::from_pkcs8(pkcs8).map_err(|_| InvalidKey)?;
            let public = PublicKey::ed25519(key.public_key().as_ref())?;
            Ok((Arc::new(Ed25519Signer(key)), public))
        }
        Algorithm::Rs256 => rsa_signer(&RSA_PKCS1_SHA256, pkcs8),
        Algorithm::Rs384 => rsa_signer(&RSA_PKCS1_SHA384, pkcs8),
        Algorithm::Rs512 => rsa_signer(&RSA_PKCS1_SHA512, pkcs8),
        Algorithm::Ps256 => rsa_signer(&RSA_PSS_SHA256, pkcs8),
        Algorithm::Ps384 => rsa_signer(&RSA_PSS_SHA384, pkcs8),
        Algorithm::Ps512 => rsa_signer(&RSA_PSS_SHA512, pkcs8),
    }
}

fn ecdsa_signer(
    algorithm: &'static EcdsaSigningAlgorithm,
    pkcs8: &[u8],
    public: fn(&[u8], &[u8]) -> Result<PublicKey, InvalidKey>,
) -> Result<(Arc<dyn Signer>, PublicKey), InvalidKey> {
    let key = EcdsaKeyPair::from_pkcs8(algorithm, pkcs8).map_err(|_| InvalidKey)?;
    // uncompressed point: 4, then x and y of the same length
    let [4, point @ ..] = key.public_key().as_ref() else {
        return Err(InvalidKey);
    };
    let (x, y) = point.split_at_checked(point.len() / 2).ok_or(InvalidKey)?;
    let public = public(x, y)?;
    Ok((Arc::new(EcdsaSigner(key)), public))
}

fn rsa_signer(
    encoding: &'static RsaSignatureEncoding,
    pkcs8: &[u8],
) -> Result<(Arc<dyn Signer>, PublicKey), InvalidKey> {
    let key = rsa::KeyPair::from_pkcs8(pkcs8).map_err(|_| InvalidKey)?;
    let public = key.public_key();
    let number = |number: aws_lc_rs::io::Positive<'_>| number.big_endian_without_leading_zero().to_vec();
    let public = PublicKey::rsa(number(public.modulus()), number(public.exponent()))?;
    Ok((Arc::new(RsaSigner { key, encoding }), public))
}

/// Verifier with a parsed key. `None` if AWS-LC refused the key, for example because its point is
/// not on the curve. Without a key every signature is a mismatch.
struct PointVerifier(Option<ParsedPublicKey>);

impl PointVerifier {
    fn new(algorithm: &'static dyn VerificationAlgorithm, point: &[u8]) -> Self {
        Self(ParsedPublicKey::new(algorithm, point).ok())
    }

    /// Verifier with an uncompressed point, which begins with 4.
    fn uncompressed(algorithm: &'static dyn VerificationAlgorithm, x: &[u8], y: &[u8]) -> Self {
        Self::new(algorithm, &[&[4], x, y].concat())
    }
}

impl Verifier for PointVerifier {
    fn verify(&self, _: Algorithm, message: &[u8], signature: &[u8]) -> Result<(), SignatureMismatch> {
        let key = self.0.as_ref().ok_or(SignatureMismatch)?;
        key.verify_sig(message, signature).map_err(|_| SignatureMismatch)
    }
}

/// Verifier with an RSA key, which is parsed once for each algorithm that is used.
struct RsaVerifier {
    key: PublicKeyComponents<Vec<u8>>,
    parsed: [OnceLock<Option<ParsedPublicKey>>; 6],
}

impl RsaVerifier {
    /// Returns the parsed key for this algorithm. `None` for an algorithm of other keys.
    fn parsed(&self, algorithm: Algorithm) -> Option<&ParsedPublicKey> {
        let [rs256, rs384, rs512, ps256, ps384, ps512] = &self.parsed;
        let (parsed, parameters): (_, &'static RsaParameters) = match algorithm {
            Algorithm::Rs256 => (rs256, &RSA_PKCS1_2048_8192_SHA256),
            Algorithm::Rs384 => (rs384, &RSA_PKCS1_2048_8192_SHA384),
            Algorithm::Rs512 => (rs512, &RSA_PKCS1_2048_8192_SHA512),
            Algorithm::Ps256 => (ps256, &RSA_PSS_2048_8192_SHA256),
            Algorithm::Ps384 => (ps384, &RSA_PSS_2048_8192_SHA384),
            Algorithm::Ps512 => (ps512, &RSA_PSS_2048_8192_SHA512),
            Algorithm::Es256 | Algorithm::Es384 | Algorithm::Es512 | Algorithm::EdDsa => return None,
        };
        let parse = || self.key.to_parsed_public_key(parameters).ok();
        parsed.get_or_init(parse).as_ref()
    }
}

impl Verifier for RsaVerifier {
    fn verify(
        &self,
        algorithm: Algorithm,
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), SignatureMismatch> {
        let key = self.parsed(algorithm).ok_or(SignatureMismatch)?;
        key.verify_sig(message, signature).map_err(|_| SignatureMismatch)
    }
}

/// Creates a verifier for a key whose format was checked.
pub(in crate::jose) fn verifier(key: &PublicKey) -> Arc<dyn Verifier> {
    match key {
        PublicKey::P256 { x, y } => Arc::new(PointVerifier::uncompressed(&ECDSA_P256_SHA256_FIXED, x, y)),
        PublicKey::P384 { x, y } => Arc::new(PointVerifier::uncompressed(&ECDSA_P384_SHA384_FIXED, x, y)),
        PublicKey::P521 { x, y } => Arc::new(PointVerifier::uncompressed(&ECDSA_P521_SHA512_FIXED, x, y)),
        PublicKey::Ed25519 { x } => Arc::new(PointVerifier::new(&ED25519, x)),
        PublicKey::Rsa { n, e } => Arc::new(RsaVerifier {
            key: PublicKeyComponents {
                n: n.clone(),
                e: e.clone(),
            },
            parsed: Default::default(),
        }),
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
            SigningKey::generate_es384(&entropy_fn(|bytes: &mut [u8]| bytes.fill(7))).unwrap(),
            SigningKey::generate_ed25519(&entropy_fn(|bytes: &mut [u8]| bytes.fill(7))).unwrap(),
        ];
        let off_the_curve = [
            PublicKey::p256(&[1; 32], &[1; 32]).unwrap(),
            PublicKey::p256(&[0xff; 32], &[0xff; 32]).unwrap(),
            PublicKey::p384(&[1; 48], &[1; 48]).unwrap(),
            PublicKey::p521(&[1; 66], &[1; 66]).unwrap(),
            PublicKey::ed25519(&[0xff; 32]).unwrap(),
        ];
        for key in &off_the_curve {
            let (verifier, algorithm) = (verifier(key), key.default_algorithm());
            let signatures = keys.iter().map(|key| key.sign(b"m").unwrap());
            for signature in signatures.chain([vec![0; 64], vec![0; 96], vec![0; 132], vec![]]) {
                assert_eq!(
                    verifier.verify(algorithm, b"m", &signature),
                    Err(SignatureMismatch),
                    "{key:?}"
                );
            }
        }
    }
}
