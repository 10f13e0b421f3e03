//! Effect of a hung endpoint on 99 others, over sockets and with a durable store.
//!
//! Each second every healthy endpoint gets four events, together six times the dispatcher's limit
//! of concurrent deliveries. Latency is the time from the begin of the second until the acceptance
//! is stored.
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

const HEALTHY: usize = 99;
/// Response time of a healthy endpoint.
const SERVICE: Duration = Duration::from_millis(50);
const BURSTS: usize = 10;
const EVERY: Duration = Duration::from_secs(1);
/// Events per endpoint and burst.
const EVENTS: usize = 4;
const ROUNDS: usize = 3;

/// Latencies of the events for healthy endpoints, in milliseconds, ascending.
async fn latencies(sink: &Sink, hung: bool) -> Vec<f64> {
    let directory = tempfile::tempdir().expect("a directory");
    let database = Database::open(directory.path().join("outbox")).expect("a database");
    let healthy = (0..HEALTHY).map(|number| format!("{}/{number}", sink.url()));
    let urls = healthy.chain(hung.then(|| format!("{}{}", sink.url(), Sink::HUNG)));
    let sender = Sender::new(database, urls, Bytes::from_static(b"{}")).await;
    let endpoints = HEALTHY + usize::from(hung);

    let start = Instant::now();
    let produce = async {
        for burst in 0..BURSTS {
            sleep_until((start + begun(burst)).into()).await;
            let ids = (0..endpoints).flat_map(|endpoint| (0..EVENTS).map(move |event| (endpoint, event)));
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
    tokio::join!(produce, sender.deliver(HEALTHY * EVENTS * BURSTS, accepted));
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

fn round(runtime: &Runtime, sink: &Sink) -> f64 {
    let [alone, beside] = [false, true].map(|hung| runtime.block_on(latencies(sink, hung)));
    let [p50, p99] = [50, 99].map(|percent| percentile(&alone, percent));
    let [with_p50, with_p99] = [50, 99].map(|percent| percentile(&beside, percent));
    println!(
        "alone p50 {p50:.0} ms, p99 {p99:.0} ms; beside the hung one p50 {with_p50:.0} ms, p99 {with_p99:.0} ms"
    );
    with_p99 / p99
}

fn main() {
    let runtime = runtime().expect("a runtime");
    let sink = Sink::start(SERVICE).expect("a sink");
    let ratios = (0..ROUNDS).map(|_| round(&runtime, &sink)).collect();
    println!(
        "p99 beside the hung one / alone, median of {ROUNDS} rounds: {:.2}",
        median(ratios)
    );
}
