//! Test cases for implementations of [`Claims`](webhook_core::receiver::Claims).
#![expect(clippy::expect_used, reason = "a case fails by panicking")]

/// Test cases.
#[host_ports_conformance::kit(claims)]
mod cases {
    use std::sync::Arc;
    use std::time::{Duration, SystemTime};

    use crate::incoming::{MEMORY, event, start};
    use host_ports_conformance::race;
    use webhook_core::receiver::{BeginOutcome, Claims, Incoming};

    const LEASE: Duration = Duration::from_secs(30);
    const TICK: Duration = Duration::from_millis(1);

    async fn begin(store: &dyn Claims, event: &Incoming, now: SystemTime) -> BeginOutcome {
        store.begin(event, now, LEASE).await.expect("the store works")
    }

    async fn queued(store: &dyn Claims, event: &Incoming) {
        let noted = store.complete(&event.key, &event.digest).await;
        noted.expect("the store works");
    }

    /// W7: until the event is queued, a duplicate is `Pending`; after the lease one duplicate
    /// queues it.
    pub async fn unqueued_claim_is_pending_until_exact_end_of_its_lease(store: &Arc<dyn Claims>) {
        let (event, until) = (event("evt_1", "{}"), start() + LEASE);
        assert_eq!(begin(store, &event, start()).await, BeginOutcome::Claimed);
        for now in [start(), until - TICK] {
            assert_eq!(begin(store, &event, now).await, BeginOutcome::Pending { until });
        }
        assert_eq!(begin(store, &event, until).await, BeginOutcome::Claimed);
        let until = until + LEASE;
        assert_eq!(
            begin(store, &event, until - TICK).await,
            BeginOutcome::Pending { until }
        );
    }

    /// W7: a queued event stays a duplicate after its lease has ended, until its claim expires.
    pub async fn queued_claim_is_duplicate_until_exact_end_of_its_memory(store: &Arc<dyn Claims>) {
        let event = event("evt_1", "{}");
        assert_eq!(begin(store, &event, start()).await, BeginOutcome::Claimed);
        queued(store, &event).await;
        queued(store, &event).await;
        for now in [start(), start() + LEASE, start() + MEMORY - TICK] {
            assert_eq!(begin(store, &event, now).await, BeginOutcome::Duplicate);
        }
        assert_eq!(
            begin(store, &event, start() + MEMORY).await,
            BeginOutcome::Claimed
        );
    }

    /// W7: a claim that was never confirmed expires; the event is then new, also with another body.
    pub async fn unqueued_claim_expires_with_its_memory(store: &Arc<dyn Claims>) {
        assert_eq!(
            begin(store, &event("evt_1", "{}"), start()).await,
            BeginOutcome::Claimed
        );
        let other = event("evt_1", "[]");
        assert_eq!(
            begin(store, &other, start() + MEMORY - TICK).await,
            BeginOutcome::Conflict
        );
        assert_eq!(
            begin(store, &other, start() + MEMORY).await,
            BeginOutcome::Claimed
        );
    }

    /// W7: a confirmation after the lease has ended still marks the event as queued.
    pub async fn late_confirmation_marks_event_as_queued(store: &Arc<dyn Claims>) {
        let event = event("evt_1", "{}");
        assert_eq!(begin(store, &event, start()).await, BeginOutcome::Claimed);
        assert_eq!(begin(store, &event, start() + LEASE).await, BeginOutcome::Claimed);
        queued(store, &event).await;
        assert_eq!(
            begin(store, &event, start() + LEASE).await,
            BeginOutcome::Duplicate
        );
    }

    /// W7: once the event is claimed, another body under its id is a conflict; a conflict changes
    /// nothing.
    pub async fn another_body_is_a_conflict_before_and_after_it_is_queued(store: &Arc<dyn Claims>) {
        let (first, other) = (event("evt_1", "{}"), event("evt_1", "[]"));
        assert_eq!(begin(store, &first, start()).await, BeginOutcome::Claimed);
        let until = start() + LEASE;
        for now in [start(), until] {
            assert_eq!(begin(store, &other, now).await, BeginOutcome::Conflict);
        }
        queued(store, &other).await;
        assert_eq!(
            begin(store, &first, start()).await,
            BeginOutcome::Pending { until },
            "the other is not it"
        );
        queued(store, &first).await;
        assert_eq!(begin(store, &other, until).await, BeginOutcome::Conflict);
        assert_eq!(begin(store, &first, until).await, BeginOutcome::Duplicate);
    }

    /// W7: confirming an event that was not claimed creates no claim, which would count as queued.
    pub async fn confirmation_without_claim_writes_nothing(store: &Arc<dyn Claims>) {
        let (first, other) = (event("evt_1", "{}"), event("evt_2", "{}"));
        queued(store, &first).await;
        assert_eq!(begin(store, &first, start()).await, BeginOutcome::Claimed);
        queued(store, &other).await;
        let until = start() + LEASE;
        assert_eq!(
            begin(store, &first, start()).await,
            BeginOutcome::Pending { until }
        );
    }

    /// W7: of concurrent deliveries of one event exactly one gets the claim.
    pub async fn one_of_32_concurrent_begins_gets_the_claim(store: &Arc<dyn Claims>) {
        assert_eq!(claimed_at(store, start()).await, 1);
    }

    /// W7: of concurrent deliveries after the end of the lease exactly one gets the claim.
    pub async fn one_of_32_concurrent_begins_after_a_crash_gets_the_claim(store: &Arc<dyn Claims>) {
        assert_eq!(
            begin(store, &event("evt_1", "{}"), start()).await,
            BeginOutcome::Claimed
        );
        assert_eq!(claimed_at(store, start() + LEASE).await, 1);
    }

    async fn claimed_at(store: &Arc<dyn Claims>, now: SystemTime) -> usize {
        let event = event("evt_1", "{}");
        let begun = race(store, async move |store, _| begin(&*store, &event, now).await).await;
        let pending = BeginOutcome::Pending { until: now + LEASE };
        assert!(
            begun
                .iter()
                .all(|begun| [BeginOutcome::Claimed, pending].contains(begun))
        );
        begun
            .iter()
            .filter(|begun| **begun == BeginOutcome::Claimed)
            .count()
    }
}

pub use cases::*;
