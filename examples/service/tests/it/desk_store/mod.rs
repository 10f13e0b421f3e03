//! The desk on each of its databases: every case runs on SQLite and on PostgreSQL.

mod cases;

use std::sync::Arc;

use http_conventions::idempotency::IdempotencyStore;
use service::clock::DemoClock;
use service::desk::Desk;
use service::stores::Stores;

use crate::postgres::Schema;

/// A new desk and the idempotency keys of its database.
struct Fixture {
    desk: Desk,
    keys: Arc<dyn IdempotencyStore>,
    _schema: Option<Schema>,
}

impl Fixture {
    async fn new<D>(database: D, schema: Option<Schema>) -> Self
    where
        D: IdempotencyStore + Clone + Into<Stores> + 'static,
    {
        let desk = Desk::open(database.clone(), DemoClock::new()).await.unwrap();
        Self {
            desk,
            keys: Arc::new(database),
            _schema: schema,
        }
    }

    /// A new desk on each database; on SQLite alone if there is no PostgreSQL.
    async fn on_each(test: &str) -> Vec<Self> {
        let database = host_store_sqlite::Database::open_in_memory().unwrap();
        let mut fixtures = vec![Self::new(database, None).await];
        if let Some(schema) = Schema::fresh(test) {
            let database = host_store_postgres::Database::connect(&schema.url()).await;
            fixtures.push(Self::new(database.unwrap(), Some(schema)).await);
        }
        fixtures
    }
}
