//! JSON errors of the endpoints that clients call directly.

use std::time::Duration;

use bytes::Bytes;
use http::header::{RETRY_AFTER, WWW_AUTHENTICATE};
use http::{Response, StatusCode};
use serde::Serialize;

use crate::response::json;
use crate::vocabulary::Issuer;

macro_rules! codes {
    ($($(#[$docs:meta])* $name:ident = $status:ident $code:literal,)*) => {
        /// Error code of a JSON error response, [RFC 6749
        /// §5.2](https://www.rfc-editor.org/rfc/rfc6749#section-5.2).
        #[non_exhaustive]
        #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
        pub enum ErrorCode {
            $($(#[$docs])* $name,)*
        }

        impl ErrorCode {
            /// All codes.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// Returns the value of `error`, for example `invalid_grant`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)*
                }
            }

            /// Returns the HTTP status.
            #[must_use]
            pub const fn status(self) -> StatusCode {
                match self {
                    $(Self::$name => StatusCode::$status,)*
                }
            }
        }
    };
}

codes! {
    /// A parameter is missing, repeated or malformed, or the client used two authentication
    /// methods.
    InvalidRequest = BAD_REQUEST "invalid_request",
    /// The client is unknown, or its authentication failed.
    InvalidClient = UNAUTHORIZED "invalid_client",
    /// The code or refresh token is invalid, expired, revoked or another client's, or does not
    /// match the request.
    InvalidGrant = BAD_REQUEST "invalid_grant",
    /// The client may not use this grant type.
    UnauthorizedClient = BAD_REQUEST "unauthorized_client",
    /// The server does not support this grant type.
    UnsupportedGrantType = BAD_REQUEST "unsupported_grant_type",
    /// The scope is malformed, unknown, or exceeds the grant.
    InvalidScope = BAD_REQUEST "invalid_scope",
    /// The resource is unknown or not granted, [RFC 8707
    /// §2](https://www.rfc-editor.org/rfc/rfc8707#section-2).
    InvalidTarget = BAD_REQUEST "invalid_target",
    /// The DPoP proof is invalid, [RFC 9449 §5](https://www.rfc-editor.org/rfc/rfc9449#section-5).
    InvalidDpopProof = BAD_REQUEST "invalid_dpop_proof",
    /// The DPoP proof must contain the nonce in the `DPoP-Nonce` header of this response, [RFC 9449
    /// §8](https://www.rfc-editor.org/rfc/rfc9449#section-8).
    UseDpopNonce = BAD_REQUEST "use_dpop_nonce",
    /// A pushed request has another response type than `code`.
    UnsupportedResponseType = BAD_REQUEST "unsupported_response_type",
    /// A pushed request has a `request` object, which is not supported.
    RequestNotSupported = BAD_REQUEST "request_not_supported",
    /// The server failed.
    ServerError = INTERNAL_SERVER_ERROR "server_error",
    /// The server is temporarily unavailable; the client may retry.
    TemporarilyUnavailable = SERVICE_UNAVAILABLE "temporarily_unavailable",
    /// Too many authentications of the client failed: 429, [RFC 6585
    /// §4](https://www.rfc-editor.org/rfc/rfc6585#section-4). RFC 6749 has no code for this, so the
    /// code is `temporarily_unavailable`.
    TooManyAttempts = TOO_MANY_REQUESTS "temporarily_unavailable",
}

/// JSON error response to a request that a client sent directly.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ErrorResponse {
    code: ErrorCode,
    description: Option<&'static str>,
    realm: Option<Issuer>,
    retry_after: Option<Duration>,
}

impl ErrorResponse {
    /// Creates an error response with a code.
    #[must_use]
    pub const fn new(code: ErrorCode) -> Self {
        Self {
            code,
            description: None,
            realm: None,
            retry_after: None,
        }
    }

    /// Adds an `error_description` for the developer of the client.
    ///
    /// The text is `'static`, so that a response never repeats a part of the request. Characters
    /// that RFC 6749 forbids, such as quotes and backslashes, are removed.
    #[must_use]
    pub const fn with_description(mut self, description: &'static str) -> Self {
        self.description = Some(description);
        self
    }

    /// Adds `WWW-Authenticate: Basic` with the issuer as realm. RFC 6749 requires this header with
    /// `invalid_client` if the client used the `Authorization` header.
    #[must_use]
    pub fn with_basic_challenge(mut self, realm: &Issuer) -> Self {
        self.realm = Some(realm.clone());
        self
    }

    /// Sets `Retry-After`, rounded up to whole seconds.
    #[must_use]
    pub const fn with_retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// Returns the error code.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        self.code
    }

    /// Returns the `error_description`.
    #[must_use]
    pub const fn description(&self) -> Option<&'static str> {
        self.description
    }

    /// Builds the response, with `Cache-Control: no-store`.
    #[must_use]
    pub fn into_response(self) -> Response<Bytes> {
        let description = self.description.map(only_allowed);
        let body = Body {
            error: self.code.as_str(),
            error_description: description.as_deref(),
        };
        let mut response = json(self.code.status(), &body);
        let headers = response.headers_mut();
        // an issuer contains no quotes or backslashes, so the realm needs no escaping
        let challenge = self
            .realm
            .and_then(|realm| format!("Basic realm=\"{realm}\"").parse().ok());
        if let Some(challenge) = challenge {
            headers.insert(WWW_AUTHENTICATE, challenge);
        }
        if let Some(wait) = self.retry_after {
            // rounded up, because a client that retries too early is refused again
            let seconds = wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0));
            headers.insert(RETRY_AFTER, seconds.into());
        }
        response
    }
}

#[derive(Serialize)]
struct Body<'a> {
    error: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_description: Option<&'a str>,
}

/// Removes the characters that RFC 6749 forbids in `error_description`, that is, all but `%x20-21 /
/// %x23-5B / %x5D-7E`.
pub(super) fn only_allowed(description: &str) -> String {
    description
        .chars()
        .filter(|c| matches!(c, ' '..='!' | '#'..='[' | ']'..='~'))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// O26: errors are JSON with the code and are not cached. The status is 400 except for
    /// `invalid_client`, too many attempts and failures of the server.
    #[test]
    fn every_error_is_json_that_is_never_cached() {
        for &code in ErrorCode::ALL {
            let response = ErrorResponse::new(code)
                .with_description("say \"why\"\n")
                .into_response();
            let expected = match code {
                ErrorCode::InvalidClient => 401,
                ErrorCode::ServerError => 500,
                ErrorCode::TemporarilyUnavailable => 503,
                ErrorCode::TooManyAttempts => 429,
                _ => 400,
            };
            assert_eq!(response.status(), expected);
            assert_eq!(response.headers()["content-type"], "application/json");
            assert_eq!(response.headers()["cache-control"], "no-store");
            assert_eq!(response.headers()["pragma"], "no-cache");
            let body = format!(r#"{{"error":"{}","error_description":"say why"}}"#, code.as_str());
            assert_eq!(response.body(), body.as_bytes());
        }
    }

    /// O26: `invalid_client` carries a `Basic` challenge after `with_basic_challenge`.
    #[test]
    fn invalid_client_challenges_for_basic() {
        let issuer = "https://as.example".parse().unwrap();
        let response = ErrorResponse::new(ErrorCode::InvalidClient)
            .with_basic_challenge(&issuer)
            .into_response();
        assert_eq!(response.status(), 401);
        assert_eq!(
            response.headers()["www-authenticate"],
            r#"Basic realm="https://as.example""#
        );
    }

    #[test]
    fn a_retry_is_announced_in_seconds() {
        for (wait, expected) in [
            (Duration::from_millis(1001), "2"),
            (Duration::from_secs(5), "5"),
            (Duration::MAX, "18446744073709551615"),
        ] {
            let refusal = ErrorResponse::new(ErrorCode::TemporarilyUnavailable).with_retry_after(wait);
            assert_eq!(refusal.into_response().headers()["retry-after"], expected);
        }
    }
}
