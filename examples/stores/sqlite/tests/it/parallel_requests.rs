//! Four concurrent requests to an authorization server: in memory, in a file, and over a slow
//! store.

use std::sync::Arc;
use std::time::Duration;

use host_store_sqlite::Database;
use oauth_core::store::TokenStore;
use oauth_core_conformance::Delayed;

mod memory {
    oauth_core_conformance::parallel_requests!(
        #[tokio::test(flavor = "multi_thread")]
        host_store_sqlite::Database::open_in_memory().unwrap()
    );
}

mod file {
    oauth_core_conformance::parallel_requests!(
        #[tokio::test(flavor = "multi_thread")]
        crate::support::on_disk()
    );
}

mod slow_file {
    oauth_core_conformance::parallel_requests!(
        #[tokio::test(flavor = "multi_thread")]
        super::slow(crate::support::on_disk())
    );
}

fn slow(store: Database) -> impl TokenStore {
    let store: Arc<dyn TokenStore> = Arc::new(store);
    Delayed::new(store, || tokio::time::sleep(Duration::from_millis(5)))
}
