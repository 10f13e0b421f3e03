//! The reference stores pass the kits that every store must pass.

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
