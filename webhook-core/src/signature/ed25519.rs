//! The asymmetric scheme of Standard Webhooks, `v1a`: the sender keeps a secret key, receivers know only the public one.
//!
//! ```
//! use webhook_core::{ports::OsEntropy, receiver::Verifier, signature::{Signer, ed25519::SecretKey}};
//!
//! let secret = SecretKey::generate(&OsEntropy);
//! let published = secret.public_key().to_whpk();
//! let (signer, verifier) = (Signer::ed25519(&secret), Verifier::ed25519(secret.public_key()));
//! assert!(published.starts_with("whpk_"));
//! # let _ = (signer, verifier);
//! ```

use std::fmt;

use base64::{Engine, prelude::BASE64_STANDARD};
use ed25519_dalek::{
    Signature, SigningKey, VerifyingKey,
    ed25519::signature::{MultipartSigner, MultipartVerifier},
};
use zeroize::Zeroizing;

use crate::{
    ports::Entropy,
    secret::{InvalidSecret, decode},
};

const WHSK: &str = "whsk_";
const WHPK: &str = "whpk_";
const SIGNATURE_LENGTH: usize = 64;
const BASE64_LENGTH: usize = 88;
/// How many signatures of one message are tried. Each costs a receiver one verification a key, each of which hashes the body,
/// and anybody can write them; a sender that rotates has two.
pub(crate) const MAX_SIGNATURES: usize = 4;

/// The key that signs, kept by the sender alone.
///
/// Not printed by `Debug`, not comparable, wiped from memory when dropped.
#[derive(Clone)]
pub struct SecretKey(SigningKey);

/// The key that verifies, free to publish.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PublicKey(VerifyingKey);

impl SecretKey {
    /// Reads `whsk_` and the base64 of the 32-byte seed, or of the seed followed by its public key.
    ///
    /// # Errors
    ///
    /// When the prefix is missing, the rest is not canonical base64 of 32 or 64 bytes, or the two halves disagree.
    pub fn from_whsk(text: &str) -> Result<Self, InvalidSecret> {
        let bytes = decode(
            text.strip_prefix(WHSK)
                .ok_or_else(|| InvalidSecret::shape(text, WHSK))?,
        )?;
        if let Ok(seed) = bytes.as_slice().try_into() {
            Ok(Self(SigningKey::from_bytes(seed)))
        } else if let Ok(pair) = bytes.as_slice().try_into() {
            let key = SigningKey::from_keypair_bytes(pair);
            key.map(Self)
                .map_err(|_| InvalidSecret("the halves of the secret key disagree"))
        } else {
            Err(InvalidSecret("a secret key has 32 or 64 bytes"))
        }
    }

    /// Makes a fresh key.
    #[must_use]
    pub fn generate(entropy: &dyn Entropy) -> Self {
        let mut seed = Zeroizing::new([0; 32]);
        entropy.fill(seed.as_mut_slice());
        Self(SigningKey::from_bytes(&seed))
    }

    /// The key in the 64-byte form that [`from_whsk`](Self::from_whsk) reads.
    ///
    /// # Security
    ///
    /// The text is not wiped from memory. Seal it before it is stored, and keep it out of logs.
    #[must_use]
    pub fn expose_whsk(&self) -> String {
        let pair = Zeroizing::new(self.0.to_keypair_bytes());
        format!("{WHSK}{}", BASE64_STANDARD.encode(pair.as_slice()))
    }

    /// The key to give to receivers.
    #[must_use]
    pub fn public_key(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    /// Appends the signature of the pieces, one after the other.
    pub(crate) fn write(&self, pieces: &[&[u8]], text: &mut String) {
        let signature: Signature = self.0.multipart_sign(pieces);
        BASE64_STANDARD.encode_string(signature.to_bytes(), text);
    }
}

impl PublicKey {
    /// Reads `whpk_` and the base64 of the 32 bytes.
    ///
    /// # Errors
    ///
    /// When the prefix is missing, the rest is not canonical base64 of 32 bytes, or the bytes are no point of the curve or one
    /// of its few weak ones, under which anybody can sign.
    pub fn from_whpk(text: &str) -> Result<Self, InvalidSecret> {
        let bytes = decode(
            text.strip_prefix(WHPK)
                .ok_or_else(|| InvalidSecret::shape(text, WHPK))?,
        )?;
        let bytes = bytes
            .as_slice()
            .try_into()
            .map_err(|_| InvalidSecret("a public key has 32 bytes"))?;
        let key = VerifyingKey::from_bytes(bytes)
            .map_err(|_| InvalidSecret("the public key is no point of the curve"))?;
        if key.is_weak() {
            Err(InvalidSecret("the public key is weak"))
        } else {
            Ok(Self(key))
        }
    }

    /// The key in the form that [`from_whpk`](Self::from_whpk) reads.
    #[must_use]
    pub fn to_whpk(&self) -> String {
        format!("{WHPK}{}", BASE64_STANDARD.encode(self.0.as_bytes()))
    }

    /// Whether `signature` is this key's over the pieces, one after the other.
    ///
    /// As strict as `verify_strict`, which cannot take a message in pieces: the verification refuses a scalar that is not
    /// reduced, the constructor a weak key, and this function a commitment of small order.
    pub(crate) fn verifies(&self, pieces: &[&[u8]], signature: &Signature) -> bool {
        let commitment = VerifyingKey::from_bytes(signature.r_bytes());
        commitment.is_ok_and(|commitment| !commitment.is_weak())
            && self.0.multipart_verify(pieces, signature).is_ok()
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(..)")
    }
}

/// Reads a signature in its one writing.
pub(crate) fn read(text: &[u8]) -> Option<Signature> {
    // the decoder asks for room for whole groups of three bytes
    let mut decoded = [0; SIGNATURE_LENGTH + 2];
    if text.len() != BASE64_LENGTH
        || BASE64_STANDARD.decode_slice(text, &mut decoded).ok()? != SIGNATURE_LENGTH
    {
        return None;
    }
    decoded.first_chunk().map(Signature::from_bytes)
}
