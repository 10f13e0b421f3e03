//! Errors that are sent to the client through the browser.

use bytes::Bytes;
use http::header::{CACHE_CONTROL, LOCATION, REFERRER_POLICY};
use http::{HeaderValue, Method, Response, StatusCode};

use super::response_mode::respond;
use super::token::only_allowed;
use crate::vocabulary::{Issuer, RedirectUri, ResponseMode, State};

/// Error code of an authorization response, sent to the client by redirect.
///
/// [RFC 6749 §4.1.2.1](https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2.1) and [OpenID Connect
/// Core §3.1.2.6](https://openid.net/specs/openid-connect-core-1_0.html#AuthError). An unknown
/// client and an unregistered redirect URI have no code: the server shows an error page and never
/// redirects.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum AuthorizationErrorCode {
    /// A parameter is missing, repeated or malformed.
    InvalidRequest,
    /// The client is not authorized to request an authorization code.
    UnauthorizedClient,
    /// The user or the server denied the request.
    AccessDenied,
    /// The response type is not `code`.
    UnsupportedResponseType,
    /// The scope is malformed, unknown or not allowed for the client.
    InvalidScope,
    /// The resource is unknown, [RFC 8707 §2](https://www.rfc-editor.org/rfc/rfc8707#section-2).
    InvalidTarget,
    /// The server failed.
    ServerError,
    /// The server is temporarily unavailable.
    TemporarilyUnavailable,
    /// The user is not signed in, and `prompt=none` forbids a page.
    LoginRequired,
    /// Consent is missing, and `prompt=none` forbids a page.
    ConsentRequired,
    /// A page is needed, and `prompt=none` forbids it.
    InteractionRequired,
    /// Several users are signed in, and `prompt=none` forbids a page to select one.
    AccountSelectionRequired,
    /// The pushed request was used before or has expired, [RFC 9101
    /// §7](https://www.rfc-editor.org/rfc/rfc9101#section-7).
    InvalidRequestUri,
    /// The `request` parameter is not supported.
    RequestNotSupported,
    /// The `request_uri` was not issued by this server.
    RequestUriNotSupported,
}

impl AuthorizationErrorCode {
    /// Returns the value of `error`, for example `access_denied`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidRequest => "invalid_request",
            Self::UnauthorizedClient => "unauthorized_client",
            Self::AccessDenied => "access_denied",
            Self::UnsupportedResponseType => "unsupported_response_type",
            Self::InvalidScope => "invalid_scope",
            Self::InvalidTarget => "invalid_target",
            Self::ServerError => "server_error",
            Self::TemporarilyUnavailable => "temporarily_unavailable",
            Self::LoginRequired => "login_required",
            Self::ConsentRequired => "consent_required",
            Self::InteractionRequired => "interaction_required",
            Self::AccountSelectionRequired => "account_selection_required",
            Self::InvalidRequestUri => "invalid_request_uri",
            Self::RequestNotSupported => "request_not_supported",
            Self::RequestUriNotSupported => "request_uri_not_supported",
        }
    }
}

/// Error response to an authorization request: a redirect with `error`, `state` and `iss`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AuthorizationErrorResponse {
    code: AuthorizationErrorCode,
    description: Option<&'static str>,
    state: Option<State>,
    mode: ResponseMode,
    issuer: Issuer,
}

impl AuthorizationErrorResponse {
    /// Creates an error response with a code and the issuer ([RFC
    /// 9207](https://www.rfc-editor.org/rfc/rfc9207#section-2)).
    #[must_use]
    pub fn new(code: AuthorizationErrorCode, issuer: &Issuer) -> Self {
        Self {
            code,
            description: None,
            state: None,
            mode: ResponseMode::default(),
            issuer: issuer.clone(),
        }
    }

    /// Adds an `error_description` for the developer of the client. Characters that RFC 6749
    /// forbids in it, such as quotes, are removed.
    #[must_use]
    pub const fn with_description(mut self, description: &'static str) -> Self {
        self.description = Some(description);
        self
    }

    /// Adds the `state` of the request. `None` stands for a request without a valid state.
    #[must_use]
    pub fn with_state(mut self, state: Option<State>) -> Self {
        self.state = state;
        self
    }

    /// Sets the response mode of the request. Default: query.
    #[must_use]
    pub const fn with_response_mode(mut self, mode: ResponseMode) -> Self {
        self.mode = mode;
        self
    }

    /// Returns the error code.
    #[must_use]
    pub const fn code(&self) -> AuthorizationErrorCode {
        self.code
    }

    /// Builds the response for the browser: a redirect to the client, or a form that is posted to
    /// it. `method` is the method of the browser's request and determines the status code of a
    /// redirect, see [`redirect`].
    ///
    /// # Security
    ///
    /// `redirect_uri` must be a registered URI of the client, or the server becomes an open
    /// redirector.
    #[must_use]
    pub fn into_response(self, redirect_uri: &RedirectUri, method: &Method) -> Response<Bytes> {
        let description = self.description.map(only_allowed);
        let pairs = [
            Some(("error", self.code.as_str())),
            description.as_deref().map(|text| ("error_description", text)),
            self.state.as_ref().map(|state| ("state", state.as_str())),
            Some(("iss", self.issuer.as_str())),
        ];
        respond(redirect_uri, self.mode, pairs.into_iter().flatten(), method)
    }
}

/// Creates a redirect of the browser to `location`, with status 303 for `POST` and 302 for all
/// other methods. Status 307 would resend the user's password ([RFC 9700
/// §4.12](https://www.rfc-editor.org/rfc/rfc9700#section-4.12)).
///
/// If `location` contains characters that are not allowed in a header, the status is 500.
#[must_use]
pub fn redirect(location: &str, method: &Method) -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    let Ok(location) = HeaderValue::from_str(location) else {
        // other callers may pass line breaks; a redirect URI has only visible ASCII
        *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        return response;
    };
    *response.status_mut() = if method == Method::POST {
        StatusCode::SEE_OTHER
    } else {
        StatusCode::FOUND
    };
    let headers = response.headers_mut();
    headers.insert(LOCATION, location);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(uri: &str, method: &Method) -> Response<Bytes> {
        AuthorizationErrorResponse::new(
            AuthorizationErrorCode::AccessDenied,
            &"https://as.example".parse().unwrap(),
        )
        .with_description("the person said \"no\"")
        .with_state(Some("a&b=c".parse().unwrap()))
        .into_response(&uri.parse().unwrap(), method)
    }

    /// O3, 26: an error response has `iss` and the exact state, and keeps the query of the redirect
    /// URI.
    #[test]
    fn an_error_carries_state_and_issuer() {
        let response = refused("https://app.example/cb?x=1", &Method::GET);
        assert_eq!(
            response.headers()["location"],
            "https://app.example/cb?x=1&error=access_denied&error_description=the+person+said+no\
             &state=a%26b%3Dc&iss=https%3A%2F%2Fas.example"
        );
        assert_eq!(response.headers()["cache-control"], "no-store");
        assert_eq!(response.headers()["referrer-policy"], "no-referrer");
    }

    /// O3, 27, 28: the status is 303 after POST and 302 after GET.
    #[test]
    fn a_post_is_answered_with_303() {
        assert_eq!(refused("https://app.example/cb", &Method::GET).status(), 302);
        assert_eq!(refused("https://app.example/cb", &Method::POST).status(), 303);
    }

    #[test]
    fn invalid_location_never_becomes_header() {
        let response = redirect("https://app.example/\r\nSet-Cookie: x", &Method::GET);
        assert_eq!(response.status(), 500);
        assert!(response.headers().is_empty());
    }
}
