//! The answer to a request that may not pass,
//! [RFC 6750 §3](https://www.rfc-editor.org/rfc/rfc6750#section-3).

use std::error::Error;
use std::fmt;

use bytes::Bytes;
use http::header::{CACHE_CONTROL, WWW_AUTHENTICATE};
use http::{HeaderValue, Response, StatusCode};

use crate::jose::JwtError;
use crate::vocabulary::{Audience, Scopes};

/// Why a request may not pass: for the log, and for hosts that write their own answers.
#[non_exhaustive]
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ChallengeReason {
    /// There is no bearer token.
    NoToken,
    /// There are several, there is one in the query, or it has characters that no token has.
    MalformedRequest,
    /// The token is not valid here and now. The peer is not told why.
    InvalidToken(JwtError),
    /// The token is valid and does not permit this; it would have to permit at least these scopes.
    InsufficientScope(Scopes),
}

/// A refusal: a status and a `WWW-Authenticate` header that tells the client what would help.
///
/// Turn it into a bare response with [`Challenge::into_response`], or put [`Challenge::status`] and
/// [`Challenge::www_authenticate`] on an answer of your own, a problem document for instance.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Challenge {
    realm: Audience,
    reason: ChallengeReason,
}

impl Challenge {
    pub(super) fn new(realm: &Audience, reason: ChallengeReason) -> Self {
        Self {
            realm: realm.clone(),
            reason,
        }
    }

    /// Why the request may not pass.
    #[must_use]
    pub fn reason(&self) -> &ChallengeReason {
        &self.reason
    }

    /// 401, or 400 for a malformed request, or 403 for a lack of scope.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        match self.reason {
            ChallengeReason::NoToken | ChallengeReason::InvalidToken(_) => StatusCode::UNAUTHORIZED,
            ChallengeReason::MalformedRequest => StatusCode::BAD_REQUEST,
            ChallengeReason::InsufficientScope(_) => StatusCode::FORBIDDEN,
        }
    }

    /// The code on the wire; none for a request that did not try to authenticate
    /// ([RFC 6750 §3.1](https://www.rfc-editor.org/rfc/rfc6750#section-3.1)).
    #[must_use]
    pub fn code(&self) -> Option<&'static str> {
        match self.reason {
            ChallengeReason::NoToken => None,
            ChallengeReason::MalformedRequest => Some("invalid_request"),
            ChallengeReason::InvalidToken(_) => Some("invalid_token"),
            ChallengeReason::InsufficientScope(_) => Some("insufficient_scope"),
        }
    }

    /// The value of the `WWW-Authenticate` header.
    #[must_use]
    pub fn www_authenticate(&self) -> HeaderValue {
        let wanted = match &self.reason {
            ChallengeReason::InsufficientScope(scopes) => Some(scopes),
            _ => None,
        };
        bearer_challenge(self.realm.as_str(), self.code(), wanted)
    }

    /// The refusal without a body, never to be cached.
    #[must_use]
    pub fn into_response(self) -> Response<Bytes> {
        let mut response = Response::new(Bytes::new());
        *response.status_mut() = self.status();
        response
            .headers_mut()
            .insert(WWW_AUTHENTICATE, self.www_authenticate());
        response
            .headers_mut()
            .insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }
}

/// A challenge of the scheme Bearer, with the scopes that would do.
pub(crate) fn bearer_challenge(realm: &str, code: Option<&str>, wanted: Option<&Scopes>) -> HeaderValue {
    let mut text = format!("Bearer realm=\"{}\"", quoted(realm));
    if let Some(code) = code {
        text.push_str(&format!(", error=\"{code}\""));
    }
    if let Some(scopes) = wanted {
        // the grammar of scopes has no quote and no backslash
        text.push_str(&format!(", scope=\"{scopes}\""));
    }
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("Bearer"))
}

/// The inside of a quoted string, [RFC 9110 §5.6.4](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.4).
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

impl fmt::Display for Challenge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.reason {
            ChallengeReason::NoToken => "no access token",
            ChallengeReason::MalformedRequest => "malformed authentication",
            ChallengeReason::InvalidToken(_) => "invalid access token",
            ChallengeReason::InsufficientScope(_) => "insufficient scope",
        })
    }
}

impl Error for Challenge {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.reason {
            ChallengeReason::InvalidToken(error) => Some(error),
            _ => None,
        }
    }
}
