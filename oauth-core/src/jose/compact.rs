//! Compact serialization and header, [RFC 7515
//! §7.1](https://www.rfc-editor.org/rfc/rfc7515#section-7.1).

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde_json::Value;

use super::algorithm::Algorithm;
use super::jwk::Jwk;
use super::jwt::{JwtError, TokenType};
use super::key_set::KeySet;
use crate::json::{self, present};

/// Maximum length of a token in bytes.
const MAX_LENGTH: usize = 16 * 1024;

/// A decoded token whose header, claims and signature are not verified yet.
pub(crate) struct Compact<'a> {
    signed: &'a str,
    header: &'a str,
    payload: Vec<u8>,
    signature: Vec<u8>,
}

/// Key that may have signed a token, and the algorithm of the token.
#[derive(Clone, Copy)]
pub(super) struct SelectedKey<'k> {
    pub(super) key: &'k Jwk,
    pub(super) algorithm: Algorithm,
}

/// Header of a token. Members that contain or locate a key (`jwk`, `jku`, `x5u`, `x5c`) are not
/// read.
#[derive(Deserialize)]
struct Header<'a> {
    #[serde(borrow)]
    alg: Cow<'a, str>,
    #[serde(borrow, default)]
    typ: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    kid: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "present")]
    crit: bool,
    #[serde(default, deserialize_with = "present")]
    b64: bool,
    #[serde(default, deserialize_with = "present")]
    zip: bool,
}

/// `jwk` in the header of a DPoP proof, the only type of token that may contain its key.
#[derive(Deserialize)]
struct EmbeddedKey {
    jwk: Value,
}

impl<'a> Compact<'a> {
    /// Splits and decodes a token.
    pub(crate) fn parse(token: &'a str) -> Result<Self, JwtError> {
        if token.len() > MAX_LENGTH {
            return Err(JwtError::Malformed);
        }
        let (signed, signature) = token.rsplit_once('.').ok_or(JwtError::Malformed)?;
        let (header, payload) = signed.split_once('.').ok_or(JwtError::Malformed)?;
        // with a fourth segment the payload contains a dot, which `decode` refuses
        Ok(Self {
            signed,
            header,
            payload: decode(payload)?,
            signature: decode(signature)?,
        })
    }

    /// Checks the header and selects the key. An encoded header that this crate itself writes for
    /// one of `keys` is recognised by its bytes and needs no further check. If the token has no
    /// `kid` and several keys have its algorithm, the keys without `kid` are tried, and the key
    /// that verifies the signature is selected.
    pub(super) fn select_key<'k>(
        &self,
        keys: &'k KeySet,
        expected: TokenType,
    ) -> Result<SelectedKey<'k>, JwtError> {
        if let Some(key) = keys.by_header(self.header, expected) {
            return Ok(SelectedKey {
                key,
                algorithm: key.algorithm(),
            });
        }
        self.select_key_of(keys, |typ| expected.accepts(typ))
    }

    /// Checks the header, whose `typ` must be accepted, and selects the key as
    /// [`select_key`](Self::select_key) does.
    pub(super) fn select_key_of<'k>(
        &self,
        keys: &'k KeySet,
        accepts: impl FnOnce(Option<&str>) -> bool,
    ) -> Result<SelectedKey<'k>, JwtError> {
        let (algorithm, key_id) = self.signed_as(accepts)?;
        let selected = |key| SelectedKey { key, algorithm };
        match keys.select(key_id.as_deref(), algorithm) {
            Err(JwtError::AmbiguousKey) => {
                let nameless = keys.nameless(algorithm).ok_or(JwtError::AmbiguousKey)?;
                let signer = nameless.map(selected).find(|key| self.verify(*key).is_ok());
                signer.ok_or(JwtError::SignatureMismatch)
            }
            key => key.map(selected),
        }
    }

    /// Checks the header of a token of the type `expected`. Returns its algorithm and `kid`.
    pub(super) fn signed_by(&self, expected: TokenType) -> Result<(Algorithm, Option<String>), JwtError> {
        self.signed_as(|typ| expected.accepts(typ))
    }

    fn signed_as(
        &self,
        accepts: impl FnOnce(Option<&str>) -> bool,
    ) -> Result<(Algorithm, Option<String>), JwtError> {
        let header = decode(self.header)?;
        let header: Header<'_> = json::object(&header).map_err(|_| JwtError::Malformed)?;
        if header.crit || header.b64 || header.zip {
            return Err(JwtError::UnsupportedHeader);
        }
        let algorithm = Algorithm::of(&header.alg).ok_or(JwtError::UnsupportedAlgorithm)?;
        if !accepts(header.typ.as_deref()) {
            return Err(JwtError::WrongType);
        }
        Ok((algorithm, header.kid.map(Cow::into_owned)))
    }

    /// Checks the header of a DPoP proof, [RFC 9449
    /// §4.3](https://www.rfc-editor.org/rfc/rfc9449#section-4.3). Returns its `jwk`, whose
    /// algorithm must be one of `accepted`.
    pub(crate) fn embedded_key(&self, accepted: &[Algorithm]) -> Result<Jwk, JwtError> {
        let (algorithm, _) = self.signed_by(TokenType::DpopProof)?;
        if !accepted.contains(&algorithm) {
            return Err(JwtError::UnsupportedAlgorithm);
        }
        let header = decode(self.header)?;
        let header: EmbeddedKey = json::object(&header).map_err(|_| JwtError::Malformed)?;
        let key = Jwk::from_value(&header.jwk).map_err(|_| JwtError::UnknownKey)?;
        if !key.can_verify(algorithm) {
            return Err(JwtError::UnknownKey);
        }
        Ok(key)
    }

    /// Parses the claims. A repeated member is an error. The signature is not verified yet.
    pub(crate) fn claims<'s, T: Deserialize<'s>>(&'s self) -> Result<T, JwtError> {
        json::object(&self.payload).map_err(|_| JwtError::Malformed)
    }

    /// Verifies the signature.
    pub(super) fn verify(&self, SelectedKey { key, algorithm }: SelectedKey<'_>) -> Result<(), JwtError> {
        key.verify(algorithm, self.signed.as_bytes(), &self.signature)
            .map_err(|_| JwtError::SignatureMismatch)
    }

    /// Verifies the signature of a token with this embedded key, whose algorithm was checked.
    pub(crate) fn verify_embedded(&self, key: &Jwk) -> Result<(), JwtError> {
        self.verify(SelectedKey {
            key,
            algorithm: key.algorithm(),
        })
    }
}

/// Decodes canonical base64url. Padding, line breaks and trailing bits that are not zero are
/// errors.
pub(super) fn decode(segment: &str) -> Result<Vec<u8>, JwtError> {
    URL_SAFE_NO_PAD.decode(segment).map_err(|_| JwtError::Malformed)
}
