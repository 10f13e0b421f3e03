//! Test cases for implementations of [`Inbox`](webhook_core::receiver::Inbox): work that fails.
#![expect(clippy::expect_used, reason = "a case fails by panicking")]

/// Test cases.
#[host_ports_conformance::kit(inbox_failures)]
mod cases {
    use std::sync::Arc;
    use std::time::{Duration, SystemTime};

    use crate::incoming::{MEMORY, claim, event, from_source, start};
    use host_ports_conformance::race;
    use webhook_core::receiver::{Buried, BuriedQuery, Claim, Finish, Inbox, Queued, Ticket};

    const LEASE: Duration = Duration::from_secs(60);
    const PAUSE: Duration = Duration::from_secs(5);
    const TICK: Duration = Duration::from_millis(1);

    async fn take(store: &dyn Inbox, now: SystemTime) -> Vec<Queued> {
        store.take(10, now, LEASE).await.expect("the store works")
    }

    async fn take_one(store: &dyn Inbox, now: SystemTime) -> Queued {
        let mut taken = take(store, now).await;
        assert_eq!(taken.len(), 1, "one event is free");
        taken.remove(0)
    }

    async fn finish(store: &dyn Inbox, ticket: &Ticket) -> Finish {
        store.finish(ticket).await.expect("the store works")
    }

    async fn retry_at(store: &dyn Inbox, ticket: &Ticket, at: SystemTime) -> Finish {
        store.retry_at(ticket, at).await.expect("the store works")
    }

    async fn bury(store: &dyn Inbox, ticket: &Ticket, reason: &str) -> Finish {
        store
            .bury(ticket, reason, start())
            .await
            .expect("the store works")
    }

    async fn buried(store: &dyn Inbox, query: &BuriedQuery) -> Vec<Buried> {
        store.buried(query).await.expect("the store works")
    }

    async fn all_buried(store: &dyn Inbox) -> Vec<Buried> {
        buried(store, &BuriedQuery::default()).await
    }

    async fn replay(store: &dyn Inbox, number: u64) -> bool {
        store.replay_buried(number).await.expect("the store works")
    }

    async fn enqueue(store: &Arc<dyn Inbox>, id: &str, body: &str) {
        let body = body.to_owned();
        assert_eq!(claim(&**store, event(id, body), start()).await, Claim::Enqueued);
    }

    /// Queues an event, takes it and buries it.
    async fn bury_new(store: &Arc<dyn Inbox>, id: &str, reason: &str) {
        enqueue(store, id, id).await;
        let taken = take_one(store, start()).await;
        assert_eq!(bury(store, &taken.ticket, reason).await, Finish::Done);
    }

    /// W26: an event is free exactly from the time of its retry on, and its attempts are counted
    /// on; meanwhile others are taken.
    pub async fn retried_event_waits_for_its_time(store: &Arc<dyn Inbox>) {
        enqueue(store, "evt_1", "1").await;
        let first = take_one(store, start()).await;
        assert_eq!(
            retry_at(store, &first.ticket, start() + PAUSE).await,
            Finish::Done
        );
        enqueue(store, "evt_2", "2").await;
        let other = take_one(store, start() + PAUSE - TICK).await;
        assert_eq!(other.ticket.key, event("evt_2", "2").key);
        let again = take_one(store, start() + PAUSE).await;
        assert_eq!((again.ticket.key, again.attempt), (first.ticket.key, 2));
    }

    /// W26: a retry may be due at once, and may be later than the lease.
    pub async fn retry_replaces_the_lease(store: &Arc<dyn Inbox>) {
        enqueue(store, "evt_1", "1").await;
        let taken = take_one(store, start()).await;
        assert_eq!(retry_at(store, &taken.ticket, start()).await, Finish::Done);
        let taken = take_one(store, start()).await;
        assert_eq!(
            retry_at(store, &taken.ticket, start() + LEASE * 2).await,
            Finish::Done
        );
        assert_eq!(take(store, start() + LEASE).await, []);
        assert_eq!(take_one(store, start() + LEASE * 2).await.attempt, 3);
    }

    /// W26: only the holder of the latest lease ends it: a ticket whose lease was taken over, was
    /// retried, buried or finished changes nothing.
    pub async fn stale_tickets_change_nothing(store: &Arc<dyn Inbox>) {
        enqueue(store, "evt_1", "1").await;
        let lost = take_one(store, start()).await;
        let held = take_one(store, start() + LEASE).await;
        assert_eq!(retry_at(store, &lost.ticket, start()).await, Finish::Stale);
        assert_eq!(bury(store, &lost.ticket, "late").await, Finish::Stale);
        assert_eq!(take(store, start() + LEASE).await, [], "it is still held");

        let at = start() + LEASE + PAUSE;
        assert_eq!(retry_at(store, &held.ticket, at).await, Finish::Done);
        assert_eq!(retry_at(store, &held.ticket, start()).await, Finish::Stale);
        assert_eq!(finish(store, &held.ticket).await, Finish::Stale);
        assert_eq!(bury(store, &held.ticket, "late").await, Finish::Stale);

        let last = take_one(store, at).await;
        assert_eq!(bury(store, &last.ticket, "bad").await, Finish::Done);
        for ticket in [&lost.ticket, &held.ticket, &last.ticket] {
            assert_eq!(bury(store, ticket, "again").await, Finish::Stale);
            assert_eq!(finish(store, ticket).await, Finish::Stale);
            assert_eq!(retry_at(store, ticket, start()).await, Finish::Stale);
        }
        assert_eq!(all_buried(store).await.len(), 1);
        assert_eq!(take(store, at + LEASE).await, []);
        let foreign = Ticket {
            key: event("evt_2", "").key,
            ..last.ticket
        };
        assert_eq!(bury(store, &foreign, "foreign").await, Finish::Stale);
    }

    /// W26: a dead letter keeps key, body, attempts, reason and time, and is not taken.
    pub async fn dead_letter_keeps_the_event(store: &Arc<dyn Inbox>) {
        enqueue(store, "evt_1", "{\"a\": 1}\n").await;
        let taken = take_one(store, start()).await;
        assert_eq!(retry_at(store, &taken.ticket, start()).await, Finish::Done);
        let taken = take_one(store, start()).await;
        assert_eq!(
            bury(store, &taken.ticket, "'no' \0 \u{1f600}").await,
            Finish::Done
        );
        assert_eq!(take(store, start() + LEASE).await, []);
        let letters = all_buried(store).await;
        let letter = letters.first().expect("it is buried");
        assert_eq!(letter.key, event("evt_1", "").key);
        assert_eq!(letter.body, "{\"a\": 1}\n");
        assert_eq!((letter.attempts, letter.buried_at), (2, start()));
        assert_eq!(letter.reason, "'no' \0 \u{1f600}");
    }

    /// W26: a long reason is cut between characters at 1,024 bytes.
    pub async fn long_reason_is_cut(store: &Arc<dyn Inbox>) {
        bury_new(store, "evt_1", &"ß".repeat(1_000)).await;
        bury_new(store, "evt_2", &format!("x{}", "ß".repeat(1_000))).await;
        let lengths = all_buried(store).await;
        let lengths: Vec<usize> = lengths.iter().map(|letter| letter.reason.len()).collect();
        assert_eq!(lengths, [1_024, 1_023]);
    }

    /// W26: while its claim lives, the sender's retry of a dead letter is a duplicate; after that
    /// the event is queued anew, and the dead letter stays.
    pub async fn dead_letter_and_claim_are_independent(store: &Arc<dyn Inbox>) {
        bury_new(store, "evt_1", "bad").await;
        let again = || event("evt_1", "evt_1");
        assert_eq!(claim(&**store, again(), start()).await, Claim::Duplicate);
        assert_eq!(claim(&**store, again(), start() + MEMORY).await, Claim::Enqueued);
        let taken = take_one(store, start() + MEMORY).await;
        assert_eq!(taken.attempt, 1);
        assert_eq!(bury(store, &taken.ticket, "bad again").await, Finish::Done);
        let letters = all_buried(store).await;
        let reasons: Vec<&str> = letters.iter().map(|letter| letter.reason.as_str()).collect();
        assert_eq!(reasons, ["bad", "bad again"]);
    }

    /// W26: a replayed dead letter is at the end of the queue, with its exact body and no attempts;
    /// it can be replayed once.
    pub async fn replayed_letter_is_queued_again(store: &Arc<dyn Inbox>) {
        bury_new(store, "evt_1", "bad").await;
        enqueue(store, "evt_2", "evt_2").await;
        let number = all_buried(store).await.first().map(|letter| letter.number);
        let number = number.expect("it is buried");
        assert!(replay(store, number).await);
        assert!(!replay(store, number).await);
        assert_eq!(all_buried(store).await, []);
        let taken = take(store, start()).await;
        let bodies: Vec<_> = taken.iter().map(|job| (job.body.clone(), job.attempt)).collect();
        assert_eq!(bodies, [("evt_2".into(), 1), ("evt_1".into(), 1)]);
        for job in taken {
            assert_eq!(finish(store, &job.ticket).await, Finish::Done);
        }
    }

    /// W26: a discarded dead letter is gone; unknown numbers are reported.
    pub async fn discarded_letter_is_gone(store: &Arc<dyn Inbox>) {
        bury_new(store, "evt_1", "bad").await;
        let number = all_buried(store).await.first().map(|letter| letter.number);
        let number = number.expect("it is buried");
        for is_known in [true, false] {
            let discarded = store.discard_buried(number).await;
            assert_eq!(discarded.expect("the store works"), is_known);
        }
        assert!(!replay(store, number).await);
        assert_eq!(take(store, start() + LEASE).await, []);
    }

    /// W26: dead letters are listed by source and in pages, in the order of their arrival.
    pub async fn dead_letters_are_listed_in_pages(store: &Arc<dyn Inbox>) {
        for (source, id) in [
            ("s", "evt_1"),
            ("s:", "evt_2"),
            ("s", "evt_3"),
            ("", "evt_4"),
            ("s", "evt_5"),
        ] {
            let claimed = claim(&**store, from_source(source, id, ""), start()).await;
            assert_eq!(claimed, Claim::Enqueued);
            let taken = take_one(store, start()).await;
            assert_eq!(bury(store, &taken.ticket, id).await, Finish::Done);
        }
        let mut query = BuriedQuery {
            source: Some("s".to_owned()),
            after: None,
            limit: 2,
        };
        let mut pages = Vec::new();
        for _ in 0..3 {
            let page = buried(store, &query).await;
            query.after = page.last().map(|last| last.number).or(query.after);
            pages.push(page.into_iter().map(|letter| letter.reason).collect::<Vec<_>>());
        }
        assert_eq!(pages, [vec!["evt_1", "evt_3"], vec!["evt_5"], vec![]]);
        assert_eq!(all_buried(store).await.len(), 5);
        for (source, count) in [("s:", 1), ("", 1), ("S", 0), ("%", 0)] {
            let query = BuriedQuery {
                source: Some(source.to_owned()),
                ..BuriedQuery::default()
            };
            assert_eq!(buried(store, &query).await.len(), count, "{source:?}");
        }
        let none = BuriedQuery {
            limit: 0,
            ..BuriedQuery::default()
        };
        assert_eq!(buried(store, &none).await, []);
    }

    /// W26: of concurrent ends of one lease exactly one counts, and the event is in one place.
    pub async fn simultaneous_ends_of_a_lease_count_once(store: &Arc<dyn Inbox>) {
        enqueue(store, "evt_1", "1").await;
        let taken = take_one(store, start()).await;
        let ends = race(store, {
            let ticket = taken.ticket.clone();
            async move |store, index| match index % 3 {
                0 => finish(&*store, &ticket).await,
                1 => retry_at(&*store, &ticket, start()).await,
                _ => bury(&*store, &ticket, "bad").await,
            }
        })
        .await;
        let done = ends.iter().filter(|end| **end == Finish::Done).count();
        assert_eq!(done, 1);
        let places = take(store, start()).await.len() + all_buried(store).await.len();
        assert!(places <= 1, "{places}");
    }

    /// W26: of concurrent replays exactly one queues the event.
    pub async fn simultaneous_replays_queue_once(store: &Arc<dyn Inbox>) {
        bury_new(store, "evt_1", "bad").await;
        let number = all_buried(store).await.first().map(|letter| letter.number);
        let number = number.expect("it is buried");
        let replayed = race(store, async move |store, _| replay(&*store, number).await).await;
        assert_eq!(replayed.iter().filter(|replayed| **replayed).count(), 1);
        assert_eq!(take(store, start()).await.len(), 1);
    }
}

pub use cases::*;
