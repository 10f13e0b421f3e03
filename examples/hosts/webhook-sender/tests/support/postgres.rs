//! A schema for a test, on the PostgreSQL server of `TEST_POSTGRES_URL`.

use std::env;
use std::io::{Write, stderr};

use host_store_postgres::sqlx::postgres::PgConnectOptions;
use host_store_postgres::sqlx::{self, AssertSqlSafe, Connection, PgConnection};

/// An empty schema.
pub(crate) struct Schema {
    url: String,
    name: String,
    connection: PgConnection,
}

/// Creates a schema; `None` after a line if there is no server, except with `CI=true`.
pub(crate) async fn fresh() -> Option<Schema> {
    let url = env::var("TEST_POSTGRES_URL");
    let url = url.unwrap_or_else(|_| "postgres://postgres@127.0.0.1:5432/postgres".to_owned());
    let options: PgConnectOptions = url.parse().unwrap();
    let Ok(connection) = PgConnection::connect_with(&options).await else {
        assert!(env::var("CI").as_deref() != Ok("true"), "CI needs PostgreSQL");
        let line = b"skipped, nothing proven: webhook-sender (needs the PostgreSQL of TEST_POSTGRES_URL)\n";
        stderr().write_all(line).unwrap();
        return None;
    };
    let name = format!("webhook_sender_test_{}", std::process::id());
    let mut schema = Schema {
        url,
        name,
        connection,
    };
    let name = &schema.name;
    schema
        .execute(format!(
            "DROP SCHEMA IF EXISTS {name} CASCADE; CREATE SCHEMA {name}"
        ))
        .await;
    Some(schema)
}

impl Schema {
    pub(crate) fn url(&self) -> String {
        let separator = if self.url.contains('?') { '&' } else { '?' };
        format!("{}{separator}options[search_path]={}", self.url, self.name)
    }

    /// Amounts of the charges, in the order in which they were stored.
    pub(crate) async fn amounts(&mut self) -> Vec<i64> {
        let select = format!("SELECT amount FROM {}.charge ORDER BY id", self.name);
        let amounts = sqlx::query_scalar(AssertSqlSafe(select)).fetch_all(&mut self.connection);
        amounts.await.unwrap()
    }

    pub(crate) async fn drop(mut self) {
        let drop = format!("DROP SCHEMA {} CASCADE", self.name);
        self.execute(drop).await;
    }

    async fn execute(&mut self, statements: String) {
        let executed = sqlx::raw_sql(AssertSqlSafe(statements)).execute(&mut self.connection);
        executed.await.unwrap();
    }
}
