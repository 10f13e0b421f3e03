//! Time to lease 64 deliveries, and to find the next due time, beside a thousand and a million
//! others.
#![expect(
    clippy::expect_used,
    reason = "a bench ends where something is not as it was set up"
)]

use std::time::{Duration, Instant, SystemTime};

use benches::Schema;
use bytes::Bytes;
use criterion::{Bencher, Criterion, SamplingMode};
use futures_util::{StreamExt, stream};
use tokio::runtime::Runtime;
use webhook_core::sender::{
    Audience, Bulkheads, Delivery, DeliveryId, DeliveryState, Disposition, Enqueue, LeaseRequest, Leased,
    Outbox, Settlement, StoredEvent,
};

const ENDPOINTS: usize = 100;
const LEASES: usize = 64;
const SIZES: [usize; 2] = [1000, 1_000_000];
const PRODUCERS: usize = 8;
const DAY: Duration = Duration::from_hours(24);

/// An event for every endpoint.
fn event(name: &str, state: DeliveryState, due_at: SystemTime) -> Enqueue {
    let event = StoredEvent {
        id: name.parse().expect("an id"),
        event_type: "invoice.paid".parse().expect("a type"),
        audience: Audience::tenant("acme".parse().expect("an id")),
        created_at: due_at,
        body: Bytes::from_static(b"{}"),
        trace: None,
    };
    let delivery = |endpoint: usize| Delivery {
        state,
        ..Delivery::new(
            DeliveryId {
                event: event.id.clone(),
                endpoint: format!("ep_{endpoint}").parse().expect("an id"),
            },
            due_at,
        )
    };
    Enqueue {
        deliveries: (0..ENDPOINTS).map(delivery).collect(),
        event,
    }
}

/// Inserts deliveries that are due in a day or later, and one due delivery for each endpoint.
async fn fill(store: &impl Outbox, waiting: usize, now: SystemTime) {
    let due = event("due", DeliveryState::Ready, now);
    store.enqueue(due).await.expect("stored");
    stream::iter(0..waiting / ENDPOINTS)
        .for_each_concurrent(PRODUCERS, async |number| {
            let due_at = now + DAY + Duration::from_millis(number as u64);
            let event = event(&format!("later_{number}"), DeliveryState::RetryScheduled, due_at);
            store.enqueue(event).await.expect("stored");
        })
        .await;
}

/// Leases, measured, and returns the deliveries, not measured.
fn lease(bencher: &mut Bencher<'_>, runtime: &Runtime, store: &impl Outbox, now: SystemTime) {
    let request = LeaseRequest {
        now,
        until: now + Duration::from_secs(40),
        limit: LEASES,
        owner: None,
        bulkheads: Bulkheads::OPEN,
        per_endpoint: 16,
        suspects: 1,
        quarantine_after: 5,
    };
    bencher.iter_custom(|times| {
        let mut elapsed = Duration::ZERO;
        for _ in 0..times {
            let start = Instant::now();
            let leases = runtime.block_on(store.lease(&request)).expect("an answer");
            elapsed += start.elapsed();
            assert_eq!((leases.leased.len(), leases.set_aside.len()), (LEASES, 0));
            let settlements = leases.leased.iter().map(|leased| back(leased, now)).collect();
            runtime.block_on(store.settle(settlements)).expect("stored");
        }
        elapsed
    });
}

fn back(leased: &Leased, now: SystemTime) -> Settlement {
    Settlement {
        delivery: leased.delivery.id.clone(),
        fence: leased.delivery.fence,
        owner: leased.delivery.owner,
        disposition: Disposition::Held { due_at: now },
        spent: false,
        hold_endpoint_until: None,
        rate: None,
        attempt: None,
    }
}

fn measure(criterion: &mut Criterion, runtime: &Runtime, name: &str, waiting: usize, store: &impl Outbox) {
    let now = SystemTime::now();
    runtime.block_on(fill(store, waiting, now));
    let mut group = criterion.benchmark_group(format!("lease/{name}"));
    group.sampling_mode(SamplingMode::Flat).sample_size(30);
    group.bench_function(format!("64 of 100 due, {waiting} wait"), |b| {
        lease(b, runtime, store, now);
    });
    group.bench_function(format!("next_due, {waiting} wait"), |b| {
        b.iter(|| runtime.block_on(store.next_due()).expect("an answer"));
    });
    // the same rows two days later: all are due
    group.bench_function(format!("64 of {waiting} due"), |b| {
        lease(b, runtime, store, now + 2 * DAY);
    });
    group.finish();
}

fn main() -> std::io::Result<()> {
    let mut criterion = benches::criterion();
    let runtime = benches::runtime()?;
    for waiting in SIZES {
        let directory = tempfile::tempdir()?;
        let database =
            host_store_sqlite::Database::open(directory.path().join("outbox")).expect("a database");
        measure(&mut criterion, &runtime, "sqlite", waiting, &database);
        if let Some(schema) = Schema::fresh(&runtime) {
            let database = runtime.block_on(host_store_postgres::Database::connect(&schema.url()));
            let database = database.expect("a database");
            measure(&mut criterion, &runtime, "postgres", waiting, &database);
        }
    }
    criterion.final_summary();
    Ok(())
}
