//! Events that are acknowledged in the host's transaction, under crashes at random points (H23).

use std::{
    collections::BTreeMap,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard},
    task::{Context, Poll, Waker},
    time::{Duration, SystemTime},
};

use async_trait::async_trait;
use bytes::Bytes;
use host_ports::testing::{ManualClock, SeededEntropy};
use webhook_core::{
    ports::{Clock, Entropy, StoreError},
    receiver::{
        BodyDigest, Buried, BuriedQuery, Claim, Dedupe, EventKey, Fenced, Finish, Inbox, Incoming, Queued,
        Receipt, Ticket, WorkFailure, WorkPolicy, Worker,
    },
};

const LEASE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_secs(10);
const EVENTS: u64 = 3;
const STEPS: u64 = 60;

/// An event in the queue.
#[derive(Clone)]
struct Event {
    attempt: u32,
    lease: Option<u64>,
    leased_until: Option<SystemTime>,
}

/// Contents of a database.
#[derive(Clone, Default)]
struct Tables {
    queue: BTreeMap<u64, Event>,
    /// Rows of the host: the number of the event of each.
    rows: Vec<u64>,
}

impl Tables {
    /// The event of this ticket, if the lease is its latest.
    fn held(&mut self, ticket: &Ticket) -> Option<u64> {
        let number = number_of(&ticket.key);
        let event = self.queue.get(&number)?;
        (event.lease == Some(ticket.lease)).then_some(number)
    }

    fn finish(&mut self, ticket: &Ticket) -> Finish {
        match self.held(ticket) {
            Some(number) => {
                self.queue.remove(&number);
                Finish::Done
            }
            None => Finish::Stale,
        }
    }
}

struct Disk {
    now: Tables,
    /// A crash of the database must not repeat a number, as with a sequence.
    leases: u64,
    random: SeededEntropy,
    /// `false` once the random phase has ended.
    faulty: bool,
}

/// Database with the queue of the inbox and one table of the host.
#[derive(Clone)]
struct Database(Arc<Mutex<Disk>>);

fn below(random: &SeededEntropy, limit: u64) -> u64 {
    let mut bytes = [0; 8];
    random.fill(&mut bytes);
    u64::from_le_bytes(bytes) % limit
}

fn key_of(number: u64) -> EventKey {
    EventKey {
        source: "s".to_owned(),
        id: format!("evt_{number}").parse().unwrap(),
    }
}

fn number_of(key: &EventKey) -> u64 {
    key.id.as_str().strip_prefix("evt_").unwrap().parse().unwrap()
}

impl Database {
    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.0.lock().unwrap()
    }

    /// Runs one atomic step. The caller may be dropped before and after it, and in the faulty phase
    /// the step may fail, before or after its effect.
    async fn step<T>(&self, step: impl FnOnce(&mut Disk) -> T) -> Result<T, StoreError> {
        self.wait().await;
        let unavailable = || StoreError::unavailable("the connection is lost");
        if self.fails() {
            return Err(unavailable());
        }
        let done = step(&mut self.disk());
        self.wait().await;
        if self.fails() {
            Err(unavailable())
        } else {
            Ok(done)
        }
    }

    fn fails(&self) -> bool {
        let disk = self.disk();
        disk.faulty && below(&disk.random, 16) == 0
    }

    /// Yields up to twice.
    async fn wait(&self) {
        let times = below(&self.disk().random, 3);
        for _ in 0..times {
            let mut is_over = false;
            std::future::poll_fn(|_| match std::mem::replace(&mut is_over, true) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            })
            .await;
        }
    }

    /// Inserts a row and acknowledges the event, in one transaction.
    async fn record(&self, ticket: &Ticket) -> Result<Receipt, WorkFailure> {
        let written = self.step(|disk| {
            let receipt = ticket.receipt(disk.now.finish(ticket))?;
            disk.now.rows.push(number_of(&ticket.key));
            Ok::<_, Fenced>(receipt)
        });
        Ok(written.await??)
    }

    /// Inserts a row. The event is acknowledged later.
    async fn record_alone(&self, ticket: &Ticket) -> Result<(), WorkFailure> {
        let written = self.step(|disk| disk.now.rows.push(number_of(&ticket.key)));
        Ok(written.await?)
    }
}

#[async_trait]
impl Dedupe for Database {
    async fn claim_and_enqueue(&self, event: Incoming, _: SystemTime) -> Result<Claim, StoreError> {
        let queued = Event {
            attempt: 0,
            lease: None,
            leased_until: None,
        };
        self.disk().now.queue.insert(number_of(&event.key), queued);
        Ok(Claim::Enqueued)
    }
}

#[async_trait]
impl Inbox for Database {
    async fn take(&self, limit: usize, now: SystemTime, lease: Duration) -> Result<Vec<Queued>, StoreError> {
        self.step(|disk| {
            let mut taken = Vec::new();
            let is_free = |event: &Event| event.leased_until.is_none_or(|until| until <= now);
            let free = disk.now.queue.iter_mut().filter(|(_, event)| is_free(event));
            for (number, event) in free.take(limit) {
                disk.leases += 1;
                event.attempt += 1;
                event.lease = Some(disk.leases);
                event.leased_until = Some(now + lease);
                let ticket = Ticket {
                    key: key_of(*number),
                    lease: disk.leases,
                };
                taken.push(Queued {
                    ticket,
                    body: "{}".into(),
                    attempt: event.attempt,
                });
            }
            taken
        })
        .await
    }

    async fn finish(&self, ticket: &Ticket) -> Result<Finish, StoreError> {
        self.step(|disk| disk.now.finish(ticket)).await
    }

    async fn retry_at(&self, ticket: &Ticket, at: SystemTime) -> Result<Finish, StoreError> {
        self.step(|disk| {
            let number = disk.now.held(ticket);
            match number.and_then(|number| disk.now.queue.get_mut(&number)) {
                Some(event) => {
                    (event.lease, event.leased_until) = (None, Some(at));
                    Finish::Done
                }
                None => Finish::Stale,
            }
        })
        .await
    }

    async fn bury(&self, _: &Ticket, reason: &str, _: SystemTime) -> Result<Finish, StoreError> {
        panic!("buried: {reason}")
    }

    async fn buried(&self, _: &BuriedQuery) -> Result<Vec<Buried>, StoreError> {
        Ok(Vec::new())
    }

    async fn replay_buried(&self, _: u64) -> Result<bool, StoreError> {
        Ok(false)
    }

    async fn discard_buried(&self, _: u64) -> Result<bool, StoreError> {
        Ok(false)
    }
}

type Running<'w> = Pin<Box<dyn Future<Output = ()> + 'w>>;

/// Place of the acknowledgement.
#[derive(Clone, Copy)]
enum Acknowledged {
    InTransaction,
    Afterwards,
}

struct World {
    database: Database,
    worker: Worker,
    clock: ManualClock,
    random: SeededEntropy,
    acknowledged: Acknowledged,
}

impl World {
    async fn new(seed: u64, acknowledged: Acknowledged) -> Self {
        let random = SeededEntropy::new(seed);
        let database = Database(Arc::new(Mutex::new(Disk {
            now: Tables::default(),
            leases: 0,
            random: random.clone(),
            faulty: true,
        })));
        let clock = ManualClock::new(SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000));
        for number in 0..EVENTS {
            let body = Bytes::from_static(b"{}");
            let event = Incoming {
                key: key_of(number),
                digest: BodyDigest::compute(&body),
                body,
                expires_at: clock.now() + LEASE,
            };
            database.claim_and_enqueue(event, clock.now()).await.unwrap();
        }
        let worker = Worker::new(database.clone(), clock.clone(), random.clone())
            .with_lease(LEASE)
            .with_policy(WorkPolicy::new(PAUSE, PAUSE, u32::MAX));
        Self {
            database,
            worker,
            clock,
            random,
            acknowledged,
        }
    }

    /// Takes an event and runs it.
    async fn work(&self) {
        for event in self.worker.take(1).await.unwrap_or_default() {
            // after an error of the store the event comes again
            let _outcome = match self.acknowledged {
                Acknowledged::InTransaction => {
                    let work = self.database.record(&event.ticket);
                    self.worker.run_in_transaction(&event, work).await
                }
                Acknowledged::Afterwards => {
                    let work = self.database.record_alone(&event.ticket);
                    self.worker.run(&event, work).await
                }
            };
        }
    }

    /// Polls, drops and starts workers, moves the clock and kills processes.
    fn run(&self) {
        let mut running: Vec<Running<'_>> = Vec::new();
        for _ in 0..STEPS {
            match below(&self.random, 20) {
                0..5 => running.push(Box::pin(self.work())),
                5 => self.clock.advance(Duration::from_secs(below(&self.random, 80))),
                6 if !running.is_empty() => drop(running.swap_remove(self.choose(running.len()))),
                // the process crashes
                7 => running.clear(),
                _ if !running.is_empty() => {
                    let at = self.choose(running.len());
                    let polled = running.get_mut(at).map(|work| work.as_mut().poll(&mut quiet()));
                    if polled == Some(Poll::Ready(())) {
                        drop(running.swap_remove(at));
                    }
                }
                _ => {}
            }
        }
    }

    fn choose(&self, length: usize) -> usize {
        usize::try_from(below(&self.random, length as u64)).unwrap()
    }

    /// Works until the queue is empty, after all faults. Returns the rows of each event.
    fn ended(&self) -> BTreeMap<u64, usize> {
        self.database.disk().faulty = false;
        for _ in 0..100 {
            self.clock.advance(LEASE);
            let mut work = Box::pin(self.work());
            while work.as_mut().poll(&mut quiet()).is_pending() {}
        }
        let disk = self.database.disk();
        assert!(disk.now.queue.is_empty());
        let mut rows = BTreeMap::new();
        for number in &disk.now.rows {
            *rows.entry(*number).or_default() += 1;
        }
        rows
    }
}

fn quiet() -> Context<'static> {
    Context::from_waker(Waker::noop())
}

/// H23: of 10,000 histories with crashes, dropped workers, lost answers of the database and expired
/// leases, each event ends with one row.
#[tokio::test]
async fn each_event_ends_with_one_row() {
    let mut unfinished = 0;
    for seed in 0..10_000 {
        let world = World::new(seed, Acknowledged::InTransaction).await;
        world.run();
        unfinished += usize::from(!world.database.disk().now.queue.is_empty());
        let once: BTreeMap<_, _> = (0..EVENTS).map(|number| (number, 1)).collect();
        assert_eq!(world.ended(), once, "seed {seed}");
    }
    assert!(unfinished > 1_000, "{unfinished} with work left");
}

/// H23: the simulation finds the fault of two commits: an event with two rows.
#[tokio::test]
async fn separate_acknowledgement_repeats_rows() {
    let mut repeated = 0;
    for seed in 0..1_000 {
        let world = World::new(seed, Acknowledged::Afterwards).await;
        world.run();
        repeated += world.ended().values().filter(|rows| **rows > 1).count();
    }
    assert!(repeated > 100, "only {repeated} events were repeated");
}
