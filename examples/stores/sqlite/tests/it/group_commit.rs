//! Group commit: many verbs, one commit, independent failures.

use std::sync::mpsc;

use futures_util::future::join_all;
use host_store_sqlite::{Database, DatabaseError, DatabaseErrorKind};

use crate::support::{File, Held, note, notes, queue, with_notes};

/// X4: verbs that wait during a commit share the next one.
#[tokio::test]
async fn a_hundred_waiting_verbs_share_one_commit() {
    let file = File::new();
    let database = with_notes(file.open()).await;
    let held = Held::writer_of(&database).await;
    let before = database.commits();

    let waiting: Vec<_> = (0..100).map(|id| queue(note(&database, id))).collect();
    held.release().await.unwrap();
    for answer in join_all(waiting).await {
        answer.unwrap();
    }

    assert_eq!(
        database.commits() - before,
        1,
        "for the verb that held the writer and the hundred behind it"
    );
    assert_eq!(notes(&database).await, (0..100).collect::<Vec<_>>());
}

/// X4: a batch ends while more verbs are queued, so that its first callers are answered.
#[tokio::test]
async fn a_batch_ends_while_more_is_waiting() {
    let database = with_notes(Database::open_in_memory().unwrap()).await;
    let held = Held::writer_of(&database).await;
    let before = database.commits();

    let waiting: Vec<_> = (0..2_000).map(|id| queue(note(&database, id))).collect();
    held.release().await.unwrap();
    join_all(waiting).await.into_iter().for_each(Result::unwrap);

    assert_eq!(database.commits() - before, 2, "a thousand or so at a time");
}

/// X4: independent tasks share commits too.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_tasks_need_far_fewer_commits_than_verbs() {
    let file = File::new();
    let database = with_notes(file.open()).await;
    let before = database.commits();

    let tasks = (0..64).map(|task| {
        let database = database.clone();
        tokio::spawn(async move {
            for turn in 0..16 {
                note(&database, task * 16 + turn).await.unwrap();
            }
        })
    });
    for task in join_all(tasks).await {
        task.unwrap();
    }

    assert_eq!(notes(&database).await.len(), 1024);
    let commits = database.commits() - before;
    assert!(commits <= 1024 / 4, "{commits} commits for 1024 verbs");
}

/// X4: a verb that fails in a batch rolls back its own writes and no others.
#[tokio::test]
async fn a_failing_verb_does_not_undo_its_neighbours() {
    let database = with_notes(Database::open_in_memory().unwrap()).await;
    let held = Held::writer_of(&database).await;

    let before = queue(note(&database, 1));
    let refused = queue(database.write(|transaction| -> Result<(), DatabaseError> {
        transaction.execute("INSERT INTO note (id) VALUES (2)", ())?;
        transaction.execute("INSERT INTO note (id) VALUES (1)", ())?;
        Ok(())
    }));
    let given_up = queue(database.write(|transaction| -> Result<(), Changed> {
        transaction
            .execute("INSERT INTO note (id) VALUES (3)", ())
            .map_err(DatabaseError::from)?;
        Err(Changed::Mind)
    }));
    let panicking = queue(database.write(|transaction| -> Result<(), DatabaseError> {
        transaction.execute("INSERT INTO note (id) VALUES (4)", ())?;
        panic!("a bug of the host");
    }));
    let after = queue(note(&database, 5));
    held.release().await.unwrap();

    before.await.unwrap();
    assert_eq!(refused.await.unwrap_err().kind(), DatabaseErrorKind::Failed);
    assert!(matches!(given_up.await, Err(Changed::Mind)));
    assert_eq!(panicking.await.unwrap_err().kind(), DatabaseErrorKind::Failed);
    after.await.unwrap();
    assert_eq!(notes(&database).await, [1, 5]);
}

#[derive(Debug)]
enum Changed {
    Mind,
    Underneath,
}

impl From<DatabaseError> for Changed {
    fn from(_: DatabaseError) -> Self {
        Self::Underneath
    }
}

/// X4: a lost transaction acknowledges no verb; verbs that had not run yet run in the next one.
#[tokio::test]
async fn lost_transaction_is_not_acknowledged() {
    let database = with_notes(Database::open_in_memory().unwrap()).await;
    let held = Held::writer_of(&database).await;

    let before = queue(note(&database, 1));
    let rude =
        queue(database.write(|transaction| -> Result<(), DatabaseError> {
            Ok(transaction.execute_batch("ROLLBACK")?)
        }));
    let after = queue(note(&database, 2));
    for answer in [held.release().await, before.await, rude.await] {
        assert_eq!(answer.unwrap_err().kind(), DatabaseErrorKind::Unavailable);
    }
    after.await.unwrap();
    assert_eq!(notes(&database).await, [2]);
}

/// X4: a refused commit fails every verb in it, and no later one.
#[tokio::test]
async fn refused_commit_is_not_acknowledged() {
    let database = with_notes(Database::open_in_memory().unwrap()).await;
    let deferred = "CREATE TABLE reply (
        note INTEGER NOT NULL REFERENCES note (id) DEFERRABLE INITIALLY DEFERRED
    ) STRICT";
    database.migrate("replies", &[deferred]).await.unwrap();
    let held = Held::writer_of(&database).await;

    let before = queue(note(&database, 1));
    let dangling = queue(database.write(|transaction| -> Result<(), DatabaseError> {
        transaction.execute("INSERT INTO reply (note) VALUES (99)", ())?;
        Ok(())
    }));
    held.release().await.unwrap_err();
    before.await.unwrap_err();
    dangling.await.unwrap_err();
    note(&database, 2).await.unwrap();
    assert_eq!(notes(&database).await, [2]);
}

/// X4: a queued verb whose caller has gone does not run.
#[tokio::test]
async fn a_verb_whose_caller_has_gone_never_begins() {
    let database = with_notes(Database::open_in_memory().unwrap()).await;
    let held = Held::writer_of(&database).await;

    drop(queue(note(&database, 1)));
    let waiting = queue(note(&database, 2));
    held.release().await.unwrap();

    waiting.await.unwrap();
    assert_eq!(notes(&database).await, [2]);
}

/// Panics in its destructor.
struct Grenade;

impl Drop for Grenade {
    fn drop(&mut self) {
        panic!("a bug of the host");
    }
}

/// X4: a panicking destructor of a dropped caller does not end the writer.
#[tokio::test]
async fn a_destructor_that_panics_ends_no_thread() {
    let database = with_notes(Database::open_in_memory().unwrap()).await;
    let (begun, has_begun) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let answered_with_one = queue(database.write(move |_| {
        begun.send(()).unwrap();
        released.recv().unwrap();
        Ok::<_, DatabaseError>(Grenade)
    }));
    let beside = queue(note(&database, 1));
    has_begun.recv().unwrap();
    let grenade = Grenade;
    let held_by_one = queue(database.write(move |_| {
        std::mem::forget(grenade);
        Ok::<_, DatabaseError>(())
    }));
    let behind = queue(note(&database, 2));
    drop((answered_with_one, held_by_one));
    release.send(()).unwrap();

    beside.await.unwrap();
    behind.await.unwrap();
    assert_eq!(notes(&database).await, [1, 2]);
}
