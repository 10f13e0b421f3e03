//! Test cases for implementations of [`Claims`](webhook_core::receiver::Claims).
#![expect(clippy::expect_used, reason = "a case fails by panicking")]

/// Test cases.
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

    /// W7: until the event is queued, a duplicate is `Pending`; after the lease one duplicate
    /// queues it.
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

    /// W7: a queued event is a duplicate until its claim expires, also after its lease has ended.
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

    /// W7: a claim that was never confirmed expires; the event is then new, also with another body.
    pub async fn unqueued_claim_expires_with_its_memory(store: &Arc<dyn Claims>) {
        assert_eq!(begin(store, &event("evt_1", "{}"), start()).await, Begun::Claimed);
        let other = event("evt_1", "[]");
        assert_eq!(
            begin(store, &other, start() + MEMORY - TICK).await,
            Begun::Conflict
        );
        assert_eq!(begin(store, &other, start() + MEMORY).await, Begun::Claimed);
    }

    /// W7: a confirmation after the lease has ended still marks the event as queued.
    pub async fn late_confirmation_marks_event_as_queued(store: &Arc<dyn Claims>) {
        let event = event("evt_1", "{}");
        assert_eq!(begin(store, &event, start()).await, Begun::Claimed);
        assert_eq!(begin(store, &event, start() + LEASE).await, Begun::Claimed);
        queued(store, &event).await;
        assert_eq!(begin(store, &event, start() + LEASE).await, Begun::Duplicate);
    }

    /// W7: another body is a conflict from the claim on; a conflict changes nothing.
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

    /// W7: a confirmation without a claim creates none; the event would count as queued.
    pub async fn confirmation_without_claim_writes_nothing(store: &Arc<dyn Claims>) {
        let (first, other) = (event("evt_1", "{}"), event("evt_2", "{}"));
        queued(store, &first).await;
        assert_eq!(begin(store, &first, start()).await, Begun::Claimed);
        queued(store, &other).await;
        let until = start() + LEASE;
        assert_eq!(begin(store, &first, start()).await, Begun::Pending { until });
    }

    /// W7: of concurrent deliveries of one event one gets the claim.
    pub async fn one_of_32_concurrent_begins_gets_the_claim(store: &Arc<dyn Claims>) {
        assert_eq!(claimed_at(store, start()).await, 1);
    }

    /// W7: of concurrent deliveries after the end of the lease one gets the claim.
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
