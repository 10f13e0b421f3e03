//! Handing the user to the host's pages.

use std::collections::BTreeSet;
use std::fmt;
use std::time::SystemTime;

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
use crate::vocabulary::{Audience, ClientId, RedirectUri, Scopes};

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
        Self(random_text::<32>("", entropy))
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
    /// The resource servers that it is asked for at; all of the server's when there is none.
    pub resources: Vec<Audience>,
    /// The pages to show whatever you remember of the user.
    pub prompts: BTreeSet<Prompt>,
    /// A sign-in from before this instant does not do, and [`resume`](AuthorizationServer::resume) refuses it: have the
    /// user prove anew who they are. From `max_age` and `prompt=login`.
    pub signed_in_since: Option<SystemTime>,
    /// Whom the client expects to sign in. Not to be believed.
    pub login_hint: Option<String>,
    /// The languages that the client suggests for the page, best first: language tags with spaces between, unless somebody
    /// made them up.
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
            ui_locales: request.ui_locales.clone(),
        }
    }
}

impl AuthorizationServer {
    /// Stores a checked request and hands it to the host.
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
        let (key, secret) = (TokenHash::of(&id), TokenHash::of(browser.expose()));
        let record = InteractionRecord::new(key, secret, request, created_at).with_pushed(pushed);
        match self.inner.interactions.insert_interaction(record).await? {
            Insertion::Inserted => Ok(Interaction {
                id,
                browser,
                details,
                events: vec![AuthEvent::new(AuthEventKind::AuthorizationRequested).by(&client.id)],
            }),
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
        Ok(client.map(|client| InteractionDetails::new(&record.request, record.created_at, &client)))
    }
}
