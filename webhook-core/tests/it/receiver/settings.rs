//! Settings of a receiver.

use std::time::Duration;

use webhook_core::{
    memory::MemoryInbox,
    receiver::{Mistake, Receiver, ReceiverBuilder, Verifier},
    sender::Schedule,
    signature::Signers,
};

use super::DAY;
use crate::ends::{clock, secret};

/// W7: a memory below 24 hours, or below 1.5 times the longest retry gap, is a configuration error.
#[test]
fn a_memory_that_is_too_short_is_a_config_error() {
    let mistakes = |configure: fn(ReceiverBuilder) -> ReceiverBuilder| {
        let verifier = Verifier::timestamp_body_hex(secret(1));
        let builder = Receiver::builder("payments", verifier, MemoryInbox::default(), clock());
        configure(builder)
            .build()
            .err()
            .map(|error| error.mistakes().to_vec())
            .unwrap_or_default()
    };
    assert_eq!(mistakes(|builder| builder), []);
    assert_eq!(mistakes(|builder| builder.with_memory(DAY)), []);
    assert_eq!(
        mistakes(|builder| builder.with_memory(DAY - Duration::from_nanos(1))),
        [Mistake::MemoryBelowOneDay]
    );
    assert_eq!(mistakes(|builder| builder.with_longest_retry_gap(2 * DAY)), []);
    assert_eq!(
        mistakes(|builder| builder.with_memory(DAY).with_longest_retry_gap(DAY)),
        [Mistake::MemoryBelowRetryGap]
    );
    assert_eq!(
        mistakes(|builder| builder.with_memory(Duration::MAX)),
        [Mistake::MemoryAboveOneYear]
    );
    assert_eq!(
        mistakes(|builder| builder.with_longest_retry_gap(Duration::MAX)),
        [Mistake::MemoryBelowRetryGap]
    );
}

/// W7, W13, W14: a receiver takes the longest gap of a schedule, and the jitter is counted once.
#[test]
fn a_memory_covers_a_schedule_with_its_jitter() {
    let build = |memory: Duration| {
        let verifier = Verifier::timestamp_body_hex(secret(1));
        let inbox = MemoryInbox::default();
        Receiver::builder("payments", verifier, inbox, clock())
            .with_longest_retry_gap(Schedule::default().longest_gap())
            .with_memory(memory)
            .build()
    };
    // the last two attempts are planned one day apart
    let latest = (0..7).filter_map(|spent| Schedule::default().delay_after(spent, u64::MAX));
    let needed = DAY + DAY / 2;
    assert!(latest.max().unwrap() <= needed);
    assert!(build(needed).is_ok());
    let error = build(needed - Duration::from_nanos(1)).unwrap_err();
    assert_eq!(error.mistakes(), [Mistake::MemoryBelowRetryGap]);
}

#[test]
fn every_mistake_in_the_settings_is_reported_at_once() {
    for source in ["", "a b", "é", &"s".repeat(129)] {
        let verifier = Verifier::timestamp_body_hex(secret(1));
        let builder = Receiver::builder(source, verifier, MemoryInbox::default(), clock());
        let error = builder
            .with_memory(Duration::ZERO)
            .with_body_limit(0)
            .build()
            .unwrap_err();
        assert_eq!(
            error.mistakes(),
            [
                Mistake::InvalidSource,
                Mistake::MemoryBelowOneDay,
                Mistake::NoBodyAllowed
            ]
        );
        assert!(error.to_string().contains("; "));
    }
}

/// Receivers and dispatchers are cheap to clone and shared between threads.
#[test]
fn the_ends_are_shared_between_threads() {
    fn shared<T: Clone + Send + Sync + 'static>() {}
    shared::<Receiver>();
    shared::<Verifier>();
    shared::<Signers>();
}
