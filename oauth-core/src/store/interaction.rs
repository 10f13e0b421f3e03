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
use crate::vocabulary::{Audience, ClientId, Nonce, RedirectUri, Scopes, State, Thumbprint};

/// A checked authorization request, [RFC 6749 §4.1.1](https://www.rfc-editor.org/rfc/rfc6749#section-4.1.1): what
/// remains to be done is to ask the user.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct AuthorizationRequest {
    /// Who asks.
    pub client_id: ClientId,
    /// Where the answer goes; one of the client's registered ones.
    pub redirect_uri: RedirectUri,
    /// What is asked for; a subset of what the client may ask for.
    pub scopes: Scopes,
    /// The resource servers that tokens are asked for, [RFC 8707](https://www.rfc-editor.org/rfc/rfc8707); all of the
    /// server's when there is none.
    pub resources: Vec<Audience>,
    /// Handed back as it came.
    pub state: State,
    /// Copied into the ID token; there whenever `openid` is asked for.
    pub nonce: Option<Nonce>,
    /// The S256 challenge.
    pub code_challenge: CodeChallenge,
    /// The key that the code is to be bound to, [RFC 9449 §10](https://www.rfc-editor.org/rfc/rfc9449#section-10).
    pub dpop_jkt: Option<Thumbprint>,
    /// The pages that the client wants shown whatever the host remembers.
    pub prompts: BTreeSet<Prompt>,
    /// Whether no page may be shown at all: `prompt=none`.
    pub silent: bool,
    /// How long ago, before the request, the user may have proven who they are.
    pub max_age: Option<Duration>,
    /// Whom the client expects to sign in, for the page to suggest. Not to be believed.
    pub login_hint: Option<String>,
    /// The languages of the page that the client suggests, as it wrote them. Not to be believed.
    pub ui_locales: Option<String>,
}

impl AuthorizationRequest {
    /// A request for a code that is sent to `redirect_uri`, without scopes or further wishes.
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
            state,
            nonce: None,
            code_challenge,
            dpop_jkt: None,
            prompts: BTreeSet::new(),
            silent: false,
            max_age: None,
            login_hint: None,
            ui_locales: None,
        }
    }

    /// The instant, by a request of `asked_at`, before which the user must not have proven who they are; `None` when any
    /// sign-in does. To the nanosecond: were it cut to the second that `auth_time` is on the wire, a sign-in from before a
    /// request would do for its `prompt=login`.
    ///
    /// `prompt=login` wants a sign-in since the request itself, as `max_age=0` does.
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

/// A page that the client wants the user to see,
/// [OpenID Connect Core §3.1.2.1](https://openid.net/specs/openid-connect-core-1_0.html#AuthRequest).
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Prompt {
    /// `consent`: ask again, also for what was granted before.
    Consent,
    /// `login`: have the user prove who they are, also when somebody is signed in.
    Login,
    /// `select_account`: let the user choose who to be.
    SelectAccount,
}

impl Prompt {
    /// The page of that name; `none` is the name of no page.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        match name {
            "consent" => Some(Self::Consent),
            "login" => Some(Self::Login),
            "select_account" => Some(Self::SelectAccount),
            _ => None,
        }
    }

    /// The name of the page.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Consent => "consent",
            Self::Login => "login",
            Self::SelectAccount => "select_account",
        }
    }
}

/// A request that waits for a user to sign in and consent.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct InteractionRecord {
    /// The hash of the id in the page's URL.
    pub id: TokenHash,
    /// The hash of the secret in the browser's cookie, without which the id opens nothing.
    pub browser: TokenHash,
    /// What was asked.
    pub request: AuthorizationRequest,
    /// The hash of the pushed request that it came from, which is spent with it.
    pub pushed: Option<TokenHash>,
    /// When it was asked.
    pub created_at: SystemTime,
    /// The instant from which it can no longer be answered.
    pub expires_at: SystemTime,
}

impl InteractionRecord {
    /// The time that the user has to answer: ten minutes.
    pub const LIFETIME: Duration = Duration::from_secs(10 * 60);

    /// An interaction that begins at `created_at` and can be answered for [`Self::LIFETIME`].
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

    /// Names the pushed request that the interaction came from, which is spent with it.
    #[must_use]
    pub fn with_pushed(self, pushed: Option<TokenHash>) -> Self {
        Self { pushed, ..self }
    }
}

/// Outcome of taking an interaction. The checks are made in the order `NotFound`, `Expired`, `RequestSpent`.
#[derive(Clone, Debug, Eq, PartialEq)]
#[must_use]
#[non_exhaustive]
pub enum TakeOutcome {
    /// It is the caller's, and gone from the store.
    Taken(Box<InteractionRecord>),
    /// It belongs to this browser and is too old; unchanged.
    Expired,
    /// The pushed request that it came from is completed or gone; unchanged.
    RequestSpent,
    /// There is none of that id, or it belongs to another browser; unchanged.
    NotFound,
}

impl TakeOutcome {
    /// Decides at `now` whether `browser` may take the interaction that the store read; `None` when it found none. The result is the
    /// hash of the pushed request to complete first, if there is one.
    ///
    /// In the same step the store marks that request as completed, which must change one row, and removes the interaction;
    /// after both the outcome is [`TakeOutcome::Taken`]. When the request is gone or was completed before, the store changes nothing
    /// and the outcome is [`TakeOutcome::RequestSpent`].
    ///
    /// # Errors
    ///
    /// The outcome when nothing is to be written: [`TakeOutcome::NotFound`], also for another browser, or
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

/// Keeps sign-ins while the user is at the host's pages, and pushed requests until one of their sign-ins is answered.
///
/// # What an implementation must guarantee
///
/// See the [module](super). Of any number of callers that take one interaction exactly one gets it, and of any number that
/// take interactions of one pushed request as well: taking spends both in the same step. [`TakeOutcome::decide`] has the order
/// of the checks: the browser, then the expiry, then the pushed request. A refusal changes nothing.
#[async_trait]
pub trait InteractionStore: Send + Sync {
    /// Stores a new interaction; never overwrites.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when nothing was stored or the answer was lost.
    async fn insert_interaction(&self, interaction: InteractionRecord) -> Result<Insertion, StoreError>;

    /// Reads an interaction, also one that has expired and was not purged yet.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer.
    async fn interaction(&self, id: &TokenHash) -> Result<Option<InteractionRecord>, StoreError>;

    /// Removes the interaction and answers it, when it belongs to `browser` and `now < expires_at`. When it came from a
    /// pushed request, that one must be there and not completed, and is completed in the same step.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer; the interaction may be gone then, and the user starts again.
    async fn take_interaction(
        &self,
        id: &TokenHash,
        browser: &TokenHash,
        now: SystemTime,
    ) -> Result<TakeOutcome, StoreError>;

    /// Stores a new pushed request; never overwrites.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when nothing was stored or the answer was lost.
    async fn insert_pushed(&self, pushed: PushedRequestRecord) -> Result<Insertion, StoreError>;

    /// Reads a pushed request, also one that is completed, or has expired and was not purged yet.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer.
    async fn pushed(&self, hash: &TokenHash) -> Result<Option<PushedRequestRecord>, StoreError>;

    /// Drops the interactions with `expires_at <= now` and the pushed requests with `retain_until <= now`, and answers how
    /// many those were.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer; calling again is safe.
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
        let (id, browser) = (TokenHash::of("id"), TokenHash::of("browser"));
        InteractionRecord::new(id, browser, request, now).with_pushed(pushed)
    }

    /// O23, O24: no interaction and another browser, then the expiry, then the pushed request; each combination.
    #[test]
    fn taking_is_decided_in_documented_order() {
        let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let (own, other) = (TokenHash::of("browser"), TokenHash::of("other browser"));
        for pushed in [None, Some(TokenHash::of("pushed"))] {
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
