//! The PostgreSQL server that the tests run against, and a schema for each test.
//!
//! Without a server a suite prints one line and is skipped; with `CI=true` it fails.

use std::io::{Write, stderr};
use std::time::{Duration, Instant};
use std::{env, process, thread};

use host_store_postgres::sqlx::{self, AssertSqlSafe, Connection, PgConnection};
use tokio::runtime;

fn server_url() -> String {
    env::var("TEST_POSTGRES_URL").unwrap_or_else(|_| "postgres://postgres@127.0.0.1:5432/postgres".to_owned())
}

/// Prints one line past the test harness, which hides the output of a passing test.
pub(crate) fn skip(suite: &str, missing: &str) {
    assert!(env::var("CI").as_deref() != Ok("true"), "CI needs {missing}");
    let line = format!("skipped, nothing proven: {suite} (needs {missing})\n");
    stderr().write_all(line.as_bytes()).unwrap();
}

/// An empty schema, dropped with this value.
pub(crate) struct Schema {
    name: String,
}

impl Schema {
    /// Creates a schema; `None` if there is no server.
    pub(crate) fn fresh(suite: &str) -> Option<Self> {
        let name = format!("service_test_{}_{suite}", process::id());
        if execute(format!(
            "DROP SCHEMA IF EXISTS {name} CASCADE; CREATE SCHEMA {name}"
        ))
        .is_err()
        {
            skip(suite, "the PostgreSQL of TEST_POSTGRES_URL");
            return None;
        }
        Some(Self { name })
    }

    /// URL of the schema.
    pub(crate) fn url(&self) -> String {
        let url = server_url();
        let separator = if url.contains('?') { '&' } else { '?' };
        format!("{url}{separator}options[search_path]={}", self.name)
    }
}

impl Drop for Schema {
    fn drop(&mut self) {
        // if this fails the schema stays, and the test keeps its own result
        execute(format!("DROP SCHEMA {} CASCADE", self.name)).ok();
    }
}

/// A lock on the table of charges, which blocks writes.
pub(crate) struct Lock {
    runtime: runtime::Runtime,
    connection: PgConnection,
}

impl Lock {
    pub(crate) fn take(url: &str) -> Self {
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let connection = runtime.block_on(PgConnection::connect(url)).unwrap();
        let mut lock = Self { runtime, connection };
        lock.run("BEGIN");
        lock.run("LOCK TABLE charge IN SHARE MODE");
        lock
    }

    /// Runs a statement; returns the number of its rows.
    fn run(&mut self, sql: &'static str) -> usize {
        let run = sqlx::raw_sql(sql).fetch_all(&mut self.connection);
        self.runtime.block_on(run).unwrap().len()
    }

    /// Waits until a write waits for the lock.
    pub(crate) fn blocks_a_write(&mut self) {
        let began = Instant::now();
        while self.run("SELECT FROM pg_locks WHERE NOT granted AND relation = 'charge'::regclass") == 0 {
            assert!(began.elapsed() < Duration::from_secs(20), "no write waits");
        }
    }

    pub(crate) fn release(mut self) {
        self.run("ROLLBACK");
    }
}

/// Executes SQL on a thread of its own, so that tests with and without a runtime can call it.
fn execute(sql: String) -> Result<(), sqlx::Error> {
    let execute = move || {
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let mut connection = PgConnection::connect(&server_url()).await?;
            sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await?;
            connection.close().await
        })
    };
    thread::spawn(execute).join().unwrap()
}
