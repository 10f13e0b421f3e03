//! Conformance kit for [`SubjectLocks`](oauth_core::store::SubjectLocks).
//!
//! `subject_locks!(#[tokio::test] expression)` expands to one test per case; `expression` makes an
//! empty store.
#![expect(clippy::expect_used, reason = "a case fails by panicking")]

/// The cases of `subject_locks!`.
#[host_ports_conformance::kit(subject_locks)]
mod cases {
    use std::sync::Arc;

    use crate::records::{answer, race};
    use oauth_core::store::SubjectLocks;
    use oauth_core::vocabulary::Subject;

    /// O45: a lock is of one subject, byte for byte, and lasts until it is removed.
    pub async fn lock_leaves_other_subjects_unlocked(store: &Arc<dyn SubjectLocks>) {
        let others = ["Ada 'one' %_", "ada 'one' %", "ada", "ada 'one' %_ "];
        let ada = "ada 'one' %_";
        assert!(!is_locked(store, ada).await);
        answer(store.lock_subject(&subject(ada)).await);
        assert!(is_locked(store, ada).await);
        for other in others {
            assert!(!is_locked(store, other).await, "{other}");
        }
        for other in others {
            answer(store.unlock_subject(&subject(other)).await);
        }
        assert!(is_locked(store, ada).await);
        answer(store.unlock_subject(&subject(ada)).await);
        assert!(!is_locked(store, ada).await);
    }

    /// O45: locking and unlocking again changes nothing.
    pub async fn repeated_lock_is_one(store: &Arc<dyn SubjectLocks>) {
        let ada = subject("ada");
        answer(store.unlock_subject(&ada).await);
        for _ in 0..2 {
            answer(store.lock_subject(&ada).await);
        }
        assert!(is_locked(store, "ada").await);
        for _ in 0..2 {
            answer(store.unlock_subject(&ada).await);
            assert!(!is_locked(store, "ada").await);
        }
    }

    /// O45: 32 concurrent locks of one subject succeed, and a caller sees its own lock.
    pub async fn concurrent_locks_succeed(store: &Arc<dyn SubjectLocks>) {
        let seen = race(store, async |store: Arc<dyn SubjectLocks>, _| {
            store.lock_subject(&subject("ada")).await?;
            store.is_locked(&subject("ada")).await
        });
        assert!(seen.await.into_iter().all(|is_locked| is_locked));
    }

    fn subject(text: &str) -> Subject {
        text.parse().expect("a subject")
    }

    async fn is_locked(store: &Arc<dyn SubjectLocks>, text: &str) -> bool {
        answer(store.is_locked(&subject(text)).await)
    }
}

pub use cases::*;
