//! Test cases for implementations of [`Inbox`](webhook_core::receiver::Inbox).
#![expect(clippy::expect_used, reason = "a case fails by panicking")]

/// Test cases.
#[host_ports_conformance::kit(inbox_store)]
mod cases {
    use std::sync::Arc;
    use std::{
        collections::BTreeSet,
        time::{Duration, SystemTime},
    };

    use bytes::Bytes;

    use crate::incoming::{MEMORY, claim, event, start};
    use host_ports_conformance::race;
    use webhook_core::receiver::{Claim, Finish, Inbox, Queued, Ticket};

    const LEASE: Duration = Duration::from_secs(60);
    const TICK: Duration = Duration::from_millis(1);

    async fn take(store: &dyn Inbox, limit: usize, now: SystemTime) -> Vec<Queued> {
        store.take(limit, now, LEASE).await.expect("the store works")
    }

    async fn take_one(store: &dyn Inbox, now: SystemTime) -> Queued {
        let mut taken = take(store, 1, now).await;
        taken.pop().expect("an event is free")
    }

    async fn finish(store: &dyn Inbox, ticket: &Ticket) -> Finish {
        store.finish(ticket).await.expect("the store works")
    }

    async fn enqueue(store: &Arc<dyn Inbox>, id: &str, body: impl Into<Bytes>) {
        assert_eq!(claim(&**store, event(id, body), start()).await, Claim::Enqueued);
    }

    /// W8: events are taken in the order of arrival, each once, with their exact bytes.
    pub async fn events_come_out_in_the_order_of_their_arrival(store: &Arc<dyn Inbox>) {
        assert_eq!(take(store, 10, start()).await, []);
        for (id, body) in [("evt_z", "1"), ("evt_a", "2"), ("evt_m", "3")] {
            enqueue(store, id, body).await;
        }
        let taken = take(store, 10, start()).await;
        assert_eq!(
            taken.iter().map(|job| job.body.clone()).collect::<Vec<_>>(),
            ["1", "2", "3"]
        );
        assert_eq!(
            taken.first().map(|job| job.ticket.key.clone()),
            Some(event("evt_z", "1").key)
        );
        assert!(taken.iter().all(|job| job.attempt == 1));
    }

    /// W7: duplicates and conflicts are not queued.
    pub async fn duplicates_and_conflicts_are_not_queued(store: &Arc<dyn Inbox>) {
        enqueue(store, "evt_1", "first").await;
        assert_eq!(
            claim(&**store, event("evt_1", "first"), start()).await,
            Claim::Duplicate
        );
        assert_eq!(
            claim(&**store, event("evt_1", "second"), start()).await,
            Claim::Conflict
        );
        let taken = take(store, 10, start()).await;
        assert_eq!(
            taken.iter().map(|job| job.body.clone()).collect::<Vec<_>>(),
            ["first"]
        );
    }

    /// W7: 32 concurrent claims of one event queue it once.
    pub async fn simultaneous_claims_queue_the_event_once(store: &Arc<dyn Inbox>) {
        race(store, async |store, _| {
            claim(&*store, event("evt_1", "{}"), start()).await
        })
        .await;
        assert_eq!(take(store, 64, start()).await.len(), 1);
    }

    /// W7: when a claim is reported as a duplicate, its event was queued. A store that claims first
    /// and queues later would lose the event in a crash in between.
    pub async fn duplicate_is_reported_only_after_its_event_is_queued(store: &Arc<dyn Inbox>) {
        for n in 0..16 {
            let id = format!("evt_{n}");
            let taken = race(store, async move |store, _| {
                match claim(&*store, event(&id, "{}"), start()).await {
                    Claim::Duplicate => take(&*store, 1, start()).await.len(),
                    _ => 0,
                }
            });
            assert_eq!(taken.await.iter().sum::<usize>(), 1);
        }
    }

    /// W8: a worker takes at most its limit.
    pub async fn no_more_than_the_limit_is_taken(store: &Arc<dyn Inbox>) {
        for n in 0..5 {
            enqueue(store, &format!("evt_{n}"), "{}").await;
        }
        assert_eq!(take(store, 0, start()).await.len(), 0);
        assert_eq!(take(store, 3, start()).await.len(), 3);
        assert_eq!(take(store, 3, start()).await.len(), 2);
        assert_eq!(take(store, usize::MAX, start() + LEASE).await.len(), 5);
    }

    /// W8: an event whose worker crashed can be taken again at the exact instant its lease ends.
    pub async fn an_unfinished_event_comes_again_when_its_lease_ends(store: &Arc<dyn Inbox>) {
        enqueue(store, "evt_1", "{}").await;
        let first = take_one(store, start()).await;
        assert_eq!(take(store, 10, start() + LEASE - TICK).await, []);
        let second = take_one(store, start() + LEASE).await;
        assert_eq!((second.attempt, &second.body), (2, &first.body));
        assert_ne!(second.ticket, first.ticket);
    }

    /// W8: a finished event is removed and cannot be finished twice.
    pub async fn a_finished_event_does_not_come_again(store: &Arc<dyn Inbox>) {
        enqueue(store, "evt_1", "{}").await;
        enqueue(store, "evt_2", "{}").await;
        let first = take_one(store, start()).await;
        assert_eq!(finish(store, &first.ticket).await, Finish::Done);
        assert_eq!(finish(store, &first.ticket).await, Finish::Stale);
        let rest = take(store, 10, start() + LEASE + LEASE).await;
        assert_eq!(
            rest.iter()
                .map(|job| job.ticket.key.id.as_str())
                .collect::<Vec<_>>(),
            ["evt_2"]
        );
    }

    /// W8: a worker whose lease was taken over cannot finish the event.
    pub async fn a_lost_lease_finishes_nothing(store: &Arc<dyn Inbox>) {
        enqueue(store, "evt_1", "{}").await;
        let slow = take_one(store, start()).await;
        let other = take_one(store, start() + LEASE).await;
        assert_eq!(finish(store, &slow.ticket).await, Finish::Stale);
        assert_eq!(finish(store, &other.ticket).await, Finish::Done);
        assert_eq!(take(store, 10, start() + MEMORY).await, []);
    }

    /// W8: a worker whose lease has ended may finish the event if no other worker took it.
    pub async fn ended_lease_without_takeover_still_finishes(store: &Arc<dyn Inbox>) {
        enqueue(store, "evt_1", "{}").await;
        let slow = take_one(store, start()).await;
        assert_eq!(finish(store, &slow.ticket).await, Finish::Done);
        assert_eq!(take(store, 10, start() + LEASE).await, []);
    }

    /// W8: a queued event outlives its claim; the same id is then queued again as a new event.
    pub async fn an_event_outlives_its_claim_in_the_queue(store: &Arc<dyn Inbox>) {
        enqueue(store, "evt_1", "first").await;
        let held = take_one(store, start() + MEMORY - LEASE).await;
        assert_eq!(
            claim(&**store, event("evt_1", "second"), start() + MEMORY).await,
            Claim::Enqueued
        );
        let both = take(store, 10, start() + MEMORY).await;
        assert_eq!(
            both.iter().map(|job| job.body.clone()).collect::<Vec<_>>(),
            ["first", "second"]
        );
        assert_eq!(finish(store, &held.ticket).await, Finish::Stale);
        for job in &both {
            assert_eq!(finish(store, &job.ticket).await, Finish::Done);
        }
    }

    /// W8: 32 concurrent workers never take the same event.
    pub async fn simultaneous_workers_share_no_event(store: &Arc<dyn Inbox>) {
        for n in 0..48 {
            enqueue(store, &format!("evt_{n}"), "{}").await;
        }
        let taken: Vec<Queued> = race(store, async |store, _| take(&*store, 2, start()).await)
            .await
            .into_iter()
            .flatten()
            .collect();
        let events: BTreeSet<_> = taken.iter().map(|job| job.ticket.key.clone()).collect();
        let leases: BTreeSet<_> = taken.iter().map(|job| job.ticket.lease).collect();
        assert_eq!((taken.len(), events.len(), leases.len()), (48, 48, 48));
    }

    /// W1: bodies are kept byte for byte: empty, not text, with NUL, and of 1 MiB.
    pub async fn bodies_are_kept_byte_for_byte(store: &Arc<dyn Inbox>) {
        let bodies = [
            vec![],
            vec![0],
            b"{}\r\n".to_vec(),
            (0..=255).collect(),
            vec![0xff; 1024 * 1024],
        ];
        for (n, body) in bodies.iter().enumerate() {
            enqueue(store, &format!("evt_{n}"), body.clone()).await;
        }
        let taken = take(store, 10, start()).await;
        assert!(
            taken
                .iter()
                .map(|job| job.body.as_ref())
                .eq(bodies.iter().map(Vec::as_slice))
        );
    }
}

pub use cases::*;
