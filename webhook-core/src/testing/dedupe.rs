//! What any [`Dedupe`] must do.
#![expect(clippy::expect_used, reason = "a case fails by panicking")]

use std::time::{Duration, SystemTime};

use bytes::Bytes;

use super::race::race;
use crate::receiver::{BodyDigest, Claim, Dedupe, EventKey, Incoming};

/// Makes a test of each case: `dedupe_store!(#[tokio::test] expression)`.
#[macro_export]
macro_rules! dedupe_store {
    (#[$attribute:meta] $($store:tt)+) => {
        $crate::__kit_cases! { dedupe [#[$attribute]] [$($store)+]:
            a_new_event_is_enqueued_and_its_repetition_is_a_duplicate
            another_body_under_the_same_id_is_a_conflict
            the_same_id_from_another_source_is_another_event
            a_claim_ends_at_the_exact_instant
            a_repetition_does_not_prolong_the_claim
            of_32_simultaneous_claims_one_is_enqueued
            of_32_simultaneous_bodies_under_one_id_one_is_enqueued
            simultaneous_claims_of_different_events_are_all_enqueued
            hostile_keys_are_kept_apart
        }
    };
}

/// None that a store might have of its own.
pub(super) const MEMORY: Duration = Duration::from_secs(277_200);
const TICK: Duration = Duration::from_millis(1);

/// When every case begins.
pub(super) fn start() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)
}

/// An event of the source `s` that is remembered from [`start`] on.
pub(super) fn event(id: &str, body: impl Into<Bytes>) -> Incoming {
    from_source("s", id, body)
}

fn from_source(source: &str, id: &str, body: impl Into<Bytes>) -> Incoming {
    let body = body.into();
    let key = EventKey {
        source: source.to_owned(),
        id: id.parse().expect("the case has a valid id"),
    };
    Incoming {
        key,
        digest: BodyDigest::of(&body),
        body,
        expires_at: start() + MEMORY,
    }
}

/// Claims at `now`, and expects the store to work.
pub(super) async fn claim(store: &dyn Dedupe, event: Incoming, now: SystemTime) -> Claim {
    store
        .claim_and_enqueue(event, now)
        .await
        .expect("the store works")
}

/// W7: a new event is queued, and coming again it is a duplicate.
pub async fn a_new_event_is_enqueued_and_its_repetition_is_a_duplicate(store: &dyn Dedupe) {
    assert_eq!(claim(store, event("evt_1", "{}"), start()).await, Claim::Enqueued);
    assert_eq!(
        claim(store, event("evt_1", "{}"), start()).await,
        Claim::Duplicate
    );
    assert_eq!(claim(store, event("evt_2", "{}"), start()).await, Claim::Enqueued);
}

/// W7: one id with two bodies is a conflict, and changes nothing.
pub async fn another_body_under_the_same_id_is_a_conflict(store: &dyn Dedupe) {
    assert_eq!(
        claim(store, event("evt_1", "first"), start()).await,
        Claim::Enqueued
    );
    assert_eq!(
        claim(store, event("evt_1", "second"), start()).await,
        Claim::Conflict
    );
    assert_eq!(
        claim(store, event("evt_1", "first"), start()).await,
        Claim::Duplicate
    );
}

/// W7: two senders may use one id.
pub async fn the_same_id_from_another_source_is_another_event(store: &dyn Dedupe) {
    assert_eq!(
        claim(store, from_source("a", "evt_1", "{}"), start()).await,
        Claim::Enqueued
    );
    assert_eq!(
        claim(store, from_source("b", "evt_1", "{}"), start()).await,
        Claim::Enqueued
    );
    assert_eq!(
        claim(store, from_source("ae", "vt_1", "{}"), start()).await,
        Claim::Enqueued
    );
}

/// W7: a claim is kept until the exact instant of its end.
pub async fn a_claim_ends_at_the_exact_instant(store: &dyn Dedupe) {
    let end = start() + MEMORY;
    assert_eq!(claim(store, event("evt_1", "{}"), start()).await, Claim::Enqueued);
    assert_eq!(
        claim(store, event("evt_1", "{}"), end - TICK).await,
        Claim::Duplicate
    );
    let again = Incoming {
        expires_at: end + MEMORY,
        ..event("evt_1", "other")
    };
    assert_eq!(claim(store, again.clone(), end).await, Claim::Enqueued);
    assert_eq!(claim(store, again, end + MEMORY - TICK).await, Claim::Duplicate);
}

/// W7: a repetition does not prolong the claim.
pub async fn a_repetition_does_not_prolong_the_claim(store: &dyn Dedupe) {
    assert_eq!(claim(store, event("evt_1", "{}"), start()).await, Claim::Enqueued);
    let later = Incoming {
        expires_at: start() + MEMORY + MEMORY,
        ..event("evt_1", "{}")
    };
    assert_eq!(
        claim(store, later.clone(), start() + TICK).await,
        Claim::Duplicate
    );
    let other = Incoming {
        digest: BodyDigest::of(b"other"),
        ..later
    };
    assert_eq!(claim(store, other, start() + TICK).await, Claim::Conflict);
    assert_eq!(
        claim(store, event("evt_1", "{}"), start() + MEMORY).await,
        Claim::Enqueued
    );
}

/// W7: of 32 simultaneous claims of one event exactly one is queued.
pub async fn of_32_simultaneous_claims_one_is_enqueued(store: &dyn Dedupe) {
    let claims = race((0..32).map(|_| claim(store, event("evt_1", "{}"), start())));
    assert_eq!(
        claims.iter().filter(|claim| **claim == Claim::Enqueued).count(),
        1
    );
    assert_eq!(
        claims.iter().filter(|claim| **claim == Claim::Duplicate).count(),
        31
    );
}

/// W7: of 32 simultaneous bodies under one id exactly one is queued, and the others are conflicts.
pub async fn of_32_simultaneous_bodies_under_one_id_one_is_enqueued(store: &dyn Dedupe) {
    let claims = race((0..32).map(|n| claim(store, event("evt_1", format!("{n}")), start())));
    assert_eq!(
        claims.iter().filter(|claim| **claim == Claim::Enqueued).count(),
        1
    );
    assert_eq!(
        claims.iter().filter(|claim| **claim == Claim::Conflict).count(),
        31
    );
}

/// W7: 32 simultaneous claims of different events are all queued.
pub async fn simultaneous_claims_of_different_events_are_all_enqueued(store: &dyn Dedupe) {
    let claims = race((0..32).map(|n| claim(store, event(&format!("evt_{n}"), "{}"), start())));
    assert!(claims.iter().all(|claim| *claim == Claim::Enqueued));
}

/// W7: keys are compared byte for byte, whatever is in them.
pub async fn hostile_keys_are_kept_apart(store: &dyn Dedupe) {
    let long = "x".repeat(64 * 1024);
    let longer = format!("{long}x");
    let sources = [
        "",
        "\0",
        "\0\0",
        "s",
        "S",
        "ß",
        "ss",
        "'; --",
        "%",
        "_",
        long.as_str(),
        longer.as_str(),
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
                let claimed = claim(store, from_source(source, id, "{}"), start()).await;
                assert_eq!(claimed, expected, "source {source:.20?}, id {id:.20?}");
            }
        }
    }
}
