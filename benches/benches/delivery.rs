//! Durable deliveries per second to a sink on loopback, against webhooksmith, a program of its own
//! (see `peers/`).
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a bench reports on the terminal, and ends where something is not as it was set up"
)]

use std::{
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use benches::{Schema, Sender, Sink, median, runtime};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use tokio::runtime::Runtime;
use webhook_core::sender::{EndpointStore, Outbox};

const ROUNDS: usize = 5;
/// Size of an event in bytes.
const BODY: usize = 1024;
const PRODUCERS: usize = 64;
const PEER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/target/release/webhooksmith");

#[derive(Clone, Copy)]
enum Who {
    Ours,
    Webhooksmith,
}

#[derive(Clone, Copy)]
enum Store {
    Sqlite,
    Postgres,
}

/// One row of the table.
struct Contest {
    name: &'static str,
    who: Who,
    store: Store,
    endpoints: usize,
    events: usize,
    /// Deliveries per second of each round.
    rates: Vec<f64>,
}

impl Contest {
    const fn new(name: &'static str, who: Who, store: Store, endpoints: usize) -> Self {
        Self {
            name,
            who,
            store,
            endpoints,
            // the peer would take minutes for the number of events that ours needs
            events: match who {
                Who::Ours => 5000,
                Who::Webhooksmith => 500,
            },
            rates: Vec::new(),
        }
    }

    /// Time to deliver stored events; `None` if the peer is not built.
    fn elapsed(&self, runtime: &Runtime, sink: &Sink) -> Option<Duration> {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("outbox");
        let schema = match self.store {
            Store::Sqlite => None,
            Store::Postgres => Some(Schema::fresh(runtime)?),
        };
        match (self.who, schema) {
            (Who::Webhooksmith, Some(schema)) => self.peer(&schema.url(), sink),
            (Who::Webhooksmith, None) => self.peer(&format!("sqlite:{}", file.display()), sink),
            (Who::Ours, Some(schema)) => Some(runtime.block_on(async {
                let database = host_store_postgres::Database::connect(&schema.url()).await;
                self.ours(database.expect("a database"), sink).await
            })),
            (Who::Ours, None) => {
                let database = host_store_sqlite::Database::open(file).expect("a database");
                Some(runtime.block_on(self.ours(database, sink)))
            }
        }
    }

    async fn ours(&self, store: impl Outbox + EndpointStore + 'static, sink: &Sink) -> Duration {
        let urls = (0..self.endpoints).map(|number| format!("{}/{number}", sink.url()));
        let sender = Sender::new(store, urls, Bytes::from("x".repeat(BODY))).await;
        stream::iter(0..self.events)
            .for_each_concurrent(PRODUCERS, async |number| {
                let id = format!("evt_{number}");
                sender.enqueue(&id, number % self.endpoints).await;
            })
            .await;
        let start = Instant::now();
        sender.deliver(self.events, drop).await;
        start.elapsed()
    }

    /// Runs the peer, which enqueues, delivers and prints the nanoseconds of the deliveries.
    fn peer(&self, store: &str, sink: &Sink) -> Option<Duration> {
        if !Path::new(PEER).exists() {
            return None;
        }
        let numbers = [self.events, self.endpoints, BODY].map(|number| number.to_string());
        let output = Command::new(PEER)
            .args([store, sink.url()])
            .args(numbers)
            .stderr(Stdio::inherit())
            .output()
            .expect("a program");
        let printed = String::from_utf8(output.stdout).expect("a number");
        Some(Duration::from_nanos(printed.trim().parse().expect("a number")))
    }

    fn report(&self) {
        let (Some(least), Some(most)) = (
            self.rates.iter().copied().reduce(f64::min),
            self.rates.iter().copied().reduce(f64::max),
        ) else {
            return;
        };
        let middle = median(self.rates.clone());
        println!("{:44} {middle:>7.0}/s  ({least:.0} to {most:.0})", self.name);
    }
}

#[expect(clippy::cast_precision_loss, reason = "a few thousand")]
fn main() {
    use {Store::*, Who::*};
    let runtime = runtime().expect("a runtime");
    let sink = Sink::start(Duration::ZERO).expect("a sink");
    let mut contests = [
        Contest::new("ours, SQLite FULL, 100 endpoints", Ours, Sqlite, 100),
        Contest::new("webhooksmith, SQLite, 100 endpoints", Webhooksmith, Sqlite, 100),
        Contest::new("ours, PostgreSQL, 100 endpoints", Ours, Postgres, 100),
        Contest::new(
            "webhooksmith, PostgreSQL, 100 endpoints",
            Webhooksmith,
            Postgres,
            100,
        ),
        Contest::new("ours, SQLite FULL, 1 endpoint", Ours, Sqlite, 1),
        Contest::new("ours, PostgreSQL, 1 endpoint", Ours, Postgres, 1),
    ];
    if !Path::new(PEER).exists() {
        println!("left out: webhooksmith; build it with the command in benches/README.md");
    }
    for _ in 0..ROUNDS {
        for contest in &mut contests {
            if let Some(elapsed) = contest.elapsed(&runtime, &sink) {
                let rate = contest.events as f64 / elapsed.as_secs_f64();
                println!("{:44} {rate:>7.0}/s", contest.name);
                contest.rates.push(rate);
            }
        }
    }
    println!("\nmedian of {ROUNDS} rounds by turns, events of {BODY} bytes:");
    contests.iter().for_each(Contest::report);
}
