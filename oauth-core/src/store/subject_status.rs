use std::sync::Arc;

use async_trait::async_trait;

use crate::ports::StoreError;
use crate::vocabulary::Subject;

/// Lookup of locked user accounts.
///
/// The tokens of a locked subject are inactive at once at introspection, refresh and UserInfo, and
/// at an API with `ResourceServer::with_subject_status`. An API that caches introspection follows
/// when its cache expires. A lock revokes nothing, so that unlocking restores the tokens that are
/// still valid; families that were revoked stay revoked. To end the sessions too, call
/// [`SessionStore::revoke_subject`](super::SessionStore::revoke_subject).
///
/// A host with user accounts of its own implements this trait over them. Any other host uses a
/// store that implements [`SubjectLocks`].
///
/// # Contract
///
/// - After the host has locked a subject, every later call returns `true` until the host unlocks
///   the subject.
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

/// Store of locked subjects, for a host whose user accounts have no such state.
///
/// # Contract
///
/// In addition to the contracts of [`SubjectStatus`] and of the [module](super): subjects are
/// compared byte for byte, and a lock stays until it is removed.
#[async_trait]
pub trait SubjectLocks: SubjectStatus {
    /// Locks the subject; it may be locked already.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer. Retrying is safe.
    async fn lock_subject(&self, subject: &Subject) -> Result<(), StoreError>;

    /// Unlocks the subject; it may be unlocked already.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer. Retrying is safe.
    async fn unlock_subject(&self, subject: &Subject) -> Result<(), StoreError>;
}

#[async_trait]
impl<S: SubjectStatus + ?Sized> SubjectStatus for Arc<S> {
    async fn is_locked(&self, subject: &Subject) -> Result<bool, StoreError> {
        (**self).is_locked(subject).await
    }
}

#[async_trait]
impl<S: SubjectLocks + ?Sized> SubjectLocks for Arc<S> {
    async fn lock_subject(&self, subject: &Subject) -> Result<(), StoreError> {
        (**self).lock_subject(subject).await
    }

    async fn unlock_subject(&self, subject: &Subject) -> Result<(), StoreError> {
        (**self).unlock_subject(subject).await
    }
}
