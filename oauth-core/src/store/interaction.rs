use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::{Insertion, PushedRequestRecord};
use crate::pkce::CodeChallenge;
use crate::ports::StoreError;
use crate::secret::TokenHash;
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
    #[serde(default)]
    pub resources: Vec<Audience>,
    /// Handed back as it came.
    pub state: State,
    /// Copied into the ID token; there whenever `openid` is asked for.
    pub nonce: Option<Nonce>,
    /// The S256 challenge.
    pub code_challenge: CodeChallenge,
    /// The key that the code is to be bound to, [RFC 9449 §10](https://www.rfc-editor.org/rfc/rfc9449#section-10).
    #[serde(default)]
    pub dpop_jkt: Option<Thumbprint>,
    /// The pages that the client wants shown whatever the host remembers.
    #[serde(default)]
    pub prompts: BTreeSet<Prompt>,
    /// Whether no page may be shown at all: `prompt=none`.
    #[serde(default)]
    pub silent: bool,
    /// How long ago, before the request, the user may have proven who they are.
    pub max_age: Option<Duration>,
    /// Whom the client expects to sign in, for the page to suggest. Not to be believed.
    pub login_hint: Option<String>,
    /// The languages of the page that the client suggests, as it wrote them. Not to be believed.
    pub ui_locales: Option<String>,
}

impl AuthorizationRequest {
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
    #[serde(default)]
    pub pushed: Option<TokenHash>,
    /// When it was asked.
    pub created_at: SystemTime,
    /// The instant from which it can no longer be answered.
    pub expires_at: SystemTime,
}

impl InteractionRecord {
    /// How long the user may take.
    pub(crate) const LIFETIME: Duration = Duration::from_secs(10 * 60);
}

/// What became of taking an interaction.
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

/// Keeps sign-ins while the user is at the host's pages, and pushed requests until one of their sign-ins is answered.
///
/// # What an implementation must guarantee
///
/// See the [module](super). Of any number of callers that take one interaction exactly one gets it, and of any number that
/// take interactions of one pushed request as well: taking spends both in the same step. The browser is compared first,
/// then the expiry, then the pushed request; who is refused spends nothing.
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
