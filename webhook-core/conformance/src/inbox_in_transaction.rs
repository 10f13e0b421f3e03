//! Test cases for events that are acknowledged in a transaction of the host.
#![expect(clippy::expect_used, reason = "a case fails by panicking")]

use std::sync::Arc;

use async_trait::async_trait;
use webhook_core::ports::StoreError;
use webhook_core::receiver::{Fenced, Inbox, Receipt, Ticket};

/// Inbox whose events are acknowledged in transactions of the host. The host's test implements it
/// with a table of its own.
#[async_trait]
pub trait TransactionalInbox: Send + Sync {
    /// Returns the inbox.
    fn inbox(&self) -> Arc<dyn Inbox>;

    /// Inserts `row` and acknowledges the event of `ticket`, in one transaction.
    ///
    /// Returns the receipt of a committed acknowledgement. A fenced transaction is rolled back.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store failed.
    async fn write(
        &self,
        row: u32,
        ticket: &Ticket,
        end: End,
    ) -> Result<Result<Option<Receipt>, Fenced>, StoreError>;

    /// Returns the inserted rows in ascending order.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store failed.
    async fn rows(&self) -> Result<Vec<u32>, StoreError>;
}

/// End of a transaction.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a transaction has no other end")]
pub enum End {
    /// Commit, unless the acknowledgement is fenced.
    Commit,
    /// Roll back.
    RollBack,
}

/// Test cases.
#[host_ports_conformance::kit(inbox_in_transaction)]
mod cases {
    use std::future::poll_fn;
    use std::pin::pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::task::Poll;
    use std::time::{Duration, SystemTime};

    use host_ports::testing::{ManualClock, SeededEntropy};
    use host_ports_conformance::race;
    use webhook_core::receiver::{
        Claim, Fenced, Finish, Inbox, Queued, Receipt, Ticket, WorkFailure, WorkOutcome, WorkPolicy, Worker,
    };

    use super::{End, TransactionalInbox};
    use crate::incoming::{claim, event, start};

    const LEASE: Duration = Duration::from_secs(60);
    const TICK: Duration = Duration::from_millis(1);
    const PAUSE: Duration = Duration::from_secs(5);
    /// More polls than any work needs.
    const MOST_POLLS: u32 = 10_000;
    const MOST_ROUNDS: u32 = 100;

    async fn enqueue(store: &Arc<dyn TransactionalInbox>, id: &str) {
        let claimed = claim(&*store.inbox(), event(id, id.to_owned()), start()).await;
        assert_eq!(claimed, Claim::Enqueued);
    }

    async fn take(store: &Arc<dyn TransactionalInbox>, now: SystemTime) -> Vec<Queued> {
        let taken = store.inbox().take(100, now, LEASE).await;
        taken.expect("the store works")
    }

    async fn take_one(store: &Arc<dyn TransactionalInbox>, now: SystemTime) -> Queued {
        let mut taken = take(store, now).await;
        assert_eq!(taken.len(), 1, "one event is free");
        taken.remove(0)
    }

    async fn write(
        store: &Arc<dyn TransactionalInbox>,
        row: u32,
        ticket: &Ticket,
        end: End,
    ) -> Result<Option<Receipt>, Fenced> {
        let written = store.write(row, ticket, end).await;
        written.expect("the store works")
    }

    async fn commits(store: &Arc<dyn TransactionalInbox>, row: u32, ticket: &Ticket) -> bool {
        match write(store, row, ticket, End::Commit).await {
            Ok(receipt) => receipt.is_some(),
            Err(Fenced) => false,
        }
    }

    async fn rows(store: &Arc<dyn TransactionalInbox>) -> Vec<u32> {
        store.rows().await.expect("the store works")
    }

    /// H23: a committed transaction contains its row, and its event has left the queue.
    pub async fn committed_event_leaves_the_queue(store: &Arc<dyn TransactionalInbox>) {
        enqueue(store, "evt_1").await;
        let taken = take_one(store, start()).await;
        assert!(commits(store, 7, &taken.ticket).await);
        assert_eq!(rows(store).await, [7]);
        assert_eq!(take(store, start() + LEASE).await, []);
        let finish = store.inbox().finish(&taken.ticket).await;
        assert_eq!(finish.expect("the store works"), Finish::Stale);
    }

    /// H23: a transaction that rolls back leaves no row, and its event under the same lease.
    pub async fn rolled_back_event_stays_leased(store: &Arc<dyn TransactionalInbox>) {
        enqueue(store, "evt_1").await;
        let taken = take_one(store, start()).await;
        let written = write(store, 7, &taken.ticket, End::RollBack).await;
        assert!(matches!(written, Ok(None)), "{written:?}");
        assert_eq!(rows(store).await, [0; 0]);
        assert_eq!(take(store, start() + LEASE - TICK).await, []);
        let again = take_one(store, start() + LEASE).await;
        assert_eq!((again.attempt, &again.body), (2, &taken.body));
        assert!(commits(store, 8, &again.ticket).await);
        assert_eq!(rows(store).await, [8]);
    }

    /// H23: a worker whose event another worker has taken is fenced, and its row is rolled back.
    pub async fn late_transaction_is_rolled_back(store: &Arc<dyn TransactionalInbox>) {
        enqueue(store, "evt_1").await;
        let slow = take_one(store, start()).await;
        let other = take_one(store, start() + LEASE).await;
        assert!(!commits(store, 1, &slow.ticket).await);
        assert!(commits(store, 2, &other.ticket).await);
        for ticket in [&slow.ticket, &other.ticket] {
            assert!(!commits(store, 3, ticket).await, "acknowledged once");
        }
        assert_eq!(rows(store).await, [2]);
    }

    /// H23: a worker whose lease has ended commits if no other worker has taken the event.
    pub async fn ended_lease_without_takeover_still_commits(store: &Arc<dyn TransactionalInbox>) {
        enqueue(store, "evt_1").await;
        let slow = take_one(store, start()).await;
        assert!(commits(store, 1, &slow.ticket).await);
        assert_eq!(take(store, start() + LEASE).await, []);
        assert_eq!(rows(store).await, [1]);
    }

    /// H23: an event that was retried, buried or finished fences its former holder. So does the
    /// lease of another event.
    pub async fn ended_events_fence_their_holder(store: &Arc<dyn TransactionalInbox>) {
        let inbox = store.inbox();
        for id in ["evt_1", "evt_2", "evt_3", "evt_4"] {
            enqueue(store, id).await;
        }
        let [retried, buried, finished, held] =
            <[Queued; 4]>::try_from(take(store, start()).await).expect("four events are free");
        let ended = [
            inbox.retry_at(&retried.ticket, start() + PAUSE).await,
            inbox.bury(&buried.ticket, "bad", start()).await,
            inbox.finish(&finished.ticket).await,
        ];
        for end in ended {
            assert_eq!(end.expect("the store works"), Finish::Done);
        }
        let foreign = Ticket {
            key: finished.ticket.key.clone(),
            ..held.ticket
        };
        for ticket in [&retried.ticket, &buried.ticket, &finished.ticket, &foreign] {
            assert!(!commits(store, 1, ticket).await, "{ticket:?}");
        }
        assert_eq!(rows(store).await, [0; 0]);
        assert!(commits(store, 2, &held.ticket).await);
    }

    /// H23: if workers take over an event while others commit, one row is left.
    pub async fn racing_workers_leave_one_row(store: &Arc<dyn TransactionalInbox>) {
        enqueue(store, "evt_1").await;
        let racers = Arc::new((Arc::clone(store), AtomicU32::new(0)));
        let committed = race(&racers, async |racers, _| {
            let (store, number) = &*racers;
            let row = number.fetch_add(1, Ordering::SeqCst) + 1;
            // each lease has ended when the next worker takes the event
            for taken in take(store, start() + LEASE * row).await {
                if commits(store, row, &taken.ticket).await {
                    return row;
                }
            }
            0
        })
        .await;
        let committed: Vec<_> = committed.into_iter().filter(|row| *row > 0).collect();
        assert_eq!(committed.len(), 1, "{committed:?}");
        assert_eq!(rows(store).await, committed);
        assert_eq!(take(store, start() + LEASE * 200).await, []);
    }

    /// Worker whose work writes a row for each run.
    struct Desk {
        store: Arc<dyn TransactionalInbox>,
        clock: ManualClock,
        worker: Worker,
        runs: AtomicU32,
    }

    impl Desk {
        fn new(store: &Arc<dyn TransactionalInbox>) -> Self {
            let clock = ManualClock::new(start());
            let inbox: Arc<dyn Inbox> = store.inbox();
            let worker = Worker::new(inbox, clock.clone(), SeededEntropy::new(7))
                .with_lease(LEASE)
                .with_policy(WorkPolicy::new(PAUSE, PAUSE, u32::MAX));
            Self {
                store: Arc::clone(store),
                clock,
                worker,
                runs: AtomicU32::new(0),
            }
        }

        /// Takes events and runs each.
        async fn work(&self) -> Vec<WorkOutcome> {
            let mut outcomes = Vec::new();
            for event in self.worker.take(100).await.expect("the store works") {
                hesitate().await;
                outcomes.push(self.run(&event, End::Commit, Ok).await);
            }
            outcomes
        }

        /// Runs an event. `learn` turns the result of the transaction into that of the work.
        async fn run(
            &self,
            event: &Queued,
            end: End,
            learn: impl Fn(Receipt) -> Result<Receipt, WorkFailure>,
        ) -> WorkOutcome {
            let work = async {
                let row = self.runs.fetch_add(1, Ordering::SeqCst);
                let written = write(&self.store, row, &event.ticket, end).await?;
                hesitate().await;
                learn(written.ok_or_else(|| WorkFailure::Temporary("rolled back".to_owned()))?)
            };
            let outcome = self.worker.run_in_transaction(event, work).await;
            outcome.expect("the store works")
        }
    }

    /// Yields once.
    async fn hesitate() {
        let mut is_over = false;
        poll_fn(|context| {
            if is_over {
                return Poll::Ready(());
            }
            is_over = true;
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }

    /// Output of the future; `None` if it needs more polls, and then it is dropped.
    async fn within<T>(polls: u32, future: impl Future<Output = T>) -> Option<T> {
        let mut future = pin!(future);
        let mut polled = 0;
        poll_fn(|context| {
            if polled == polls {
                return Poll::Ready(None);
            }
            polled += 1;
            future.as_mut().poll(context).map(Some)
        })
        .await
    }

    /// H23: a worker that is dropped at any poll leaves at most one row. After its lease the event
    /// runs if it has no row, and has left the queue otherwise.
    pub async fn event_of_dropped_worker_has_one_row(store: &Arc<dyn TransactionalInbox>) {
        let desk = Desk::new(store);
        for polls in 0.. {
            assert!(polls < MOST_POLLS, "the work has not ended after {polls} polls");
            let before = rows(store).await.len();
            enqueue(store, &format!("evt_{polls}")).await;
            let first = within(polls, desk.work()).await;
            let mut again = Vec::new();
            // a dropped transaction may hold its event for a while until it has ended
            for _ in 0..MOST_ROUNDS {
                desk.clock.advance(LEASE);
                again.extend(desk.work().await);
                if rows(store).await.len() > before {
                    break;
                }
            }
            assert_eq!(
                rows(store).await.len() - before,
                1,
                "dropped after {polls}: {again:?}"
            );
            assert!(again.iter().all(|outcome| *outcome == WorkOutcome::Done));
            desk.clock.advance(LEASE);
            assert_eq!(desk.work().await, [], "dropped after {polls}");
            if let Some(first) = first {
                assert_eq!((first, again), (vec![WorkOutcome::Done], vec![]));
                assert!(polls > 3, "only {polls} polls: dropped at too few places");
                return;
            }
        }
    }

    /// H23: if the work does not learn that its transaction has committed, nothing is retried. If
    /// the transaction has not committed, the event is retried after its pause.
    pub async fn lost_commit_result_is_no_retry(store: &Arc<dyn TransactionalInbox>) {
        let desk = Desk::new(store);
        let lost = |_| Err(WorkFailure::Temporary("connection lost".to_owned()));
        enqueue(store, "evt_1").await;
        let committed = take_one(store, start()).await;
        assert_eq!(desk.run(&committed, End::Commit, lost).await, WorkOutcome::Stale);
        assert_eq!(rows(store).await, [0]);
        assert_eq!(take(store, start() + LEASE).await, []);

        enqueue(store, "evt_2").await;
        let undone = take_one(store, start()).await;
        let retried = desk.run(&undone, End::RollBack, lost).await;
        assert!(matches!(retried, WorkOutcome::Retried { .. }), "{retried:?}");
        desk.clock.advance(PAUSE);
        assert_eq!(desk.work().await, [WorkOutcome::Done]);
        assert_eq!(rows(store).await, [0, 2]);
    }

    /// H23: 32 workers that share a queue write one row for each event.
    pub async fn simultaneous_workers_write_one_row_each(store: &Arc<dyn TransactionalInbox>) {
        const EVENTS: usize = 48;
        for number in 0..EVENTS {
            enqueue(store, &format!("evt_{number}")).await;
        }
        let desk = Arc::new(Desk::new(store));
        let outcomes = race(&desk, async |desk, _| {
            let mut outcomes = Vec::new();
            for event in desk.worker.take(3).await.expect("the store works") {
                outcomes.push(desk.run(&event, End::Commit, Ok).await);
            }
            outcomes
        })
        .await;
        let mut outcomes: Vec<_> = outcomes.into_iter().flatten().collect();
        // workers that found the events locked took fewer
        outcomes.extend(desk.work().await);
        assert_eq!(outcomes, vec![WorkOutcome::Done; EVENTS]);
        assert_eq!(rows(store).await.len(), EVENTS);
        assert_eq!(take(store, start() + LEASE).await, []);
    }
}

pub use cases::*;
