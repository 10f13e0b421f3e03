//! Return from the consent page: the code or the error that the browser carries to the client.

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

/// The user's consent, or its refusal.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_enums, reason = "a user says yes or no")]
pub enum Consent {
    /// The user is known and said yes.
    Granted(Authentication),
    /// The user said no, or gave up.
    Denied,
}

/// Who said yes, and to how much.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Authentication {
    /// Who: never reassigned to another person, and no client's id.
    pub subject: Subject,
    /// When they proved it, as exactly as you know: cut to whole seconds, it may seem to be from before a request that it
    /// answers.
    pub auth_time: SystemTime,
    /// Their address, when known.
    pub email: Option<String>,
    /// Their name, when known.
    pub name: Option<String>,
    /// What they granted of what was asked; everything when `None`.
    pub scopes: Option<Scopes>,
    /// The session in which they did, when what they granted is to end with it; see [`with_session`](Self::with_session).
    pub session: Option<SessionId>,
}

impl Authentication {
    /// Grants everything that was asked for.
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

    /// Puts the user's address into the ID token.
    #[must_use]
    pub fn with_email(mut self, email: impl Into<String>) -> Self {
        self.email = Some(email.into());
        self
    }

    /// Puts the user's name into the ID token.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Grants no more than `scopes`.
    #[must_use]
    pub fn with_scopes(mut self, scopes: Scopes) -> Self {
        self.scopes = Some(scopes);
        self
    }

    /// Has what they grant end when this session is ended: by signing out, here or everywhere, also after it timed out. The timeout
    /// alone ends nothing of it but a code that was not redeemed yet: a client goes on refreshing.
    ///
    /// The store of tokens must be the [store](crate::store::SessionStore) of sessions too.
    #[must_use]
    pub const fn with_session(mut self, session: SessionId) -> Self {
        self.session = Some(session);
        self
    }
}

/// Response to the browser once the user has answered.
enum Resumption {
    /// Nothing, and nowhere: a page.
    Page(Reason),
    /// A code, to the client.
    Code(AuthorizationRequest, AuthorizationCode, AuthEvent),
    /// An error, to the client.
    Error(AuthorizationRequest, AuthorizationErrorCode, AuthEvent),
}

impl AuthorizationServer {
    /// Ends an interaction with what the user decided, and sends the browser back to the client with a code or an error.
    ///
    /// `method` is that of the request that is answered: 303 after a POST, 302 after a GET. An interaction is answered
    /// once; what is unknown, over, or another browser's gets an error page, and so does one whose pushed request was answered in
    /// another interaction. A sign-in from before
    /// [`signed_in_since`](super::InteractionDetails::signed_in_since) is answered by `login_required`.
    ///
    /// # Security
    ///
    /// Call it only in answer to a request that carries the cookie, for a user whose password or other proof you checked in
    /// this browser. Guard the form of the page against cross-site requests as any other.
    pub async fn resume(
        &self,
        method: &Method,
        id: &str,
        browser: &str,
        consent: Consent,
    ) -> EndpointResponse {
        match self.resumed(id, browser, consent).await {
            Ok(outcome) => self.send_back(outcome, method),
            Err(broken) => broken_page(broken),
        }
    }

    async fn resumed(&self, id: &str, browser: &str, consent: Consent) -> Result<Resumption, Broken> {
        let now = self.inner.clock.now();
        let (id, browser) = (TokenHash::of(id), TokenHash::of(browser));
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
        // the client may have been changed while the user was at the page
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

    /// Stores the code that the user's yes is worth.
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

    /// Whether the user would be taken for a client, [RFC 9700 §4.15](https://www.rfc-editor.org/rfc/rfc9700#section-4.15).
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
                let pairs = [
                    ("code", code.expose()),
                    ("state", request.state.as_str()),
                    ("iss", issuer.as_str()),
                ];
                EndpointResponse::new(
                    redirect(&request.redirect_uri.with_query(pairs), method),
                    vec![event],
                )
            }
            Resumption::Error(request, error, event) => {
                let error = AuthorizationErrorResponse::new(error, issuer).with_state(Some(request.state));
                EndpointResponse::new(error.into_response(&request.redirect_uri, method), vec![event])
            }
        }
    }
}

/// What the user's yes is worth.
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
    // a host that grants more than was asked for grants what was asked for
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
