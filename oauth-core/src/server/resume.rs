//! Completion of an interaction: redirect to the client with a code or an error.

use std::iter;
use std::time::SystemTime;

use http::Method;

use super::AuthorizationServer;
use super::authorization_request::Declined;
use super::authorize::broken_page;
use super::endpoint_response::{Broken, EndpointResponse};
use super::page::error_page;
use crate::error::{AuthorizationErrorCode, AuthorizationErrorResponse, Reason, redirect};
use crate::event::{AuthEvent, AuthEventKind};
use crate::grant::narrow;
use crate::secret::{AuthorizationCode, TokenHash};
use crate::store::{
    AuthorizationCodeRecord, AuthorizationRequest, Grant, GrantType, Insertion, SessionId, TakeOutcome,
};
use crate::vocabulary::{Audience, Scopes, Subject};

/// Decision of the user on the consent page.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_enums, reason = "a user says yes or no")]
pub enum Consent {
    /// The host authenticated the user, and the user consented.
    Granted(Authentication),
    /// The user refused or gave up. The client gets `access_denied`.
    Denied,
}

/// Authenticated user, with the scopes that the user granted.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Authentication {
    /// Identifier of the user. The host must never reassign it to another person. If it equals a
    /// client identifier, the client gets `server_error`.
    pub subject: Subject,
    /// Instant of the user's authentication. Do not truncate it: an instant truncated to seconds
    /// may be before the request, and is then refused for `prompt=login`.
    pub auth_time: SystemTime,
    /// Email address of the user, if known.
    pub email: Option<String>,
    /// Name of the user, if known.
    pub name: Option<String>,
    /// Granted scopes; `None` grants all requested scopes. Scopes that were not requested are
    /// ignored.
    pub scopes: Option<Scopes>,
    /// Session whose end revokes the grant; see [`with_session`](Self::with_session).
    pub session: Option<SessionId>,
}

impl Authentication {
    /// Creates an authentication of `subject` at `auth_time`, which grants all requested scopes.
    #[must_use]
    pub const fn new(subject: Subject, auth_time: SystemTime) -> Self {
        Self {
            subject,
            auth_time,
            email: None,
            name: None,
            scopes: None,
            session: None,
        }
    }

    /// Sets the email address, for the claim `email`.
    #[must_use]
    pub fn with_email(mut self, email: impl Into<String>) -> Self {
        self.email = Some(email.into());
        self
    }

    /// Sets the name, for the claim `name`.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Limits the grant to those requested scopes that are in `scopes`.
    #[must_use]
    pub fn with_scopes(mut self, scopes: Scopes) -> Self {
        self.scopes = Some(scopes);
        self
    }

    /// Sets the session of the grant. When the user signs out of this session or everywhere, the
    /// grant is revoked, even if the session has timed out before. A timeout invalidates only a
    /// code that was not redeemed yet; after it, clients can continue to refresh.
    ///
    /// The token store of the server must also be the [session store](crate::store::SessionStore).
    #[must_use]
    pub const fn with_session(mut self, session: SessionId) -> Self {
        self.session = Some(session);
        self
    }
}

/// Outcome of completing an interaction.
enum Resumption {
    /// Show the error page, without a redirect.
    Page(Reason),
    /// Redirect to the client with a code.
    Code(AuthorizationRequest, AuthorizationCode, AuthEvent),
    /// Redirect to the client with an error.
    Error(AuthorizationRequest, AuthorizationErrorCode, AuthEvent),
}

impl AuthorizationServer {
    /// Completes an interaction with the user's decision, and redirects the browser to the client
    /// with a code or an error.
    ///
    /// `method` is the method of the current request: the status is 303 after a POST, otherwise
    /// 302.
    ///
    /// - An interaction can be completed once. The response is an error page if the interaction is
    ///   unknown, has expired or belongs to another browser, if another interaction completed its
    ///   pushed request, or if the client was deleted or may no longer use the redirect URI or the
    ///   grant.
    /// - If the user authenticated before
    ///   [`signed_in_since`](super::InteractionDetails::signed_in_since), the client gets
    ///   `login_required`. If no requested scope was granted, the client gets `access_denied`.
    ///
    /// # Security
    ///
    /// Call it only for a request with the cookie of the interaction, and for a user that the host
    /// authenticated in this browser. Protect the form of the consent page against cross-site
    /// request forgery.
    pub async fn resume(
        &self,
        method: &Method,
        id: &str,
        browser: &str,
        consent: Consent,
    ) -> EndpointResponse {
        match self.complete(id, browser, consent).await {
            Ok(outcome) => self.send_back(outcome, method),
            Err(broken) => broken_page(broken),
        }
    }

    async fn complete(&self, id: &str, browser: &str, consent: Consent) -> Result<Resumption, Broken> {
        let now = self.inner.clock.now();
        let (id, browser) = (TokenHash::new(id), TokenHash::new(browser));
        let (request, asked_at) = match self
            .inner
            .interactions
            .take_interaction(&id, &browser, now)
            .await?
        {
            TakeOutcome::Taken(record) => (record.request, record.created_at),
            TakeOutcome::Expired => return Ok(Resumption::Page(Reason::InteractionExpired)),
            TakeOutcome::RequestSpent => return Ok(Resumption::Page(Reason::RequestUriSpent)),
            TakeOutcome::NotFound => return Ok(Resumption::Page(Reason::InteractionUnknown)),
        };
        // the registration may have changed while the user was at the page
        let client = self.inner.clients.client(&request.client_id).await?;
        let client = client.filter(|client| {
            client.may_redirect_to(&request.redirect_uri) && client.may_use(GrantType::AuthorizationCode)
        });
        let Some(client) = client else {
            return Ok(Resumption::Page(Reason::ClientChanged));
        };
        match consent {
            Consent::Granted(user) => {
                let request = AuthorizationRequest {
                    scopes: request.scopes.intersection(&client.scopes),
                    ..request
                };
                self.granted(request, asked_at, user, now).await
            }
            Consent::Denied => {
                let denied = AuthEvent::new(AuthEventKind::AuthorizationDenied).by(&request.client_id);
                Ok(Resumption::Error(
                    request,
                    AuthorizationErrorCode::AccessDenied,
                    denied,
                ))
            }
        }
    }

    /// Stores a code for the user's consent, or returns the error for the client.
    async fn granted(
        &self,
        request: AuthorizationRequest,
        asked_at: SystemTime,
        user: Authentication,
        now: SystemTime,
    ) -> Result<Resumption, Broken> {
        let granted = if self.is_client(&user.subject).await? {
            Err((AuthorizationErrorCode::ServerError, Reason::SubjectIsAClient))
        } else {
            grant(&request, asked_at, user, &self.inner.audience)
        };
        let grant = match granted {
            Ok(grant) => grant,
            Err((error, reason)) => {
                let event = AuthEvent::new(AuthEventKind::RequestRefused)
                    .because(reason)
                    .by(&request.client_id);
                return Ok(Resumption::Error(request, error, event));
            }
        };
        let code = AuthorizationCode::generate(&*self.inner.entropy);
        let event = AuthEvent::new(AuthEventKind::AuthorizationGranted)
            .by(&request.client_id)
            .about(&grant.subject);
        let redirect_uri = request.redirect_uri.clone();
        let record =
            AuthorizationCodeRecord::new(code.hash(), redirect_uri, request.code_challenge, grant, now)
                .with_dpop_jkt(request.dpop_jkt);
        match self.inner.tokens.insert_code(record).await? {
            Insertion::Inserted => Ok(Resumption::Code(request, code, event)),
            Insertion::Exists => Err(Broken::entropy_repeats()),
        }
    }

    /// Returns `true` if the subject equals the identifier of a registered client, [RFC 9700
    /// §4.15](https://www.rfc-editor.org/rfc/rfc9700#section-4.15).
    async fn is_client(&self, subject: &Subject) -> Result<bool, Broken> {
        match subject.as_str().parse() {
            Ok(id) => Ok(self.inner.clients.client(&id).await?.is_some()),
            Err(_) => Ok(false),
        }
    }

    fn send_back(&self, outcome: Resumption, method: &Method) -> EndpointResponse {
        let issuer = &self.inner.issuer;
        match outcome {
            Resumption::Page(reason) => {
                let refused = AuthEvent::new(AuthEventKind::RequestRefused).because(reason);
                EndpointResponse::new(error_page(), vec![refused])
            }
            Resumption::Code(request, code, event) => {
                let state = request.state.as_ref().map(|state| ("state", state.as_str()));
                let code = iter::once(("code", code.expose()));
                let pairs = code.chain(state).chain([("iss", issuer.as_str())]);
                EndpointResponse::new(
                    redirect(&request.redirect_uri.with_query(pairs), method),
                    vec![event],
                )
            }
            Resumption::Error(request, error, event) => {
                let error = AuthorizationErrorResponse::new(error, issuer).with_state(request.state);
                EndpointResponse::new(error.into_response(&request.redirect_uri, method), vec![event])
            }
        }
    }
}

/// Builds the grant from the user's consent.
fn grant(
    request: &AuthorizationRequest,
    asked_at: SystemTime,
    user: Authentication,
    audience: &[Audience],
) -> Result<Grant, Declined> {
    use AuthorizationErrorCode as Error;
    if request
        .signed_in_since(asked_at)
        .is_some_and(|since| user.auth_time < since)
    {
        return Err((Error::LoginRequired, Reason::SignInTooOld));
    }
    // scopes beyond the requested ones are ignored
    let scopes = match &user.scopes {
        None => request.scopes.clone(),
        Some(granted) => request.scopes.intersection(granted),
    };
    if scopes.is_empty() {
        return Err((Error::AccessDenied, Reason::NothingGranted));
    }
    let audience =
        narrow(audience, &request.resources).ok_or((Error::InvalidTarget, Reason::ResourceExceeded))?;
    Ok(Grant {
        audience,
        session: user.session,
        nonce: request.nonce.clone(),
        email: user.email,
        name: user.name,
        ..Grant::new(request.client_id.clone(), user.subject, scopes, user.auth_time)
    })
}
