//! The conformance kits, with a plain `#[tokio::test]`.

mod rate_limits {
    http_conventions_conformance::rate_limit_store!(
        #[tokio::test]
        crate::server::store!()
    );
}

mod replays {
    oauth_core_conformance::replay_store!(
        #[tokio::test]
        crate::server::store!()
    );
}

mod persisted {
    graph_core_conformance::persisted_store!(
        #[tokio::test]
        crate::server::store!()
    );
}

mod latest_seen {
    webhook_core_conformance::latest_seen!(
        #[tokio::test]
        crate::server::store!()
    );
}
