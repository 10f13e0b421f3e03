//! Handing the user to the host's pages, and taking the answer back.

use std::fmt;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use http::{Method, Response};
use zeroize::Zeroizing;

use super::AuthorizationServer;
use super::answer::{Answer, Broken};
use super::authorize::broken_page;
use super::event::{AuthEvent, AuthEventKind};
use super::page::error_page;
use crate::error::{AuthorizationErrorCode, AuthorizationErrorResponse, redirect};
use crate::grant::AccessTokenLifetime;
use crate::ports::Entropy;
use crate::secret::{AuthorizationCode, TokenHash};
use crate::store::{
    AuthorizationCodeRecord, AuthorizationRequest, Grant, Insertion, InteractionRecord, RegisteredClient,
    TakeOutcome,
};
use crate::store_error::StoreError;
use crate::vocabulary::{ClientId, RedirectUri, Scopes, Subject};

/// How long the user may take.
const INTERACTION_LIFETIME: Duration = Duration::from_secs(10 * 60);

/// How long a code waits for its client, which is told at once.
const CODE_LIFETIME: Duration = Duration::from_secs(60);

/// A checked request that waits for the user: show a page under [`id`](Self::id) and keep [`browser`](Self::browser) in a
/// cookie.
///
/// # Security
///
/// The id stands in a URL, which is seen by many eyes; the browser secret is what keeps somebody who sees it from
/// answering, and a victim from being led to answer somebody else's request. Set the cookie `HttpOnly`, `Secure` and
/// `SameSite=Lax`, for ten minutes.
#[derive(Debug)]
#[non_exhaustive]
pub struct Interaction {
    /// Names the interaction in the page's URL.
    pub id: String,
    /// Binds it to the browser.
    pub browser: BrowserSecret,
    /// What the page must show.
    pub details: InteractionDetails,
    /// What happened, in order.
    pub events: Vec<AuthEvent>,
}

/// What ties an interaction to the browser that began it: 256 random bits, to be kept in a cookie.
#[derive(Clone)]
pub struct BrowserSecret(Zeroizing<String>);

impl BrowserSecret {
    fn generate(entropy: &dyn Entropy) -> Self {
        Self(Zeroizing::new(random_text(entropy)))
    }

    /// The secret, for the cookie of this browser and nothing else. Base64url: needs no quoting.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for BrowserSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BrowserSecret([redacted])")
    }
}

/// What a sign-in or consent page must show.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct InteractionDetails {
    /// Who asks.
    pub client_id: ClientId,
    /// What the client calls itself.
    pub client_name: Option<String>,
    /// Where the user goes next.
    pub redirect_uri: RedirectUri,
    /// What is asked for.
    pub scopes: Scopes,
    /// Whom the client expects to sign in. Not to be believed.
    pub login_hint: Option<String>,
}

impl InteractionDetails {
    fn new(request: &AuthorizationRequest, client: &RegisteredClient) -> Self {
        Self {
            client_id: request.client_id.clone(),
            client_name: client.name.clone(),
            redirect_uri: request.redirect_uri.clone(),
            scopes: request.scopes.clone(),
            login_hint: request.login_hint.clone(),
        }
    }
}

/// What the user decided.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_enums, reason = "a user says yes or no")]
pub enum Decision {
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
    /// When they proved it.
    pub auth_time: SystemTime,
    /// Their address, when known.
    pub email: Option<String>,
    /// Their name, when known.
    pub name: Option<String>,
    /// What they granted of what was asked; everything when `None`.
    pub scopes: Option<Scopes>,
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
}

/// What a user's yes is worth.
enum Granted {
    Code(AuthorizationCode, AuthEvent),
    Nothing(AuthorizationErrorCode, &'static str),
}

impl AuthorizationServer {
    /// Stores a checked request and hands it to the host.
    pub(super) async fn begin(
        &self,
        request: AuthorizationRequest,
        client: &RegisteredClient,
        events: &mut Vec<AuthEvent>,
    ) -> Result<Interaction, Broken> {
        let id = random_text(&*self.inner.entropy);
        let browser = BrowserSecret::generate(&*self.inner.entropy);
        let details = InteractionDetails::new(&request, client);
        let created_at = self.inner.clock.now();
        let record = InteractionRecord {
            id: TokenHash::of(&id),
            browser: TokenHash::of(browser.expose()),
            request,
            created_at,
            expires_at: created_at + INTERACTION_LIFETIME,
        };
        match self.inner.interactions.insert_interaction(record).await? {
            Insertion::Inserted => {
                events.push(AuthEvent::new(AuthEventKind::AuthorizationRequested).by(&client.id));
                Ok(Interaction {
                    id,
                    browser,
                    details,
                    events: Vec::new(),
                })
            }
            Insertion::Exists => Err(Broken::entropy_repeats()),
        }
    }

    /// What the page of an interaction must show; `id` from its URL, `browser` from the cookie.
    ///
    /// `None` when there is no such interaction, it is over, or it is another browser's.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer.
    pub async fn interaction(
        &self,
        id: &str,
        browser: &str,
    ) -> Result<Option<InteractionDetails>, StoreError> {
        let Some(record) = self.inner.interactions.interaction(&TokenHash::of(id)).await? else {
            return Ok(None);
        };
        if !record.browser.matches(&TokenHash::of(browser)) || self.inner.clock.now() >= record.expires_at {
            return Ok(None);
        }
        let client = self.inner.clients.client(&record.request.client_id).await?;
        Ok(client.map(|client| InteractionDetails::new(&record.request, &client)))
    }

    /// Ends an interaction with what the user decided, and sends the browser back to the client with a code or an error.
    ///
    /// `method` is that of the request that is answered: 303 after a POST, 302 after a GET. An interaction is answered
    /// once; what is unknown, over, or another browser's gets an error page.
    ///
    /// # Security
    ///
    /// Call it only in answer to a request that carries the cookie, for a user whose password or other proof you checked in
    /// this browser. Guard the form of the page against cross-site requests as any other.
    pub async fn resume(&self, method: &Method, id: &str, browser: &str, decision: Decision) -> Answer {
        let mut events = Vec::new();
        match self.resumed(method, [id, browser], decision, &mut events).await {
            Ok(response) => Answer::new(response, events),
            Err(broken) => broken_page(broken, events),
        }
    }

    async fn resumed(
        &self,
        method: &Method,
        keys: [&str; 2],
        decision: Decision,
        events: &mut Vec<AuthEvent>,
    ) -> Result<Response<Bytes>, Broken> {
        let now = self.inner.clock.now();
        let [id, browser] = keys.map(TokenHash::of);
        let request = match self
            .inner
            .interactions
            .take_interaction(&id, &browser, now)
            .await?
        {
            TakeOutcome::Taken(record) => record.request,
            TakeOutcome::Expired => return Ok(refused(events, "interaction_expired")),
            TakeOutcome::NotFound => return Ok(refused(events, "interaction_unknown")),
        };
        // the client may have been changed while the user was at the page
        let client = self.inner.clients.client(&request.client_id).await?;
        if !client.is_some_and(|client| client.may_redirect_to(&request.redirect_uri)) {
            return Ok(refused(events, "client_changed"));
        }
        match decision {
            Decision::Granted(user) => match self.granted(&request, user, now).await? {
                Granted::Code(code, event) => {
                    events.push(event);
                    Ok(self.with_code(&request, &code, method))
                }
                Granted::Nothing(error, reason) => {
                    events.push(
                        AuthEvent::new(AuthEventKind::RequestRefused)
                            .because(reason)
                            .by(&request.client_id),
                    );
                    Ok(self.with_error(request, error, method))
                }
            },
            Decision::Denied => {
                events.push(AuthEvent::new(AuthEventKind::AuthorizationDenied).by(&request.client_id));
                Ok(self.with_error(request, AuthorizationErrorCode::AccessDenied, method))
            }
        }
    }

    /// Stores the code that the user's yes is worth.
    async fn granted(
        &self,
        request: &AuthorizationRequest,
        user: Authentication,
        now: SystemTime,
    ) -> Result<Granted, Broken> {
        // RFC 9700 4.15: a user must not be taken for a client
        let namesake: Option<ClientId> = user.subject.as_str().parse().ok();
        if let Some(id) = namesake
            && self.inner.clients.client(&id).await?.is_some()
        {
            return Ok(Granted::Nothing(
                AuthorizationErrorCode::ServerError,
                "subject_is_a_client",
            ));
        }
        let scopes = granted_scopes(&request.scopes, user.scopes.as_ref());
        if scopes.is_empty() {
            return Ok(Granted::Nothing(
                AuthorizationErrorCode::AccessDenied,
                "nothing_granted",
            ));
        }
        let code = AuthorizationCode::generate(&*self.inner.entropy);
        let event = AuthEvent::new(AuthEventKind::AuthorizationGranted)
            .by(&request.client_id)
            .about(&user.subject);
        let record = self.code_record(
            &code,
            request,
            Authentication {
                scopes: Some(scopes),
                ..user
            },
            now,
        );
        match self.inner.tokens.insert_code(record).await? {
            Insertion::Inserted => Ok(Granted::Code(code, event)),
            Insertion::Exists => Err(Broken::entropy_repeats()),
        }
    }

    fn code_record(
        &self,
        code: &AuthorizationCode,
        request: &AuthorizationRequest,
        user: Authentication,
        now: SystemTime,
    ) -> AuthorizationCodeRecord {
        let expires_at = now + CODE_LIFETIME;
        AuthorizationCodeRecord {
            hash: code.hash(),
            redirect_uri: request.redirect_uri.clone(),
            code_challenge: request.code_challenge,
            grant: Grant {
                client_id: request.client_id.clone(),
                subject: user.subject,
                scopes: user.scopes.unwrap_or_default(),
                audience: self.inner.audience.clone(),
                auth_time: user.auth_time,
                nonce: request.nonce.clone(),
                email: user.email,
                name: user.name,
            },
            issued_at: now,
            expires_at,
            retain_until: expires_at + self.inner.policy.refresh_token.absolute() + AccessTokenLifetime::MAX,
            redeemed: None,
        }
    }

    fn with_code(
        &self,
        request: &AuthorizationRequest,
        code: &AuthorizationCode,
        method: &Method,
    ) -> Response<Bytes> {
        let pairs = [
            ("code", code.expose()),
            ("state", request.state.as_str()),
            ("iss", self.inner.issuer.as_str()),
        ];
        redirect(&request.redirect_uri.with_query(pairs), method)
    }

    fn with_error(
        &self,
        request: AuthorizationRequest,
        error: AuthorizationErrorCode,
        method: &Method,
    ) -> Response<Bytes> {
        let error =
            AuthorizationErrorResponse::new(error, &self.inner.issuer).with_state(Some(request.state));
        error.into_response(&request.redirect_uri, method)
    }
}

/// What was asked for and granted: a host that grants more than was asked for grants what was asked for.
fn granted_scopes(asked: &Scopes, granted: Option<&Scopes>) -> Scopes {
    match granted {
        None => asked.clone(),
        Some(granted) => granted
            .iter()
            .filter(|scope| asked.contains(scope))
            .cloned()
            .collect(),
    }
}

fn refused(events: &mut Vec<AuthEvent>, reason: &'static str) -> Response<Bytes> {
    events.push(AuthEvent::new(AuthEventKind::RequestRefused).because(reason));
    error_page()
}

/// 256 random bits as text.
fn random_text(entropy: &dyn Entropy) -> String {
    let mut bytes = Zeroizing::new([0; 32]);
    entropy.fill(bytes.as_mut_slice());
    URL_SAFE_NO_PAD.encode(bytes.as_slice())
}
