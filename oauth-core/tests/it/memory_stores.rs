//! The memory stores pass the conformance kits.

use std::sync::Arc;
use std::time::Duration;

use oauth_core::memory::MemoryTokens;
use oauth_core::store::TokenStore;
use oauth_core_conformance::Delayed;

mod attempts {
    oauth_core_conformance::attempt_store!(
        #[tokio::test]
        oauth_core::memory::MemoryAttempts::new()
    );
}

mod attempts_of_few_names {
    use std::num::NonZeroUsize;

    use oauth_core::attempts::{Admission, AttemptKey, AttemptPolicy};
    use oauth_core::memory::MemoryAttempts;
    use oauth_core::store::AttemptStore as _;
    use std::time::SystemTime;

    oauth_core_conformance::attempt_store!(
        #[tokio::test]
        few_names()
    );

    fn few_names() -> MemoryAttempts {
        MemoryAttempts::with_capacity(NonZeroUsize::new(64).unwrap())
    }

    /// O27, 14: the number of stored names is bounded, and unsuccessful names are evicted first.
    #[tokio::test]
    async fn flood_of_names_is_bounded() {
        let (attempts, policy, now) = (few_names(), AttemptPolicy::PASSWORDS, SystemTime::UNIX_EPOCH);
        let victim = AttemptKey::subject("ada");
        for _ in 0..4 {
            assert!(attempts.admit(&victim, &policy, now).await.unwrap().is_admitted());
        }
        for index in 0..10_000 {
            let name = AttemptKey::subject(&index.to_string());
            assert!(attempts.admit(&name, &policy, now).await.unwrap().is_admitted());
        }
        // the fifth is the last free one
        assert_eq!(
            attempts.admit(&victim, &policy, now).await.unwrap(),
            Admission::Admitted
        );
        assert!(!attempts.admit(&victim, &policy, now).await.unwrap().is_admitted());
        let later = now + std::time::Duration::from_secs(24 * 60 * 60);
        assert!(attempts.purge_attempts(later).await.unwrap() <= 64);
    }

    /// O27: a store full of closed names still counts new ones.
    #[tokio::test]
    async fn a_store_full_of_closed_names_still_counts() {
        let attempts = MemoryAttempts::with_capacity(NonZeroUsize::MIN);
        let (policy, now) = (AttemptPolicy::PASSWORDS, SystemTime::UNIX_EPOCH);
        for name in ["ada", "eve"].map(AttemptKey::subject) {
            for _ in 0..5 {
                assert!(attempts.admit(&name, &policy, now).await.unwrap().is_admitted());
            }
            assert!(!attempts.admit(&name, &policy, now).await.unwrap().is_admitted());
        }
    }
}

mod clients {
    oauth_core_conformance::client_store!(
        #[tokio::test]
        oauth_core::memory::MemoryClients::new()
    );
}

mod consents {
    oauth_core_conformance::consent_store!(
        #[tokio::test]
        async {
            oauth_core::memory::MemoryConsents::new()
        }
    );
}

mod interactions {
    oauth_core_conformance::interaction_store!(
        #[tokio::test]
        async {
            oauth_core::memory::MemoryInteractions::new()
        }
    );
}

mod logouts {
    oauth_core_conformance::logout_store!(
        #[tokio::test]
        async {
            oauth_core::memory::MemoryTokens::new()
        }
    );
}

mod replays {
    oauth_core_conformance::replay_store!(
        #[tokio::test]
        oauth_core::memory::MemoryReplays::new()
    );
}

mod subject_locks {
    oauth_core_conformance::subject_locks!(
        #[tokio::test]
        async {
            oauth_core::memory::MemorySubjectLocks::new()
        }
    );
}

mod tokens {
    oauth_core_conformance::token_store!(
        #[tokio::test]
        oauth_core::memory::MemoryTokens::new()
    );
}

mod sessions {
    oauth_core_conformance::session_store!(
        #[tokio::test]
        oauth_core::memory::MemoryTokens::new()
    );
}

mod parallel_requests {
    oauth_core_conformance::parallel_requests!(
        #[tokio::test(flavor = "multi_thread")]
        oauth_core::memory::MemoryTokens::new()
    );
}

mod parallel_requests_to_a_slow_store {
    oauth_core_conformance::parallel_requests!(
        #[tokio::test(flavor = "multi_thread")]
        super::slow()
    );
}

fn slow() -> impl TokenStore {
    let store: Arc<dyn TokenStore> = Arc::new(MemoryTokens::new());
    Delayed::new(store, || tokio::time::sleep(Duration::from_millis(5)))
}
