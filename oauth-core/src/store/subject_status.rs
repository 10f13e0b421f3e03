use std::sync::Arc;

use async_trait::async_trait;

use crate::ports::StoreError;
use crate::vocabulary::Subject;

/// Lookup of locked user accounts.
///
/// The tokens of a locked subject are inactive at once: at introspection, refresh, UserInfo and the
/// issuer's own API. A lock revokes nothing, so that unlocking restores the tokens that are still
/// valid; families that were revoked stay revoked. To end the sessions too, call
/// [`SessionStore::revoke_subject`](super::SessionStore::revoke_subject).
///
/// # Contract
///
/// - After the host has locked a subject, every later call returns `true` until it is unlocked.
/// - The lookup returns `false` for an unknown subject.
#[async_trait]
pub trait SubjectStatus: Send + Sync {
    /// Returns `true` if the account of the subject is locked.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the accounts cannot be read. The token is then refused with 503.
    async fn is_locked(&self, subject: &Subject) -> Result<bool, StoreError>;
}

#[async_trait]
impl<S: SubjectStatus + ?Sized> SubjectStatus for Arc<S> {
    async fn is_locked(&self, subject: &Subject) -> Result<bool, StoreError> {
        (**self).is_locked(subject).await
    }
}
