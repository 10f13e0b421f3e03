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
    time::{Duration, Instant, SystemTime},
};

use benches::{Schema, Sender, Sink, median, service_runtime};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http::StatusCode;
use tokio::{runtime::Runtime, time::sleep};
use webhook_core::sender::{
    Attempt, AttemptResult, Delivery, Disposition, EndpointStore, LeaseRequest, Outbox, Settlement,
    TurnRequest,
};

const ROUNDS: usize = 5;
/// Size of an event in bytes.
const BODY: usize = 1024;
const PRODUCERS: usize = 64;
/// Leases of a turn without requests.
const LEASES: usize = 256;
/// First argument of a process that delivers.
const WORKER: &str = "--worker";
const PEER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/target/release/webhooksmith");

#[derive(Clone, Copy, Eq, PartialEq)]
enum Who {
    Ours,
    /// The dispatcher of ours over TLS, with HTTP/2.
    OursTls,
    /// So many processes of ours on one store.
    Processes(usize),
    /// Turns of the store without requests.
    StoreAlone,
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
                Who::Ours | Who::OursTls | Who::StoreAlone => 10_000,
                // the start of the processes is part of the time
                Who::Processes(_) => 30_000,
                Who::Webhooksmith => 500,
            },
            rates: Vec::new(),
        }
    }

    /// Time to deliver stored events; `None` if the peer is not built.
    fn elapsed(&self, runtime: &Runtime, sinks: &Sinks) -> Option<Duration> {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("outbox");
        let schema = match self.store {
            Store::Sqlite => None,
            Store::Postgres => Some(Schema::fresh(runtime)?),
        };
        let sink = if self.who == Who::OursTls {
            &sinks.tls
        } else {
            &sinks.plain
        };
        match (self.who, schema) {
            (Who::Webhooksmith, Some(schema)) => self.peer(&schema.url(), sink),
            (Who::Webhooksmith, None) => self.peer(&format!("sqlite:{}", file.display()), sink),
            (_, Some(schema)) => Some(runtime.block_on(async {
                let database = host_store_postgres::Database::connect(&schema.url()).await;
                let database = database.expect("a database");
                match self.who {
                    Who::Processes(count) => self.processes(database, sink, &schema.url(), count).await,
                    _ => self.ours(database, sink).await,
                }
            })),
            (_, None) => {
                let database = host_store_sqlite::Database::open(file).expect("a database");
                Some(runtime.block_on(self.ours(database, sink)))
            }
        }
    }

    async fn ours(&self, store: impl Outbox + EndpointStore + Clone + 'static, sink: &Sink) -> Duration {
        let sender = self.filled(store.clone(), sink).await;
        let start = Instant::now();
        match self.who {
            Who::StoreAlone => self.turn(&store).await,
            _ => sender.deliver(self.events, drop).await,
        }
        start.elapsed()
    }

    /// A sender with all events stored.
    async fn filled<S>(&self, store: S, sink: &Sink) -> Sender<S>
    where
        S: Outbox + EndpointStore + 'static,
    {
        let urls = (0..self.endpoints).map(|number| format!("{}/{number}", sink.url()));
        let sender = Sender::new(store, urls, Bytes::from("x".repeat(BODY))).await;
        stream::iter(0..self.events)
            .for_each_concurrent(PRODUCERS, async |number| {
                let id = format!("evt_{number}");
                sender.enqueue(&id, number % self.endpoints).await;
            })
            .await;
        sender
    }

    /// Leases and settles all events in turns, as a dispatcher whose exchanges take no time.
    async fn turn(&self, store: &impl Outbox) {
        let owner = store.join().await.expect("stored");
        let mut settlements = Vec::new();
        let mut left = self.events;
        while left > 0 || !settlements.is_empty() {
            let now = SystemTime::now();
            let lease = LeaseRequest {
                owner,
                until: LeaseRequest::until_freed(),
                ..LeaseRequest::new(now, LEASES)
            };
            let request = TurnRequest {
                settlements,
                lease: Some(lease),
            };
            let turn = store.turn(request).await.expect("stored");
            left -= turn.leases.leased.len();
            settlements = turn
                .leases
                .leased
                .iter()
                .map(|leased| acked(&leased.delivery, now))
                .collect();
        }
    }

    /// Delivers from processes of their own, which start together.
    async fn processes(
        &self,
        store: host_store_postgres::Database,
        sink: &Sink,
        url: &str,
        count: usize,
    ) -> Duration {
        self.filled(store, sink).await;
        let answered = sink.answered();
        let start = Instant::now();
        let program = std::env::current_exe().expect("this program");
        let mut workers: Vec<_> = (0..count)
            .map(|_| {
                let worker = Command::new(&program)
                    .args([WORKER, url])
                    .stdin(Stdio::piped())
                    .spawn();
                worker.expect("a program")
            })
            .collect();
        while sink.answered() < answered + self.events {
            sleep(Duration::from_millis(1)).await;
        }
        let elapsed = start.elapsed();
        for worker in &mut workers {
            worker.kill().expect("it runs");
            worker.wait().expect("it ended");
        }
        elapsed
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

/// Receivers of a run.
struct Sinks {
    plain: Sink,
    tls: Sink,
}

/// Acknowledgement of a lease, with the row of its attempt.
fn acked(delivery: &Delivery, now: SystemTime) -> Settlement {
    Settlement {
        delivery: delivery.id.clone(),
        fence: delivery.fence,
        owner: delivery.owner,
        disposition: Disposition::Acked,
        spent: true,
        hold_endpoint_until: None,
        rate: None,
        attempt: Some(Attempt {
            delivery: delivery.id.clone(),
            fence: delivery.fence,
            started_at: now,
            duration: Duration::from_millis(1),
            result: AttemptResult::Answered {
                status: StatusCode::NO_CONTENT,
                body: Bytes::new(),
            },
        }),
    }
}

/// Delivers from a store of PostgreSQL until it is killed.
async fn work(url: &str) {
    let database = host_store_postgres::Database::connect(url).await;
    let body = Bytes::from_static(b"{}");
    let sender = Sender::new(database.expect("a database"), [], body).await;
    sender.deliver(usize::MAX, drop).await;
}

#[expect(clippy::cast_precision_loss, reason = "a few thousand")]
#[expect(clippy::too_many_lines, reason = "a line for each row")]
fn main() {
    use {Store::*, Who::*};
    let runtime = service_runtime().expect("a runtime");
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some(WORKER) {
        return runtime.block_on(work(&arguments.next().expect("a URL")));
    }
    let sinks = Sinks {
        plain: Sink::start(Duration::ZERO).expect("a sink"),
        tls: Sink::start_tls().expect("a sink"),
    };
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
        Contest::new("ours, SQLite FULL, 100 endpoints, HTTPS", OursTls, Sqlite, 100),
        Contest::new("ours, PostgreSQL, 100 endpoints, HTTPS", OursTls, Postgres, 100),
        Contest::new("store alone, SQLite FULL, 100 endpoints", StoreAlone, Sqlite, 100),
        Contest::new(
            "store alone, PostgreSQL, 100 endpoints",
            StoreAlone,
            Postgres,
            100,
        ),
        Contest::new(
            "1 process, PostgreSQL, 100 endpoints",
            Processes(1),
            Postgres,
            100,
        ),
        Contest::new(
            "2 processes, PostgreSQL, 100 endpoints",
            Processes(2),
            Postgres,
            100,
        ),
        Contest::new(
            "3 processes, PostgreSQL, 100 endpoints",
            Processes(3),
            Postgres,
            100,
        ),
    ];
    if !Path::new(PEER).exists() {
        println!("left out: webhooksmith; build it with the command in benches/README.md");
    }
    for _ in 0..ROUNDS {
        for contest in &mut contests {
            if let Some(elapsed) = contest.elapsed(&runtime, &sinks) {
                let rate = contest.events as f64 / elapsed.as_secs_f64();
                println!("{:44} {rate:>7.0}/s", contest.name);
                contest.rates.push(rate);
            }
        }
    }
    println!("\nmedian of {ROUNDS} rounds by turns, events of {BODY} bytes:");
    contests.iter().for_each(Contest::report);
}
