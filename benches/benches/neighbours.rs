//! Effect of hung endpoints on healthy ones, over sockets and with a durable store.
//!
//! Each second every healthy endpoint gets four events. Latency is the time from the begin of the
//! second until the acceptance is stored. An endpoint is *known* if the dispatcher had one event
//! for it before; otherwise the run is a cold start.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a bench reports on the terminal, and ends where something is not as it was set up"
)]

use std::{
    cell::RefCell,
    time::{Duration, Instant},
};

use benches::{Sender, Sink, median, runtime};
use bytes::Bytes;
use futures_util::future::join_all;
use host_store_sqlite::Database;
use tokio::{runtime::Runtime, time::sleep_until};
use webhook_core::sender::Handled;

/// Healthy and hung endpoints of a row; `true` if they are known.
const ROWS: [(usize, usize, bool); 4] = [
    (99, 1, false),
    (20, 100, true),
    (20, 1_000, true),
    (20, 1_000, false),
];
/// Response time of a healthy endpoint.
const SERVICE: Duration = Duration::from_millis(50);
const BURSTS: usize = 10;
const EVERY: Duration = Duration::from_secs(1);
/// Events per endpoint and burst.
const EVENTS: usize = 4;
const ROUNDS: usize = 3;

/// Latencies of the events for healthy endpoints, in milliseconds, ascending.
async fn latencies(sink: &Sink, healthy: usize, hung: usize, known: bool) -> Vec<f64> {
    let directory = tempfile::tempdir().expect("a directory");
    let database = Database::open(directory.path().join("outbox")).expect("a database");
    let urls = (0..healthy).map(|number| format!("{}/{number}", sink.url()));
    let urls = urls.chain((0..hung).map(|_| format!("{}{}", sink.url(), Sink::HUNG)));
    let sender = Sender::new(database, urls, Bytes::from_static(b"{}")).await;
    let endpoints = healthy + hung;
    if known {
        join_all((0..endpoints).map(|endpoint| {
            let (sender, id) = (&sender, format!("first_{endpoint}"));
            async move { sender.enqueue(&id, endpoint).await }
        }))
        .await;
        // 256 places for endpoints that have not answered, ten seconds each
        let first = Duration::from_secs(12) * u32::try_from(hung.div_ceil(256).max(1)).unwrap_or(u32::MAX);
        let deliver = sender.deliver(usize::MAX, drop);
        let _stopped = tokio::time::timeout(first, deliver).await;
    }

    let start = Instant::now();
    let produce = async {
        for burst in 0..BURSTS {
            sleep_until((start + begun(burst)).into()).await;
            // the hung ones get one event each
            let ids = (0..endpoints).flat_map(|endpoint| {
                let events = if endpoint < healthy { EVENTS } else { 1 };
                (0..events).map(move |event| (endpoint, event))
            });
            join_all(ids.map(async |(endpoint, event)| {
                sender
                    .enqueue(&format!("{burst}_{endpoint}_{event}"), endpoint)
                    .await;
            }))
            .await;
        }
    };
    let latencies = RefCell::new(Vec::new());
    let accepted = |handled: Handled| {
        let burst = handled.delivery.event.as_str().split('_').next();
        let burst = burst.and_then(|burst| burst.parse().ok()).expect("our id");
        let latency = start.elapsed().saturating_sub(begun(burst));
        latencies.borrow_mut().push(latency.as_secs_f64() * 1e3);
    };
    tokio::join!(produce, sender.deliver(healthy * EVENTS * BURSTS, accepted));
    let mut latencies = latencies.into_inner();
    latencies.sort_by(f64::total_cmp);
    latencies
}

/// Start of a burst, from the start of the run.
fn begun(burst: usize) -> Duration {
    EVERY * u32::try_from(burst).unwrap_or(u32::MAX)
}

fn percentile(ascending: &[f64], percent: usize) -> f64 {
    *ascending
        .get(ascending.len() * percent / 100)
        .expect("enough of them")
}

fn round(runtime: &Runtime, sink: &Sink, (healthy, hung, known): (usize, usize, bool)) -> f64 {
    let [alone, beside] = [0, hung].map(|hung| runtime.block_on(latencies(sink, healthy, hung, known)));
    let [p50, p99] = [50, 99].map(|percent| percentile(&alone, percent));
    let [with_p50, with_p99] = [50, 99].map(|percent| percentile(&beside, percent));
    let start = if known { "known" } else { "cold start" };
    println!(
        "{healthy} healthy, {hung} hung, {start}: alone p50 {p50:.0} ms, p99 {p99:.0} ms; \
         beside them p50 {with_p50:.0} ms, p99 {with_p99:.0} ms"
    );
    with_p99 / p99
}

fn main() {
    let runtime = runtime().expect("a runtime");
    let sink = Sink::start(SERVICE).expect("a sink");
    for row in ROWS {
        let ratios = (0..ROUNDS).map(|_| round(&runtime, &sink, row)).collect();
        println!(
            "p99 beside / alone, median of {ROUNDS} rounds: {:.2}",
            median(ratios)
        );
    }
}
