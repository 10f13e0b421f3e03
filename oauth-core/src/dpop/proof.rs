use std::borrow::Cow;
use std::fmt;
use std::time::SystemTime;

use http::{HeaderValue, Method};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::Htu;
use crate::jose::{NumericDate, SigningError, SigningKey, sign_with_key};
use crate::ports::Entropy;
use crate::random::random_text;
use crate::secret::TokenHash;

/// Claims on the wire, [RFC 9449 §4.2](https://www.rfc-editor.org/rfc/rfc9449#section-4.2).
#[derive(Deserialize, Serialize)]
pub(super) struct Wire<'a> {
    #[serde(borrow)]
    pub(super) jti: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) htm: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) htu: Cow<'a, str>,
    pub(super) iat: NumericDate,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) exp: Option<NumericDate>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) nbf: Option<NumericDate>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(super) ath: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(super) nonce: Option<Cow<'a, str>>,
}

/// Claims of a DPoP proof for one request.
///
/// Each retry of a request needs a new proof, because servers accept each proof once.
#[expect(
    clippy::exhaustive_structs,
    reason = "the issuer of a token has to decide on every claim"
)]
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Proof {
    /// `jti`: identifier of the proof, unique among the proofs of a key.
    pub jti: String,
    /// `htm`: method of the request.
    pub method: Method,
    /// `htu`: URL of the request without query and fragment.
    pub uri: Htu,
    /// `iat`: creation of the proof, truncated to whole seconds.
    pub issued_at: SystemTime,
    /// `ath`: hash of the access token in the request.
    pub access_token: Option<TokenHash>,
    /// `nonce`: latest nonce that the server sent.
    pub nonce: Option<String>,
}

impl Proof {
    /// Creates a proof with a random `jti` for a request without an access token.
    #[must_use]
    pub fn new(method: Method, uri: Htu, entropy: &dyn Entropy, now: SystemTime) -> Self {
        Self {
            jti: random_text::<16>("", entropy).to_string(),
            method,
            uri,
            issued_at: now,
            access_token: None,
            nonce: None,
        }
    }

    /// Sets the access token that the request contains.
    #[must_use]
    pub fn with_access_token(mut self, token: &str) -> Self {
        self.access_token = Some(TokenHash::new(token));
        self
    }

    /// Sets the nonce from the server's response header `DPoP-Nonce`.
    #[must_use]
    pub fn with_nonce(mut self, nonce: impl Into<String>) -> Self {
        self.nonce = Some(nonce.into());
        self
    }

    /// Signs the proof. The header contains the public key.
    ///
    /// # Errors
    ///
    /// [`SigningError`] when the signer failed or the time is before 1970.
    pub fn sign(&self, key: &SigningKey) -> Result<SignedProof, SigningError> {
        let wire = Wire {
            jti: self.jti.as_str().into(),
            htm: self.method.as_str().into(),
            htu: self.uri.as_str().into(),
            iat: self.issued_at.into(),
            exp: None,
            nbf: None,
            ath: self.access_token.map(|hash| hash.to_string().into()),
            nonce: self.nonce.as_deref().map(Into::into),
        };
        sign_with_key(key, &wire).map(|token| SignedProof(Zeroizing::new(token)))
    }
}

/// A signed [`Proof`]: a JWT for one request.
///
/// Its `Debug` output is redacted, and its memory is overwritten with zeros on drop.
#[derive(Clone)]
pub struct SignedProof(Zeroizing<String>);

impl SignedProof {
    /// Returns the JWT.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns the value of the header [`DPoP`](super::HEADER), marked as sensitive.
    #[must_use]
    pub fn to_header(&self) -> HeaderValue {
        // base64url and dots are valid in a header
        let value = HeaderValue::from_str(&self.0);
        let mut value = value.unwrap_or(HeaderValue::from_static(""));
        value.set_sensitive(true);
        value
    }
}

impl fmt::Debug for SignedProof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SignedProof([redacted])")
    }
}
