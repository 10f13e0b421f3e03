//! The desk on each of its databases: every case runs on SQLite and on PostgreSQL.

mod cases;
mod figures;

use std::sync::Arc;

use http_conventions::idempotency::IdempotencyStore;
use oauth_core::store::TokenStore;
use service::clock::DemoClock;
use service::desk::Desk;
use service::stores::Stores;
use webhook_core::sender::Outbox;

use crate::postgres::Schema;

/// A new desk, and the stores of its database that tests write to.
struct Fixture {
    desk: Desk,
    keys: Arc<dyn IdempotencyStore>,
    tokens: Arc<dyn TokenStore>,
    outbox: Arc<dyn Outbox>,
    _schema: Option<Schema>,
}

impl Fixture {
    async fn new<D>(database: D, schema: Option<Schema>) -> Self
    where
        D: IdempotencyStore + TokenStore + Outbox + Clone + Into<Stores> + 'static,
    {
        let desk = Desk::open(database.clone(), DemoClock::new()).await.unwrap();
        Self {
            desk,
            keys: Arc::new(database.clone()),
            tokens: Arc::new(database.clone()),
            outbox: Arc::new(database),
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
