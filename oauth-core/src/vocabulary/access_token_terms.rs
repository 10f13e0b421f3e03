use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::{Audience, ClientId, Confirmation, Scopes, Subject};

/// Terms of an access token: client, subject, scopes, audience, binding and lifetime.
///
/// The authorization server sets the terms when it issues the token, the store keeps them in the
/// record of the token, and the resource server reads them from the token.
#[expect(
    clippy::exhaustive_structs,
    reason = "the issuer of a token has to decide on every term, and a store has to keep it"
)]
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct AccessTokenTerms {
    /// Client to which the token was issued.
    pub client_id: ClientId,
    /// User for whom the client acts, or the client itself in the client credentials grant.
    pub subject: Subject,
    /// Scopes of the token.
    pub scopes: Scopes,
    /// Resource servers that may accept the token.
    pub audience: Vec<Audience>,
    /// Key or certificate whose possession the sender must prove; `None` for a bearer token.
    pub confirmation: Option<Confirmation>,
    /// Instant of issue.
    pub issued_at: SystemTime,
    /// Instant from which on the token is expired.
    pub expires_at: SystemTime,
}
