//! Contention: all verbs at once, cut connections, and a lane whose lock is held.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use host_store_postgres::{Database, sqlx};
use tokio::time::{interval, timeout};
use webhook_core::ports::{StoreError, StoreErrorKind};
use webhook_core::receiver::{Claim, Dedupe, Finish, Inbox};
use webhook_core::sender::{
    DeliveryFilter, Disposition, EndpointState, EndpointStore, Enqueued, FailureReason, LeaseRequest, Leased,
    Outbox, Page, ReplayRequest, Rotation,
};

use crate::server::schema;
use crate::support::{LEASE, START, count, endpoint, event, incoming, request, settle, settlement, signer};

const TASKS: u64 = 32;
const ENDPOINTS: usize = 8;
const DURATION: Duration = Duration::from_secs(3);

/// W17: a process that stalls with the lock of a lane delays no other lane; the due deliveries of
/// its lane, a suspect included, are left to a later call.
#[tokio::test]
async fn lease_skips_locked_lane() {
    let schema = schema!();
    let database = schema.database().await;
    database.enqueue(event(1, &["ep_1"])).await.unwrap();
    for lost in 0..2 {
        let leased = database.lease(&request(START + lost * LEASE, 10)).await.unwrap();
        assert_eq!(leased.leased.len(), 1);
    }
    database.enqueue(event(2, &["ep_1", "ep_2"])).await.unwrap();
    let mut other = database.pool().begin().await.unwrap();
    sqlx::query("SELECT FROM webhook_lane WHERE endpoint = 'ep_1' FOR UPDATE")
        .execute(&mut *other)
        .await
        .unwrap();

    let lease_at_once = async || {
        let request = request(START + 2 * LEASE, 10);
        let leases = timeout(Duration::from_secs(1), database.lease(&request)).await;
        let leases = leases.expect("the lease does not wait").unwrap();
        let ids = leases.leased.iter().map(|leased| leased.delivery.id.to_string());
        ids.collect::<Vec<_>>()
    };
    assert_eq!(lease_at_once().await, ["evt_2/ep_2"]);
    assert!(lease_at_once().await.is_empty());
    assert_eq!(database.next_due().await.unwrap(), Some(START), "it is still due");
    other.rollback().await.unwrap();
    assert_eq!(lease_at_once().await, ["evt_1/ep_1", "evt_2/ep_1"]);
}

/// X5: all verbs at once, from two processes, never deadlock, reject each other or break a rule.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn all_verbs_at_once_never_fail() {
    let schema = schema!();
    let crowd = Crowd::of([schema.database().await, schema.database().await]).await;
    crowd.run().await;
    let errors = crowd.errors.lock().unwrap().clone();
    assert!(errors.is_empty(), "{errors:?}");
    crowd.check().await;
}

/// W15: connections cut during verbs are reported as unavailable, and no acknowledged write is
/// lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn cut_connections_lose_nothing() {
    let schema = schema!();
    let crowd = Crowd::of([schema.database().await, schema.database().await]).await;
    let killer = schema.pool(&[]).await;
    let kills = AtomicUsize::new(0);
    let cut = async {
        // at most 100 cuts a second, so that some verbs succeed
        let mut turns = interval(Duration::from_millis(20));
        loop {
            turns.tick().await;
            let killed: Vec<bool> = sqlx::query_scalar(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                 WHERE pid <> pg_backend_pid() AND state <> 'idle' AND query LIKE '%webhook%'
                   AND pid IN (SELECT pid FROM pg_locks JOIN pg_class ON pg_class.oid = relation
                               WHERE relnamespace = to_regnamespace(current_schema()::text))
                 LIMIT 2",
            )
            .fetch_all(&killer)
            .await
            .unwrap();
            kills.fetch_add(killed.len(), Ordering::Relaxed);
        }
    };
    tokio::select! {
        () = crowd.run() => {}
        () = cut => {}
    }
    let errors = crowd.errors.lock().unwrap().clone();
    let foreign: Vec<_> = errors
        .iter()
        .filter(|(kind, _)| *kind != StoreErrorKind::Unavailable)
        .collect();
    assert!(foreign.is_empty(), "{foreign:?}");
    let kills = kills.into_inner();
    assert!(kills > 0 && !errors.is_empty(), "{kills} connections were cut");
    println!("{kills} cuts, {} errors", errors.len());
    crowd.reconnect().await;
    crowd.check().await;
}

/// Tasks that call every verb in random order, with the results.
struct Crowd {
    databases: [Database; 2],
    next: AtomicUsize,
    leased: Mutex<Vec<Leased>>,
    /// Number of deliveries of each acknowledged event.
    stored: Mutex<BTreeMap<usize, usize>>,
    claimed: AtomicU64,
    finished: AtomicU64,
    errors: Mutex<Vec<(StoreErrorKind, String)>>,
}

impl Crowd {
    async fn of(databases: [Database; 2]) -> Arc<Self> {
        for number in 0..ENDPOINTS {
            databases[0]
                .insert(endpoint(&format!("ep_{number}")))
                .await
                .unwrap();
        }
        Arc::new(Self {
            databases,
            next: AtomicUsize::new(0),
            leased: Mutex::default(),
            stored: Mutex::default(),
            claimed: AtomicU64::new(0),
            finished: AtomicU64::new(0),
            errors: Mutex::default(),
        })
    }

    async fn run(self: &Arc<Self>) {
        let until = Instant::now() + DURATION;
        let tasks = (0..TASKS).map(|task| {
            let crowd = Arc::clone(self);
            tokio::spawn(async move {
                let mut dice = Dice(task);
                while Instant::now() < until {
                    if let Err(error) = crowd.turn(&mut dice).await {
                        let text = std::error::Error::source(&error).map(ToString::to_string);
                        crowd
                            .errors
                            .lock()
                            .unwrap()
                            .push((error.kind(), text.unwrap_or_default()));
                    }
                }
            })
        });
        for ended in join_all(tasks).await {
            ended.unwrap();
        }
    }

    async fn turn(&self, dice: &mut Dice) -> Result<(), StoreError> {
        let [first, second] = &self.databases;
        let database = if dice.below::<u32>(2) == 0 { first } else { second };
        match dice.below::<u32>(16) {
            0..4 => self.enqueue(database, dice).await,
            4..8 => self.lease(database, dice).await,
            8..11 => self.settle(database, dice).await,
            11 => self.replay(database, dice).await,
            12 => register(database, dice).await,
            13 => self.receive(database, dice).await,
            14 => database.next_due().await.map(drop),
            _ => {
                let page = Page {
                    after: None,
                    limit: 10,
                };
                database.list(&DeliveryFilter::failed(), &page).await?;
                database
                    .purge(START + Duration::from_secs(dice.below(60)))
                    .await
                    .map(drop)
                    .map_err(Into::into)
            }
        }
    }

    async fn enqueue(&self, database: &Database, dice: &mut Dice) -> Result<(), StoreError> {
        // sometimes an event that another task enqueues too
        let number = self
            .next
            .fetch_add(usize::from(dice.below::<u32>(4) > 0), Ordering::Relaxed);
        let mut endpoints: Vec<String> = (0..ENDPOINTS).map(|number| format!("ep_{number}")).collect();
        endpoints.rotate_left(number % ENDPOINTS);
        endpoints.truncate(1 + number % 4);
        let endpoints: Vec<&str> = endpoints.iter().map(String::as_str).collect();
        let enqueued = database.enqueue(event(number, &endpoints)).await?;
        assert_ne!(enqueued, Enqueued::Conflict);
        self.stored.lock().unwrap().insert(number, endpoints.len());
        Ok(())
    }

    async fn lease(&self, database: &Database, dice: &mut Dice) -> Result<(), StoreError> {
        let now = START + Duration::from_secs(dice.below(100));
        let request = LeaseRequest {
            quarantine_after: u32::MAX,
            ..request(now, 1 + dice.below::<usize>(20))
        };
        let leases = database.lease(&request).await?;
        assert_eq!(leases.set_aside, []);
        self.leased.lock().unwrap().extend(leases.leased);
        Ok(())
    }

    async fn settle(&self, database: &Database, dice: &mut Dice) -> Result<(), StoreError> {
        let batch: Vec<Leased> = {
            let mut leased = self.leased.lock().unwrap();
            let rest = leased.len() - leased.len().min(dice.below(30));
            leased.split_off(rest)
        };
        let mut settlements = Vec::new();
        for leased in &batch {
            let disposition = match dice.below::<u32>(4) {
                0 => Disposition::Retry {
                    due_at: START + Duration::from_secs(dice.below(100)),
                },
                1 => Disposition::Failed(FailureReason::AttemptsExhausted),
                _ => Disposition::Acked,
            };
            settlements.push(settlement(leased, disposition));
        }
        database.settle(settlements).await.map(drop)
    }

    async fn replay(&self, database: &Database, dice: &mut Dice) -> Result<(), StoreError> {
        let endpoint = format!("ep_{}", dice.below::<u32>(8)).parse().unwrap();
        let all = dice.below::<u32>(2) == 0;
        let filter = DeliveryFilter::failed();
        let request = ReplayRequest {
            filter: if all {
                filter
            } else {
                filter.with_endpoint(endpoint)
            },
            acknowledged: false,
            after: None,
            limit: usize::MAX,
            now: START,
            dry_run: false,
        };
        database.replay(&request).await.map(drop)
    }

    async fn receive(&self, database: &Database, dice: &mut Dice) -> Result<(), StoreError> {
        let number = self.next.load(Ordering::Relaxed);
        let expires_at = START + Duration::from_secs(1_000);
        if database
            .claim_and_enqueue(incoming(number, expires_at), START)
            .await?
            == Claim::Enqueued
        {
            self.claimed.fetch_add(1, Ordering::Relaxed);
        }
        for job in database
            .take(3, START, Duration::from_secs(dice.below(60)))
            .await?
        {
            if database.finish(&job.ticket).await? == Finish::Done {
                self.finished.fetch_add(1, Ordering::Relaxed);
            }
        }
        Ok(())
    }

    /// Replaces the connections that were cut after their last operation.
    async fn reconnect(&self) {
        // the pool tests a connection that was not used for a second
        tokio::time::sleep(Duration::from_millis(1_100)).await;
        for database in &self.databases {
            // the next turn on a connection that was cut fails, and the one after it has a new one
            if let Err(error) = database.lease(&request(START, 0)).await {
                assert_eq!(error.kind(), StoreErrorKind::Unavailable);
            }
        }
    }

    /// Each delivery of each acknowledged event is in one table, and all can still be delivered.
    async fn check(&self) {
        let [database, _] = &self.databases;
        let stored = self.stored.lock().unwrap().clone();
        assert!(stored.len() > 50, "{} events", stored.len());
        let numbers: Vec<String> = stored.keys().map(|number| format!("evt_{number}")).collect();
        let standing: Vec<(String, i64)> = sqlx::query_as(
            "SELECT event, count(*) FROM webhook_delivery WHERE event = ANY($1) GROUP BY event",
        )
        .bind(&numbers)
        .fetch_all(database.pool())
        .await
        .unwrap();
        let standing: BTreeMap<String, i64> = standing.into_iter().collect();
        for (number, deliveries) in stored {
            let found = standing.get(&format!("evt_{number}")).copied();
            assert_eq!(found, i64::try_from(deliveries).ok(), "event {number}");
        }
        let twice = "webhook_ready JOIN webhook_finished USING (event, endpoint)";
        assert_eq!(count(database, twice).await, 0);
        let orphans = "webhook_ready LEFT JOIN webhook_event ON id = event WHERE id IS NULL";
        assert_eq!(count(database, orphans).await, 0);
        assert!(count(database, "webhook_claim").await >= self.claimed.load(Ordering::Relaxed).cast_signed());

        let mut now = START + Duration::from_secs(1_000);
        loop {
            let leased = database.lease(&request(now, 1_000)).await.unwrap().leased;
            if leased.is_empty() {
                break;
            }
            let batch = leased.iter().map(|leased| settlement(leased, Disposition::Acked));
            settle(database, batch.collect()).await;
            now += Duration::from_secs(1);
        }
        assert_eq!(count(database, "webhook_ready").await, 0);
    }
}

/// Changes of endpoints by a host meanwhile.
async fn register(database: &Database, dice: &mut Dice) -> Result<(), StoreError> {
    let id = format!("ep_{}", dice.below::<u32>(8)).parse().unwrap();
    let paused = dice.below::<u32>(2) == 0;
    let state = if paused {
        EndpointState::Paused
    } else {
        EndpointState::Enabled
    };
    assert!(database.set_state(&id, state).await?);
    let rotation = Rotation {
        next: signer(dice.below(250)),
        now: START,
        overlap: Duration::from_secs(60),
    };
    database.rotate(&id, &rotation).await.map(drop)
}

/// Pseudo-random numbers with a fixed seed.
struct Dice(u64);

impl Dice {
    fn below<N: TryFrom<u64, Error: fmt::Debug>>(&mut self, sides: u64) -> N {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        N::try_from((self.0 >> 33) % sides).unwrap()
    }
}
