//! The stores of the service, all in one database.

use std::fmt;
use std::sync::Arc;

use graph_core::persisted::PersistedStore;
use http_conventions::idempotency::IdempotencyStore;
use oauth_core::store::{
    AttemptStore, ClientStore, ConsentStore, InteractionStore, LogoutStore, ReplayStore, SubjectLocks,
    TokenStore,
};
use webhook_core::sender::{EndpointStore, Outbox};

use crate::desk::DeskStore;

/// The stores of the desk and of the crates, in one database. Made from a handle of
/// `host-store-sqlite` or `host-store-postgres`.
#[derive(Clone)]
pub struct Stores {
    pub(crate) desk: Arc<dyn DeskStore>,
    pub(crate) clients: Arc<dyn ClientStore>,
    pub(crate) interactions: Arc<dyn InteractionStore>,
    pub(crate) tokens: Arc<dyn TokenStore>,
    pub(crate) consents: Arc<dyn ConsentStore>,
    pub(crate) replays: Arc<dyn ReplayStore>,
    pub(crate) sessions: Arc<dyn LogoutStore>,
    pub(crate) locks: Arc<dyn SubjectLocks>,
    pub(crate) attempts: Attempts,
    pub(crate) idempotency: Arc<dyn IdempotencyStore>,
    pub(crate) queries: Arc<dyn PersistedStore>,
    pub(crate) outbox: Arc<dyn Outbox>,
    pub(crate) endpoints: Arc<dyn EndpointStore>,
}

/// Counters of attempts. They survive a restart; the database deletes expired ones.
#[derive(Clone)]
pub(crate) struct Attempts {
    pub(crate) passwords: Arc<dyn AttemptStore>,
    pub(crate) clients: Arc<dyn AttemptStore>,
    pub(crate) letters: Arc<dyn AttemptStore>,
}

impl Stores {
    fn new<D>(database: D, attempts: Attempts) -> Self
    where
        D: DeskStore
            + ClientStore
            + InteractionStore
            + TokenStore
            + ConsentStore
            + ReplayStore
            + LogoutStore
            + SubjectLocks
            + IdempotencyStore
            + PersistedStore
            + Outbox
            + EndpointStore
            + 'static,
    {
        let database = Arc::new(database);
        Self {
            desk: database.clone(),
            clients: database.clone(),
            interactions: database.clone(),
            tokens: database.clone(),
            consents: database.clone(),
            replays: database.clone(),
            sessions: database.clone(),
            locks: database.clone(),
            attempts,
            idempotency: database.clone(),
            queries: database.clone(),
            outbox: database.clone(),
            endpoints: database,
        }
    }
}

/// Each kind of attempt has its own capacity, so that a flood of client ids or reset links, which
/// cost nothing to try, takes no room from the passwords.
impl From<host_store_sqlite::Database> for Stores {
    fn from(database: host_store_sqlite::Database) -> Self {
        let attempts = Attempts {
            passwords: Arc::new(database.attempts_of("passwords")),
            clients: Arc::new(database.attempts_of("clients")),
            letters: Arc::new(database.attempts_of("letters")),
        };
        Self::new(database, attempts)
    }
}

/// The kinds of attempts share a capacity of a million names, from which the names with the fewest
/// attempts are deleted first.
impl From<host_store_postgres::Database> for Stores {
    fn from(database: host_store_postgres::Database) -> Self {
        let attempts = Arc::new(database.clone());
        let attempts = Attempts {
            passwords: attempts.clone(),
            clients: attempts.clone(),
            letters: attempts,
        };
        Self::new(database, attempts)
    }
}

impl fmt::Debug for Stores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stores").finish_non_exhaustive()
    }
}
