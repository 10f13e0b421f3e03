//! Four requests at once to an authorization server over PostgreSQL, and over one that is slow.

use std::sync::Arc;
use std::time::Duration;

use host_store_postgres::Database;
use oauth_core::store::TokenStore;
use oauth_core::testing::Delayed;
use tokio::runtime::Handle;

mod near {
    oauth_core::testing::parallel_requests!(
        #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
        super::shared(crate::server::fresh!())
    );
}

mod far {
    oauth_core::testing::parallel_requests!(
        #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
        super::slow(super::shared(crate::server::fresh!()))
    );
}

fn shared(database: Database) -> Arc<dyn TokenStore> {
    Arc::new(database)
}

/// Five milliseconds away, also for threads that are none of the runtime's.
fn slow(store: Arc<dyn TokenStore>) -> Arc<dyn TokenStore> {
    let runtime = Handle::current();
    Arc::new(Delayed::new(store, move || {
        let _inside = runtime.enter();
        tokio::time::sleep(Duration::from_millis(5))
    }))
}
