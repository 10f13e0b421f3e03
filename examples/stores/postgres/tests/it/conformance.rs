//! The kits of the crates against PostgreSQL (X5), each case in a schema of its own.

mod idempotency {
    http_conventions_conformance::idempotency_store!(
        #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
        crate::server::fresh!()
    );
}

mod posts {
    http_conventions_conformance::keyed_requests!(
        #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
        crate::server::fresh!()
    );
}

mod rate_limits {
    http_conventions_conformance::rate_limit_store!(
        #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
        crate::server::fresh!()
    );
}

mod clients {
    oauth_core::testing::client_store!(
        #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
        crate::server::fresh!()
    );
}

mod interactions {
    oauth_core::testing::interaction_store!(
        #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
        crate::server::fresh!()
    );
}

mod replays {
    oauth_core::testing::replay_store!(
        #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
        crate::server::fresh!()
    );
}

mod attempts {
    oauth_core::testing::attempt_store!(
        #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
        crate::server::fresh!()
    );
}

mod sessions {
    oauth_core::testing::session_store!(
        #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
        crate::server::fresh!()
    );
}

mod tokens {
    oauth_core::testing::token_store!(
        #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
        crate::server::fresh!()
    );
}

mod outbox {
    webhook_core::testing::outbox!(
        #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
        crate::server::fresh!()
    );
}

mod retention {
    webhook_core::testing::retention!(
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
