//! Token types, and reasons to refuse a token.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;

use super::algorithm::Algorithm;
use super::crypto::SigningError;
use super::signing_key::SigningKey;

/// Reason to refuse a JSON Web Token.
///
/// The reason is for the host and its logs. The client learns only that the token is invalid.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq, thiserror::Error)]
pub enum JwtError {
    /// The token exceeds 16 KiB or is not three canonical base64url segments, the header or the
    /// claims are not a JSON object or repeat a member, or a required claim is missing or of the
    /// wrong type.
    #[error("the token is malformed")]
    Malformed,
    /// `alg` is `none`, symmetric, unknown, or not the algorithm of the key.
    #[error("the algorithm is not accepted")]
    UnsupportedAlgorithm,
    /// The header has `crit`, `b64` or `zip`.
    #[error("the header has an unsupported extension (crit, b64 or zip)")]
    UnsupportedHeader,
    /// `typ` names another type of token.
    #[error("the token is of another type")]
    WrongType,
    /// No key has this `kid`, or the token has no `kid` and no key has its algorithm. The issuer
    /// may have rotated its keys: fetch the JWKS again, with a rate limit.
    #[error("no key matches the token")]
    UnknownKey,
    /// The token has no `kid`, and several keys could have signed it: keys with a `kid`, or more
    /// than three keys without.
    #[error("the token has no kid, and several keys match")]
    AmbiguousKey,
    /// The signature is not valid.
    #[error("the signature does not match")]
    SignatureMismatch,
    /// `iss` is another issuer.
    #[error("the token is from another issuer")]
    WrongIssuer,
    /// `aud` lacks the expected audience, or has further audiences where only one is allowed.
    #[error("the token is for another audience")]
    WrongAudience,
    /// `aud` lacks the expected audience in a token of Keycloak: its client scopes have no audience
    /// mapper for this API.
    #[error("the token is for another audience: add an audience mapper to a client scope in Keycloak")]
    NoAudienceMapper,
    /// `exp` has passed.
    #[error("the token is expired")]
    Expired,
    /// `exp` is further in the future than allowed.
    #[error("the token expires too far in the future")]
    LivesTooLong,
    /// `nbf` or `iat` is in the future.
    #[error("the token is not valid yet")]
    NotYetValid,
    /// The token is sender-constrained, and its proof of possession was not or cannot be checked.
    #[error("the token is sender-constrained, and its proof was not checked")]
    SenderConstrained,
    /// `sub` is not the expected user or client.
    #[error("the token is about another subject")]
    WrongSubject,
    /// `nonce` is missing or differs.
    #[error("the nonce does not match")]
    WrongNonce,
    /// `at_hash` does not match the access token.
    #[error("at_hash does not match the access token")]
    WrongAccessToken,
    /// `auth_time` is missing or earlier than required.
    #[error("the user authenticated too long ago")]
    SignInTooOld,
}

/// Type of a token, the value of `typ`, [RFC 8725
/// §3.11](https://www.rfc-editor.org/rfc/rfc8725#section-3.11).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum TokenType {
    AccessToken,
    ClientAssertion,
    DpopProof,
    IdToken,
    LogoutToken,
}

impl TokenType {
    const fn as_str(self) -> &'static str {
        match self {
            Self::AccessToken => "at+jwt",
            Self::ClientAssertion => "client-authentication+jwt",
            Self::DpopProof => "dpop+jwt",
            Self::IdToken => "JWT",
            Self::LogoutToken => "logout+jwt",
        }
    }

    /// Returns `true` if `typ` is accepted for this type. Media types are compared without regard
    /// to case, and `application/` is optional ([RFC 7515
    /// §4.1.9](https://www.rfc-editor.org/rfc/rfc7515#section-4.1.9)). ID tokens, client assertions
    /// and logout tokens may omit `typ`, and the latter two may use `JWT`, because they are older
    /// than explicit typing.
    pub(super) fn accepts(self, typ: Option<&str>) -> bool {
        let Some(typ) = typ else {
            return matches!(self, Self::ClientAssertion | Self::IdToken | Self::LogoutToken);
        };
        let (prefix, name) = typ.split_once('/').unwrap_or(("application", typ));
        let is = |expected: &str| name.eq_ignore_ascii_case(expected);
        prefix.eq_ignore_ascii_case("application")
            && (is(self.as_str()) || matches!(self, Self::ClientAssertion | Self::LogoutToken) && is("JWT"))
    }
}

/// Creates the base64url header of tokens that are signed by the key with this `kid`.
///
/// `key_id` must not contain characters that JSON escapes.
pub(super) fn header(typ: TokenType, algorithm: Algorithm, key_id: &str) -> String {
    let typ = typ.as_str();
    URL_SAFE_NO_PAD.encode(format!(
        r#"{{"alg":"{algorithm}","typ":"{typ}","kid":"{key_id}"}}"#
    ))
}

/// Serializes and signs a token.
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

/// Like [`sign`], for a DPoP proof: the header contains the public key instead of a `kid`.
pub(crate) fn sign_with_key(key: &SigningKey, claims: &impl Serialize) -> Result<String, SigningError> {
    let (typ, algorithm) = (TokenType::DpopProof.as_str(), key.algorithm());
    let jwk = key.public_key().required_members();
    let header = URL_SAFE_NO_PAD.encode(format!(r#"{{"typ":"{typ}","alg":"{algorithm}","jwk":{jwk}}}"#));
    sign_under(key, &header, claims)
}

fn sign_under(key: &SigningKey, header: &str, claims: &impl Serialize) -> Result<String, SigningError> {
    let mut payload = Vec::with_capacity(512);
    serde_json::to_writer(&mut payload, claims).map_err(SigningError::new)?;
    // room for the header, the payload, two dots and a signature of 64 bytes
    let mut token = String::with_capacity(header.len() + (payload.len() + 64) / 3 * 4 + 10);
    token.push_str(header);
    token.push('.');
    URL_SAFE_NO_PAD.encode_string(payload, &mut token);
    let signature = key.sign(token.as_bytes())?;
    token.push('.');
    URL_SAFE_NO_PAD.encode_string(signature, &mut token);
    Ok(token)
}
