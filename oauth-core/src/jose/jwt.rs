//! What a token is for, and why it is refused.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;

use super::algorithm::Algorithm;
use super::crypto::SigningError;
use super::signing_key::SigningKey;

/// Why a JSON Web Token is not believed.
///
/// For logs and for the host; the peer is told no more than that the token is invalid.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq, thiserror::Error)]
pub enum JwtError {
    /// Not three canonical base64url segments, no JSON object in the first two, a repeated
    /// member, or a claim that is required and missing or of the wrong type.
    #[error("the token is malformed")]
    Malformed,
    /// `alg` is `none`, symmetric, unknown, or not that of the key.
    #[error("the algorithm is not accepted")]
    UnsupportedAlgorithm,
    /// `crit`, `b64` or `zip` is there.
    #[error("the header asks for an extension")]
    UnsupportedHeader,
    /// `typ` says that the token is for something else.
    #[error("the token is of another type")]
    WrongType,
    /// No key has this `kid`, or none could have signed a token without one. The issuer may have rotated its
    /// keys: fetching them again, once in a while, may help.
    #[error("the key is unknown")]
    UnknownKey,
    /// The token names no key and more than one could have signed it: keys with a name, which an issuer of such keys would say, or more
    /// than three without.
    #[error("the token does not say which key signed it")]
    AmbiguousKey,
    /// The signature is not valid.
    #[error("the signature does not match")]
    SignatureMismatch,
    /// `iss` names somebody else.
    #[error("the token is from another issuer")]
    WrongIssuer,
    /// `aud` does not name us, or names others beside us where that is not allowed.
    #[error("the token is for another audience")]
    WrongAudience,
    /// `exp` is reached.
    #[error("the token is expired")]
    Expired,
    /// `exp` is further ahead than it may be for this purpose.
    #[error("the token lives too long")]
    LivesTooLong,
    /// `nbf` or `iat` is in the future.
    #[error("the token is not valid yet")]
    NotYetValid,
    /// The token is bound to a key of its sender, and the sender did not prove to have it.
    #[error("the token is bound to a key")]
    SenderConstrained,
    /// `sub` is not the person of the first sign-in, or not the client whose keys verify.
    #[error("the token is about somebody else")]
    WrongSubject,
    /// `nonce` is missing or that of another sign-in.
    #[error("the nonce does not match")]
    WrongNonce,
    /// `at_hash` is that of another access token.
    #[error("the token belongs to another access token")]
    WrongAccessToken,
    /// `auth_time` is missing, or earlier than the person was to prove who they are.
    #[error("the person signed in too long ago")]
    SignInTooOld,
}

/// What a token is for: the value of `typ`,
/// [RFC 8725 §3.11](https://www.rfc-editor.org/rfc/rfc8725#section-3.11).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum TokenType {
    AccessToken,
    ClientAssertion,
    DpopProof,
    IdToken,
}

impl TokenType {
    const fn as_str(self) -> &'static str {
        match self {
            Self::AccessToken => "at+jwt",
            Self::ClientAssertion => "client-authentication+jwt",
            Self::DpopProof => "dpop+jwt",
            Self::IdToken => "JWT",
        }
    }

    /// Media types are compared without regard to case; `application/` may be left out
    /// ([RFC 7515 §4.1.9](https://www.rfc-editor.org/rfc/rfc7515#section-4.1.9)). ID tokens and client assertions,
    /// older than the rule, may be untyped, and assertions may be typed as any token.
    pub(super) fn accepts(self, typ: Option<&str>) -> bool {
        let Some(typ) = typ else {
            return matches!(self, Self::ClientAssertion | Self::IdToken);
        };
        let (prefix, name) = typ.split_once('/').unwrap_or(("application", typ));
        let is = |expected: &str| name.eq_ignore_ascii_case(expected);
        prefix.eq_ignore_ascii_case("application")
            && (is(self.as_str()) || self == Self::ClientAssertion && is("JWT"))
    }
}

/// The header of a token that a key of this name signs, encoded.
///
/// The name is written as it is: it must be one that JSON does not escape.
pub(super) fn header(typ: TokenType, algorithm: Algorithm, key_id: &str) -> String {
    let typ = typ.as_str();
    URL_SAFE_NO_PAD.encode(format!(
        r#"{{"alg":"{algorithm}","typ":"{typ}","kid":"{key_id}"}}"#
    ))
}

/// Writes, signs and serializes a token.
pub(super) fn sign(
    key: &SigningKey,
    typ: TokenType,
    claims: &impl Serialize,
) -> Result<String, SigningError> {
    let header = match key.public_key().own_header(typ) {
        Some(header) => Cow::Borrowed(header),
        None => Cow::Owned(header(typ, key.algorithm(), key.key_id())),
    };
    sign_under(key, &header, claims)
}

/// As [`sign`], for a proof, whose header has the public key itself in it.
pub(crate) fn sign_with_key(key: &SigningKey, claims: &impl Serialize) -> Result<String, SigningError> {
    let (typ, algorithm) = (TokenType::DpopProof.as_str(), key.algorithm());
    let jwk = key.public_key().required_members();
    let header = URL_SAFE_NO_PAD.encode(format!(r#"{{"typ":"{typ}","alg":"{algorithm}","jwk":{jwk}}}"#));
    sign_under(key, &header, claims)
}

fn sign_under(key: &SigningKey, header: &str, claims: &impl Serialize) -> Result<String, SigningError> {
    let mut payload = Vec::with_capacity(512);
    serde_json::to_writer(&mut payload, claims).map_err(SigningError::new)?;
    // two dots, and a signature of 64 bytes
    let mut token = String::with_capacity(header.len() + (payload.len() + 64) / 3 * 4 + 10);
    token.push_str(header);
    token.push('.');
    URL_SAFE_NO_PAD.encode_string(payload, &mut token);
    let signature = key.sign(token.as_bytes())?;
    token.push('.');
    URL_SAFE_NO_PAD.encode_string(signature, &mut token);
    Ok(token)
}
