//! Requests to the token endpoint, [RFC 6749 §4.4](https://www.rfc-editor.org/rfc/rfc6749#section-4.4) and
//! [§6](https://www.rfc-editor.org/rfc/rfc6749#section-6), and its answers,
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

/// Why there are no tokens.
#[non_exhaustive]
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum TokenError {
    /// The server refused. After `invalid_grant` the code or refresh token is dead and the person must sign
    /// in again.
    #[error("the token request was refused")]
    Refused(#[source] OAuthError),
    /// The answer is neither tokens nor a refusal; with a status of 5xx a later attempt may succeed.
    #[error("the token endpoint answered with status {0}")]
    UnexpectedStatus(StatusCode),
    /// The answer is no token response, or has more than 64 KiB.
    #[error("the token response is malformed")]
    Malformed,
    /// The tokens are not of the type that was asked for, and would not be accepted as such.
    #[error("the token type is not the one that was asked for")]
    WrongTokenType,
    /// The ID token is about another person than the one whose tokens these were to be: nothing of the answer may be used.
    #[error("the tokens are another person's")]
    WrongSubject,
}

/// What an answer must fit, and what is done with it later.
#[derive(Clone)]
#[expect(unnameable_types, reason = "the inside of a sealed trait")]
pub struct Expected {
    pub(super) client: Client,
    pub(super) scopes: Scopes,
    pub(super) nonce: Option<Nonce>,
    pub(super) subject: Option<Subject>,
    pub(super) signed_in_since: Option<SystemTime>,
    /// Whom the access token is for, where that was said.
    pub(super) resources: Vec<Audience>,
    /// Stays good unless another comes in its place.
    pub(super) presented: Option<RefreshToken>,
    /// Whether the same may be asked for any number of times.
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
    /// Asks for fresh tokens with the same permissions, by a refresh token that was stored; `granted` are the scopes of the tokens so far.
    /// A server that does not rotate sends no new refresh token; the old one stays good, and is in the answer.
    ///
    /// Where the tokens so far are at hand, [`TokenResponse::refresh`] knows all of this by itself.
    ///
    /// # Security
    ///
    /// - Let only one refresh be on its way at a time: a rotating server takes the second use of a token for a theft, and ends the whole
    ///   chain. A [`TokenSource`](super::TokenSource) sees to it.
    /// - Say whose token it is by [`with_subject`](Call::with_subject), if a person signed in for it: nothing else ties the ID token of
    ///   the answer to them.
    pub fn refresh(&self, token: &RefreshToken, granted: &Scopes) -> Call<TokenResponse> {
        let form = Form::from([("grant_type", "refresh_token"), ("refresh_token", token.expose())]);
        let expected = Expected {
            presented: Some(token.clone()),
            ..Expected::new(self, granted.clone())
        };
        Call::of_tokens(form, expected)
    }

    /// Asks for a token of the client itself, on behalf of nobody.
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

    /// The same once more.
    pub(super) fn again(&self) -> Self {
        Self {
            draft: self.draft.clone(),
            expected: self.expected.clone(),
        }
    }

    /// Whether it may be sent any number of times: nothing in it is spent, and a refusal is not for ever.
    pub(super) fn is_standing(&self) -> bool {
        self.expected.standing
    }

    /// `resource`: an access token for this resource server, of those that the grant is for
    /// ([RFC 8707 §2.2](https://www.rfc-editor.org/rfc/rfc8707#section-2.2)); several may be named.
    /// [`TokenResponse::refresh`] names them again; others are asked for by [`Client::refresh`].
    pub fn with_resource(mut self, resource: &Audience) -> Self {
        self.draft.add("resource", resource.as_str());
        self.expected.resources.push(resource.clone());
        self
    }

    /// Demands that an ID token, if there is one, is about this person: an answer about another is refused, and
    /// [`identity`](TokenResponse::identity) with it. At a refresh that is the one who signed in
    /// ([OpenID Connect Core §12.2](https://openid.net/specs/openid-connect-core-1_0.html#RefreshTokenResponse)), which
    /// [`TokenResponse::refresh`] demands by itself.
    pub fn with_subject(mut self, subject: Subject) -> Self {
        self.expected.subject = Some(subject);
        self
    }
}

/// A token response on the wire; members nobody knows are ignored.
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
        // RFC 9449 §5: a token that is not bound was asked for by nobody, and a bound one needs the key
        let wanted = match expected.client.inner.dpop {
            Some(_) => "dpop",
            None => "bearer",
        };
        if !wire.token_type.eq_ignore_ascii_case(wanted) {
            return Err(TokenError::WrongTokenType);
        }
        let refresh_token = wire.refresh_token.as_deref().map(str::parse).transpose();
        let scopes = match wire.scope.as_deref() {
            // left out when nothing differs from what was asked for
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
        // one that nobody asked for is tied to nothing: it may be of another sign-in, or of a client that has none
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
    /// Asks for fresh tokens with the same permissions, for the same resource servers and the same person: where the answer has an ID token, it must be about whom
    /// the first one was about
    /// ([OpenID Connect Core §12.2](https://openid.net/specs/openid-connect-core-1_0.html#RefreshTokenResponse)). Nothing where the
    /// server gave no refresh token.
    ///
    /// # Security
    ///
    /// Let only one refresh be on its way at a time: a rotating server takes the second use of a token for a theft, and ends the whole
    /// chain. A [`TokenSource`](super::TokenSource) sees to it.
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

    /// Whom the tokens are about: the person of the sign-in, and of no refresh since then.
    fn subject(&self) -> Option<Subject> {
        let alleged = || IdTokenClaims::alleged_subject(self.id_token.as_deref()?);
        self.expected.subject.clone().or_else(alleged)
    }

    /// For whoever does not [`call`](Self::call) the API in the way that is made for it.
    #[must_use]
    pub fn access_token(&self) -> &AccessToken {
        &self.access_token
    }

    /// For the next refresh, if the server gave one.
    #[must_use]
    pub fn refresh_token(&self) -> Option<&RefreshToken> {
        self.refresh_token.as_ref()
    }

    /// When the access token ends, counted from when it was asked for, if the server said so in whole seconds.
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
