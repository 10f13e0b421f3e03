use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::ports::StoreError;
use crate::vocabulary::{Audience, ClientId, Scopes, Subject};

/// Consent of a user to a client: the scopes that the user granted, for each resource server.
///
/// Scopes are kept per resource server, because two consents must not combine into one that the
/// user never gave: reading at one server and writing at another is not writing at both.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct ConsentRecord {
    /// User who consented.
    pub subject: Subject,
    /// Client to which the user consented.
    pub client_id: ClientId,
    /// Granted scopes per resource server.
    pub scopes: BTreeMap<Audience, Scopes>,
    /// Instant of the last consent.
    pub granted_at: SystemTime,
}

impl ConsentRecord {
    /// Creates a consent to `scopes` at each of the resource servers `audience`.
    #[must_use]
    pub fn new(
        subject: Subject,
        client_id: ClientId,
        scopes: &Scopes,
        audience: &[Audience],
        granted_at: SystemTime,
    ) -> Self {
        let scopes = audience.iter().map(|server| (server.clone(), scopes.clone()));
        Self {
            subject,
            client_id,
            scopes: scopes.collect(),
            granted_at,
        }
    }

    /// Returns `true` if the user has granted all of `scopes` at each of the resource servers
    /// `audience`. An empty `audience` is never covered.
    #[must_use]
    pub fn covers(&self, scopes: &Scopes, audience: &[Audience]) -> bool {
        let is_granted = |server: &Audience| {
            let granted = self.scopes.get(server);
            granted.is_some_and(|granted| scopes.is_subset(granted))
        };
        !audience.is_empty() && audience.iter().all(is_granted)
    }

    /// Adds the scopes of a later consent of the same user to the same client.
    #[must_use]
    pub fn merge(mut self, later: Self) -> Self {
        for (server, scopes) in later.scopes {
            let granted = self.scopes.entry(server).or_default();
            *granted = granted.union(&scopes);
        }
        Self {
            granted_at: self.granted_at.max(later.granted_at),
            ..self
        }
    }
}

/// Store of the consents that users gave to clients, so that a user is not asked again.
///
/// # Contract
///
/// In addition to the contract of the [module](super):
///
/// - There is at most one record per user and client.
/// - [`add_consent`](Self::add_consent) stores the result of [`ConsentRecord::merge`], in one step:
///   of two concurrent calls, none is lost.
/// - After [`remove_consent`](Self::remove_consent) has returned, no reader gets the removed
///   record.
#[async_trait]
pub trait ConsentStore: Send + Sync {
    /// Stores a consent, merged into the earlier consent of the same user to the same client.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when nothing was stored or the response was lost. Retrying is safe.
    async fn add_consent(&self, consent: ConsentRecord) -> Result<(), StoreError>;

    /// Returns the consent of the user to the client.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer.
    async fn consent(
        &self,
        subject: &Subject,
        client_id: &ClientId,
    ) -> Result<Option<ConsentRecord>, StoreError>;

    /// Returns all consents of the user, sorted by the identifier of the client.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer.
    async fn consents_of(&self, subject: &Subject) -> Result<Vec<ConsentRecord>, StoreError>;

    /// Removes the consent of the user to the client. Returns `false` if there was none.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer. Retrying is safe.
    async fn remove_consent(&self, subject: &Subject, client_id: &ClientId) -> Result<bool, StoreError>;
}

#[async_trait]
impl<S: ConsentStore + ?Sized> ConsentStore for Arc<S> {
    async fn add_consent(&self, consent: ConsentRecord) -> Result<(), StoreError> {
        (**self).add_consent(consent).await
    }

    async fn consent(
        &self,
        subject: &Subject,
        client_id: &ClientId,
    ) -> Result<Option<ConsentRecord>, StoreError> {
        (**self).consent(subject, client_id).await
    }

    async fn consents_of(&self, subject: &Subject) -> Result<Vec<ConsentRecord>, StoreError> {
        (**self).consents_of(subject).await
    }

    async fn remove_consent(&self, subject: &Subject, client_id: &ClientId) -> Result<bool, StoreError> {
        (**self).remove_consent(subject, client_id).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn consent(scopes: &str, servers: &[&str], at: u64) -> ConsentRecord {
        let servers: Vec<Audience> = servers.iter().map(|server| server.parse().unwrap()).collect();
        let (ada, web) = ("ada".parse().unwrap(), "web".parse().unwrap());
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(at);
        ConsentRecord::new(ada, web, &scopes.parse().unwrap(), &servers, at)
    }

    fn covers(consent: &ConsentRecord, scopes: &str, servers: &[&str]) -> bool {
        let servers: Vec<Audience> = servers.iter().map(|server| server.parse().unwrap()).collect();
        consent.covers(&scopes.parse().unwrap(), &servers)
    }

    /// O35: a consent covers only the scopes and the resource servers that it names.
    #[test]
    fn a_consent_covers_its_scopes_at_its_servers() {
        let given = consent("read write", &["a", "b"], 1);
        assert!(covers(&given, "read", &["a"]));
        assert!(covers(&given, "write read", &["b", "a"]));
        assert!(!covers(&given, "read delete", &["a"]));
        assert!(!covers(&given, "read", &["a", "c"]));
        assert!(!covers(&given, "read", &[]));
    }

    /// O35: two consents do not combine into one that the user never gave.
    #[test]
    fn merged_consents_grant_no_more_than_each() {
        let merged = consent("read", &["a"], 1).merge(consent("write", &["b"], 5));
        assert!(covers(&merged, "read", &["a"]) && covers(&merged, "write", &["b"]));
        assert!(!covers(&merged, "write", &["a"]));
        assert!(!covers(&merged, "read", &["a", "b"]));
        let merged = merged.merge(consent("write", &["a"], 3));
        assert!(covers(&merged, "read write", &["a"]));
        assert_eq!(merged.granted_at, consent("read", &["a"], 5).granted_at);
    }
}
