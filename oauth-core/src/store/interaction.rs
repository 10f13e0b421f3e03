use std::time::SystemTime;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::Insertion;
use crate::pkce::CodeChallenge;
use crate::secret::TokenHash;
use crate::store_error::StoreError;
use crate::vocabulary::{ClientId, Nonce, RedirectUri, Scopes, State};

/// A checked authorization request, [RFC 6749 §4.1.1](https://www.rfc-editor.org/rfc/rfc6749#section-4.1.1): what
/// remains to be done is to ask the user.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AuthorizationRequest {
    /// Who asks.
    pub client_id: ClientId,
    /// Where the answer goes; one of the client's registered ones.
    pub redirect_uri: RedirectUri,
    /// What is asked for; a subset of what the client may ask for.
    pub scopes: Scopes,
    /// Handed back as it came.
    pub state: State,
    /// Copied into the ID token; there whenever `openid` is asked for.
    pub nonce: Option<Nonce>,
    /// The S256 challenge.
    pub code_challenge: CodeChallenge,
    /// Whom the client expects to sign in, for the page to suggest. Not to be believed.
    pub login_hint: Option<String>,
}

/// A request that waits for a user to sign in and consent.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct InteractionRecord {
    /// The hash of the id in the page's URL.
    pub id: TokenHash,
    /// The hash of the secret in the browser's cookie, without which the id opens nothing.
    pub browser: TokenHash,
    /// What was asked.
    pub request: AuthorizationRequest,
    /// When it was asked.
    pub created_at: SystemTime,
    /// The instant from which it can no longer be answered.
    pub expires_at: SystemTime,
}

/// What became of taking an interaction.
#[derive(Clone, Debug, Eq, PartialEq)]
#[must_use]
pub enum TakeOutcome {
    /// It is the caller's, and gone from the store.
    Taken(Box<InteractionRecord>),
    /// It belongs to this browser and is too old; unchanged.
    Expired,
    /// There is none of that id, or it belongs to another browser; unchanged.
    NotFound,
}

/// Keeps sign-ins while the user is at the host's pages.
///
/// # What an implementation must guarantee
///
/// See the [module](super). Of any number of callers that take one interaction exactly one gets it. The browser is
/// compared before the expiry, and a wrong browser spends nothing.
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

    /// Removes the interaction and answers it, when it belongs to `browser` and `now < expires_at`.
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

    /// Drops the interactions with `expires_at <= now` and answers how many those were.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer; calling again is safe.
    async fn purge_interactions(&self, now: SystemTime) -> Result<u64, StoreError>;
}
