//! Durable enqueues of one event for one endpoint: 32 producers, one producer, and the same rows by
//! hand with one commit each.
#![expect(
    clippy::expect_used,
    reason = "a bench ends where something is not as it was set up"
)]

use std::{
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
};

use benches::{Schema, Sender, keep_in_flight};
use bytes::Bytes;
use criterion::{Criterion, SamplingMode, Throughput};
use rusqlite::{Connection, TransactionBehavior};
use tokio::runtime::Runtime;
use webhook_core::sender::{EndpointStore, Outbox};

const PRODUCERS: usize = 32;
const URL: &str = "http://127.0.0.1:9/";
const BODY: [u8; 1024] = [b'x'; 1024];

fn ours(
    criterion: &mut Criterion,
    runtime: &Runtime,
    name: &str,
    store: impl Outbox + EndpointStore + 'static,
) {
    let sender = Sender::new(store, [URL.to_owned()], Bytes::from_static(&BODY));
    let sender = runtime.block_on(sender);
    let serial = AtomicU64::new(0);
    let producer = async |(): &(), events: u64| {
        for _ in 0..events {
            let number = serial.fetch_add(1, Ordering::Relaxed);
            sender.enqueue(&format!("evt_{number:08}"), 0).await;
        }
    };
    let mut group = criterion.benchmark_group(format!("enqueue/{name}"));
    group
        .throughput(Throughput::Elements(1))
        .sampling_mode(SamplingMode::Flat)
        .sample_size(30);
    for producers in [PRODUCERS, 1] {
        group.bench_function(format!("ours, {producers} producers"), |b| {
            keep_in_flight(b, runtime, &vec![(); producers], &producer);
        });
    }
    group.finish();
}

/// The tables of the suite without its code: one transaction per event.
fn by_hand(criterion: &mut Criterion, path: &Path) {
    drop(host_store_sqlite::Database::open(path).expect("a database"));
    let mut connection = durable(path).expect("a database");
    let mut number = 0_u64;
    let mut enqueue = || {
        number += 1;
        insert(&mut connection, &format!("evt_{number:08}")).expect("written");
    };
    // until the log has its final size: a commit that extends the file takes several times as long
    for _ in 0..1000 {
        enqueue();
    }
    let mut group = criterion.benchmark_group("enqueue/sqlite");
    group
        .throughput(Throughput::Elements(1))
        .sampling_mode(SamplingMode::Flat)
        .sample_size(30);
    group.bench_function("rusqlite, one commit each", |b| b.iter(&mut enqueue));
    group.finish();
}

fn durable(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    Ok(connection)
}

fn insert(connection: &mut Connection, event: &str) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction
        .prepare_cached(
            "INSERT INTO webhook_event (id, event_type, audience, created_at, body) VALUES (?1, 'invoice.paid', 'everyone', 1, ?2)",
        )?
        .execute((event, BODY))?;
    transaction
        .prepare_cached(
            "INSERT INTO webhook_delivery (event, endpoint, state, due_at, attempts, fence, started_at, crashes)
             VALUES (?1, 'ep_0', 'ready', 1, 0, 0, 1, 0)",
        )?
        .execute([event])?;
    transaction.commit()
}

fn main() -> std::io::Result<()> {
    let mut criterion = benches::criterion();
    let runtime = benches::runtime()?;
    let directory = tempfile::tempdir()?;
    let database = host_store_sqlite::Database::open(directory.path().join("ours")).expect("a database");
    ours(&mut criterion, &runtime, "sqlite", database);
    by_hand(&mut criterion, &directory.path().join("by-hand"));
    if let Some(schema) = Schema::fresh(&runtime) {
        let database = runtime.block_on(host_store_postgres::Database::connect(&schema.url()));
        ours(
            &mut criterion,
            &runtime,
            "postgres",
            database.expect("a database"),
        );
    }
    criterion.final_summary();
    Ok(())
}
