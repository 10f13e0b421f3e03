//! The shop in a PostgreSQL database, for several processes.

use std::time::{Duration, SystemTime};

use host_store_postgres::sqlx::{self, Connection, PgConnection};
use host_store_postgres::{Database, DatabaseError, outbox};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};
use webhook_core::event::EventId;

use crate::Failure;
use crate::shop::{self, Shop};

const TABLES: &[&str] = &["CREATE TABLE charge (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    amount BIGINT NOT NULL
)"];

/// Limit of a transaction. A connection that a network has cut never responds.
const LIMIT: Duration = Duration::from_secs(10);

/// Pause before notifications are requested again after an error.
const PAUSE: Duration = Duration::from_secs(1);

pub(crate) async fn connect(url: &str) -> Result<Database, Failure> {
    let database = Database::connect(url).await?;
    database.migrate("shop", TABLES).await?;
    Ok(database)
}

impl Shop for Database {
    async fn book(&self, amount: u32) -> Result<EventId, Failure> {
        let mut connection = self.pool().acquire().await?;
        let Ok(booked) = timeout(LIMIT, book_on(&mut connection, amount)).await else {
            connection.close_on_drop();
            return Err(format!("the database did not respond within {} s", LIMIT.as_secs()).into());
        };
        booked
    }

    async fn watch(&self, wake: &Notify) {
        loop {
            // the dispatcher also looks for events every second
            let _unavailable = listen(self, wake).await;
            sleep(PAUSE).await;
        }
    }
}

async fn book_on(connection: &mut PgConnection, amount: u32) -> Result<EventId, Failure> {
    let mut transaction = connection.begin().await?;
    let number: i64 = sqlx::query_scalar("INSERT INTO charge (amount) VALUES ($1) RETURNING id")
        .bind(i64::from(amount))
        .fetch_one(&mut *transaction)
        .await?;
    let now = SystemTime::now();
    let event = shop::event(number, amount, now)?;
    let id = event.id.clone();
    outbox::send_in(&mut transaction, event, now).await?;
    transaction.commit().await?;
    Ok(id)
}

async fn listen(database: &Database, wake: &Notify) -> Result<(), DatabaseError> {
    let mut events = outbox::listen(database).await?;
    loop {
        events.recv().await?;
        wake.notify_one();
    }
}
