//! JWK sets, [RFC 7517 §5](https://www.rfc-editor.org/rfc/rfc7517#section-5).

use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::algorithm::Algorithm;
use super::jwk::Jwk;
use super::jwt::{JwtError, TokenType};
use crate::json;

/// Maximum number of keys in a set.
const MAX_KEYS: usize = 100;

/// Maximum number of keys without `kid` that are tried for one token.
const MAX_NAMELESS: usize = 3;

/// Error for a text that is not a JWK set, for two usable keys with the same `kid`, and for more
/// than 100 keys.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a usable key set: malformed, a repeated kid, or more than 100 keys")]
pub struct InvalidKeySet;

/// Public keys of one issuer or client (JWK set). Cheap to clone.
///
/// A set has several keys while their owner rotates keys.
///
/// ```
/// use oauth_core::jose::{KeySet, SigningKey};
/// use oauth_core::ports::OsEntropy;
///
/// let retired = SigningKey::generate_es256(&OsEntropy)?;
/// let active = SigningKey::generate_es256(&OsEntropy)?;
/// let keys = KeySet::new([active.public_key().clone(), retired.public_key().clone()])?;
/// let published = keys.to_json();
/// assert_eq!(KeySet::parse(published.as_bytes())?.iter().count(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default, Eq, PartialEq)]
pub struct KeySet(Arc<[Jwk]>);

impl KeySet {
    /// Creates a set of `keys`.
    ///
    /// # Errors
    ///
    /// [`InvalidKeySet`] when two keys have the same `kid`, or there are more than 100.
    pub fn new(keys: impl IntoIterator<Item = Jwk>) -> Result<Self, InvalidKeySet> {
        let keys: Vec<Jwk> = keys.into_iter().take(MAX_KEYS + 1).collect();
        let repeated = keys.iter().enumerate().any(|(index, key)| {
            key.key_id().is_some()
                && keys
                    .iter()
                    .take(index)
                    .any(|earlier| earlier.key_id() == key.key_id())
        });
        if repeated || keys.len() > MAX_KEYS {
            Err(InvalidKeySet)
        } else {
            Ok(Self(keys.into()))
        }
    }

    /// Creates a set of the first 100 keys. Of several keys with the same `kid` it keeps the first.
    pub(super) fn first_of_each_name(keys: impl IntoIterator<Item = Jwk>) -> Self {
        let mut kept: Vec<Jwk> = Vec::new();
        for key in keys.into_iter().take(MAX_KEYS) {
            let is_named_again = |earlier: &Jwk| key.key_id().is_some() && earlier.key_id() == key.key_id();
            if !kept.iter().any(is_named_again) {
                kept.push(key);
            }
        }
        Self(kept.into())
    }

    /// Parses a JWK set in JSON.
    ///
    /// Keys that cannot verify signatures (symmetric keys, other curves, encryption keys, malformed
    /// keys) are skipped, as [RFC 7517 §5](https://www.rfc-editor.org/rfc/rfc7517#section-5)
    /// recommends.
    ///
    /// # Errors
    ///
    /// [`InvalidKeySet`] when the document is not a JWK set, two usable keys have the same `kid`,
    /// or there are more than 100 keys.
    pub fn parse(document: &[u8]) -> Result<Self, InvalidKeySet> {
        #[derive(Deserialize)]
        struct Document {
            keys: Vec<Value>,
        }
        let document: Document = json::object(document).map_err(|_| InvalidKeySet)?;
        if document.keys.len() > MAX_KEYS {
            return Err(InvalidKeySet);
        }
        Self::new(document.keys.iter().filter_map(|key| Jwk::from_value(key).ok()))
    }

    /// Returns the JWK set as JSON, for publication.
    #[must_use]
    pub fn to_json(&self) -> String {
        let keys: Vec<String> = self.iter().map(Jwk::to_json).collect();
        format!(r#"{{"keys":[{}]}}"#, keys.join(","))
    }

    /// Returns `true` if one of the two sets is a clone of the other. Equal keys are not
    /// sufficient.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Iterates over the keys.
    pub fn iter(&self) -> impl Iterator<Item = &Jwk> {
        self.0.iter()
    }

    /// Returns the key for which this crate writes exactly this encoded header, in tokens of the
    /// type `typ`.
    pub(super) fn by_header(&self, header: &str, typ: TokenType) -> Option<&Jwk> {
        self.iter().find(|key| key.own_header(typ) == Some(header))
    }

    /// Returns the keys of this algorithm without `kid`, to try each of them. `None` if there are
    /// none or more than three.
    pub(super) fn nameless(&self, algorithm: Algorithm) -> Option<impl Iterator<Item = &Jwk>> {
        let nameless = || {
            let of_algorithm = self.iter().filter(move |key| key.can_verify(algorithm));
            of_algorithm.filter(|key| key.key_id().is_none())
        };
        (1..=MAX_NAMELESS).contains(&nameless().count()).then(nameless)
    }

    /// Selects the key that may have signed a token: the key with the `kid` of the token, or the
    /// only key of its algorithm if the token has no `kid`.
    pub(super) fn select(&self, key_id: Option<&str>, algorithm: Algorithm) -> Result<&Jwk, JwtError> {
        if key_id.is_some() {
            let key = self
                .iter()
                .find(|key| key.key_id() == key_id)
                .ok_or(JwtError::UnknownKey)?;
            return if key.can_verify(algorithm) {
                Ok(key)
            } else {
                Err(JwtError::UnsupportedAlgorithm)
            };
        }
        let mut candidates = self.iter().filter(|key| key.can_verify(algorithm));
        match (candidates.next(), candidates.next()) {
            (Some(key), None) => Ok(key),
            (Some(_), Some(_)) => Err(JwtError::AmbiguousKey),
            (None, _) => Err(JwtError::UnknownKey),
        }
    }
}

impl fmt::Debug for KeySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str =
        r#"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","kid":"a"}"#;
    const B: &str = r#"{"kty":"EC","crv":"P-256","x":"l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs","y":"9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA","kid":"b"}"#;

    fn parse(keys: &[&str]) -> Result<KeySet, InvalidKeySet> {
        KeySet::parse(format!(r#"{{"keys":[{}]}}"#, keys.join(",")).as_bytes())
    }

    /// O15, 66, 67: symmetric keys in a published set are skipped.
    #[test]
    fn keys_that_cannot_verify_are_skipped() {
        let encryption = A.replace("\"kid\":\"a\"", "\"kid\":\"e\",\"use\":\"enc\"");
        let private = A.replace("\"kid\":\"a\"", "\"kid\":\"p\",\"d\":\"AA\"");
        let keys = parse(&[
            r#"{"kty":"oct","k":"AAAA","kid":"a"}"#,
            &encryption,
            &private,
            "{}",
            "1",
            A,
        ])
        .unwrap();
        assert_eq!(keys.iter().filter_map(Jwk::key_id).collect::<Vec<_>>(), ["a"]);
    }

    /// O15, 77: two keys with the same `kid` are refused (Wycheproof JWK 4).
    #[test]
    fn two_keys_of_one_name_are_refused() {
        assert!(parse(&[A, &B.replace("\"b\"", "\"a\"")]).is_err());
        assert!(parse(&[A, A]).is_err());
        assert!(parse(&[A, B]).is_ok());
    }

    #[test]
    fn rejects_malformed_key_sets() {
        for text in ["", "[]", "{}", r#"{"keys":{}}"#, r#"{"keys":[],"keys":[]}"#, A] {
            assert!(KeySet::parse(text.as_bytes()).is_err(), "{text}");
        }
        assert!(parse(&["1"; 101]).is_err());
        let nameless = Jwk::parse(A.replace(",\"kid\":\"a\"", "").as_bytes()).unwrap();
        assert!(KeySet::new(vec![nameless.clone(); 100]).is_ok());
        assert!(KeySet::new(vec![nameless; 101]).is_err());
        assert_eq!(parse(&[]).unwrap().to_json(), r#"{"keys":[]}"#);
    }

    /// O15, 77: a `kid` selects its key. Without a `kid`, exactly one key must have the algorithm.
    #[test]
    fn key_is_selected_by_kid_or_if_only_one() {
        let keys = parse(&[A, B]).unwrap();
        let check = |kid, algorithm, expected: Result<&str, JwtError>| {
            let selected = keys.select(kid, algorithm).map(|key| key.key_id().unwrap());
            assert_eq!(selected, expected, "{kid:?}");
        };
        check(Some("a"), Algorithm::EdDsa, Ok("a"));
        check(Some("a"), Algorithm::Es256, Err(JwtError::UnsupportedAlgorithm));
        for kid in ["", "A", "c", "../a", "a\0", "' OR 1=1 --"] {
            check(Some(kid), Algorithm::EdDsa, Err(JwtError::UnknownKey));
        }
        check(None, Algorithm::Es256, Ok("b"));
        check(None, Algorithm::Rs256, Err(JwtError::UnknownKey));
        let twins = parse(&[A, &A.replace("\"a\"", "\"c\"")]).unwrap();
        assert_eq!(twins.select(None, Algorithm::EdDsa), Err(JwtError::AmbiguousKey));
    }
}
