//! The PostgreSQL server of `TEST_POSTGRES_URL`, or the one on the default local port.

use std::{
    env, process,
    sync::atomic::{AtomicUsize, Ordering},
};

use host_store_postgres::sqlx::{
    AssertSqlSafe, ConnectOptions, Connection, Error, PgConnection, postgres::PgConnectOptions, query,
};
use tokio::runtime::Runtime;

/// An empty schema; dropping it deletes it.
#[derive(Debug)]
pub struct Schema<'r> {
    runtime: &'r Runtime,
    name: String,
}

impl<'r> Schema<'r> {
    /// Creates a schema; prints a line and returns `None` without a server.
    #[must_use]
    pub fn fresh(runtime: &'r Runtime) -> Option<Self> {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("bench_{}_{number}", process::id());
        match runtime.block_on(execute(format!("CREATE SCHEMA {name}"))) {
            Ok(()) => Some(Self { runtime, name }),
            Err(error) => {
                say(&format!("left out: PostgreSQL ({error}); set TEST_POSTGRES_URL"));
                None
            }
        }
    }

    /// URL of the database with this schema as its `search_path`.
    #[must_use]
    pub fn url(&self) -> String {
        let url = url();
        let separator = if url.contains('?') { '&' } else { '?' };
        format!("{url}{separator}options[search_path]={}", self.name)
    }
}

impl Drop for Schema<'_> {
    fn drop(&mut self) {
        let dropped = self
            .runtime
            .block_on(execute(format!("DROP SCHEMA {} CASCADE", self.name)));
        if let Err(error) = dropped {
            say(&format!("the schema {} stays: {error}", self.name));
        }
    }
}

fn url() -> String {
    env::var("TEST_POSTGRES_URL").unwrap_or_else(|_| "postgres://postgres@127.0.0.1:5432/postgres".to_owned())
}

async fn execute(statement: String) -> Result<(), Error> {
    let options: PgConnectOptions = url().parse()?;
    let mut connection: PgConnection = options.disable_statement_logging().connect().await?;
    query(AssertSqlSafe(statement)).execute(&mut connection).await?;
    connection.close().await
}

#[expect(clippy::print_stderr, reason = "a bench reports on the terminal")]
fn say(line: &str) {
    eprintln!("{line}");
}
