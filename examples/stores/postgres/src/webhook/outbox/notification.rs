//! Notifications of new events, for dispatchers of other processes.

use sqlx::postgres::PgListener;
use sqlx::{PgConnection, PgPool};

use crate::database::{Database, DatabaseError};

/// Channel of the notifications, one for all schemas of a database.
const CHANNEL: &str = "webhook_outbox";

/// Notifies the listeners. It is sent after the commit of the events: within their transaction it
/// would serialize all commits of the server.
pub(super) async fn notify(connection: &mut PgConnection) -> Result<(), DatabaseError> {
    sqlx::query("SELECT pg_notify($1, '')")
        .bind(CHANNEL)
        .execute(connection)
        .await?;
    Ok(())
}

/// Listener for events that any process stores with
/// [`Outbox::enqueue`](webhook_core::sender::Outbox::enqueue).
///
/// [`enqueue_in`](super::enqueue_in) and [`send_in`](super::send_in) do not notify, because the
/// transaction is the host's. A dispatcher also looks for events at intervals, for example every
/// second.
#[derive(Debug)]
pub struct EventListener(PgListener);

/// Listens on a connection of its own.
///
/// # Errors
///
/// [`DatabaseError`] if the database cannot be reached.
///
/// # Examples
///
/// ```no_run
/// # use std::error::Error;
/// # async fn example(database: host_store_postgres::Database) -> Result<(), Box<dyn Error>> {
/// use host_store_postgres::outbox;
///
/// let mut events = outbox::listen(&database).await?;
/// loop {
///     events.recv().await?;
///     // wake the dispatcher
/// #   break;
/// }
/// # Ok(())
/// # }
/// ```
pub async fn listen(database: &Database) -> Result<EventListener, DatabaseError> {
    let pool: &PgPool = database.pool();
    let mut listener = PgListener::connect_with(pool).await?;
    listener.listen(CHANNEL).await?;
    Ok(EventListener(listener))
}

impl EventListener {
    /// Completes after the next notification, or after the connection was lost and made again.
    ///
    /// # Errors
    ///
    /// [`DatabaseError`] if the connection cannot be made again. A later call tries again.
    pub async fn recv(&mut self) -> Result<(), DatabaseError> {
        // `None` after a reconnection: notifications may have been missed
        self.0.try_recv().await?;
        Ok(())
    }
}
