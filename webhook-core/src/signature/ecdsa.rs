//! ECDSA with P-256 and SHA-256, for senders that publish a public key.

use std::fmt;

use base64::{Engine, prelude::BASE64_STANDARD};
use p256::{
    ecdsa::{Signature, VerifyingKey, signature::MultipartVerifier as _},
    pkcs8::DecodePublicKey as _,
};

use crate::secret::InvalidSecret;

/// Maximum length of the base64 of a signature; its DER has at most 72 bytes.
const MAX_BASE64: usize = 96;

/// Public key of a sender. It need not be kept secret.
#[derive(Clone, Eq, PartialEq)]
pub(crate) struct PublicKey(VerifyingKey);

impl PublicKey {
    /// Parses the base64 of a `SubjectPublicKeyInfo`, with or without the lines of PEM.
    pub(crate) fn from_spki(text: &str) -> Result<Self, InvalidSecret> {
        let lines = text
            .lines()
            .map(str::trim)
            .filter(|line| !line.starts_with("-----"));
        let encoded: String = lines.collect();
        let der = BASE64_STANDARD.decode(encoded);
        let der = der.map_err(|_| InvalidSecret("the public key is not padded base64"))?;
        let key = VerifyingKey::from_public_key_der(&der);
        key.map(Self)
            .map_err(|_| InvalidSecret("the public key is not a P-256 key"))
    }

    pub(crate) fn verifies(&self, pieces: &[&[u8]], signature: &Signature) -> bool {
        self.0.multipart_verify(pieces, signature).is_ok()
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PublicKey(..)")
    }
}

/// Parses the base64 of the DER of a signature.
pub(crate) fn read(text: &[u8]) -> Option<Signature> {
    let mut decoded = [0; MAX_BASE64];
    let length =
        (text.len() <= MAX_BASE64).then(|| BASE64_STANDARD.decode_slice(text, &mut decoded).ok())??;
    Signature::from_der(decoded.get(..length)?).ok()
}
