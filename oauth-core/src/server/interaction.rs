//! Interactions: authorization requests that wait for the host's sign-in and consent pages.

use std::collections::BTreeSet;
use std::fmt;
use std::time::SystemTime;

use http::header::COOKIE;
use http::{HeaderMap, HeaderValue};
use zeroize::Zeroizing;

use super::AuthorizationServer;
use super::authorize::Checked;
use super::endpoint_response::Broken;
use crate::event::{AuthEvent, AuthEventKind};
use crate::ports::Entropy;
use crate::ports::StoreError;
use crate::random::random_text;
use crate::secret::TokenHash;
use crate::store::{AuthorizationRequest, Insertion, InteractionRecord, Prompt, RegisteredClient};
use crate::vocabulary::{Audience, ClientId, RedirectUri, Scopes, Subject};

/// An authorization request that passed all checks and waits for the user. The host shows a page
/// with [`id`](Self::id) in its URL, and sets [`browser`](Self::browser) as a cookie.
///
/// # Security
///
/// The id is in a URL, which other persons may see. The browser secret prevents two attacks: an
/// attacker completes the interaction of a user, or makes a user complete the attacker's
/// interaction. [`set_cookie`](Self::set_cookie) is a ready cookie. A host that sets its own makes
/// it `HttpOnly`, `Secure` and `SameSite=Lax`, with a `Max-Age` of ten minutes.
#[derive(Debug)]
#[non_exhaustive]
pub struct Interaction {
    /// Identifier of the interaction, for the URL of the page: 43 base64url characters.
    pub id: String,
    /// Secret that binds the interaction to the browser, for a cookie.
    pub browser: BrowserSecret,
    /// `Set-Cookie` value that stores the secret in the browser for ten minutes;
    /// [`browser_secret`](AuthorizationServer::browser_secret) reads the cookie. Each interaction
    /// has its own cookie. If the issuer is plain `http`, the cookie has neither `Secure` nor the
    /// prefix `__Host-`.
    pub set_cookie: HeaderValue,
    /// Details for the sign-in or consent page.
    pub details: InteractionDetails,
    /// Events in the order in which they happened, for the audit log.
    pub events: Vec<AuthEvent>,
}

/// Secret that binds an interaction to its browser: 256 random bits as 43 base64url characters, for
/// a cookie.
#[derive(Clone)]
pub struct BrowserSecret(Zeroizing<String>);

impl BrowserSecret {
    fn generate(entropy: &dyn Entropy) -> Self {
        Self(random_text::<32>("", entropy))
    }

    /// Returns the secret, for a cookie of this browser only. Its characters need no quoting.
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

/// Details for a sign-in or consent page.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct InteractionDetails {
    /// Requesting client.
    pub client_id: ClientId,
    /// Registered name of the client, if it has one.
    pub client_name: Option<String>,
    /// Redirect URI to which the server sends the browser after the interaction.
    pub redirect_uri: RedirectUri,
    /// Requested scopes.
    pub scopes: Scopes,
    /// Requested resource servers. When empty, all resource servers of the authorization server.
    pub resources: Vec<Audience>,
    /// Pages that the host must show, even if it could skip them.
    pub prompts: BTreeSet<Prompt>,
    /// Earliest acceptable authentication time of the user, from `max_age` and `prompt=login`;
    /// `None` if any is acceptable. [`resume`](AuthorizationServer::resume) refuses an earlier
    /// authentication, so the page must then authenticate the user again.
    pub signed_in_since: Option<SystemTime>,
    /// Suggested user for the sign-in page, from `login_hint`. It is unverified.
    pub login_hint: Option<String>,
    /// The only user who may answer the request, from a verified `id_token_hint`: ask this user to
    /// sign in. [`resume`](AuthorizationServer::resume) refuses other users with `login_required`.
    pub expected_subject: Option<Subject>,
    /// Suggested languages of the page, from `ui_locales`: language tags separated by spaces, best
    /// first. The text is neither parsed nor verified.
    pub ui_locales: Option<String>,
}

impl InteractionDetails {
    fn new(request: &AuthorizationRequest, asked_at: SystemTime, client: &RegisteredClient) -> Self {
        Self {
            client_id: request.client_id.clone(),
            client_name: client.name.clone(),
            redirect_uri: request.redirect_uri.clone(),
            scopes: request.scopes.clone(),
            resources: request.resources.clone(),
            prompts: request.prompts.clone(),
            signed_in_since: request.signed_in_since(asked_at),
            login_hint: request.login_hint.clone(),
            expected_subject: request.expected_subject.clone(),
            ui_locales: request.ui_locales.clone(),
        }
    }
}

impl AuthorizationServer {
    /// Stores a request that passed all checks as an interaction.
    pub(super) async fn begin(&self, checked: Checked) -> Result<Interaction, Broken> {
        let Checked {
            request,
            client,
            pushed,
        } = checked;
        let id = random_text::<32>("", &*self.inner.entropy).to_string();
        let browser = BrowserSecret::generate(&*self.inner.entropy);
        let created_at = self.inner.clock.now();
        let details = InteractionDetails::new(&request, created_at, &client);
        let (key, secret) = (TokenHash::new(&id), TokenHash::new(browser.expose()));
        let record = InteractionRecord::new(key, secret, request, created_at).with_pushed(pushed);
        match self.inner.interactions.insert_interaction(record).await? {
            Insertion::Inserted => Ok(Interaction {
                set_cookie: self.interaction_cookie(&id, &browser),
                id,
                browser,
                details,
                events: vec![AuthEvent::new(AuthEventKind::AuthorizationRequested).by(&client.id)],
            }),
            Insertion::Exists => Err(Broken::entropy_repeats()),
        }
    }

    /// Builds the cookie of an interaction.
    fn interaction_cookie(&self, id: &str, browser: &BrowserSecret) -> HeaderValue {
        self.cookie(id, browser.expose(), 600)
    }

    /// Builds the cookie that deletes the cookie of an interaction.
    pub(super) fn cleared_interaction_cookie(&self, id: &str) -> HeaderValue {
        self.cookie(id, "", 0)
    }

    /// Builds a cookie. Its name and value are base64url.
    fn cookie(&self, id: &str, secret: &str, max_age: u32) -> HeaderValue {
        let name = self.cookie_name(id);
        let secure = if name.starts_with("__Host-") {
            "; Secure"
        } else {
            ""
        };
        let cookie = format!("{name}={secret}; Path=/; Max-Age={max_age}{secure}; HttpOnly; SameSite=Lax");
        let cookie = HeaderValue::try_from(cookie);
        let mut cookie = cookie.unwrap_or_else(|_| HeaderValue::from_static(""));
        cookie.set_sensitive(true);
        cookie
    }

    fn cookie_name(&self, id: &str) -> String {
        let is_plain = self.inner.issuer.as_str().starts_with("http:");
        let prefix = if is_plain { "" } else { "__Host-" };
        format!("{prefix}interaction-{id}")
    }

    /// Reads the secret of an interaction from the cookie that
    /// [`set_cookie`](Interaction::set_cookie) set. `id` is from the URL of the page, `headers` are
    /// those of the request. If the browser has no such cookie, the secret is empty and belongs to
    /// no interaction.
    #[must_use]
    pub fn browser_secret(&self, id: &str, headers: &HeaderMap) -> BrowserSecret {
        let wanted = self.cookie_name(id);
        let lines = headers.get_all(COOKIE).into_iter();
        let mut pairs = lines
            .filter_map(|line| line.to_str().ok())
            .flat_map(|line| line.split(';'))
            .filter_map(|pair| pair.trim_matches([' ', '\t']).split_once('='));
        let found = pairs.find(|(name, _)| *name == wanted);
        let secret = found.map(|(_, secret)| secret.to_owned());
        BrowserSecret(Zeroizing::new(secret.unwrap_or_default()))
    }

    /// Returns the details of an interaction, for its page. `id` is from the URL of the page,
    /// `browser` is from the cookie.
    ///
    /// Returns `None` if the interaction does not exist, has expired or belongs to another browser,
    /// or if its client was deleted.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer.
    pub async fn interaction(
        &self,
        id: &str,
        browser: &str,
    ) -> Result<Option<InteractionDetails>, StoreError> {
        let Some(record) = self.inner.interactions.interaction(&TokenHash::new(id)).await? else {
            return Ok(None);
        };
        if !record.browser.matches(&TokenHash::new(browser)) || self.inner.clock.now() >= record.expires_at {
            return Ok(None);
        }
        let client = self.inner.clients.client(&record.request.client_id).await?;
        Ok(client.map(|client| InteractionDetails::new(&record.request, record.created_at, &client)))
    }
}
