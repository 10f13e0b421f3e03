//! Access token in a request, [RFC 6750 §2](https://www.rfc-editor.org/rfc/rfc6750#section-2) and
//! [RFC 9449 §7.1](https://www.rfc-editor.org/rfc/rfc9449#section-7.1).

use http::header::AUTHORIZATION;
use http::{HeaderMap, Uri};

use super::challenge::ChallengeReason;
use crate::secret::MAX_LENGTH;

/// Authentication scheme of an access token.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Scheme {
    /// Bearer tokens and certificate-bound tokens, which are sent without a proof.
    Bearer,
    /// DPoP-bound tokens, which are sent with a proof of their key.
    Dpop,
}

impl Scheme {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Bearer => "Bearer",
            Self::Dpop => "DPoP",
        }
    }
}

/// Finds the token in the `Authorization` header. A token in the query is an error, because URLs
/// end up in logs and browser histories. Form bodies are not read.
pub(crate) fn presented<'a>(headers: &'a HeaderMap, uri: &Uri) -> Result<(Scheme, &'a str), ChallengeReason> {
    if has_token_in_query(uri) {
        return Err(ChallengeReason::MalformedRequest);
    }
    let mut found = headers.get_all(AUTHORIZATION).iter();
    let header = found.next().ok_or(ChallengeReason::NoToken)?;
    if found.next().is_some() {
        return Err(ChallengeReason::MalformedRequest);
    }
    let bytes = header.as_bytes();
    let (scheme, token) = match bytes.iter().position(|byte| *byte == b' ') {
        Some(space) => bytes.split_at(space),
        None => (bytes, &b""[..]),
    };
    let mut known = [Scheme::Bearer, Scheme::Dpop].into_iter();
    let known = known.find(|known| scheme.eq_ignore_ascii_case(known.as_str().as_bytes()));
    let Some(scheme) = known else {
        // a value with characters outside of ASCII is malformed; other values have an unknown
        // scheme
        return Err(header
            .to_str()
            .map_or(ChallengeReason::MalformedRequest, |_| ChallengeReason::NoToken));
    };
    let spaces = token.iter().take_while(|byte| **byte == b' ').count();
    token
        .get(spaces..)
        .filter(|token| token.len() <= MAX_LENGTH && is_token68(token))
        .and_then(|token| Some((scheme, str::from_utf8(token).ok()?)))
        .ok_or(ChallengeReason::MalformedRequest)
}

/// Returns `true` if the query has an `access_token`. A malformed query is searched too, because
/// other parsers may find the token in it. An empty value counts as absent, [RFC 6749
/// §3.1](https://www.rfc-editor.org/rfc/rfc6749#section-3.1).
fn has_token_in_query(uri: &Uri) -> bool {
    let query = uri.query().unwrap_or_default();
    form_urlencoded::parse(query.as_bytes()).any(|(name, value)| name == "access_token" && !value.is_empty())
}

/// Returns `true` for a `token68`: `1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"="`
fn is_token68(text: &[u8]) -> bool {
    let padding = text.iter().rev().take_while(|byte| **byte == b'=').count();
    let body = text.get(..text.len() - padding).unwrap_or_default();
    let of_token68 =
        |byte: u8| byte.is_ascii_alphanumeric() | matches!(byte, b'-' | b'.' | b'_' | b'~' | b'+' | b'/');
    // no early exit, so that the compiler vectorizes the loop
    !body.is_empty() && body.iter().fold(true, |all, byte| all & of_token68(*byte))
}
