//! Public keys, [RFC 7517](https://www.rfc-editor.org/rfc/rfc7517).

mod roca;

use std::borrow::Cow;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::algorithm::Algorithm;
use super::backend;
use super::compact::decode;
use super::crypto::{SignatureMismatch, Verifier};
use super::jwt::{self, TokenType};
use crate::json::{self, present};
use crate::vocabulary::Thumbprint;

/// Allowed sizes of an RSA modulus, in bits.
pub(super) const RSA_BITS: RangeInclusive<usize> = 2048..=8192;

/// Error for a key that is malformed, not supported, or not intended for verification.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a usable key: unsupported type, private part, or another purpose")]
pub struct InvalidKey;

/// A public key that verifies signatures of one algorithm. Exception: an RSA key in a document
/// without `alg` verifies all RSA algorithms, because several issuers publish such keys.
///
/// Cheap to clone. Verification does not parse the key again.
///
/// ```
/// use oauth_core::jose::Jwk;
///
/// // RFC 8037 appendix A.2 and A.3
/// let key = Jwk::parse(
///     br#"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#,
/// )?;
/// assert_eq!(key.thumbprint().to_string(), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
/// # Ok::<(), oauth_core::jose::InvalidKey>(())
/// ```
#[derive(Clone)]
pub struct Jwk {
    key_id: Option<Arc<str>>,
    /// Encoded header that this crate writes in access tokens signed by this key.
    /// [`KeySet`](super::KeySet) recognises it without parsing.
    access_token_header: Option<Arc<str>>,
    key: Arc<PublicKey>,
    /// The only accepted algorithm; `None` accepts all algorithms of the key.
    algorithm: Option<Algorithm>,
    verifier: Arc<dyn Verifier>,
}

/// Numbers of a key whose format was checked. The back end checks that a point is on its curve. If
/// it is not, no signature is valid under the key.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum PublicKey {
    P256 { x: [u8; 32], y: [u8; 32] },
    P384 { x: [u8; 48], y: [u8; 48] },
    P521 { x: [u8; 66], y: [u8; 66] },
    Ed25519 { x: [u8; 32] },
    Rsa { n: Vec<u8>, e: Vec<u8> },
}

/// Members of a JWK. Private members are read only to refuse the key.
#[derive(Deserialize)]
struct Document<'a> {
    #[serde(borrow)]
    kty: Cow<'a, str>,
    #[serde(borrow)]
    crv: Option<Cow<'a, str>>,
    #[serde(borrow)]
    x: Option<Cow<'a, str>>,
    #[serde(borrow)]
    y: Option<Cow<'a, str>>,
    #[serde(borrow)]
    n: Option<Cow<'a, str>>,
    #[serde(borrow)]
    e: Option<Cow<'a, str>>,
    #[serde(borrow)]
    kid: Option<Cow<'a, str>>,
    #[serde(borrow)]
    alg: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "use")]
    usage: Option<Cow<'a, str>>,
    key_ops: Option<Vec<String>>,
    #[serde(default, deserialize_with = "present")]
    d: bool,
    #[serde(default, deserialize_with = "present")]
    k: bool,
    #[serde(default, deserialize_with = "present")]
    p: bool,
    #[serde(default, deserialize_with = "present")]
    q: bool,
    #[serde(default, deserialize_with = "present")]
    dp: bool,
    #[serde(default, deserialize_with = "present")]
    dq: bool,
    #[serde(default, deserialize_with = "present")]
    qi: bool,
    #[serde(default, deserialize_with = "present")]
    oth: bool,
    #[serde(default, deserialize_with = "present", rename = "priv")]
    private: bool,
}

impl Document<'_> {
    fn has_private_part(&self) -> bool {
        [
            self.d,
            self.k,
            self.p,
            self.q,
            self.dp,
            self.dq,
            self.qi,
            self.oth,
            self.private,
        ]
        .contains(&true)
    }

    /// Returns `true` if `use` and `key_ops` allow verification.
    fn may_verify(&self) -> bool {
        self.usage.as_deref().is_none_or(|usage| usage == "sig")
            && self
                .key_ops
                .as_ref()
                .is_none_or(|operations| operations.iter().any(|name| name == "verify"))
    }

    /// Returns the algorithm of `alg`, which must be an algorithm of `key` ([RFC 8725
    /// §3.1](https://www.rfc-editor.org/rfc/rfc8725#section-3.1)).
    fn algorithm(&self, key: &PublicKey) -> Result<Option<Algorithm>, InvalidKey> {
        let Some(name) = self.alg.as_deref() else {
            return Ok(None);
        };
        let algorithm = Algorithm::of(name).filter(|algorithm| key.algorithms().contains(algorithm));
        algorithm.map(Some).ok_or(InvalidKey)
    }

    fn public_key(&self) -> Result<PublicKey, InvalidKey> {
        let number =
            |text: &Option<Cow<'_, str>>| decode(text.as_deref().ok_or(InvalidKey)?).map_err(|_| InvalidKey);
        match (&*self.kty, self.crv.as_deref()) {
            ("EC", Some("P-256")) => PublicKey::p256(&number(&self.x)?, &number(&self.y)?),
            ("EC", Some("P-384")) => PublicKey::p384(&number(&self.x)?, &number(&self.y)?),
            ("EC", Some("P-521")) => PublicKey::p521(&number(&self.x)?, &number(&self.y)?),
            ("OKP", Some("Ed25519")) => PublicKey::ed25519(&number(&self.x)?),
            ("RSA", None) => PublicKey::rsa(number(&self.n)?, number(&self.e)?),
            _ => Err(InvalidKey),
        }
    }
}

impl Jwk {
    /// Parses a public key in JSON.
    ///
    /// # Errors
    ///
    /// [`InvalidKey`] when the document
    ///
    /// - is not an EC key on P-256, P-384 or P-521, an Ed25519 key, or an RSA key of 2048 to 8192
    ///   bits with a public exponent of 17 to 33 bits,
    /// - is an RSA key of the weak generator ROCA (CVE-2017-15361),
    /// - has a private member, such as `d`,
    /// - has a coordinate of the wrong length,
    /// - has a `use`, `key_ops` or `alg` that does not allow verification with the algorithm of the
    ///   key,
    /// - repeats a member.
    pub fn parse(document: &[u8]) -> Result<Self, InvalidKey> {
        Self::from_document(&json::object(document).map_err(|_| InvalidKey)?)
    }

    /// Parses one key of a JWK set. The caller has checked the whole set for repeated members.
    pub(super) fn from_value(document: &Value) -> Result<Self, InvalidKey> {
        // a derived `Deserialize` would also accept an array
        let document = Some(document)
            .filter(|value| value.is_object())
            .ok_or(InvalidKey)?;
        Self::from_document(&Document::deserialize(document).map_err(|_| InvalidKey)?)
    }

    fn from_document(document: &Document<'_>) -> Result<Self, InvalidKey> {
        let key = document.public_key()?;
        if document.has_private_part() || !document.may_verify() {
            return Err(InvalidKey);
        }
        let algorithm = document.algorithm(&key)?;
        Ok(Self::new(document.kid.as_deref(), key, algorithm))
    }

    /// Creates a key that verifies signatures of `algorithm`, or of all its algorithms for `None`.
    pub(super) fn new(key_id: Option<&str>, key: PublicKey, algorithm: Option<Algorithm>) -> Self {
        let plain = |name: &&str| !name.contains(['"', '\\']) && !name.contains(char::is_control);
        let default = algorithm.unwrap_or(key.default_algorithm());
        let header = |name| jwt::header(TokenType::AccessToken, default, name).into();
        Self {
            key_id: key_id.map(Into::into),
            access_token_header: key_id.filter(plain).map(header),
            algorithm,
            verifier: backend::verifier(&key),
            key: Arc::new(key),
        }
    }

    /// Returns the `kid`, if the key has one.
    #[must_use]
    pub fn key_id(&self) -> Option<&str> {
        self.key_id.as_deref()
    }

    /// Returns the encoded header that this crate writes in tokens of the type `typ` signed by this
    /// key. `None` if the header is not stored.
    pub(super) fn own_header(&self, typ: TokenType) -> Option<&str> {
        match typ {
            TokenType::AccessToken => self.access_token_header.as_deref(),
            TokenType::ClientAssertion
            | TokenType::DpopProof
            | TokenType::IdToken
            | TokenType::LogoutToken => None,
        }
    }

    /// Returns the algorithm of the key. For an RSA key in a document without `alg` it is RS256;
    /// such a key [verifies](Self::can_verify) the other RSA algorithms too.
    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm.unwrap_or(self.key.default_algorithm())
    }

    /// Returns `true` if the key verifies signatures of this algorithm.
    #[must_use]
    pub fn can_verify(&self, algorithm: Algorithm) -> bool {
        match self.algorithm {
            Some(only) => only == algorithm,
            None => self.key.algorithms().contains(&algorithm),
        }
    }

    /// Returns the key with `algorithm`, which it [can verify](Self::can_verify), as its only
    /// algorithm.
    pub(crate) fn only(&self, algorithm: Algorithm) -> Self {
        Self::new(self.key_id(), self.public_key().clone(), Some(algorithm))
    }

    /// Returns the SHA-256 JWK thumbprint, [RFC 7638](https://www.rfc-editor.org/rfc/rfc7638).
    #[must_use]
    pub fn thumbprint(&self) -> Thumbprint {
        self.key.thumbprint()
    }

    /// Returns the key as JSON with only the members that the thumbprint hashes.
    pub(super) fn required_members(&self) -> String {
        self.key.required_members()
    }

    /// Returns the key as JSON, with `kid`, `alg` and `use`. An RSA key in a document without `alg`
    /// gets none.
    #[must_use]
    pub fn to_json(&self) -> String {
        #[derive(Serialize)]
        struct Published<'a> {
            #[serde(flatten)]
            key: Required,
            #[serde(skip_serializing_if = "Option::is_none")]
            kid: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            alg: Option<&'static str>,
            #[serde(rename = "use")]
            usage: &'static str,
        }
        let algorithm = self.algorithm.or(self.key.only_algorithm());
        let published = Published {
            key: self.key.required(),
            kid: self.key_id(),
            alg: algorithm.map(Algorithm::as_str),
            usage: "sig",
        };
        serde_json::to_string(&published).unwrap_or_default()
    }

    pub(super) fn public_key(&self) -> &PublicKey {
        &self.key
    }

    /// Verifies a signature by `algorithm`.
    pub(super) fn verify(
        &self,
        algorithm: Algorithm,
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), SignatureMismatch> {
        if !self.can_verify(algorithm) {
            return Err(SignatureMismatch);
        }
        #[cfg(feature = "_verifications")]
        crate::jose::verifications::record(algorithm);
        self.verifier.verify(algorithm, message, signature)
    }
}

impl Eq for Jwk {}

impl PartialEq for Jwk {
    fn eq(&self, other: &Self) -> bool {
        self.key_id == other.key_id
            && self.key == other.key
            && self.algorithm.or(self.key.only_algorithm()) == other.algorithm.or(other.key.only_algorithm())
    }
}

impl fmt::Debug for Jwk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Jwk")
            .field("key_id", &self.key_id)
            .field("algorithm", &self.algorithm())
            .finish()
    }
}

/// Members that the thumbprint hashes, in lexicographic order ([RFC 7638
/// §3.2](https://www.rfc-editor.org/rfc/rfc7638#section-3.2)).
#[derive(Serialize)]
#[serde(untagged)]
enum Required {
    Ec {
        crv: &'static str,
        kty: &'static str,
        x: String,
        y: String,
    },
    Okp {
        crv: &'static str,
        kty: &'static str,
        x: String,
    },
    Rsa {
        e: String,
        kty: &'static str,
        n: String,
    },
}

impl PublicKey {
    /// Creates a P-256 key. Each coordinate must have exactly 32 bytes; otherwise one point would
    /// have several thumbprints.
    pub(super) fn p256(x: &[u8], y: &[u8]) -> Result<Self, InvalidKey> {
        match (x.try_into(), y.try_into()) {
            (Ok(x), Ok(y)) => Ok(Self::P256 { x, y }),
            _ => Err(InvalidKey),
        }
    }

    /// Creates a P-384 key from coordinates of 48 bytes.
    pub(super) fn p384(x: &[u8], y: &[u8]) -> Result<Self, InvalidKey> {
        match (x.try_into(), y.try_into()) {
            (Ok(x), Ok(y)) => Ok(Self::P384 { x, y }),
            _ => Err(InvalidKey),
        }
    }

    /// Creates a P-521 key from coordinates of 66 bytes.
    pub(super) fn p521(x: &[u8], y: &[u8]) -> Result<Self, InvalidKey> {
        match (x.try_into(), y.try_into()) {
            (Ok(x), Ok(y)) => Ok(Self::P521 { x, y }),
            _ => Err(InvalidKey),
        }
    }

    pub(super) fn ed25519(x: &[u8]) -> Result<Self, InvalidKey> {
        x.try_into().map(|x| Self::Ed25519 { x }).map_err(|_| InvalidKey)
    }

    pub(super) fn rsa(n: Vec<u8>, e: Vec<u8>) -> Result<Self, InvalidKey> {
        // a leading zero would give one number two encodings and two thumbprints
        let bits = |number: &[u8]| match number.first() {
            Some(&first) if first > 0 => {
                number.len() * 8 - usize::try_from(first.leading_zeros()).unwrap_or_default()
            }
            _ => 0,
        };
        let modulus_is_odd = n.last().is_some_and(|byte| byte % 2 == 1);
        let exponent_is_odd = e.last().is_some_and(|byte| byte % 2 == 1);
        // 65537 has 17 bits; smaller exponents have been attacked
        let usable = RSA_BITS.contains(&bits(&n)) && (17..=33).contains(&bits(&e));
        if usable && modulus_is_odd && exponent_is_odd && !roca::is_fingerprint_of(&n) {
            Ok(Self::Rsa { n, e })
        } else {
            Err(InvalidKey)
        }
    }

    /// Returns the algorithms of the key, the most common first.
    pub(super) const fn algorithms(&self) -> &'static [Algorithm] {
        match self {
            Self::P256 { .. } => &[Algorithm::Es256],
            Self::P384 { .. } => &[Algorithm::Es384],
            Self::P521 { .. } => &[Algorithm::Es512],
            Self::Ed25519 { .. } => &[Algorithm::EdDsa],
            Self::Rsa { .. } => &Algorithm::RSA,
        }
    }

    pub(super) const fn default_algorithm(&self) -> Algorithm {
        match self {
            Self::P256 { .. } => Algorithm::Es256,
            Self::P384 { .. } => Algorithm::Es384,
            Self::P521 { .. } => Algorithm::Es512,
            Self::Ed25519 { .. } => Algorithm::EdDsa,
            Self::Rsa { .. } => Algorithm::Rs256,
        }
    }

    /// Returns the algorithm of a key that has only one.
    const fn only_algorithm(&self) -> Option<Algorithm> {
        match self {
            Self::Rsa { .. } => None,
            _ => Some(self.default_algorithm()),
        }
    }

    pub(super) fn thumbprint(&self) -> Thumbprint {
        Thumbprint::from_bytes(Sha256::digest(self.required_members()).into())
    }

    fn required_members(&self) -> String {
        serde_json::to_string(&self.required()).unwrap_or_default()
    }

    fn required(&self) -> Required {
        let text = |number: &[u8]| URL_SAFE_NO_PAD.encode(number);
        let point = |crv, x: &[u8], y: &[u8]| Required::Ec {
            crv,
            kty: "EC",
            x: text(x),
            y: text(y),
        };
        match self {
            Self::P256 { x, y } => point("P-256", x, y),
            Self::P384 { x, y } => point("P-384", x, y),
            Self::P521 { x, y } => point("P-521", x, y),
            Self::Ed25519 { x } => Required::Okp {
                crv: "Ed25519",
                kty: "OKP",
                x: text(x),
            },
            Self::Rsa { n, e } => Required::Rsa {
                e: text(e),
                kty: "RSA",
                n: text(n),
            },
        }
    }
}

#[cfg(test)]
mod tests;
