//! Four requests at once to an authorization server over a database: in memory, in a file, and one that is slow.

use std::sync::Arc;
use std::time::Duration;

use host_store_sqlite::Database;
use oauth_core::store::TokenStore;
use oauth_core::testing::Delayed;
use tokio::runtime::Handle;

mod memory {
    oauth_core::testing::parallel_requests!(
        #[tokio::test(flavor = "multi_thread")]
        super::shared(host_store_sqlite::Database::open_in_memory().unwrap())
    );
}

mod file {
    oauth_core::testing::parallel_requests!(
        #[tokio::test(flavor = "multi_thread")]
        super::shared(crate::support::on_disk())
    );
}

mod slow_file {
    oauth_core::testing::parallel_requests!(
        #[tokio::test(flavor = "multi_thread")]
        super::slow(super::shared(crate::support::on_disk()))
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
