//! Asymmetric scheme of Standard Webhooks, `v1a`: the sender keeps the secret key, and receivers
//! hold the public key.
//!
//! ```
//! use webhook_core::{
//!     ports::OsEntropy,
//!     receiver::Verifier,
//!     signature::{Signer, ed25519::SecretKey},
//! };
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
    signature::{mac, scheme::Encoding},
};

const WHSK: &str = "whsk_";
const WHPK: &str = "whpk_";
const SIGNATURE_LENGTH: usize = 64;

/// Secret key of the sender.
///
/// # Security
///
/// `Debug` does not print the key, `==` is not implemented, and the key is wiped from memory on
/// drop.
#[derive(Clone)]
pub struct SecretKey(SigningKey);

/// Public key for receivers. It need not be kept secret.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PublicKey(VerifyingKey);

impl SecretKey {
    /// Parses `whsk_` and the base64 of the 32-byte seed, or of the seed followed by its public
    /// key.
    ///
    /// # Errors
    ///
    /// [`InvalidSecret`] if the prefix is missing, the rest is not canonical base64 of 32 or 64
    /// bytes, or the seed and the public key do not match.
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
                .map_err(|_| InvalidSecret("the public half of the secret key does not match its seed"))
        } else {
            Err(InvalidSecret("a secret key has 32 or 64 bytes"))
        }
    }

    /// Generates a key.
    #[must_use]
    pub fn generate(entropy: &dyn Entropy) -> Self {
        let mut seed = Zeroizing::new([0; 32]);
        entropy.fill(seed.as_mut_slice());
        Self(SigningKey::from_bytes(&seed))
    }

    /// The key in the 64-byte form that [`from_whsk`](Self::from_whsk) parses.
    ///
    /// # Security
    ///
    /// The returned text is not wiped from memory. Encrypt it before it is stored, and keep it out
    /// of logs.
    #[must_use]
    pub fn expose_whsk(&self) -> String {
        let pair = Zeroizing::new(self.0.to_keypair_bytes());
        format!("{WHSK}{}", BASE64_STANDARD.encode(pair.as_slice()))
    }

    /// Public key to give to receivers.
    #[must_use]
    pub fn public_key(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    /// Appends the signature of the concatenated pieces.
    pub(crate) fn write(&self, pieces: &[&[u8]], text: &mut String) {
        let signature: Signature = self.0.multipart_sign(pieces);
        BASE64_STANDARD.encode_string(signature.to_bytes(), text);
    }
}

impl PublicKey {
    /// Parses `whpk_` and the base64 of the 32 bytes.
    ///
    /// # Errors
    ///
    /// [`InvalidSecret`] if the prefix is missing, the rest is not canonical base64 of 32 bytes,
    /// the bytes are not a point of the curve, or the point has a small order, so that signatures
    /// can be forged.
    pub fn from_whpk(text: &str) -> Result<Self, InvalidSecret> {
        let bytes = decode(
            text.strip_prefix(WHPK)
                .ok_or_else(|| InvalidSecret::shape(text, WHPK))?,
        )?;
        Self::from_bytes(&bytes)
    }

    /// Creates the key from its 32 bytes.
    ///
    /// # Errors
    ///
    /// [`InvalidSecret`] if there are not 32 bytes, the bytes are not a point of the curve, or the
    /// point has a small order, so that signatures can be forged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, InvalidSecret> {
        let bytes = bytes
            .try_into()
            .map_err(|_| InvalidSecret("a public key has 32 bytes"))?;
        let key = VerifyingKey::from_bytes(bytes)
            .map_err(|_| InvalidSecret("the public key is not a point of the curve"))?;
        if key.is_weak() {
            Err(InvalidSecret("the public key has a small order"))
        } else {
            Ok(Self(key))
        }
    }

    /// The key in the form that [`from_whpk`](Self::from_whpk) parses.
    #[must_use]
    pub fn to_whpk(&self) -> String {
        format!("{WHPK}{}", BASE64_STANDARD.encode(self.0.as_bytes()))
    }

    /// Verifies `signature` over the concatenated pieces.
    ///
    /// As strict as `verify_strict`, which does not accept a message in pieces. The verification
    /// refuses a scalar that is not reduced, the constructor refuses a weak key, and this function
    /// refuses a commitment of small order.
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

/// Parses a signature in the canonical form of `encoding`.
pub(crate) fn read(encoding: Encoding, text: &[u8]) -> Option<Signature> {
    let signature = mac::read(encoding, SIGNATURE_LENGTH, text)?;
    Signature::from_slice(signature.as_bytes()).ok()
}
