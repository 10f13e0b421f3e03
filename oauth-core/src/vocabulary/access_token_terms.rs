use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::{Audience, ClientId, Confirmation, Scopes, Subject};

/// The terms of an access token: the client, the user, the scopes, the audience, the binding and the lifetime.
///
/// A decision makes them, a store keeps them in its record, and a resource server reads them from a token.
#[expect(
    clippy::exhaustive_structs,
    reason = "the issuer of a token has to decide on every term, and a store has to keep it"
)]
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct AccessTokenTerms {
    /// The client that the token was issued to.
    pub client_id: ClientId,
    /// The user on whose behalf; the client itself for client credentials.
    pub subject: Subject,
    /// The scopes that the token allows.
    pub scopes: Scopes,
    /// The resource servers that may accept the token.
    pub audience: Vec<Audience>,
    /// The key or certificate that the sender must prove to have; none for a bearer token.
    pub confirmation: Option<Confirmation>,
    /// The instant of issue.
    pub issued_at: SystemTime,
    /// The instant from which the token is expired.
    pub expires_at: SystemTime,
}
