use std::time::SystemTime;

use crate::secret::TokenHash;
use crate::store::{AccessTokenRecord, FamilyId};
use crate::vocabulary::{Audience, ClientId, Confirmation, Scopes, Subject};

/// An access token that a decision allows: everything about it but its random part.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct AccessTokenPlan {
    /// To whom it is issued.
    pub client_id: ClientId,
    /// On whose behalf.
    pub subject: Subject,
    /// What it allows.
    pub scopes: Scopes,
    /// Where it may be used.
    pub audience: Vec<Audience>,
    /// What its sender must prove; nothing for a bearer token.
    pub confirmation: Option<Confirmation>,
    /// When it is issued.
    pub issued_at: SystemTime,
    /// The instant from which it opens nothing.
    pub expires_at: SystemTime,
}

impl AccessTokenPlan {
    /// The plan that a token was made by.
    #[must_use]
    pub fn of(record: &AccessTokenRecord) -> Self {
        Self {
            client_id: record.client_id.clone(),
            subject: record.subject.clone(),
            scopes: record.scopes.clone(),
            audience: record.audience.clone(),
            confirmation: record.confirmation,
            issued_at: record.issued_at,
            expires_at: record.expires_at,
        }
    }

    /// What to store of the token once it is made.
    #[must_use]
    pub fn into_record(self, hash: TokenHash, jti: String, family: Option<FamilyId>) -> AccessTokenRecord {
        AccessTokenRecord {
            hash,
            jti,
            family,
            client_id: self.client_id,
            subject: self.subject,
            scopes: self.scopes,
            audience: self.audience,
            confirmation: self.confirmation,
            issued_at: self.issued_at,
            expires_at: self.expires_at,
            revoked_at: None,
        }
    }
}
