//! Requests to the token endpoint, [RFC 6749 §4.1.3](https://www.rfc-editor.org/rfc/rfc6749#section-4.1.3)
//! and [§6](https://www.rfc-editor.org/rfc/rfc6749#section-6), and its answers,
//! [§5](https://www.rfc-editor.org/rfc/rfc6749#section-5).

use std::borrow::Cow;
use std::fmt;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use serde::Deserialize;

use super::{AuthorizationGrant, Client, ClientCredentials, Provider};
use crate::basic::BasicCredentials;
use crate::jose::ClientAssertion;
use crate::json;
use crate::params;
use crate::secret::{AccessToken, RefreshToken};
use crate::time::later;
use crate::vocabulary::{ClientId, Issuer, Nonce, Scopes, Subject};

/// What a server says when it refuses.
///
/// # Security
///
/// It is the server's text: escape it before it is shown.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ErrorAnswer {
    code: String,
    description: Option<String>,
}

impl ErrorAnswer {
    pub(super) fn new(code: &str, description: Option<&str>) -> Self {
        Self {
            code: code.to_owned(),
            description: description.map(str::to_owned),
        }
    }

    /// The code: `invalid_grant`, `access_denied`, …
    #[must_use]
    pub fn code(&self) -> &str {
        &self.code
    }

    /// A sentence for developers.
    #[must_use]
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }
}

impl fmt::Display for ErrorAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the server answered {:?}", self.code)
    }
}

impl std::error::Error for ErrorAnswer {}

/// Why there are no tokens.
#[non_exhaustive]
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum TokenError {
    /// The server refused. After `invalid_grant` the code or refresh token is dead and the person must sign
    /// in again.
    #[error("the token request was refused")]
    Refused(#[source] ErrorAnswer),
    /// The answer is neither tokens nor a refusal; with a status of 5xx a later attempt may succeed.
    #[error("the token endpoint answered with status {0}")]
    UnexpectedStatus(StatusCode),
    /// The answer is no token response.
    #[error("the token response is malformed")]
    Malformed,
    /// The tokens are not bearer tokens, and would not be accepted as such.
    #[error("the token type is not supported")]
    UnsupportedTokenType,
}

/// A code exchange that is on its way.
#[derive(Debug)]
pub struct PendingExchange(Expected);

/// A refresh that is on its way.
#[derive(Debug)]
pub struct PendingRefresh {
    expected: Expected,
    presented: RefreshToken,
}

/// What an answer must fit.
#[derive(Clone, Debug)]
pub(super) struct Expected {
    pub(super) issuer: Issuer,
    pub(super) client_id: ClientId,
    pub(super) scopes: Scopes,
    pub(super) nonce: Option<Nonce>,
    pub(super) subject: Option<Subject>,
}

/// Tokens, as the token endpoint gave them.
///
/// `Debug` shows no token, nor the ID token, which names a person.
#[derive(Clone)]
pub struct TokenResponse {
    pub(super) access_token: AccessToken,
    pub(super) id_token: Option<String>,
    pub(super) expected: Expected,
    refresh_token: Option<RefreshToken>,
    expires_at: Option<SystemTime>,
    scopes: Scopes,
}

impl Client {
    /// Redeems a code. The code goes to the server that issued it, wherever this client points by now.
    ///
    /// # Security
    ///
    /// The secret of this client goes along only if the code was asked for by this client at this server: a grant that was
    /// mixed up with another server's carries no secret there
    /// ([RFC 9700 §4.4](https://www.rfc-editor.org/rfc/rfc9700#section-4.4)).
    #[must_use]
    pub fn exchange(&self, grant: AuthorizationGrant) -> (Request<Bytes>, PendingExchange) {
        let form = [
            ("grant_type", "authorization_code"),
            ("code", grant.code.expose()),
            ("redirect_uri", grant.redirect_uri.as_str()),
            ("code_verifier", grant.verifier.expose()),
        ];
        let asked_here = grant.provider.issuer == self.provider.issuer && grant.client_id == self.client_id;
        let credentials = if asked_here {
            &self.credentials
        } else {
            &ClientCredentials::None
        };
        let request = token_request(&grant.provider, &grant.client_id, credentials, &form);
        let expected = Expected {
            issuer: grant.provider.issuer,
            client_id: grant.client_id,
            scopes: grant.scopes,
            nonce: grant.nonce,
            subject: None,
        };
        (request, PendingExchange(expected))
    }

    /// Asks for fresh tokens with the same permissions; `granted` are the scopes of the tokens so far.
    ///
    /// # Security
    ///
    /// Let only one refresh be on its way at a time: a rotating server takes the second use of a token for a
    /// theft, and ends the whole chain.
    #[must_use]
    pub fn refresh(&self, token: &RefreshToken, granted: &Scopes) -> (Request<Bytes>, PendingRefresh) {
        let form = [("grant_type", "refresh_token"), ("refresh_token", token.expose())];
        let expected = Expected {
            issuer: self.provider.issuer.clone(),
            client_id: self.client_id.clone(),
            scopes: granted.clone(),
            nonce: None,
            subject: None,
        };
        (
            token_request(&self.provider, &self.client_id, &self.credentials, &form),
            PendingRefresh {
                expected,
                presented: token.clone(),
            },
        )
    }
}

impl PendingExchange {
    /// Takes the answer.
    ///
    /// # Errors
    ///
    /// The server refused, or what it sent is no token response.
    pub fn finish(self, response: &Response<Bytes>, now: SystemTime) -> Result<TokenResponse, TokenError> {
        TokenResponse::read(response, self.0, now)
    }
}

impl PendingRefresh {
    /// Demands that a new ID token is about the person of the first one
    /// ([OpenID Connect Core §12.2](https://openid.net/specs/openid-connect-core-1_0.html#RefreshTokenResponse)).
    #[must_use]
    pub fn with_subject(mut self, subject: Subject) -> Self {
        self.expected.subject = Some(subject);
        self
    }

    /// Takes the answer. A server that does not rotate sends no new refresh token; the old one stays good.
    ///
    /// # Errors
    ///
    /// The server refused, or what it sent is no token response.
    pub fn finish(self, response: &Response<Bytes>, now: SystemTime) -> Result<TokenResponse, TokenError> {
        let mut tokens = TokenResponse::read(response, self.expected, now)?;
        tokens.refresh_token.get_or_insert(self.presented);
        Ok(tokens)
    }
}

/// A token response on the wire; members nobody knows are ignored.
#[derive(Deserialize)]
struct Success<'a> {
    #[serde(borrow)]
    access_token: Cow<'a, str>,
    #[serde(borrow)]
    token_type: Cow<'a, str>,
    expires_in: Option<u32>,
    #[serde(borrow)]
    refresh_token: Option<Cow<'a, str>>,
    #[serde(borrow)]
    scope: Option<Cow<'a, str>>,
    #[serde(borrow)]
    id_token: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Failure<'a> {
    #[serde(borrow)]
    error: Cow<'a, str>,
    #[serde(borrow)]
    error_description: Option<Cow<'a, str>>,
}

impl TokenResponse {
    fn read(response: &Response<Bytes>, expected: Expected, now: SystemTime) -> Result<Self, TokenError> {
        if response.status() != StatusCode::OK {
            return Err(refusal(response));
        }
        let wire: Success<'_> = json::object(response.body()).map_err(|_| TokenError::Malformed)?;
        if !wire.token_type.eq_ignore_ascii_case("bearer") {
            return Err(TokenError::UnsupportedTokenType);
        }
        let refresh_token = wire.refresh_token.as_deref().map(str::parse).transpose();
        let scopes = match wire.scope.as_deref() {
            // left out when nothing differs from what was asked for
            None => expected.scopes.clone(),
            Some("") => Scopes::default(),
            Some(scopes) => scopes.parse().map_err(|_| TokenError::Malformed)?,
        };
        Ok(Self {
            access_token: wire.access_token.parse().map_err(|_| TokenError::Malformed)?,
            id_token: wire.id_token.map(Cow::into_owned),
            expected,
            refresh_token: refresh_token.map_err(|_| TokenError::Malformed)?,
            expires_at: wire
                .expires_in
                .map(|seconds| later(now, Duration::from_secs(seconds.into()))),
            scopes,
        })
    }

    /// For calls to the API: `Authorization: Bearer`.
    #[must_use]
    pub fn access_token(&self) -> &AccessToken {
        &self.access_token
    }

    /// For the next refresh, if the server gave one.
    #[must_use]
    pub fn refresh_token(&self) -> Option<&RefreshToken> {
        self.refresh_token.as_ref()
    }

    /// When the access token ends, if the server said so.
    #[must_use]
    pub fn expires_at(&self) -> Option<SystemTime> {
        self.expires_at
    }

    /// What the access token permits; may be less than was asked for.
    #[must_use]
    pub fn scopes(&self) -> &Scopes {
        &self.scopes
    }
}

impl fmt::Debug for TokenResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenResponse")
            .field("scopes", &self.scopes)
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
}

fn token_request(
    provider: &Provider,
    client_id: &ClientId,
    credentials: &ClientCredentials,
    form: &[(&str, &str)],
) -> Request<Bytes> {
    let id = ("client_id", client_id.as_str());
    let (authorization, more) = match credentials {
        ClientCredentials::None => (None, vec![id]),
        ClientCredentials::Post(secret) => (None, vec![id, ("client_secret", secret.expose())]),
        ClientCredentials::Assertion(assertion) => (
            None,
            vec![
                id,
                ("client_assertion_type", ClientAssertion::TYPE),
                ("client_assertion", assertion.expose()),
            ],
        ),
        ClientCredentials::Basic(secret) => {
            let credentials = BasicCredentials {
                client_id: client_id.clone(),
                secret: secret.clone(),
            };
            (Some(credentials.to_header()), Vec::new())
        }
    };
    let body = params::encode(form.iter().copied().chain(more));
    let mut request = Request::new(Bytes::from(body));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = provider.token_endpoint.uri().clone();
    let headers = request.headers_mut();
    headers.insert(
        CONTENT_TYPE,
        HeaderValue::from_static("application/x-www-form-urlencoded"),
    );
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    if let Some(authorization) = authorization {
        headers.insert(AUTHORIZATION, authorization);
    }
    request
}

fn refusal(response: &Response<Bytes>) -> TokenError {
    let is_refusal = matches!(
        response.status(),
        StatusCode::BAD_REQUEST | StatusCode::UNAUTHORIZED
    );
    match json::object::<Failure<'_>>(response.body()) {
        Ok(failure) if is_refusal => TokenError::Refused(ErrorAnswer::new(
            &failure.error,
            failure.error_description.as_deref(),
        )),
        _ => TokenError::UnexpectedStatus(response.status()),
    }
}
