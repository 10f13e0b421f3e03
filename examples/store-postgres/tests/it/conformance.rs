//! The kits of webhook-core against PostgreSQL (X5), each case in a schema of its own.

mod outbox {
    webhook_core::testing::outbox!(
        #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
        crate::server::fresh!()
    );
}

mod endpoints {
    webhook_core::testing::endpoint_store!(
        #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
        crate::server::fresh!()
    );
}

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
