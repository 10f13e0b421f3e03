//! The kits of webhook-core against Redis (X5), each case under keys of its own.

mod dedupe {
    webhook_core::testing::dedupe_store!(
        #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
        crate::server::fresh!()
    );
}

mod inbox {
    webhook_core::testing::inbox_store!(
        #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
        crate::server::fresh!()
    );
}

mod order {
    webhook_core::testing::latest_seen!(
        #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
        crate::server::fresh!()
    );
}
