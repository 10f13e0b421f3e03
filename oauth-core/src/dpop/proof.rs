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

/// The claims as they are on the wire, [RFC 9449 §4.2](https://www.rfc-editor.org/rfc/rfc9449#section-4.2).
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

/// What a client says of one request, to prove under its own signature that it has its key.
///
/// For one request and one attempt at it: whoever sends a request again makes another proof, because the server takes each once.
#[expect(
    clippy::exhaustive_structs,
    reason = "the issuer of a token has to decide on every claim"
)]
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Proof {
    /// `jti`: the name of the proof, never used twice.
    pub jti: String,
    /// `htm`: the method of the request.
    pub method: Method,
    /// `htu`: where the request goes.
    pub uri: Htu,
    /// `iat`, cut to whole seconds.
    pub issued_at: SystemTime,
    /// `ath`: the hash of the access token that the request presents.
    pub access_token: Option<TokenHash>,
    /// `nonce`: what the server handed out last.
    pub nonce: Option<String>,
}

impl Proof {
    /// A proof for a request that presents no access token, under a name that nobody can guess.
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

    /// For a request that presents this access token.
    #[must_use]
    pub fn with_access_token(mut self, token: &str) -> Self {
        self.access_token = Some(TokenHash::of(token));
        self
    }

    /// With the nonce that the server handed out in `DPoP-Nonce`.
    #[must_use]
    pub fn with_nonce(mut self, nonce: impl Into<String>) -> Self {
        self.nonce = Some(nonce.into());
        self
    }

    /// Signs the proof; the public half of the key goes along.
    ///
    /// # Errors
    ///
    /// The signer failed, or the time lies before 1970.
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

/// A signed [`Proof`] on its way to the server.
///
/// Redacted in `Debug`, wiped on drop: together with the token it is what a thief would need.
#[derive(Clone)]
pub struct SignedProof(Zeroizing<String>);

impl SignedProof {
    /// The proof itself.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The value of the header [`DPoP`](super::HEADER), marked as sensitive.
    #[must_use]
    pub fn to_header(&self) -> HeaderValue {
        // base64url and dots are what a header may have
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
