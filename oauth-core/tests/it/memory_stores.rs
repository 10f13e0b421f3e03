//! The reference stores pass the kits that every store must pass.

use std::sync::Arc;
use std::time::Duration;

use oauth_core::memory::MemoryTokens;
use oauth_core::store::TokenStore;
use oauth_core::testing::Delayed;
use tokio::runtime::Handle;

mod clients {
    oauth_core::testing::client_store!(
        #[tokio::test]
        oauth_core::memory::MemoryClients::new()
    );
}

mod interactions {
    oauth_core::testing::interaction_store!(
        #[tokio::test]
        async {
            oauth_core::memory::MemoryInteractions::new()
        }
    );
}

mod replays {
    oauth_core::testing::replay_store!(
        #[tokio::test]
        oauth_core::memory::MemoryReplays::new()
    );
}

mod tokens {
    oauth_core::testing::token_store!(
        #[tokio::test]
        oauth_core::memory::MemoryTokens::new()
    );
}

mod sessions {
    oauth_core::testing::session_store!(
        #[tokio::test]
        oauth_core::memory::MemoryTokens::new()
    );
}

mod parallel_requests {
    oauth_core::testing::parallel_requests!(
        #[tokio::test(flavor = "multi_thread")]
        super::tokens_in_memory()
    );
}

mod parallel_requests_to_a_slow_store {
    oauth_core::testing::parallel_requests!(
        #[tokio::test(flavor = "multi_thread")]
        super::slow(super::tokens_in_memory())
    );
}

fn tokens_in_memory() -> Arc<dyn TokenStore> {
    Arc::new(MemoryTokens::new())
}

/// Five milliseconds away, also for threads that are none of the runtime's.
fn slow(store: Arc<dyn TokenStore>) -> Arc<dyn TokenStore> {
    let runtime = Handle::current();
    Arc::new(Delayed::new(store, move || {
        let _inside = runtime.enter();
        tokio::time::sleep(Duration::from_millis(5))
    }))
}
