//! A file that is deleted with its test, and a writer that a test can block.

use std::cell::RefCell;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::mpsc;
use std::task::{Context, Waker};
use std::time::{Duration, SystemTime};

use host_store_sqlite::{Database, DatabaseError, outbox};
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use webhook_core::event::Envelope;
use webhook_core::receiver::{BodyDigest, EventKey, Incoming};
use webhook_core::sender::{Audience, Delivery, DeliveryId, Enqueue, Enqueued, StoredEvent};

/// A directory with one database.
pub(crate) struct File(TempDir);

impl File {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.0.path().join("suite.sqlite")
    }

    pub(crate) fn open(&self) -> Database {
        Database::open(self.path()).unwrap()
    }
}

/// Makes a table that any test can write to.
pub(crate) async fn with_notes(database: Database) -> Database {
    database
        .migrate(
            "notes",
            &["CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT) STRICT"],
        )
        .await
        .unwrap();
    database
}

pub(crate) async fn note(database: &Database, id: i64) -> Result<(), DatabaseError> {
    database
        .write(move |transaction| {
            transaction
                .prepare_cached("INSERT INTO note (id) VALUES (?1)")?
                .execute([id])?;
            Ok(())
        })
        .await
}

/// An outgoing event about a note, for one endpoint.
pub(crate) fn event(number: i64) -> Enqueue {
    let now = SystemTime::UNIX_EPOCH;
    let (id, kind) = (
        format!("evt_{number}").parse().unwrap(),
        "note.created".parse().unwrap(),
    );
    let event = StoredEvent::new(
        Envelope::new(id, kind, "1".parse().unwrap(), now, b"{}").unwrap(),
        Audience::tenant("acme".parse().unwrap()),
    );
    let id = DeliveryId {
        event: event.id.clone(),
        endpoint: "ep_1".parse().unwrap(),
    };
    Enqueue {
        event,
        deliveries: vec![Delivery::new(id, now)],
    }
}

/// The same event as an incoming one.
pub(crate) fn incoming(number: i64) -> Incoming {
    let StoredEvent { id, body, .. } = event(number).event;
    let key = EventKey {
        source: "peer".to_owned(),
        id,
    };
    let expires_at = SystemTime::UNIX_EPOCH + Duration::from_secs(3600);
    Incoming {
        key,
        digest: BodyDigest::compute(&body),
        body,
        expires_at,
    }
}

/// Stores a note and the event about it in one transaction.
pub(crate) async fn note_and_enqueue(
    database: &Database,
    id: i64,
    enqueue: Enqueue,
) -> Result<Enqueued, DatabaseError> {
    database
        .write(move |transaction| {
            let enqueued = outbox::enqueue_in(transaction, &enqueue)?;
            transaction.execute("INSERT INTO note (id) VALUES (?1)", [id])?;
            Ok(enqueued)
        })
        .await
}

pub(crate) async fn notes(database: &Database) -> Vec<i64> {
    database
        .read(|connection| -> Result<Vec<i64>, DatabaseError> {
            let mut statement = connection.prepare("SELECT id FROM note ORDER BY id")?;
            let ids = statement.query_map((), |row| row.get(0))?;
            Ok(ids.collect::<Result<_, _>>()?)
        })
        .await
        .unwrap()
}

/// Keeps the writer inside a verb until [`Held::release`].
pub(crate) struct Held {
    release: mpsc::Sender<()>,
    verb: JoinHandle<Result<(), DatabaseError>>,
}

impl Held {
    pub(crate) async fn writer_of(database: &Database) -> Self {
        let (begun, has_begun) = oneshot::channel();
        let (release, released) = mpsc::channel();
        let database = database.clone();
        let verb = tokio::spawn(async move {
            database
                .write(move |_| {
                    begun.send(()).unwrap();
                    released.recv().unwrap();
                    Ok(())
                })
                .await
        });
        has_begun.await.unwrap();
        Self { release, verb }
    }

    /// Result of the held verb. It shares its commit with all verbs that were queued meanwhile.
    pub(crate) async fn release(self) -> Result<(), DatabaseError> {
        self.release.send(()).unwrap();
        self.verb.await.unwrap()
    }
}

/// Polls once: the verb is queued when this returns.
pub(crate) fn queue<F: Future + Send>(future: F) -> Pin<Box<F>> {
    let mut future = Box::pin(future);
    assert!(
        future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
            .is_pending()
    );
    future
}

thread_local! {
    static ON_DISK: RefCell<Vec<File>> = const { RefCell::new(Vec::new()) };
}

/// A new file that lasts as long as the thread of its test.
pub(crate) fn on_disk() -> Database {
    let file = File::new();
    let database = file.open();
    ON_DISK.with_borrow_mut(|files| files.push(file));
    database
}
