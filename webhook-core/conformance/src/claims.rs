//! Cases that every [`Claims`](webhook_core::receiver::Claims) implementation must pass.
#![expect(clippy::expect_used, reason = "a case fails by panicking")]

/// The cases.
#[host_ports_conformance::kit(claims)]
mod cases {
    use std::sync::Arc;
    use std::time::{Duration, SystemTime};

    use crate::incoming::{MEMORY, event, start};
    use host_ports_conformance::race;
    use webhook_core::receiver::{Begun, Claims, Incoming};

    const LEASE: Duration = Duration::from_secs(30);
    const TICK: Duration = Duration::from_millis(1);

    async fn begin(store: &dyn Claims, event: &Incoming, now: SystemTime) -> Begun {
        store.begin(event, now, LEASE).await.expect("the store works")
    }

    async fn queued(store: &dyn Claims, event: &Incoming) {
        let noted = store.mark_queued(&event.key, &event.digest).await;
        noted.expect("the store works");
    }

    /// W7: until the queue has the event its repetitions are told when to come again; after the lease one of them queues it.
    pub async fn unqueued_claim_is_pending_until_exact_end_of_its_lease(store: &Arc<dyn Claims>) {
        let (event, until) = (event("evt_1", "{}"), start() + LEASE);
        assert_eq!(begin(store, &event, start()).await, Begun::Claimed);
        for now in [start(), until - TICK] {
            assert_eq!(begin(store, &event, now).await, Begun::Pending { until });
        }
        assert_eq!(begin(store, &event, until).await, Begun::Claimed);
        let until = until + LEASE;
        assert_eq!(begin(store, &event, until - TICK).await, Begun::Pending { until });
    }

    /// W7: once it is queued it is never begun again within its memory, whatever became of the lease.
    pub async fn queued_claim_is_duplicate_until_exact_end_of_its_memory(store: &Arc<dyn Claims>) {
        let event = event("evt_1", "{}");
        assert_eq!(begin(store, &event, start()).await, Begun::Claimed);
        queued(store, &event).await;
        queued(store, &event).await;
        for now in [start(), start() + LEASE, start() + MEMORY - TICK] {
            assert_eq!(begin(store, &event, now).await, Begun::Duplicate);
        }
        assert_eq!(begin(store, &event, start() + MEMORY).await, Begun::Claimed);
    }

    /// W7: what was begun and forgotten is new again when its time is over, also with another body.
    pub async fn a_claim_that_was_never_queued_ends_with_its_memory(store: &Arc<dyn Claims>) {
        assert_eq!(begin(store, &event("evt_1", "{}"), start()).await, Begun::Claimed);
        let other = event("evt_1", "[]");
        assert_eq!(
            begin(store, &other, start() + MEMORY - TICK).await,
            Begun::Conflict
        );
        assert_eq!(begin(store, &other, start() + MEMORY).await, Begun::Claimed);
    }

    /// W7: an event that reached the queue late is there: whoever took over finds it a duplicate.
    pub async fn who_lost_the_lease_may_still_say_that_it_is_queued(store: &Arc<dyn Claims>) {
        let event = event("evt_1", "{}");
        assert_eq!(begin(store, &event, start()).await, Begun::Claimed);
        assert_eq!(begin(store, &event, start() + LEASE).await, Begun::Claimed);
        queued(store, &event).await;
        assert_eq!(begin(store, &event, start() + LEASE).await, Begun::Duplicate);
    }

    /// W7: one id has one body, from the claim on; a conflict changes nothing.
    pub async fn another_body_is_a_conflict_before_and_after_it_is_queued(store: &Arc<dyn Claims>) {
        let (first, other) = (event("evt_1", "{}"), event("evt_1", "[]"));
        assert_eq!(begin(store, &first, start()).await, Begun::Claimed);
        let until = start() + LEASE;
        for now in [start(), until] {
            assert_eq!(begin(store, &other, now).await, Begun::Conflict);
        }
        queued(store, &other).await;
        assert_eq!(
            begin(store, &first, start()).await,
            Begun::Pending { until },
            "the other is not it"
        );
        queued(store, &first).await;
        assert_eq!(begin(store, &other, until).await, Begun::Conflict);
        assert_eq!(begin(store, &first, until).await, Begun::Duplicate);
    }

    /// W7: a note without a claim makes none: the event would be taken for queued.
    pub async fn what_nobody_claimed_is_not_noted_as_queued(store: &Arc<dyn Claims>) {
        let (first, other) = (event("evt_1", "{}"), event("evt_2", "{}"));
        queued(store, &first).await;
        assert_eq!(begin(store, &first, start()).await, Begun::Claimed);
        queued(store, &other).await;
        let until = start() + LEASE;
        assert_eq!(begin(store, &first, start()).await, Begun::Pending { until });
    }

    /// W7: of simultaneous deliveries of one event one queues it.
    pub async fn one_of_32_concurrent_begins_gets_the_claim(store: &Arc<dyn Claims>) {
        assert_eq!(claimed_at(store, start()).await, 1);
    }

    /// W7: and of those that come when the lease is over.
    pub async fn one_of_32_concurrent_begins_after_a_crash_gets_the_claim(store: &Arc<dyn Claims>) {
        assert_eq!(begin(store, &event("evt_1", "{}"), start()).await, Begun::Claimed);
        assert_eq!(claimed_at(store, start() + LEASE).await, 1);
    }

    async fn claimed_at(store: &Arc<dyn Claims>, now: SystemTime) -> usize {
        let event = event("evt_1", "{}");
        let begun = race(store, async move |store, _| begin(&*store, &event, now).await).await;
        let pending = Begun::Pending { until: now + LEASE };
        assert!(
            begun
                .iter()
                .all(|begun| [Begun::Claimed, pending].contains(begun))
        );
        begun.iter().filter(|begun| **begun == Begun::Claimed).count()
    }
}

pub use cases::*;
