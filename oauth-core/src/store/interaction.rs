use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::{Insertion, PushedRequestRecord};
use crate::pkce::CodeChallenge;
use crate::ports::StoreError;
use crate::secret::TokenHash;
use crate::time::later;
use crate::vocabulary::{
    Audience, ClientId, Nonce, RedirectUri, ResponseMode, Scopes, State, Subject, Thumbprint,
};

/// An authorization request that the server has checked, [RFC 6749
/// §4.1.1](https://www.rfc-editor.org/rfc/rfc6749#section-4.1.1), before the user's sign-in and
/// consent.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct AuthorizationRequest {
    /// Requesting client.
    pub client_id: ClientId,
    /// Redirect URI of the response. It matches a registered redirect URI of the client.
    pub redirect_uri: RedirectUri,
    /// Requested scopes; a subset of the client's registered scopes.
    pub scopes: Scopes,
    /// Requested resource servers, [RFC 8707](https://www.rfc-editor.org/rfc/rfc8707). When empty,
    /// all resource servers of the authorization server.
    pub resources: Vec<Audience>,
    /// `state`, returned unchanged to the client. `None` only for a client that [may omit
    /// it](super::RegisteredClient::with_optional_state).
    pub state: Option<State>,
    /// `nonce`, copied into the ID token.
    pub nonce: Option<Nonce>,
    /// Way in which the response reaches the client.
    pub response_mode: ResponseMode,
    /// S256 code challenge.
    pub code_challenge: CodeChallenge,
    /// Thumbprint of the DPoP key to which the code is bound, [RFC 9449
    /// §10](https://www.rfc-editor.org/rfc/rfc9449#section-10).
    pub dpop_jkt: Option<Thumbprint>,
    /// Pages that the host must show, even if it could skip them.
    pub prompts: BTreeSet<Prompt>,
    /// `true` for `prompt=none`: the host must show no page.
    pub silent: bool,
    /// Maximum age of the user's authentication at the time of the request, from `max_age` in
    /// seconds.
    pub max_age: Option<Duration>,
    /// Suggested user for the sign-in page, from `login_hint`. It is unverified.
    pub login_hint: Option<String>,
    /// The only user who may answer the request, from a verified `id_token_hint`.
    pub expected_subject: Option<Subject>,
    /// Suggested languages of the page, from `ui_locales`: language tags separated by spaces, best
    /// first. The text is neither parsed nor verified.
    pub ui_locales: Option<String>,
}

impl AuthorizationRequest {
    /// Creates a request for a code that the server sends to `redirect_uri`. Scopes and optional
    /// parameters are empty.
    #[must_use]
    pub fn new(
        client_id: ClientId,
        redirect_uri: RedirectUri,
        state: State,
        code_challenge: CodeChallenge,
    ) -> Self {
        Self {
            client_id,
            redirect_uri,
            scopes: Scopes::default(),
            resources: Vec::new(),
            state: Some(state),
            nonce: None,
            response_mode: ResponseMode::default(),
            code_challenge,
            dpop_jkt: None,
            prompts: BTreeSet::new(),
            silent: false,
            max_age: None,
            login_hint: None,
            expected_subject: None,
            ui_locales: None,
        }
    }

    /// Returns the earliest acceptable authentication time for a request received at `asked_at`;
    /// `None` if any authentication time is acceptable.
    ///
    /// `prompt=login` requires a sign-in after the request, as `max_age=0` does. Compare the result
    /// with an `auth_time` that is not truncated to seconds.
    #[must_use]
    pub fn signed_in_since(&self, asked_at: SystemTime) -> Option<SystemTime> {
        let max_age = if self.prompts.contains(&Prompt::Login) {
            Duration::ZERO
        } else {
            self.max_age?
        };
        let earliest = asked_at.checked_sub(max_age);
        Some(earliest.map_or(SystemTime::UNIX_EPOCH, |earliest| {
            earliest.max(SystemTime::UNIX_EPOCH)
        }))
    }
}

/// A page that the client requires, [OpenID Connect Core
/// §3.1.2.1](https://openid.net/specs/openid-connect-core-1_0.html#AuthRequest).
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Prompt {
    /// `consent`: the host asks for consent again, even for scopes that the user granted before.
    Consent,
    /// `login`: the host authenticates the user again, even in an active session.
    Login,
    /// `select_account`: the host lets the user choose an account.
    SelectAccount,
}

impl Prompt {
    /// Parses a value of `prompt`; `None` for an unknown value and for `none`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "consent" => Some(Self::Consent),
            "login" => Some(Self::Login),
            "select_account" => Some(Self::SelectAccount),
            _ => None,
        }
    }

    /// Returns the value of `prompt`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Consent => "consent",
            Self::Login => "login",
            Self::SelectAccount => "select_account",
        }
    }
}

/// A pending interaction: an authorization request that waits for the user to sign in and consent.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct InteractionRecord {
    /// Hash of the identifier in the URL of the page.
    pub id: TokenHash,
    /// Hash of the secret in the browser's cookie. Without this secret, the identifier gives no
    /// access.
    pub browser: TokenHash,
    /// Authorization request of the client.
    pub request: AuthorizationRequest,
    /// Hash of the pushed request that started the interaction, if any. Completing the interaction
    /// completes this pushed request.
    pub pushed: Option<TokenHash>,
    /// Instant of the authorization request.
    pub created_at: SystemTime,
    /// Instant from which the interaction is refused.
    pub expires_at: SystemTime,
}

impl InteractionRecord {
    /// Lifetime of an interaction: ten minutes.
    pub const LIFETIME: Duration = Duration::from_secs(10 * 60);

    /// Creates an interaction that begins at `created_at` and expires after [`Self::LIFETIME`].
    #[must_use]
    pub fn new(
        id: TokenHash,
        browser: TokenHash,
        request: AuthorizationRequest,
        created_at: SystemTime,
    ) -> Self {
        Self {
            id,
            browser,
            request,
            pushed: None,
            created_at,
            expires_at: later(created_at, Self::LIFETIME),
        }
    }

    /// Sets the pushed request that started the interaction.
    #[must_use]
    pub fn with_pushed(self, pushed: Option<TokenHash>) -> Self {
        Self { pushed, ..self }
    }
}

/// Outcome of [`InteractionStore::take_interaction`]. The checks are made in the order `NotFound`,
/// `Expired`, `RequestSpent`.
#[derive(Clone, Debug, Eq, PartialEq)]
#[must_use]
#[non_exhaustive]
pub enum TakeOutcome {
    /// The record, now removed from the store.
    Taken(Box<InteractionRecord>),
    /// The interaction belongs to this browser and has expired; nothing changed.
    Expired,
    /// The pushed request of the interaction was completed before or no longer exists; nothing
    /// changed.
    RequestSpent,
    /// No interaction has that identifier, or it belongs to another browser; nothing changed.
    NotFound,
}

impl TakeOutcome {
    /// Decides whether `browser` may take the interaction at `now`. `interaction` is the record
    /// that the store read, or `None` if the store found no record. Returns the hash of the pushed
    /// request to complete, if there is one.
    ///
    /// In the same step the store marks that pushed request as completed and removes the
    /// interaction. The outcome is then [`TakeOutcome::Taken`]. If the pushed request does not
    /// exist or was completed before, the store changes nothing and returns
    /// [`TakeOutcome::RequestSpent`].
    ///
    /// # Errors
    ///
    /// The outcome of a refusal: [`TakeOutcome::NotFound`], also for another browser, or
    /// [`TakeOutcome::Expired`].
    pub fn decide(
        interaction: Option<&InteractionRecord>,
        browser: &TokenHash,
        now: SystemTime,
    ) -> Result<Option<TokenHash>, Self> {
        let interaction = interaction.ok_or(Self::NotFound)?;
        if !interaction.browser.matches(browser) {
            return Err(Self::NotFound);
        }
        if now >= interaction.expires_at {
            return Err(Self::Expired);
        }
        Ok(interaction.pushed)
    }
}

/// Store of pending interactions and of pushed authorization requests.
///
/// # Contract
///
/// In addition to the contract of the [module](super):
///
/// - Of any number of concurrent callers that take the same interaction, exactly one gets `Taken`.
/// - Of any number of concurrent callers that take interactions of the same pushed request, exactly
///   one gets `Taken`: the store completes the pushed request in the same step.
/// - The checks are made in the order of [`TakeOutcome::decide`]: browser, expiry, pushed request.
/// - A refusal changes nothing.
#[async_trait]
pub trait InteractionStore: Send + Sync {
    /// Inserts a new interaction. Never overwrites a record.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when nothing was stored or the response was lost.
    async fn insert_interaction(&self, interaction: InteractionRecord) -> Result<Insertion, StoreError>;

    /// Reads an interaction. An expired interaction is returned until it is purged.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer.
    async fn interaction(&self, id: &TokenHash) -> Result<Option<InteractionRecord>, StoreError>;

    /// Removes and returns the interaction if it belongs to `browser` and `now < expires_at`. If a
    /// pushed request started the interaction, that request must exist and not be completed; the
    /// same step completes it.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer. The interaction may have been removed; the user
    /// must start again at the client.
    async fn take_interaction(
        &self,
        id: &TokenHash,
        browser: &TokenHash,
        now: SystemTime,
    ) -> Result<TakeOutcome, StoreError>;

    /// Inserts a new pushed request. Never overwrites a record.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when nothing was stored or the response was lost.
    async fn insert_pushed(&self, pushed: PushedRequestRecord) -> Result<Insertion, StoreError>;

    /// Reads a pushed request. A completed or expired request is returned until it is purged.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer.
    async fn pushed(&self, hash: &TokenHash) -> Result<Option<PushedRequestRecord>, StoreError>;

    /// Deletes the interactions with `expires_at <= now` and the pushed requests with
    /// `retain_until <= now`, and returns their number.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer. Retrying is safe.
    async fn purge_interactions(&self, now: SystemTime) -> Result<u64, StoreError>;
}

#[async_trait]
impl<S: InteractionStore + ?Sized> InteractionStore for Arc<S> {
    async fn insert_interaction(&self, interaction: InteractionRecord) -> Result<Insertion, StoreError> {
        (**self).insert_interaction(interaction).await
    }

    async fn interaction(&self, id: &TokenHash) -> Result<Option<InteractionRecord>, StoreError> {
        (**self).interaction(id).await
    }

    async fn take_interaction(
        &self,
        id: &TokenHash,
        browser: &TokenHash,
        now: SystemTime,
    ) -> Result<TakeOutcome, StoreError> {
        (**self).take_interaction(id, browser, now).await
    }

    async fn insert_pushed(&self, pushed: PushedRequestRecord) -> Result<Insertion, StoreError> {
        (**self).insert_pushed(pushed).await
    }

    async fn pushed(&self, hash: &TokenHash) -> Result<Option<PushedRequestRecord>, StoreError> {
        (**self).pushed(hash).await
    }

    async fn purge_interactions(&self, now: SystemTime) -> Result<u64, StoreError> {
        (**self).purge_interactions(now).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NANOSECOND: Duration = Duration::from_nanos(1);

    fn interaction(now: SystemTime, pushed: Option<TokenHash>) -> InteractionRecord {
        let request = AuthorizationRequest::new(
            "web".parse().unwrap(),
            "https://app.example/callback".parse().unwrap(),
            "state".parse().unwrap(),
            CodeChallenge::from_bytes([1; 32]),
        );
        let (id, browser) = (TokenHash::new("id"), TokenHash::new("browser"));
        InteractionRecord::new(id, browser, request, now).with_pushed(pushed)
    }

    /// O23, O24: an unknown interaction or another browser is refused first, then an expired
    /// interaction; otherwise the pushed request is returned.
    #[test]
    fn taking_is_decided_in_documented_order() {
        let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let (own, other) = (TokenHash::new("browser"), TokenHash::new("other browser"));
        for pushed in [None, Some(TokenHash::new("pushed"))] {
            let record = interaction(start, pushed);
            let end = record.expires_at;
            for (now, is_expired) in [(start, false), (end - NANOSECOND, false), (end, true)] {
                let decide = |found, browser| TakeOutcome::decide(found, browser, now);
                assert_eq!(decide(None, &own), Err(TakeOutcome::NotFound));
                assert_eq!(decide(Some(&record), &other), Err(TakeOutcome::NotFound));
                let expected = if is_expired {
                    Err(TakeOutcome::Expired)
                } else {
                    Ok(pushed)
                };
                assert_eq!(decide(Some(&record), &own), expected);
            }
        }
    }
}
