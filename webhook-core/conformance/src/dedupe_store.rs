//! Test cases for implementations of [`Dedupe`](webhook_core::receiver::Dedupe).

/// Test cases.
#[host_ports_conformance::kit(dedupe_store)]
mod cases {
    use std::sync::Arc;
    use std::time::Duration;

    use crate::incoming::{MEMORY, claim, event, from_source, start};
    use host_ports_conformance::race;
    use webhook_core::receiver::{BodyDigest, Claim, Dedupe, Incoming};

    const TICK: Duration = Duration::from_millis(1);

    /// W7: a new event is queued; the same event again is a duplicate.
    pub async fn a_new_event_is_enqueued_and_its_repetition_is_a_duplicate(store: &Arc<dyn Dedupe>) {
        assert_eq!(
            claim(&**store, event("evt_1", "{}"), start()).await,
            Claim::Enqueued
        );
        assert_eq!(
            claim(&**store, event("evt_1", "{}"), start()).await,
            Claim::Duplicate
        );
        assert_eq!(
            claim(&**store, event("evt_2", "{}"), start()).await,
            Claim::Enqueued
        );
    }

    /// W7: one id with two bodies is a conflict, and changes nothing.
    pub async fn another_body_under_the_same_id_is_a_conflict(store: &Arc<dyn Dedupe>) {
        assert_eq!(
            claim(&**store, event("evt_1", "first"), start()).await,
            Claim::Enqueued
        );
        assert_eq!(
            claim(&**store, event("evt_1", "second"), start()).await,
            Claim::Conflict
        );
        assert_eq!(
            claim(&**store, event("evt_1", "first"), start()).await,
            Claim::Duplicate
        );
    }

    /// W7: two senders may use the same id for different events.
    pub async fn the_same_id_from_another_source_is_another_event(store: &Arc<dyn Dedupe>) {
        assert_eq!(
            claim(&**store, from_source("a", "evt_1", "{}"), start()).await,
            Claim::Enqueued
        );
        assert_eq!(
            claim(&**store, from_source("b", "evt_1", "{}"), start()).await,
            Claim::Enqueued
        );
        assert_eq!(
            claim(&**store, from_source("ae", "vt_1", "{}"), start()).await,
            Claim::Enqueued
        );
    }

    /// W7: a claim is kept until the exact instant of its end.
    pub async fn a_claim_ends_at_the_exact_instant(store: &Arc<dyn Dedupe>) {
        let end = start() + MEMORY;
        assert_eq!(
            claim(&**store, event("evt_1", "{}"), start()).await,
            Claim::Enqueued
        );
        assert_eq!(
            claim(&**store, event("evt_1", "{}"), end - TICK).await,
            Claim::Duplicate
        );
        let again = Incoming {
            expires_at: end + MEMORY,
            ..event("evt_1", "other")
        };
        assert_eq!(claim(&**store, again.clone(), end).await, Claim::Enqueued);
        assert_eq!(
            claim(&**store, again, end + MEMORY - TICK).await,
            Claim::Duplicate
        );
    }

    /// W7: a duplicate does not prolong the claim.
    pub async fn a_repetition_does_not_prolong_the_claim(store: &Arc<dyn Dedupe>) {
        assert_eq!(
            claim(&**store, event("evt_1", "{}"), start()).await,
            Claim::Enqueued
        );
        let later = Incoming {
            expires_at: start() + MEMORY + MEMORY,
            ..event("evt_1", "{}")
        };
        assert_eq!(
            claim(&**store, later.clone(), start() + TICK).await,
            Claim::Duplicate
        );
        let other = Incoming {
            digest: BodyDigest::compute(b"other"),
            ..later
        };
        assert_eq!(claim(&**store, other, start() + TICK).await, Claim::Conflict);
        assert_eq!(
            claim(&**store, event("evt_1", "{}"), start() + MEMORY).await,
            Claim::Enqueued
        );
    }

    /// W7: of 32 concurrent claims of one event exactly one is queued.
    pub async fn of_32_simultaneous_claims_one_is_enqueued(store: &Arc<dyn Dedupe>) {
        let claims = race(store, async |store, _| {
            claim(&*store, event("evt_1", "{}"), start()).await
        })
        .await;
        assert_eq!(
            claims.iter().filter(|claim| **claim == Claim::Enqueued).count(),
            1
        );
        assert_eq!(
            claims.iter().filter(|claim| **claim == Claim::Duplicate).count(),
            31
        );
    }

    /// W7: of 32 concurrent bodies under one id exactly one is queued; the others are conflicts.
    pub async fn of_32_simultaneous_bodies_under_one_id_one_is_enqueued(store: &Arc<dyn Dedupe>) {
        let claims = race(store, async |store, n| {
            claim(&*store, event("evt_1", format!("{n}")), start()).await
        })
        .await;
        assert_eq!(
            claims.iter().filter(|claim| **claim == Claim::Enqueued).count(),
            1
        );
        assert_eq!(
            claims.iter().filter(|claim| **claim == Claim::Conflict).count(),
            31
        );
    }

    /// W7: 32 concurrent claims of different events are all queued.
    pub async fn simultaneous_claims_of_different_events_are_all_enqueued(store: &Arc<dyn Dedupe>) {
        let claims = race(store, async |store, n| {
            claim(&*store, event(&format!("evt_{n}"), "{}"), start()).await
        })
        .await;
        assert!(claims.iter().all(|claim| *claim == Claim::Enqueued));
    }

    /// W7: keys are compared byte for byte, with any content.
    pub async fn hostile_keys_are_kept_apart(store: &Arc<dyn Dedupe>) {
        // a receiver accepts 1 to 128 visible ASCII characters
        let longest = "x".repeat(128);
        let shorter = "x".repeat(127);
        let sources = [
            "s",
            "S",
            "ss",
            "';--",
            "%",
            "_",
            "\\",
            "\"",
            "null",
            "00",
            longest.as_str(),
            shorter.as_str(),
        ];
        let longest_id = "~".repeat(256);
        let ids = [
            "e",
            "E",
            "%",
            "_",
            "'",
            "\"",
            "\\",
            "/",
            "null",
            "0",
            "00",
            longest_id.as_str(),
        ];
        for expected in [Claim::Enqueued, Claim::Duplicate] {
            for source in sources {
                for id in ids {
                    let claimed = claim(&**store, from_source(source, id, "{}"), start()).await;
                    assert_eq!(claimed, expected, "source {source:.20?}, id {id:.20?}");
                }
            }
        }
    }
}

pub use cases::*;
