//! Finds the one bearer token of a request, [RFC 6750 §2](https://www.rfc-editor.org/rfc/rfc6750#section-2).

use http::header::AUTHORIZATION;
use http::request::Parts;

use super::challenge::ChallengeReason;
use crate::params::Params;

/// The token in the `Authorization` header. Queries end up in logs and histories, so a token there is a fault
/// of its own, and forms are not read at all.
pub(super) fn token(request: &Parts) -> Result<&str, ChallengeReason> {
    if has_token_in_query(request) {
        return Err(ChallengeReason::MalformedRequest);
    }
    let mut headers = request.headers.get_all(AUTHORIZATION).iter();
    let header = headers.next().ok_or(ChallengeReason::NoToken)?;
    if headers.next().is_some() {
        return Err(ChallengeReason::MalformedRequest);
    }
    let header = header.to_str().map_err(|_| ChallengeReason::MalformedRequest)?;
    let (scheme, token) = header.split_once(' ').unwrap_or((header, ""));
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(ChallengeReason::NoToken);
    }
    let token = token.trim_start_matches(' ');
    if is_token68(token) {
        Ok(token)
    } else {
        Err(ChallengeReason::MalformedRequest)
    }
}

/// A query that cannot be decoded holds no parameter, as far as OAuth is concerned; the API will see to it.
fn has_token_in_query(request: &Parts) -> bool {
    let query = request.uri.query().unwrap_or_default();
    Params::parse(query.as_bytes()).is_ok_and(|params| params.optional("access_token").is_some())
}

/// `1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"="`
fn is_token68(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    !body.is_empty()
        && body
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-._~+/".contains(&byte))
}
