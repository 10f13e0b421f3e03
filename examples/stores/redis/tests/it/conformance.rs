//! The conformance kits of the four crates on Redis (X5), each case under keys of its own.

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

mod dedupe {
    webhook_core_conformance::dedupe_store!(
        #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
        crate::server::fresh!()
    );
}

mod claims {
    webhook_core_conformance::claims!(
        #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
        crate::server::fresh!()
    );
}

mod inbox {
    webhook_core_conformance::inbox_store!(
        #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
        crate::server::fresh!()
    );
    webhook_core_conformance::inbox_failures!(
        #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
        crate::server::fresh!()
    );
}

mod order {
    webhook_core_conformance::latest_seen!(
        #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
        crate::server::fresh!()
    );
}

mod replays {
    oauth_core_conformance::replay_store!(
        #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
        crate::server::fresh!()
    );
}

mod persisted {
    graph_core_conformance::persisted_store!(
        #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
        crate::server::fresh!()
    );
}
