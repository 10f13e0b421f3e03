//! A schema for each test, on the PostgreSQL server of `TEST_POSTGRES_URL`.

use std::env;
use std::io::{Write, stderr};
use std::sync::atomic::{AtomicUsize, Ordering};

use one_host::Store;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{AssertSqlSafe, Connection, PgConnection};

/// A store with empty tables, or `return` from the test if there is no server.
macro_rules! store {
    () => {
        match $crate::server::fresh().await {
            Some(store) => store,
            None => return,
        }
    };
}
pub(crate) use store;

pub(crate) async fn fresh() -> Option<Store> {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let url = env::var("TEST_POSTGRES_URL");
    let url = url
        .as_deref()
        .unwrap_or("postgres://postgres@127.0.0.1:5432/postgres");
    let options: PgConnectOptions = url.parse().unwrap();
    let Ok(mut connection) = PgConnection::connect_with(&options).await else {
        assert!(env::var("CI").as_deref() != Ok("true"), "CI needs PostgreSQL");
        let line = b"skipped, nothing proven: one-host (needs the PostgreSQL of TEST_POSTGRES_URL)\n";
        stderr().write_all(line).unwrap();
        return None;
    };
    let schema = format!(
        "one_host_test_{}_{}",
        std::process::id(),
        NEXT.fetch_add(1, Ordering::Relaxed)
    );
    let create = format!("DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}");
    sqlx::raw_sql(AssertSqlSafe(create))
        .execute(&mut connection)
        .await
        .unwrap();
    let pool = PgPoolOptions::new()
        .max_connections(5)
        .connect_with(options.options([("search_path", schema)]))
        .await;
    Some(Store::create(pool.unwrap()).await.unwrap())
}
