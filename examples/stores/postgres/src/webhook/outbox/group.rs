//! Group commit: concurrent calls of `enqueue` share one statement and one flush.
//!
//! One task writes. While it waits for the disk, the next group collects.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use sqlx::{PgConnection, PgPool};
use tokio::sync::{mpsc, oneshot};
use webhook_core::sender::{Enqueue, Enqueued};

use super::{enqueue, notification};
use crate::database::limits::OPERATION;
use crate::database::{Database, DatabaseError, DatabaseErrorKind, Dedicated};

/// Limit of events of a group.
const GROUP: usize = 256;

/// Limit of calls that wait for their group; further calls wait before they are queued.
const QUEUE: usize = 4 * GROUP;

/// Writer of events. It ends when it is dropped.
pub(crate) struct GroupWriter(mpsc::Sender<Call>);

struct Call {
    enqueue: Enqueue,
    result: oneshot::Sender<Result<Enqueued, DatabaseError>>,
}

impl GroupWriter {
    /// Starts the task of the writer.
    pub(crate) fn start(database: &Database) -> Self {
        let (calls, queue) = mpsc::channel(QUEUE);
        database.start(write_groups(database.pool().clone(), queue));
        Self(calls)
    }

    pub(crate) async fn enqueue(&self, enqueue: Enqueue) -> Result<Enqueued, DatabaseError> {
        let (result, written) = oneshot::channel();
        let gone = |_| DatabaseError::new(DatabaseErrorKind::Unavailable, "the writer has ended");
        let call = Call { enqueue, result };
        self.0.send(call).await.map_err(|_| gone(()))?;
        written.await.map_err(|_| gone(()))?
    }
}

async fn write_groups(pool: PgPool, mut queue: mpsc::Receiver<Call>) {
    let connection = Dedicated::default();
    while let Some(first) = queue.recv().await {
        let mut calls = vec![first];
        while calls.len() < GROUP
            && let Ok(next) = queue.try_recv()
        {
            calls.push(next);
        }
        write_group(&pool, &connection, calls).await;
    }
}

/// Writes a group. If it fails, each event is written alone, so that one event cannot make the
/// others fail.
async fn write_group(pool: &PgPool, connection: &Dedicated, calls: Vec<Call>) {
    let (events, results): (Vec<_>, Vec<_>) =
        calls.into_iter().map(|call| (call.enqueue, call.result)).unzip();
    let events: Arc<[Enqueue]> = events.into();
    let written = write_within(pool, connection, &events, 0..events.len()).await;
    let is_alone = events.len() == 1;
    match written {
        Ok(written) => respond(results.into_iter().zip(written.into_iter().map(Ok))),
        Err(error) if is_alone || error.kind() == DatabaseErrorKind::Unavailable => {
            respond(results.into_iter().map(|result| (result, Err(error.clone()))));
        }
        Err(_) => {
            for (index, result) in results.into_iter().enumerate() {
                let written = write_within(pool, connection, &events, index..index + 1).await;
                let first = written.map(|written| written.first().copied());
                let first = first.and_then(|first| {
                    first.ok_or_else(|| DatabaseError::new(DatabaseErrorKind::Failed, "no result"))
                });
                respond([(result, first)]);
            }
        }
    }
    // events wait for the next look of other processes if this fails
    let _notified = connection
        .run(pool, OPERATION, |connection| {
            Box::pin(notification::notify(connection))
        })
        .await;
}

/// Writes some of the events on the connection of the writer.
async fn write_within(
    pool: &PgPool,
    connection: &Dedicated,
    events: &Arc<[Enqueue]>,
    range: Range<usize>,
) -> Result<Vec<Enqueued>, DatabaseError> {
    let events = Arc::clone(events);
    connection
        .run(pool, OPERATION, move |connection| {
            Box::pin(async move { write(connection, events.get(range).unwrap_or_default()).await })
        })
        .await
}

type Response = (
    oneshot::Sender<Result<Enqueued, DatabaseError>>,
    Result<Enqueued, DatabaseError>,
);

fn respond(results: impl IntoIterator<Item = Response>) {
    for (result, written) in results {
        // the caller may be gone; its event is stored nevertheless
        let _gone = result.send(written);
    }
}

/// Inserts the events whose ids are free, with their deliveries, in one statement.
async fn write(connection: &mut PgConnection, events: &[Enqueue]) -> Result<Vec<Enqueued>, DatabaseError> {
    // an id that is repeated in the group is compared with the row of its first event
    let mut seen = HashSet::new();
    let first: Vec<&Enqueue> = events
        .iter()
        .filter(|enqueue| seen.insert(&enqueue.event.id))
        .collect();
    let mut stored = enqueue::insert(connection, &first).await?;
    let mut results = Vec::with_capacity(events.len());
    for enqueue in events {
        results.push(if stored.remove(enqueue.event.id.as_str()) {
            Enqueued::Enqueued
        } else {
            enqueue::stored_before(connection, enqueue).await?
        });
    }
    Ok(results)
}
