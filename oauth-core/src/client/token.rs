//! Token requests, [RFC 6749 §4.4](https://www.rfc-editor.org/rfc/rfc6749#section-4.4) and
//! [§6](https://www.rfc-editor.org/rfc/rfc6749#section-6), and token responses,
//! [§5](https://www.rfc-editor.org/rfc/rfc6749#section-5).

use std::borrow::Cow;
use std::fmt;
use std::time::SystemTime;

use bytes::Bytes;
use http::{Response, StatusCode};
use serde::Deserialize;

use super::call::{CallResponse, sealed};
use super::draft::Draft;
use super::form::Form;
use super::lifetime::Lifetime;
use super::oauth_error::{MAX_BODY, OAuthError};
use super::{Call, Client};
use crate::jose::IdTokenClaims;
use crate::json;
use crate::secret::{AccessToken, RefreshToken};
use crate::time::later;
use crate::vocabulary::{Audience, Nonce, Scopes, Subject};

/// Failure of a token request.
#[non_exhaustive]
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum TokenError {
    /// The server refused. After `invalid_grant` the code or refresh token is invalid, and the user
    /// must sign in again.
    #[error("the token request was refused")]
    Refused(#[source] OAuthError),
    /// The response is neither tokens nor a refusal. After a status of 5xx a retry may succeed.
    #[error("the token endpoint responded with status {0}")]
    UnexpectedStatus(StatusCode),
    /// The response with status 200 is not a token response, or is longer than 64 KiB.
    #[error("the token response is malformed")]
    Malformed,
    /// The token type is not `DPoP` although the client has a DPoP key, or not `Bearer` although it
    /// has none.
    #[error("the token type is not the expected one")]
    WrongTokenType,
    /// The ID token is about another user than expected. Use no part of the response.
    #[error("the id token is about another user")]
    WrongSubject,
}

/// Expectations of a token response, and values that later requests need.
#[derive(Clone)]
#[expect(unnameable_types, reason = "the inside of a sealed trait")]
pub struct Expected {
    pub(super) client: Client,
    pub(super) scopes: Scopes,
    pub(super) nonce: Option<Nonce>,
    pub(super) subject: Option<Subject>,
    pub(super) signed_in_since: Option<SystemTime>,
    /// Requested resource servers.
    pub(super) resources: Vec<Audience>,
    /// Presented refresh token, which stays valid unless the response has a new one.
    pub(super) presented: Option<RefreshToken>,
    /// `true` if the request can be repeated any number of times.
    pub(super) standing: bool,
}

impl Expected {
    pub(super) fn new(client: &Client, scopes: Scopes) -> Self {
        Self {
            client: client.clone(),
            scopes,
            nonce: None,
            subject: None,
            signed_in_since: None,
            resources: Vec::new(),
            presented: None,
            standing: false,
        }
    }
}

impl fmt::Debug for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Expected")
            .field("scopes", &self.scopes)
            .field("signed_in_since", &self.signed_in_since)
            .finish_non_exhaustive()
    }
}

/// Response of the token endpoint: an access token, and a refresh token and an ID token if the
/// server issued them.
///
/// `Debug` shows no token. It does not show the ID token either, because it identifies the user.
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
    /// Refreshes tokens with a stored refresh token. `granted` are the scopes of the current
    /// tokens. If the server does not rotate and sends no refresh token, the [`TokenResponse`] has
    /// the presented one, which stays valid.
    ///
    /// If the host has the current [`TokenResponse`], [`TokenResponse::refresh`] takes all
    /// arguments from it.
    ///
    /// # Security
    ///
    /// - Send only one refresh at a time: a server with rotation treats the second use of a refresh
    ///   token as reuse and revokes the token family. A [`TokenSource`](super::TokenSource)
    ///   provides single-flight.
    /// - If a user signed in, set that user with [`with_subject`](Call::with_subject). Without it,
    ///   an ID token about another user is accepted.
    pub fn refresh(&self, token: &RefreshToken, granted: &Scopes) -> Call<TokenResponse> {
        let form = Form::from([("grant_type", "refresh_token"), ("refresh_token", token.expose())]);
        let expected = Expected {
            presented: Some(token.clone()),
            ..Expected::new(self, granted.clone())
        };
        Call::of_tokens(form, expected)
    }

    /// Requests a token for the client itself, without a user: the client credentials grant. With
    /// an empty set, the request has no `scope`, and the server chooses the scopes.
    pub fn client_credentials(&self, scopes: &Scopes) -> Call<TokenResponse> {
        let mut form = Form::from([("grant_type", "client_credentials")]);
        if !scopes.is_empty() {
            form.add("scope", &scopes.to_string());
        }
        let expected = Expected {
            standing: true,
            ..Expected::new(self, scopes.clone())
        };
        Call::of_tokens(form, expected)
    }
}

impl Call<TokenResponse> {
    pub(super) fn of_tokens(form: Form, expected: Expected) -> Self {
        let endpoint = expected.client.inner.token_endpoint();
        Self {
            draft: Draft::of_client(&expected.client, endpoint, form),
            expected,
        }
    }

    /// Copies the call, to send it again.
    pub(super) fn again(&self) -> Self {
        Self {
            draft: self.draft.clone(),
            expected: self.expected.clone(),
        }
    }

    /// Returns `true` if the call can be repeated any number of times: it invalidates no code and
    /// no token, and a refusal is not final.
    pub(super) fn is_standing(&self) -> bool {
        self.expected.standing
    }

    /// Adds a `resource`: a resource server of the grant for which the access token is requested
    /// ([RFC 8707 §2.2](https://www.rfc-editor.org/rfc/rfc8707#section-2.2)).
    /// [`TokenResponse::refresh`] sends the same resources again; [`Client::refresh`] sends none
    /// until this method adds them.
    pub fn with_resource(mut self, resource: &Audience) -> Self {
        self.draft.add("resource", resource.as_str());
        self.expected.resources.push(resource.clone());
        self
    }

    /// Requires that an ID token in the response is about this user. Otherwise the client refuses
    /// the response with [`TokenError::WrongSubject`]. In a refresh this must be the user who
    /// signed in ([OpenID Connect Core
    /// §12.2](https://openid.net/specs/openid-connect-core-1_0.html#RefreshTokenResponse));
    /// [`TokenResponse::refresh`] sets it.
    pub fn with_subject(mut self, subject: Subject) -> Self {
        self.expected.subject = Some(subject);
        self
    }
}

/// Token response on the wire. Unknown members are ignored.
#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(borrow)]
    access_token: Cow<'a, str>,
    #[serde(borrow)]
    token_type: Cow<'a, str>,
    #[serde(borrow)]
    expires_in: Option<Lifetime<'a>>,
    #[serde(borrow)]
    refresh_token: Option<Cow<'a, str>>,
    #[serde(borrow)]
    scope: Option<Cow<'a, str>>,
    #[serde(borrow)]
    id_token: Option<Cow<'a, str>>,
}

impl sealed::Sealed for TokenResponse {}

impl CallResponse for TokenResponse {
    type Error = TokenError;
    type Expected = Expected;

    fn read(response: Response<Bytes>, mut expected: Expected, now: SystemTime) -> Result<Self, TokenError> {
        if response.status() != StatusCode::OK {
            let status = TokenError::UnexpectedStatus(response.status());
            return Err(OAuthError::read(&response).map_or(status, TokenError::Refused));
        }
        if response.body().len() > MAX_BODY {
            return Err(TokenError::Malformed);
        }
        let wire: Wire<'_> = json::object(response.body()).map_err(|_| TokenError::Malformed)?;
        // RFC 9449 §5: the token type must match the key: bound with a key, bearer without
        let wanted = match expected.client.inner.dpop {
            Some(_) => "dpop",
            None => "bearer",
        };
        if !wire.token_type.eq_ignore_ascii_case(wanted) {
            return Err(TokenError::WrongTokenType);
        }
        let refresh_token = wire.refresh_token.as_deref().map(str::parse).transpose();
        let scopes = match wire.scope.as_deref() {
            // an absent scope means the requested one
            None => expected.scopes.clone(),
            Some("") => Scopes::default(),
            Some(scopes) => scopes.parse().map_err(|_| TokenError::Malformed)?,
        };
        if let (Some(subject), Some(id_token)) = (&expected.subject, &wire.id_token)
            && IdTokenClaims::alleged_subject(id_token).is_some_and(|alleged| alleged != *subject)
        {
            return Err(TokenError::WrongSubject);
        }
        let lifetime = wire.expires_in.as_ref().and_then(Lifetime::known);
        // an ID token that was not requested is not bound to this sign-in
        let is_asked_for = expected.nonce.is_some() || expected.presented.is_some();
        let presented = expected.presented.take();
        Ok(Self {
            access_token: wire.access_token.parse().map_err(|_| TokenError::Malformed)?,
            id_token: wire.id_token.filter(|_| is_asked_for).map(Cow::into_owned),
            expected,
            refresh_token: refresh_token.map_err(|_| TokenError::Malformed)?.or(presented),
            expires_at: lifetime.map(|lifetime| later(now, lifetime)),
            scopes,
        })
    }
}

impl TokenResponse {
    /// Refreshes the tokens for the same scopes, resource servers and user; `None` if the server
    /// issued no refresh token. An ID token in the response must be about the user of the first ID
    /// token ([OpenID Connect Core
    /// §12.2](https://openid.net/specs/openid-connect-core-1_0.html#RefreshTokenResponse)).
    ///
    /// # Security
    ///
    /// Send only one refresh at a time: a server with rotation treats the second use of a refresh
    /// token as reuse and revokes the token family. A [`TokenSource`](super::TokenSource) provides
    /// single-flight.
    #[must_use]
    pub fn refresh(&self) -> Option<Call<Self>> {
        let call = self
            .expected
            .client
            .refresh(self.refresh_token.as_ref()?, &self.scopes);
        let resources = self.expected.resources.iter();
        let call = resources.fold(call, Call::with_resource);
        Some(match self.subject() {
            Some(subject) => call.with_subject(subject),
            None => call,
        })
    }

    /// User of the tokens: the user who signed in. A refresh does not change it.
    fn subject(&self) -> Option<Subject> {
        let alleged = || IdTokenClaims::alleged_subject(self.id_token.as_deref()?);
        self.expected.subject.clone().or_else(alleged)
    }

    /// Returns the access token, for API requests that are not made with [`call`](Self::call).
    #[must_use]
    pub fn access_token(&self) -> &AccessToken {
        &self.access_token
    }

    /// Returns the refresh token, if the server issued one.
    #[must_use]
    pub fn refresh_token(&self) -> Option<&RefreshToken> {
        self.refresh_token.as_ref()
    }

    /// Returns the ID token as the server sent it, for the `id_token_hint` of a
    /// [sign-out](Client::sign_out_url). `None` if the response has none. Its claims are not
    /// verified: [`identity`](Self::identity) verifies them.
    #[must_use]
    pub fn id_token(&self) -> Option<&str> {
        self.id_token.as_deref()
    }

    /// Returns the expiry of the access token: the time of the request plus `expires_in`. `None` if
    /// the server did not send `expires_in` in whole seconds.
    #[must_use]
    pub fn expires_at(&self) -> Option<SystemTime> {
        self.expires_at
    }

    /// Returns the granted scopes, which may be fewer than requested.
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
