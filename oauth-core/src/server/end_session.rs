//! Sign-out that a client requests, [OpenID Connect RP-Initiated
//! Logout](https://openid.net/specs/openid-connect-rpinitiated-1_0.html).

use bytes::Bytes;
use http::{Method, Request, Response};

use super::AuthorizationServer;
use super::authorize::{self, Refusal};
use super::endpoint_response::{Broken, EndpointResponse};
use crate::error::{Reason, redirect};
use crate::jose::{IdTokenClaims, IdTokenHint, JwtError};
use crate::params::Params;
use crate::store::{RegisteredClient, SessionId};
use crate::vocabulary::{ClientId, RedirectUri, State, Subject};

/// Outcome of a sign-out request.
#[derive(Debug)]
#[must_use]
#[expect(
    clippy::exhaustive_enums,
    reason = "the host must handle both, and there is no third"
)]
pub enum EndSession {
    /// The request was refused, or a store failed: send this response.
    Respond(EndpointResponse),
    /// The request is valid: sign the user out, after a question if
    /// [`needs_confirmation`](SignOutRequest::needs_confirmation), then send
    /// [`redirect`](SignOutRequest::redirect) or a page of the host.
    SignOut(Box<SignOutRequest>),
}

/// Valid sign-out request of a browser. Another site can have sent it: ask the user if
/// [`needs_confirmation`](Self::needs_confirmation) returns `true`.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct SignOutRequest {
    /// Requesting client, if it is known.
    pub client_id: Option<ClientId>,
    /// Registered name of the client, if it has one.
    pub client_name: Option<String>,
    /// User of `id_token_hint`.
    pub subject: Option<Subject>,
    /// Session in which the server issued the `id_token_hint`.
    pub session: Option<SessionId>,
    /// Suggested user, from `logout_hint`. It is unverified.
    pub logout_hint: Option<String>,
    /// The hint has a `sid` that is no identifier of a session.
    has_foreign_sid: bool,
    target: Option<(RedirectUri, Option<State>)>,
}

impl SignOutRequest {
    /// Returns `true` if the host must ask the user before it ends the session. It must ask unless
    /// the `id_token_hint` is of the user `subject` and, if it has `sid`, of the session `session`.
    /// Without such a hint, the request may be from any page.
    #[must_use]
    pub fn needs_confirmation(&self, subject: &Subject, session: &SessionId) -> bool {
        let is_same_user = self.subject.as_ref() == Some(subject);
        let is_same_session = match self.session {
            Some(hinted) => hinted == *session,
            None => !self.has_foreign_sid,
        };
        !(is_same_user && is_same_session)
    }

    /// Returns the URI to which [`redirect`](Self::redirect) leads. It is registered for the
    /// client. A page with a form that leads there names its origin in the `form-action` of its
    /// `Content-Security-Policy`.
    #[must_use]
    pub fn post_logout_redirect_uri(&self) -> Option<&RedirectUri> {
        self.target.as_ref().map(|(uri, _)| uri)
    }

    /// Builds the redirect to the client with its `state`; `None` if the client gave no
    /// `post_logout_redirect_uri`. `method` is the method of the browser's current request.
    #[must_use]
    pub fn redirect(&self, method: &Method) -> Option<Response<Bytes>> {
        let (uri, state) = self.target.as_ref()?;
        Some(match state {
            Some(state) => redirect(&uri.with_query([("state", state.as_str())]), method),
            None => redirect(uri.as_str(), method),
        })
    }
}

impl AuthorizationServer {
    /// Serves the sign-out endpoint, `GET /end_session` and `POST /end_session`.
    ///
    /// The server checks `id_token_hint` (issuer and signature; it may have expired, and is ignored
    /// if its key is no longer published), `client_id`, and that `post_logout_redirect_uri` is
    /// [registered for the client](RegisteredClient::with_post_logout_redirect_uri). It changes
    /// nothing: the host ends the session, for example by [`Sessions`](crate::session::Sessions).
    ///
    /// # Security
    ///
    /// - The response to an invalid request is an error page and never a redirect.
    /// - A host that asks for [confirmation](SignOutRequest::needs_confirmation) sends the same
    ///   parameters here again with the user's answer, and protects this form against cross-site
    ///   request forgery.
    pub async fn end_session(&self, request: &Request<Bytes>) -> EndSession {
        match self.check_end_session(request).await {
            Ok(request) => EndSession::SignOut(Box::new(request)),
            Err(refusal) => EndSession::Respond(self.refuse(refusal, request)),
        }
    }

    async fn check_end_session(&self, request: &Request<Bytes>) -> Result<SignOutRequest, Refusal> {
        let params = authorize::params(request)?;
        let page = |reason| Refusal::Page(reason, None);
        if params.first_repeated(&[]).is_some() {
            return Err(page(Reason::ParameterRepeated));
        }
        let hint = self.sign_out_hint(&params)?;
        let named = params
            .optional("client_id")
            .map(str::parse::<ClientId>)
            .transpose();
        let named = named.map_err(|_| page(Reason::ClientIdMissing))?;
        let of_hint = hint.as_ref().map_or(&[][..], |hint| hint.audience.as_slice());
        if named
            .as_ref()
            .is_some_and(|named| hint.is_some() && !of_hint.contains(named))
        {
            return Err(page(Reason::ClientIdMismatch));
        }
        let client = match named.as_ref().or(of_hint.first()) {
            None => None,
            Some(id) => {
                let client = self.inner.clients.client(id).await.map_err(Broken::from)?;
                Some(client.ok_or_else(|| Refusal::Page(Reason::ClientUnknown, Some(id.clone())))?)
            }
        };
        let target = post_logout_target(&params, client.as_ref())?;
        let logout_hint = params.optional("logout_hint");
        let sid = hint.as_ref().and_then(|hint| hint.sid.as_deref());
        Ok(SignOutRequest {
            client_name: client.as_ref().and_then(|client| client.name.clone()),
            client_id: client.map(|client| client.id),
            session: sid.and_then(|sid| sid.parse().ok()),
            has_foreign_sid: sid.is_some_and(|sid| sid.parse::<SessionId>().is_err()),
            subject: hint.as_ref().map(|hint| hint.subject.clone()),
            logout_hint: logout_hint.map(str::to_owned),
            target,
        })
    }

    fn sign_out_hint(&self, params: &Params) -> Result<Option<IdTokenHint>, Refusal> {
        let Some(token) = params.optional("id_token_hint") else {
            return Ok(None);
        };
        let keys = self.inner.signing_keys.published(self.inner.clock.now());
        match IdTokenClaims::verify_hint(token, &keys, &self.inner.issuer) {
            Ok(hint) => Ok(Some(hint)),
            // its key is no longer published: the host asks, as without a hint
            Err(JwtError::UnknownKey) => Ok(None),
            Err(_) => Err(Refusal::Page(Reason::IdTokenHintInvalid, None)),
        }
    }
}

/// Returns the redirect after the sign-out, which must be registered for the client.
fn post_logout_target(
    params: &Params,
    client: Option<&RegisteredClient>,
) -> Result<Option<(RedirectUri, Option<State>)>, Refusal> {
    let Some(uri) = params.optional("post_logout_redirect_uri") else {
        return Ok(None);
    };
    let page = |reason| Refusal::Page(reason, client.map(|client| client.id.clone()));
    let client = client.ok_or_else(|| page(Reason::ClientIdMissing))?;
    let mut registered = client.post_logout_redirect_uris.iter();
    let uri = registered
        .find(|registered| registered.as_str() == uri)
        .ok_or_else(|| page(Reason::RedirectUriNotRegistered))?;
    let state = params.optional("state").map(str::parse).transpose();
    Ok(Some((
        uri.clone(),
        state.map_err(|_| page(Reason::StateMissing))?,
    )))
}
