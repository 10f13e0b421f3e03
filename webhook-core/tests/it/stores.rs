//! Kits over the in-memory stores.

mod memory_dedupe {
    webhook_core_conformance::dedupe_store!(
        #[tokio::test]
        webhook_core::memory::MemoryInbox::default()
    );
}

mod memory_claims {
    webhook_core_conformance::claims!(
        #[tokio::test]
        webhook_core::memory::MemoryClaims::default()
    );
}

mod memory_inbox {
    webhook_core_conformance::inbox_store!(
        #[tokio::test]
        webhook_core::memory::MemoryInbox::default()
    );
    webhook_core_conformance::inbox_failures!(
        #[tokio::test]
        webhook_core::memory::MemoryInbox::default()
    );
}

mod memory_latest_seen {
    webhook_core_conformance::latest_seen!(
        #[tokio::test]
        webhook_core::memory::MemoryLatestSeen::default()
    );
}

mod made_asynchronously {
    webhook_core_conformance::dedupe_store!(
        #[tokio::test]
        async {
            webhook_core::memory::MemoryInbox::default()
        }
    );
}
