use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::FamilyId;
use crate::pkce::CodeChallenge;
use crate::secret::TokenHash;
use crate::vocabulary::{Audience, ClientId, Nonce, RedirectUri, Scopes, Subject};

/// What a user granted to a client: carried from the code to the family and into every token of it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Grant {
    /// To whom.
    pub client_id: ClientId,
    /// By whom.
    pub subject: Subject,
    /// How much. A refresh may ask for less, never for more.
    pub scopes: Scopes,
    /// For use at these resource servers.
    pub audience: Vec<Audience>,
    /// When the user last proved who they are.
    pub auth_time: SystemTime,
    /// The nonce of the authorization request.
    pub nonce: Option<Nonce>,
    /// The user's address, when the host knows it.
    pub email: Option<String>,
    /// The user's name, when the host knows it.
    pub name: Option<String>,
}

/// An authorization code, fresh or spent.
///
/// A spent one stays as a tombstone: presenting it again is how a theft shows.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AuthorizationCodeRecord {
    /// The hash of the code.
    pub hash: TokenHash,
    /// Where the code was sent.
    pub redirect_uri: RedirectUri,
    /// What the verifier must hash to.
    pub code_challenge: CodeChallenge,
    /// What the code buys.
    pub grant: Grant,
    /// When it was issued.
    pub issued_at: SystemTime,
    /// The instant from which a fresh code buys nothing.
    pub expires_at: SystemTime,
    /// The instant from which a spent code may be forgotten: no token it bought can be alive.
    pub retain_until: SystemTime,
    /// The family it bought, once spent. The only field that changes.
    pub redeemed: Option<FamilyId>,
}
