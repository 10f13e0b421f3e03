//! Completion of an interaction: redirect to the client with a code or an error.

use std::iter;
use std::time::SystemTime;

use http::header::SET_COOKIE;
use http::{Method, Request, StatusCode};

use super::AuthorizationServer;
use super::authorization_request::Declined;
use super::endpoint_response::{Broken, EndpointResponse};
use super::page::AuthorizationFault;
use crate::error::{AuthorizationErrorCode, AuthorizationErrorResponse, Reason, respond};
use crate::event::{AuthEvent, AuthEventKind, RequestContext};
use crate::grant::narrow;
use crate::secret::{AuthorizationCode, TokenHash};
use crate::store::{
    AuthorizationCodeRecord, AuthorizationRequest, Grant, GrantType, Insertion, Prompt, RegisteredClient,
    SessionId, TakeOutcome,
};
use crate::vocabulary::{Audience, Claims, Scopes, Subject};

/// Decision of the user on the consent page.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_enums, reason = "a user says yes or no, now or before")]
pub enum Consent {
    /// The host authenticated the user, and the user consented on the page. The server stores the
    /// consent if it has a [consent store](super::AuthorizationServerBuilder::with_consents).
    Granted(Authentication),
    /// The host authenticated the user and did not ask for consent, because
    /// [`needs_consent`](AuthorizationServer::needs_consent) was `false`. The server checks the
    /// stored consent again; without it, the client gets `consent_required`.
    Remembered(Authentication),
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
    /// Further claims of the sign-in; see [`with_claims`](Self::with_claims).
    pub claims: Claims,
    /// Session whose end revokes the grant; see [`with_session`](Self::with_session).
    pub session: Option<SessionId>,
}

impl Authentication {
    /// Creates an authentication of `subject` at `auth_time`, which grants all requested scopes.
    #[must_use]
    pub fn new(subject: Subject, auth_time: SystemTime) -> Self {
        Self {
            subject,
            auth_time,
            email: None,
            name: None,
            scopes: None,
            claims: Claims::default(),
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

    /// Sets further claims of the sign-in, for ID tokens and UserInfo, for example `acr` and `amr`.
    /// Access tokens and introspection get only `acr` and `amr`. A [claims
    /// source](super::ClaimsSource) sets current claims.
    #[must_use]
    pub fn with_claims(mut self, claims: Claims) -> Self {
        self.claims = claims;
        self
    }

    /// Limits the grant to those requested scopes that are in `scopes`.
    #[must_use]
    pub fn with_scopes(mut self, scopes: Scopes) -> Self {
        self.scopes = Some(scopes);
        self
    }

    /// Sets the session of the grant, which is also the claim `sid` of ID tokens. When the user
    /// signs out of this session or everywhere, the grant is revoked, even if the session has timed
    /// out before. A timeout invalidates only a code that was not redeemed yet; after it, clients
    /// can continue to refresh.
    ///
    /// The token store of the server must also be the [session store](crate::store::SessionStore).
    #[must_use]
    pub fn with_session(mut self, session: SessionId) -> Self {
        self.session = Some(session);
        self
    }
}

/// Outcome of completing an interaction.
pub(super) enum Resumption {
    /// Show the error page, without a redirect.
    Page(Reason),
    /// Redirect to the client with a code.
    Code(AuthorizationRequest, AuthorizationCode, AuthEvent),
    /// Redirect to the client with an error.
    Error(AuthorizationRequest, AuthorizationErrorCode, AuthEvent),
}

impl Resumption {
    fn refused(request: AuthorizationRequest, error: AuthorizationErrorCode, reason: Reason) -> Self {
        let event = AuthEvent::new(AuthEventKind::RequestRefused).because(reason);
        let event = event.by(&request.client_id);
        Self::Error(request, error, event)
    }
}

impl AuthorizationServer {
    /// Completes an interaction with the user's decision, and redirects the browser to the client
    /// with a code or an error.
    ///
    /// `request` is the current request of the browser: the status is 303 after a `POST`, otherwise
    /// 302. The events and the error page have the [`RequestContext`] of its extensions.
    ///
    /// - The response deletes the cookie of [`set_cookie`](super::Interaction::set_cookie).
    /// - An interaction can be completed once. The response is an error page if the interaction is
    ///   unknown, has expired or belongs to another browser, if another interaction completed its
    ///   pushed request, or if the client was deleted or may no longer use the redirect URI or the
    ///   grant.
    /// - If the user authenticated before
    ///   [`signed_in_since`](super::InteractionDetails::signed_in_since), or is not the
    ///   [expected user](super::InteractionDetails::expected_subject), the client gets
    ///   `login_required`. If no requested scope was granted, the client gets `access_denied`.
    ///
    /// # Security
    ///
    /// Call it only for a request with the cookie of the interaction, and for a user that the host
    /// authenticated in this browser. Protect the form of the consent page against cross-site
    /// request forgery.
    pub async fn resume<B>(
        &self,
        request: &Request<B>,
        id: &str,
        browser: &str,
        consent: Consent,
    ) -> EndpointResponse {
        let context = request.extensions().get::<RequestContext>();
        let mut response = match self.complete(id, browser, consent).await {
            Ok(outcome) => {
                // only then is `id` known to be base64url
                let is_taken = !matches!(outcome, Resumption::Page(_));
                let mut sent = self.send_back(outcome, request.method(), context);
                if is_taken {
                    let cookie = self.cleared_interaction_cookie(id);
                    sent.response.headers_mut().append(SET_COOKIE, cookie);
                }
                sent
            }
            Err(broken) => self.broken_page(broken, context.and_then(|context| context.request_id.clone())),
        };
        RequestContext::stamp(context, &mut response.events, self.inner.clock.now());
        response
    }

    async fn complete(&self, id: &str, browser: &str, consent: Consent) -> Result<Resumption, Broken> {
        let now = self.inner.clock.now();
        let (request, asked_at, client) = match self.take(id, browser, now).await? {
            Ok(taken) => taken,
            Err(reason) => return Ok(Resumption::Page(reason)),
        };
        let (user, is_remembered) = match consent {
            Consent::Granted(user) => (user, false),
            Consent::Remembered(user) => (user, true),
            Consent::Denied => {
                let denied = AuthEvent::new(AuthEventKind::AuthorizationDenied).by(&request.client_id);
                let error = AuthorizationErrorCode::AccessDenied;
                return Ok(Resumption::Error(request, error, denied));
            }
        };
        let unconsented = |request| {
            let error = AuthorizationErrorCode::ConsentRequired;
            Ok(Resumption::refused(request, error, Reason::ConsentRequired))
        };
        if is_remembered {
            let asked = (&request).into();
            let must_ask = request.prompts.contains(&Prompt::Consent);
            if must_ask || !self.is_consent_covered(&client, &user.subject, &asked).await? {
                return unconsented(request);
            }
        }
        let grant = match self.check_grant(&request, asked_at, user).await? {
            Ok(grant) => grant,
            Err((error, reason)) => return Ok(Resumption::refused(request, error, reason)),
        };
        if !is_remembered {
            self.store_consent(&grant).await?;
        }
        let outcome = self.issue_code(request.clone(), grant.clone(), now).await?;
        // a concurrent withdrawal may have missed this code
        if self.is_consent_withdrawn(&client, &grant).await? {
            return unconsented(request);
        }
        Ok(outcome)
    }

    /// Takes the interaction of this browser, with its instant and its client. The error is the
    /// reason for the error page.
    pub(super) async fn take(
        &self,
        id: &str,
        browser: &str,
        now: SystemTime,
    ) -> Result<Result<(AuthorizationRequest, SystemTime, RegisteredClient), Reason>, Broken> {
        let (id, browser) = (TokenHash::new(id), TokenHash::new(browser));
        let taken = self.inner.interactions.take_interaction(&id, &browser, now);
        let (request, asked_at) = match taken.await? {
            TakeOutcome::Taken(record) => (record.request, record.created_at),
            TakeOutcome::Expired => return Ok(Err(Reason::InteractionExpired)),
            TakeOutcome::RequestSpent => return Ok(Err(Reason::RequestUriSpent)),
            TakeOutcome::NotFound => return Ok(Err(Reason::InteractionUnknown)),
        };
        // the registration may have changed while the user was at the page
        let client = self.inner.clients.client(&request.client_id).await?;
        let client = client.filter(|client| {
            client.may_redirect_to(&request.redirect_uri) && client.may_use(GrantType::AuthorizationCode)
        });
        let Some(client) = client else {
            return Ok(Err(Reason::ClientChanged));
        };
        let request = AuthorizationRequest {
            scopes: request.scopes.intersection(&client.scopes),
            ..request
        };
        Ok(Ok((request, asked_at, client)))
    }

    /// Returns the grant of an authenticated user, or the error for the client.
    pub(super) async fn check_grant(
        &self,
        request: &AuthorizationRequest,
        asked_at: SystemTime,
        user: Authentication,
    ) -> Result<Result<Grant, Declined>, Broken> {
        if self.is_client(&user.subject).await? {
            return Ok(Err((
                AuthorizationErrorCode::ServerError,
                Reason::SubjectIsAClient,
            )));
        }
        if self.is_locked(&user.subject).await? {
            return Ok(Err((AuthorizationErrorCode::AccessDenied, Reason::SubjectLocked)));
        }
        Ok(grant(request, asked_at, user, &self.inner.audience))
    }

    /// Stores a code for the grant.
    pub(super) async fn issue_code(
        &self,
        request: AuthorizationRequest,
        grant: Grant,
        now: SystemTime,
    ) -> Result<Resumption, Broken> {
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

    pub(super) fn send_back(
        &self,
        outcome: Resumption,
        method: &Method,
        context: Option<&RequestContext>,
    ) -> EndpointResponse {
        let issuer = &self.inner.issuer;
        match outcome {
            Resumption::Page(reason) => {
                let refused = AuthEvent::new(AuthEventKind::RequestRefused).because(reason);
                let fault = AuthorizationFault {
                    reason,
                    client_id: None,
                    redirect_uri: None,
                    request_id: context.and_then(|context| context.request_id.clone()),
                };
                EndpointResponse::new(self.error_page(StatusCode::BAD_REQUEST, &fault), vec![refused])
            }
            Resumption::Code(request, code, event) => {
                let state = request.state.as_ref().map(|state| ("state", state.as_str()));
                let code = iter::once(("code", code.expose()));
                let pairs = code.chain(state).chain([("iss", issuer.as_str())]);
                let response = respond(&request.redirect_uri, request.response_mode, pairs, method);
                EndpointResponse::new(response, vec![event])
            }
            Resumption::Error(request, error, event) => {
                let error = match event.reason {
                    Some(reason) => self.authorization_error(error, reason),
                    None => AuthorizationErrorResponse::new(error, issuer),
                };
                let error = error
                    .with_state(request.state)
                    .with_response_mode(request.response_mode);
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
    if request
        .expected_subject
        .as_ref()
        .is_some_and(|expected| *expected != user.subject)
    {
        return Err((Error::LoginRequired, Reason::IdTokenHintOfAnotherUser));
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
        claims: user.claims,
        ..Grant::new(request.client_id.clone(), user.subject, scopes, user.auth_time)
    })
}
