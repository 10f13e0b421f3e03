//! The server that the tests run against, and a schema for each test.
//!
//! Without a server a suite prints one line and is skipped; with `CI=true` it fails.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::{Write, stderr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};
use std::{env, process, thread};

use host_store_postgres::{Database, sqlx};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection, PgPool};
use tokio::runtime;
use tokio::sync::OnceCell;

/// A database with empty tables, or `return` from the test if there is no server.
macro_rules! fresh {
    () => {
        $crate::server::schema!().database().await
    };
}
pub(crate) use fresh;

/// A schema of this test alone, or `return` from the test.
macro_rules! schema {
    () => {
        match $crate::server::Schema::fresh(module_path!()).await {
            Some(schema) => schema,
            None => return,
        }
    };
}
pub(crate) use schema;

fn url() -> String {
    env::var("TEST_POSTGRES_URL").unwrap_or_else(|_| "postgres://postgres@127.0.0.1:5432/postgres".to_owned())
}

fn options() -> PgConnectOptions {
    url()
        .parse::<PgConnectOptions>()
        .unwrap()
        .disable_statement_logging()
}

/// Returns `true` if there is a server; checked once.
async fn is_there() -> bool {
    static ANSWER: OnceCell<bool> = OnceCell::const_new();
    *ANSWER
        .get_or_init(async || {
            let connected = tokio::time::timeout(Duration::from_secs(5), options().connect()).await;
            matches!(connected, Ok(Ok(_)))
        })
        .await
}

/// Prints one line per suite past the test harness, which hides the output of a passing test.
pub(crate) fn skip(suite: &'static str, missing: &str) {
    static SKIPPED: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());
    assert!(env::var("CI").as_deref() != Ok("true"), "CI needs {missing}");
    if SKIPPED
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .insert(suite)
    {
        let line = format!("skipped, nothing proven: {suite} (needs {missing})\n");
        stderr().write_all(line.as_bytes()).unwrap();
    }
}

thread_local! {
    static SCHEMAS: RefCell<Vec<Dropped>> = const { RefCell::new(Vec::new()) };
}

/// A schema that lasts as long as the thread of its test.
#[derive(Clone)]
pub(crate) struct Schema {
    name: String,
}

impl Schema {
    pub(crate) async fn fresh(suite: &'static str) -> Option<Self> {
        if !is_there().await {
            skip(suite, "the PostgreSQL of TEST_POSTGRES_URL");
            return None;
        }
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        let name = format!(
            "store_postgres_test_{}_{}_{:?}",
            process::id(),
            since.as_nanos(),
            thread::current().id()
        );
        let name: String = name
            .chars()
            .filter(|c| c.is_ascii_alphanumeric() || *c == '_')
            .collect();
        let mut connection = options().connect().await.unwrap();
        execute(&mut connection, format!("CREATE SCHEMA {name}")).await;
        connection.close().await.unwrap();
        SCHEMAS.with_borrow_mut(|schemas| schemas.push(Dropped(name.clone())));
        Some(Self { name })
    }

    /// The URL of the schema, for the settings of [`Database::connect`].
    pub(crate) fn url(&self) -> String {
        let url = url();
        let separator = if url.contains('?') { '&' } else { '?' };
        format!("{url}{separator}options[search_path]={}", self.name)
    }

    pub(crate) async fn database(&self) -> Database {
        Database::connect(&self.url()).await.unwrap()
    }

    /// A pool with settings of its own.
    pub(crate) async fn pool(&self, settings: &[(&str, &str)]) -> PgPool {
        let options = self
            .url()
            .parse::<PgConnectOptions>()
            .unwrap()
            .options(settings.iter().copied());
        PgPoolOptions::new()
            .max_connections(4)
            .connect_with(options)
            .await
            .unwrap()
    }
}

async fn execute(connection: &mut PgConnection, statement: String) {
    sqlx::raw_sql(AssertSqlSafe(statement))
        .execute(connection)
        .await
        .unwrap();
}

/// Drops its schema on a thread of its own: the runtime of the test has ended by then.
struct Dropped(String);

impl Drop for Dropped {
    fn drop(&mut self) {
        let statement = format!("DROP SCHEMA {} CASCADE", self.0);
        let drop = move || {
            let runtime = runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let mut connection = options().connect().await.unwrap();
                execute(&mut connection, statement).await;
            });
        };
        // if this fails the schema stays, and the test keeps its own result
        thread::spawn(drop).join().ok();
    }
}
