//! Signing secrets, and key rings for their rotation.
//!
//! The text of a secret does not show its encoding: `whsec_…` is base64 in Standard Webhooks and
//! plain text elsewhere. Each encoding has its own constructor; no constructor guesses the
//! encoding.
//!
//! ```
//! use webhook_core::secret::{Keyring, SigningSecret};
//!
//! let new = SigningSecret::from_whsec("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")?;
//! let old = SigningSecret::from_utf8("an older secret, read as its text")?;
//! let during_rotation = Keyring::new([new, old])?; // a message signed with either is accepted
//! assert_eq!(during_rotation.len(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;

use base64::{
    Engine,
    prelude::{BASE64_STANDARD, BASE64_STANDARD_NO_PAD},
};
use zeroize::Zeroizing;

use crate::ports::Entropy;

const WHSEC: &str = "whsec_";
const MIN_BYTES: usize = 24;
const MAX_BYTES: usize = 64;
const GENERATED_BYTES: usize = 32;

/// Secret of 24 to 64 bytes that sender and receiver share, for the HMAC schemes.
///
/// # Security
///
/// `Debug` does not print the secret, `==` is not implemented, and the bytes are wiped from memory
/// on drop.
#[derive(Clone)]
pub struct SigningSecret(Zeroizing<Vec<u8>>);

impl SigningSecret {
    /// Parses the form of Standard Webhooks: `whsec_` and the padded base64 of the bytes.
    ///
    /// # Errors
    ///
    /// [`InvalidSecret`] if the prefix is missing, the rest is not canonical base64, or the secret
    /// does not have 24 to 64 bytes.
    pub fn from_whsec(text: &str) -> Result<Self, InvalidSecret> {
        Self::checked(whsec(text)?)
    }

    /// Uses the bytes of the text itself, including a prefix such as `whsec_`, as Stripe and many
    /// custom receivers do.
    ///
    /// # Errors
    ///
    /// [`InvalidSecret`] if the text does not have 24 to 64 bytes, or begins or ends with white
    /// space. A final newline usually comes from reading the secret from a file.
    pub fn from_utf8(text: &str) -> Result<Self, InvalidSecret> {
        if text.trim() != text {
            return Err(InvalidSecret("a secret begins or ends with white space"));
        }
        Self::checked(Zeroizing::new(text.as_bytes().to_vec()))
    }

    /// Uses the bytes unchanged.
    ///
    /// # Errors
    ///
    /// [`InvalidSecret`] if there are not 24 to 64 bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, InvalidSecret> {
        Self::checked(Zeroizing::new(bytes.to_vec()))
    }

    /// Uses a secret of any length except zero, for an existing secret that cannot be replaced.
    ///
    /// # Security
    ///
    /// An attacker can guess a short secret by brute force.
    ///
    /// # Errors
    ///
    /// [`InvalidSecret`] if `bytes` is empty.
    pub fn danger_from_bytes_of_any_length(bytes: &[u8]) -> Result<Self, InvalidSecret> {
        if bytes.is_empty() {
            Err(InvalidSecret("the secret is empty"))
        } else {
            Ok(Self(Zeroizing::new(bytes.to_vec())))
        }
    }

    /// Generates a secret of 32 bytes.
    #[must_use]
    pub fn generate(entropy: &dyn Entropy) -> Self {
        let mut bytes = Zeroizing::new(vec![0; GENERATED_BYTES]);
        entropy.fill(&mut bytes);
        Self(bytes)
    }

    /// Parses the output of [`expose_whsec`](Self::expose_whsec), of any length.
    pub(crate) fn from_exposed(text: &str) -> Result<Self, InvalidSecret> {
        Self::danger_from_bytes_of_any_length(&whsec(text)?)
    }

    /// The secret in the form that [`from_whsec`](Self::from_whsec) parses, to store it or to show
    /// it once.
    ///
    /// # Security
    ///
    /// The returned text is not wiped from memory. Encrypt it before it is stored, and keep it out
    /// of logs.
    #[must_use]
    pub fn expose_whsec(&self) -> String {
        format!("{WHSEC}{}", BASE64_STANDARD.encode(self.expose_bytes()))
    }

    /// Key bytes of the MAC.
    #[must_use]
    pub fn expose_bytes(&self) -> &[u8] {
        &self.0
    }

    fn checked(bytes: Zeroizing<Vec<u8>>) -> Result<Self, InvalidSecret> {
        if (MIN_BYTES..=MAX_BYTES).contains(&bytes.len()) {
            Ok(Self(bytes))
        } else {
            Err(InvalidSecret("a signing secret has 24 to 64 bytes"))
        }
    }
}

impl fmt::Debug for SigningSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningSecret(..)")
    }
}

/// Error: a secret was rejected. The message names the reason and never contains the secret.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidSecret(pub(crate) &'static str);

impl InvalidSecret {
    /// Returns the error for `text`, which does not begin with `prefix`.
    pub(crate) fn shape(text: &str, prefix: &str) -> Self {
        if text.trim_start().starts_with(prefix) {
            Self("a secret begins or ends with white space")
        } else {
            Self("the secret does not begin with the prefix of its format")
        }
    }
}

/// Decodes `whsec_` and base64.
fn whsec(text: &str) -> Result<Zeroizing<Vec<u8>>, InvalidSecret> {
    let encoded = text.strip_prefix(WHSEC);
    decode(encoded.ok_or_else(|| InvalidSecret::shape(text, WHSEC))?)
}

/// Decodes the base64 after the prefix of a key.
pub(crate) fn decode(encoded: &str) -> Result<Zeroizing<Vec<u8>>, InvalidSecret> {
    if encoded.trim_end() != encoded {
        return Err(InvalidSecret("a secret begins or ends with white space"));
    }
    let bytes = BASE64_STANDARD
        .decode(encoded)
        .map_err(|_| InvalidSecret("the secret is not padded base64"))?;
    Ok(Zeroizing::new(bytes))
}

/// Decodes base64; if `is_lenient`, the padding may be missing.
pub(crate) fn base64_of(text: &str, is_lenient: bool) -> Result<Zeroizing<Vec<u8>>, InvalidSecret> {
    if !is_lenient {
        return decode(text);
    }
    let bytes = BASE64_STANDARD_NO_PAD.decode(text.trim_end_matches('='));
    let bytes = bytes.map_err(|_| InvalidSecret("the secret is not base64"))?;
    Ok(Zeroizing::new(bytes))
}

/// Decodes base64 after `whsec_`, which may be missing.
pub(crate) fn whsec_or_base64(text: &str, is_lenient: bool) -> Result<Zeroizing<Vec<u8>>, InvalidSecret> {
    base64_of(text.strip_prefix(WHSEC).unwrap_or(text), is_lenient)
}

/// Decodes hexadecimal in either case.
pub(crate) fn hex_of(text: &str) -> Result<Zeroizing<Vec<u8>>, InvalidSecret> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let bytes = pairs.iter().map(|pair| {
        // `from_str_radix` accepts a sign
        let is_hex = pair.iter().all(u8::is_ascii_hexdigit);
        let digits = str::from_utf8(pair).ok().filter(|_| is_hex)?;
        u8::from_str_radix(digits, 16).ok()
    });
    let bytes: Option<Vec<u8>> = bytes.collect();
    let bytes = bytes.filter(|_| rest.is_empty());
    bytes
        .map(Zeroizing::new)
        .ok_or(InvalidSecret("the secret is not hexadecimal"))
}

/// Ring of one to eight keys of one kind: the current key and the keys that it replaces. A verifier
/// accepts all of them.
#[derive(Clone, Debug)]
pub struct Keyring<K = SigningSecret>(Vec<K>);

impl<K> Keyring<K> {
    /// Maximum number of keys of a ring: 8. A verifier tries every key on every message.
    pub const CAPACITY: usize = 8;

    /// Creates a ring of `keys`.
    ///
    /// # Errors
    ///
    /// [`InvalidKeyring`] if there are no keys, or more than eight.
    pub fn new(keys: impl IntoIterator<Item = K>) -> Result<Self, InvalidKeyring> {
        let keys: Vec<K> = keys.into_iter().take(Self::CAPACITY + 1).collect();
        if (1..=Self::CAPACITY).contains(&keys.len()) {
            Ok(Self(keys))
        } else {
            Err(InvalidKeyring(()))
        }
    }

    /// The keys, in the order in which they were given.
    pub fn iter(&self) -> impl Iterator<Item = &K> {
        self.0.iter()
    }

    /// A ring without keys, for a receiver that waits for its key.
    pub(crate) fn empty() -> Self {
        Self(Vec::new())
    }

    /// A ring with `f` applied to each key.
    pub(crate) fn map<T>(&self, f: impl FnMut(&K) -> T) -> Keyring<T> {
        Keyring(self.0.iter().map(f).collect())
    }

    /// A ring with `f` applied to each key.
    pub(crate) fn try_map<T, E>(&self, f: impl FnMut(&K) -> Result<T, E>) -> Result<Keyring<T>, E> {
        self.0.iter().map(f).collect::<Result<_, _>>().map(Keyring)
    }

    /// Number of keys, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "a ring is never empty")]
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

impl<K> From<K> for Keyring<K> {
    fn from(key: K) -> Self {
        Self(vec![key])
    }
}

/// Error: a ring has no keys, or more than eight.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("a key ring holds one to eight keys")]
pub struct InvalidKeyring(pub(crate) ());

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::entropy_fn;

    const WHSEC_B: &str = "whsec_Tzuc4RkLS09XuInUQYOD961sTKHBtWuXC/jM6hCEqG8=";

    /// W3: each constructor decodes one encoding, so one text gives a different key with each.
    #[test]
    fn one_text_gives_a_different_key_by_each_constructor() {
        let decoded = SigningSecret::from_whsec(WHSEC_B).unwrap();
        let as_text = SigningSecret::from_utf8(WHSEC_B).unwrap();
        assert_eq!(decoded.expose_bytes().len(), 32);
        assert_eq!(as_text.expose_bytes(), WHSEC_B.as_bytes());
        assert_eq!(decoded.expose_whsec(), WHSEC_B);
    }

    /// W3: secrets have 24 to 64 bytes; white space around a secret is refused with its own reason.
    #[test]
    fn a_secret_of_another_length_or_form_is_refused() {
        for length in 0..100 {
            assert_eq!(
                SigningSecret::from_bytes(&vec![7; length]).is_ok(),
                (24..=64).contains(&length),
                "{length}"
            );
        }
        assert!(SigningSecret::danger_from_bytes_of_any_length(&[7]).is_ok());
        assert!(SigningSecret::danger_from_bytes_of_any_length(&[]).is_err());
        for text in [
            "",
            "whsec_",
            "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "whsk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "whsec_!",
        ] {
            assert!(SigningSecret::from_whsec(text).is_err(), "{text}");
        }
        for text in [
            format!("{WHSEC_B}\n"),
            format!(" {WHSEC_B}"),
            format!("{WHSEC_B} "),
        ] {
            assert!(
                SigningSecret::from_whsec(&text)
                    .unwrap_err()
                    .to_string()
                    .contains("white space")
            );
            assert!(
                SigningSecret::from_utf8(&text)
                    .unwrap_err()
                    .to_string()
                    .contains("white space")
            );
        }
    }

    /// W3: `Debug` does not print a secret.
    #[test]
    fn a_secret_is_not_printed() {
        assert_eq!(
            format!("{:?}", SigningSecret::from_whsec(WHSEC_B).unwrap()),
            "SigningSecret(..)"
        );
    }

    #[test]
    fn a_generated_secret_takes_its_bytes_from_the_entropy() {
        let secret = SigningSecret::generate(&entropy_fn(|bytes| bytes.fill(9)));
        assert_eq!(secret.expose_bytes(), [9; 32]);
    }

    /// W6: a key ring holds one to eight keys.
    #[test]
    fn a_ring_holds_one_to_eight_keys() {
        for count in 0..20_usize {
            assert_eq!(
                Keyring::new(0..count).is_ok(),
                (1..=8).contains(&count),
                "{count}"
            );
        }
    }
}
