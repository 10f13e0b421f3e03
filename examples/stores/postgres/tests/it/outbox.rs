//! The event in the caller's transaction, placement of rows, and several dispatchers at once.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::future::join_all;
use host_store_postgres::{Database, DatabaseErrorKind, outbox, sqlx};
use webhook_core::ports::TransportErrorKind;
use webhook_core::sender::{
    Attempt, AttemptResult, DeliveryState, Disposition, EndpointStore, Enqueued, FailureReason, Outbox,
    ReplayRequest, Settled, Settlement,
};

use crate::server::{fresh, schema};
use crate::support::{
    START, count, deliveries, endpoint, event, lease, note_and_enqueue, settle, settlement, with_notes,
};

/// W15: the event is stored if and only if the caller's row is.
#[tokio::test]
async fn event_and_row_commit_together() {
    let database = with_notes(fresh!()).await;
    let enqueued = note_and_enqueue(&database, 1, event(1, &["ep_1"])).await.unwrap();
    assert_eq!(enqueued, Enqueued::Enqueued);
    let refused = note_and_enqueue(&database, 1, event(2, &["ep_1"]))
        .await
        .unwrap_err();
    assert_eq!(refused.kind(), DatabaseErrorKind::Failed);

    assert_eq!(count(&database, "note").await, 1);
    let stored = deliveries(&database).await;
    assert_eq!(
        stored
            .iter()
            .map(|delivery| delivery.id.to_string())
            .collect::<Vec<_>>(),
        ["evt_1/ep_1"]
    );
    // the id is free: the failed transaction left nothing
    let again = note_and_enqueue(&database, 2, event(2, &["ep_1"])).await.unwrap();
    assert_eq!(again, Enqueued::Enqueued);
    assert_eq!(
        database.enqueue(event(2, &["ep_1"])).await.unwrap(),
        Enqueued::Duplicate
    );
}

/// W15: in a caller's serializable transaction a conflict is reported as transient.
#[tokio::test]
async fn serialization_conflict_is_transient() {
    let database = fresh!();
    let mut transaction = database
        .pool()
        .begin_with("BEGIN ISOLATION LEVEL SERIALIZABLE")
        .await
        .unwrap();
    sqlx::query("SELECT count(*) FROM webhook_event")
        .execute(&mut *transaction)
        .await
        .unwrap();
    database.enqueue(event(1, &["ep_1"])).await.unwrap();
    let error = outbox::enqueue_in(&mut transaction, &event(1, &["ep_1"]))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), DatabaseErrorKind::Busy);
}

/// W15, W16: subscriptions are read when the event is stored, also those newer than the
/// transaction.
#[tokio::test]
async fn event_goes_to_endpoints_registered_before_it() {
    let database = with_notes(fresh!()).await;
    let mut transaction = database.pool().begin().await.unwrap();
    sqlx::query("INSERT INTO note (id) VALUES (1)")
        .execute(&mut *transaction)
        .await
        .unwrap();
    database.insert(endpoint("ep_9")).await.unwrap();
    let sent = outbox::send_in(&mut transaction, event(1, &[]).event, START).await;
    assert_eq!(sent.unwrap(), Enqueued::Enqueued);
    assert!(deliveries(&database).await.is_empty(), "it is not committed");
    transaction.commit().await.unwrap();
    assert_eq!(deliveries(&database).await[0].id.to_string(), "evt_1/ep_9");
}

/// W18: finished deliveries leave the hot table, and a replay moves them back.
#[tokio::test]
async fn the_hot_table_is_as_small_as_the_backlog() {
    let database = fresh!();
    let rows = async || {
        (
            count(&database, "webhook_ready").await,
            count(&database, "webhook_finished").await,
        )
    };
    database
        .enqueue(event(1, &["ep_1", "ep_2", "ep_3"]))
        .await
        .unwrap();
    assert_eq!(rows().await, (3, 0));
    let leased = lease(&database, 10).await;
    let dispositions = [
        Disposition::Acked,
        Disposition::Retry { due_at: START },
        Disposition::Failed(FailureReason::Rejected),
    ];
    let batch = leased
        .iter()
        .zip(dispositions)
        .map(|(leased, disposition)| settlement(leased, disposition));
    assert_eq!(settle(&database, batch.collect()).await, [Settled::Applied; 3]);
    assert_eq!(rows().await, (1, 2));

    let request = ReplayRequest {
        filter: Default::default(),
        acknowledged: false,
        after: None,
        limit: usize::MAX,
        now: START,
        dry_run: false,
    };
    assert_eq!(database.replay(&request).await.unwrap().count, 1);
    assert_eq!(rows().await, (2, 1));
    assert_eq!(count(&database, "webhook_delivery").await, 3);
}

/// W15: a delivery that is finished when it is stored is never leased.
#[tokio::test]
async fn a_delivery_that_is_over_is_never_leased() {
    let database = fresh!();
    let mut enqueue = event(1, &["ep_1", "ep_2"]);
    enqueue.deliveries[0].state = DeliveryState::Acked;
    database.enqueue(enqueue.clone()).await.unwrap();
    assert_eq!(deliveries(&database).await, enqueue.deliveries);
    let leased = lease(&database, 10).await;
    assert_eq!(leased.len(), 1);
    assert_eq!(leased[0].delivery.id.to_string(), "evt_1/ep_2");
}

/// W18: a replay of more failures than fit into memory replays each once.
#[tokio::test]
async fn a_replay_of_thousands_goes_in_pages() {
    let database = fresh!();
    sqlx::query(
        "WITH event AS (
             INSERT INTO webhook_event SELECT 'evt_' || n, 'note.created', 'everyone', 0, '' FROM generate_series(1, 2500) AS n
             RETURNING id
         )
         INSERT INTO webhook_finished SELECT id, 'ep_1', 'dead_letter', 0, 7, 7, 0, 'attempts_exhausted', 0 FROM event",
    )
    .execute(database.pool())
    .await
    .unwrap();
    let mut request = ReplayRequest {
        filter: Default::default(),
        acknowledged: false,
        after: None,
        limit: usize::MAX,
        now: START,
        dry_run: true,
    };
    assert_eq!(database.replay(&request).await.unwrap().count, 2_500);
    request.dry_run = false;
    assert_eq!(database.replay(&request).await.unwrap().count, 2_500);
    assert_eq!(database.replay(&request).await.unwrap().count, 0);
    assert_eq!(
        count(
            &database,
            "webhook_ready WHERE state = 'ready' AND attempts = 0 AND fence = 7"
        )
        .await,
        2_500
    );
}

/// W18: a replay neither locks nor reads one by one the failed deliveries whose event has no body:
/// another transaction that holds all of them does not stop it.
#[tokio::test]
async fn replay_leaves_expunged_failures_alone() {
    let database = fresh!();
    sqlx::query(
        "WITH event AS (
             INSERT INTO webhook_event
             SELECT 'evt_' || n, 'note.created', 'everyone', 0, CASE WHEN n = 1 THEN ''::bytea END
             FROM generate_series(1, 500) AS n RETURNING id
         )
         INSERT INTO webhook_finished SELECT id, 'ep_1', 'dead_letter', 0, 7, 7, 0, 'attempts_exhausted', 0 FROM event",
    )
    .execute(database.pool())
    .await
    .unwrap();
    let request = ReplayRequest {
        filter: Default::default(),
        acknowledged: false,
        after: None,
        limit: 1,
        now: START,
        dry_run: false,
    };
    let mut holder = database.pool().begin().await.unwrap();
    sqlx::query("SELECT FROM webhook_finished WHERE event <> 'evt_1' FOR UPDATE")
        .execute(&mut *holder)
        .await
        .unwrap();
    let replayed = tokio::time::timeout(Duration::from_secs(5), database.replay(&request)).await;
    let replayed = replayed.expect("waits for an expunged delivery").unwrap();
    assert_eq!((replayed.count, replayed.has_more), (1, false));
    holder.rollback().await.unwrap();
}

/// W18: an error text may hold any character, also one that a text column refuses.
#[tokio::test]
async fn a_hostile_error_text_does_not_stop_a_batch() {
    let database = fresh!();
    database.enqueue(event(1, &["ep_1"])).await.unwrap();
    let leased = lease(&database, 1).await;
    let attempt = Attempt {
        delivery: leased[0].delivery.id.clone(),
        fence: 1,
        started_at: START,
        duration: Duration::from_nanos(1),
        result: AttemptResult::Failed {
            kind: TransportErrorKind::Other,
            message: "nul \0, \\x, {} and \u{10ffff}".to_owned(),
        },
    };
    let settled = Settlement {
        attempt: Some(attempt.clone()),
        ..settlement(&leased[0], Disposition::Retry { due_at: START })
    };
    assert_eq!(settle(&database, vec![settled]).await, [Settled::Applied]);
    assert_eq!(database.attempts(&attempt.delivery).await.unwrap(), [attempt]);
}

/// A dispatcher that leases and settles in its own order until nothing is due; returns what it
/// settled.
async fn dispatch(database: Database, reversed: bool) -> Vec<String> {
    let mut done = Vec::new();
    loop {
        let mut leased = lease(&database, 16).await;
        if leased.is_empty() {
            return done;
        }
        if reversed {
            leased.reverse();
        }
        let batch = leased
            .iter()
            .map(|leased| settlement(leased, Disposition::Acked))
            .collect();
        let settled = settle(&database, batch).await;
        assert!(settled.iter().all(|settled| *settled == Settled::Applied));
        done.extend(leased.into_iter().map(|leased| leased.delivery.id.to_string()));
    }
}

/// X5: two processes on one database behave as one: each delivery is leased and settled once,
/// without a deadlock.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_dispatchers_of_two_processes_share_the_work() {
    let schema = schema!();
    let processes = [schema.database().await, schema.database().await];
    let endpoints = ["ep_1", "ep_2", "ep_3", "ep_4", "ep_5"];
    let producers = (0..100).map(|n| {
        let database = processes[n % 2].clone();
        async move { database.enqueue(event(n, &endpoints)).await.unwrap() }
    });
    join_all(producers).await;

    let dispatchers = (0..8).map(|n| tokio::spawn(dispatch(processes[n % 2].clone(), n % 3 == 0)));
    let mut times = BTreeMap::<String, u32>::new();
    for done in join_all(dispatchers).await {
        for id in done.unwrap() {
            *times.entry(id).or_default() += 1;
        }
    }
    assert_eq!((times.len(), times.values().max()), (500, Some(&1)));
    let stored = deliveries(&processes[0]).await;
    assert!(
        stored
            .iter()
            .all(|delivery| delivery.state == DeliveryState::Acked && delivery.fence == 1)
    );
    assert_eq!(processes[1].next_due().await.unwrap(), None);
}

/// X4: a handle that kept connections may be dropped outside a runtime, such as at the end of
/// `main`.
#[test]
fn handle_is_dropped_outside_its_runtime() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut held = None;
    runtime.block_on(async {
        let schema = schema!();
        let database = schema.database().await;
        lease(&database, 1).await;
        let instance = database.join().await.unwrap().unwrap();
        database.beat(instance).await.unwrap();
        held = Some(database);
    });
    drop(held);
}
