//! The conformance kits of the crates, on an in-memory database and on a file (X4).

/// Every kit on the stores of `$store`.
macro_rules! kits {
    ($store:expr) => {
        mod idempotency {
            http_conventions_conformance::idempotency_store!(
                #[tokio::test]
                $store
            );
        }
        mod posts {
            http_conventions_conformance::keyed_requests!(
                #[tokio::test]
                $store
            );
        }
        mod rate_limits {
            http_conventions_conformance::rate_limit_store!(
                #[tokio::test]
                $store
            );
        }
        mod persisted_queries {
            graph_core_conformance::persisted_store!(
                #[tokio::test]
                $store
            );
        }
        mod attempts {
            oauth_core_conformance::attempt_store!(
                #[tokio::test]
                $store.attempts_of("passwords")
            );
        }
        mod clients {
            oauth_core_conformance::client_store!(
                #[tokio::test]
                $store
            );
        }
        mod consents {
            oauth_core_conformance::consent_store!(
                #[tokio::test]
                $store
            );
        }
        mod logouts {
            oauth_core_conformance::logout_store!(
                #[tokio::test]
                $store
            );
        }
        mod subject_locks {
            oauth_core_conformance::subject_locks!(
                #[tokio::test]
                $store
            );
        }
        mod interactions {
            oauth_core_conformance::interaction_store!(
                #[tokio::test]
                $store
            );
        }
        mod replays {
            oauth_core_conformance::replay_store!(
                #[tokio::test]
                $store
            );
        }
        mod sessions {
            oauth_core_conformance::session_store!(
                #[tokio::test]
                $store
            );
        }
        mod tokens {
            oauth_core_conformance::token_store!(
                #[tokio::test]
                $store
            );
        }
        mod outbox {
            webhook_core_conformance::outbox!(
                #[tokio::test]
                $store
            );
        }
        mod retention {
            webhook_core_conformance::retention!(
                #[tokio::test]
                $store
            );
        }
        mod endpoints {
            webhook_core_conformance::endpoint_store!(
                #[tokio::test]
                $store
            );
            webhook_core_conformance::endpoint_management!(
                #[tokio::test]
                $store
            );
        }
        mod dedupe {
            webhook_core_conformance::dedupe_store!(
                #[tokio::test]
                $store
            );
        }
        mod claims {
            webhook_core_conformance::claims!(
                #[tokio::test]
                $store
            );
        }
        mod latest_seen {
            webhook_core_conformance::latest_seen!(
                #[tokio::test]
                $store
            );
        }
        mod inbox {
            webhook_core_conformance::inbox_store!(
                #[tokio::test]
                $store
            );
            webhook_core_conformance::inbox_failures!(
                #[tokio::test]
                $store
            );
        }
    };
}

mod memory {
    kits!(host_store_sqlite::Database::open_in_memory().unwrap());
}

mod file {
    kits!(crate::support::on_disk());
}
