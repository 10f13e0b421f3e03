//! Four concurrent requests to an authorization server over PostgreSQL, and over a slow store.

use std::sync::Arc;
use std::time::Duration;

use host_store_postgres::Database;
use oauth_core::store::TokenStore;
use oauth_core_conformance::Delayed;

mod near {
    oauth_core_conformance::parallel_requests!(
        #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
        crate::server::fresh!()
    );
}

mod far {
    oauth_core_conformance::parallel_requests!(
        #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
        super::slow(crate::server::fresh!())
    );
}

fn slow(store: Database) -> impl TokenStore {
    let store: Arc<dyn TokenStore> = Arc::new(store);
    Delayed::new(store, || tokio::time::sleep(Duration::from_millis(5)))
}
