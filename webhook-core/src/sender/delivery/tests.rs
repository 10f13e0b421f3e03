use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::sender::Bulkheads;

use DeliveryState::{Acked, DeadLetter, Leased, PermanentFailure, Ready, RetryScheduled};

fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

fn fresh() -> Delivery {
    let id = DeliveryId {
        event: "evt_1".parse().unwrap(),
        endpoint: "ep_1".parse().unwrap(),
    };
    Delivery::new(id, at(0))
}

fn request(now: SystemTime, until: SystemTime) -> LeaseRequest {
    LeaseRequest {
        now,
        until,
        limit: 1,
        owner: None,
        bulkheads: Bulkheads::OPEN,
        per_endpoint: 1,
        suspects: 1,
        quarantine_after: 5,
    }
}

fn lease(delivery: &mut Delivery, now: SystemTime, until: SystemTime) -> bool {
    delivery.lease(&request(now, until)) == Lease::Taken
}

fn settlement(fence: u64, disposition: Disposition) -> Settlement {
    Settlement {
        delivery: fresh().id,
        fence,
        owner: None,
        disposition,
        spent: !matches!(disposition, Disposition::Held { .. }),
        hold_endpoint_until: None,
        rate: None,
        attempt: None,
    }
}

/// W11: the whole table, every state with every step.
#[test]
fn every_step_from_every_state_is_decided() {
    let allowed = [
        (Ready, Step::Lease, Leased),
        (RetryScheduled, Step::Lease, Leased),
        (Leased, Step::Lease, Leased),
        (Ready, Step::Acknowledge, Acked),
        (RetryScheduled, Step::Acknowledge, Acked),
        (Leased, Step::Acknowledge, Acked),
        (Leased, Step::Retry, RetryScheduled),
        (Leased, Step::Hold, RetryScheduled),
        (Leased, Step::Refuse, PermanentFailure),
        (Leased, Step::Exhaust, DeadLetter),
        (PermanentFailure, Step::Replay, Ready),
        (DeadLetter, Step::Replay, Ready),
        (PermanentFailure, Step::Resend, Ready),
        (DeadLetter, Step::Resend, Ready),
        (Acked, Step::Resend, Ready),
    ];
    for state in DeliveryState::ALL {
        for step in Step::ALL {
            let row = allowed.iter().find(|(from, by, _)| (*from, *by) == (state, step));
            assert_eq!(state.after(step), row.map(|(.., to)| *to), "{state} by {step}");
        }
    }
}

/// W11: a failure is a dead letter if attempts or lifetime ran out or the delivery was quarantined,
/// otherwise a permanent failure.
#[test]
fn every_reason_leads_to_its_state() {
    for reason in FailureReason::ALL {
        let expected = match reason {
            FailureReason::AttemptsExhausted
            | FailureReason::LifetimeExpired
            | FailureReason::Quarantined
            | FailureReason::Unreadable => DeadLetter,
            _ => PermanentFailure,
        };
        let mut delivery = fresh();
        lease(&mut delivery, at(0), at(40));
        assert_eq!(
            delivery.settle(&settlement(1, Disposition::Failed(reason))),
            Settled::Applied
        );
        assert_eq!((delivery.state, delivery.reason), (expected, Some(reason)));
    }
}

#[test]
fn stable_names_round_trip() {
    for state in DeliveryState::ALL {
        assert_eq!(state.as_str().parse(), Ok(state));
    }
    for reason in FailureReason::ALL {
        assert_eq!(reason.to_string().parse(), Ok(reason));
    }
    assert!("READY".parse::<DeliveryState>().is_err());
}

/// W15: a lease is exclusive until the instant it ends, and the fencing token grows with each
/// lease.
#[test]
fn a_lease_is_over_at_the_very_instant_it_ends() {
    let mut delivery = fresh();
    assert!(lease(&mut delivery, at(0), at(40)));
    assert!(!lease(&mut delivery, at(39), at(80)));
    assert_eq!(delivery.fence, 1);
    assert!(lease(&mut delivery, at(40), at(80)));
    assert_eq!((delivery.fence, delivery.due_at), (2, at(80)));
}

/// W15: after its lease has ended a dispatcher can write nothing except an acknowledgement.
#[test]
fn a_stale_fence_is_refused_unless_the_receiver_acknowledged() {
    let mut delivery = fresh();
    lease(&mut delivery, at(0), at(40));
    lease(&mut delivery, at(40), at(80));
    let retry = Disposition::Retry { due_at: at(100) };
    let before = delivery.clone();
    assert_eq!(delivery.settle(&settlement(1, retry)), Settled::Stale);
    assert_eq!(
        delivery.settle(&settlement(1, Disposition::Failed(FailureReason::Rejected))),
        Settled::Stale
    );
    assert_eq!(
        delivery.settle(&settlement(0, Disposition::Acked)),
        Settled::Stale
    );
    assert_eq!(
        delivery.settle(&settlement(3, Disposition::Acked)),
        Settled::Stale
    );
    assert_eq!(delivery, before);
    assert_eq!(delivery.settle(&settlement(1, Disposition::Acked)), Settled::Late);
    assert_eq!(delivery.state, Acked);
    assert_eq!(delivery.settle(&settlement(2, retry)), Settled::Stale);
    assert_eq!(delivery.state, Acked);
}

#[test]
fn a_settlement_of_another_delivery_changes_nothing() {
    let mut delivery = fresh();
    lease(&mut delivery, at(0), at(40));
    let mut other = settlement(1, Disposition::Acked);
    other.delivery.endpoint = "ep_2".parse().unwrap();
    assert_eq!(delivery.settle(&other), Settled::Unknown);
    assert_eq!(delivery.state, Leased);
}

/// W11: a replay restarts the schedule and keeps the fencing token, so that old leases stay stale.
#[test]
fn a_replay_starts_anew_under_the_same_fence() {
    let mut delivery = fresh();
    assert!(!delivery.replay(at(1)));
    lease(&mut delivery, at(0), at(40));
    delivery.settle(&settlement(
        1,
        Disposition::Failed(FailureReason::AttemptsExhausted),
    ));
    assert!(!lease(&mut delivery, at(100), at(140)));
    assert!(delivery.replay(at(100)));
    assert_eq!(
        delivery,
        Delivery {
            fence: 1,
            ..Delivery::new(delivery.id.clone(), at(100))
        }
    );
}

/// W15: the fifth consecutive lost lease quarantines a delivery; a replay resets the count.
#[test]
fn the_fifth_lost_lease_quarantines() {
    let mut delivery = fresh();
    for n in 0..5 {
        assert_eq!(delivery.lease(&request(at(n), at(n + 1))), Lease::Taken);
        assert_eq!(u64::from(delivery.crashes), n);
        assert_eq!(delivery.is_suspect(), n >= 2);
    }
    assert_eq!(delivery.lease(&request(at(4), at(9))), Lease::Refused);
    let before = delivery.clone();
    assert_eq!(delivery.lease(&request(at(5), at(6))), Lease::Quarantined);
    let quarantined = Delivery {
        state: DeadLetter,
        reason: Some(FailureReason::Quarantined),
        crashes: 5,
        ..before
    };
    assert_eq!(delivery, quarantined);
    assert_eq!(delivery.lease(&request(at(6), at(7))), Lease::Refused);
    assert!(delivery.replay(at(6)));
    assert_eq!((delivery.crashes, delivery.fence), (0, 5));
}

/// W15: only consecutive lost leases count; a settlement resets the count.
#[test]
fn a_settlement_clears_the_count_of_crashes() {
    for disposition in [
        Disposition::Retry { due_at: at(60) },
        Disposition::Held { due_at: at(60) },
        Disposition::Acked,
    ] {
        let mut delivery = fresh();
        for n in 0..4 {
            lease(&mut delivery, at(n), at(n + 1));
        }
        assert_eq!(delivery.crashes, 3);
        delivery.settle(&settlement(4, disposition));
        assert_eq!(delivery.crashes, 0);
    }
}

/// W15: a delivery with an unreadable row is a dead letter and can be replayed.
#[test]
fn an_unreadable_delivery_is_a_dead_letter() {
    let mut delivery = fresh().unreadable();
    assert_eq!(
        (delivery.state, delivery.reason),
        (DeadLetter, Some(FailureReason::Unreadable))
    );
    assert!(!lease(&mut delivery, at(1), at(2)));
    assert!(delivery.replay(at(1)));
}

fn any_disposition() -> impl Strategy<Value = Disposition> {
    prop_oneof![
        Just(Disposition::Acked),
        (0_u64..100).prop_map(|due| Disposition::Retry { due_at: at(due) }),
        (0_u64..100).prop_map(|due| Disposition::Held { due_at: at(due) }),
        proptest::sample::select(FailureReason::ALL.to_vec()).prop_map(Disposition::Failed),
    ]
}

proptest! {
    /// W15: in any order of steps the fencing token never falls, an acknowledged delivery stays so,
    /// only a failed delivery has a reason, and only a lease makes a delivery `Leased`.
    #[test]
    fn no_order_of_events_breaks_a_delivery(
        events in proptest::collection::vec((0_u8..3, 0_u64..100, 0_u64..6, any_disposition()), 0..40),
    ) {
        let mut delivery = fresh();
        for (kind, time, fence, disposition) in events {
            let before = delivery.clone();
            let changed = match kind {
                0 => delivery.lease(&request(at(time), at(time + 10))) != Lease::Refused,
                1 => matches!(delivery.settle(&settlement(fence, disposition)), Settled::Applied | Settled::Late),
                _ => delivery.replay(at(time)),
            };
            prop_assert_eq!(changed, delivery != before);
            prop_assert!(delivery.fence >= before.fence);
            prop_assert!(before.state != Acked || delivery == before);
            prop_assert_eq!(delivery.state.is_failed(), delivery.reason.is_some());
            prop_assert!(delivery.state != Leased || before.state == Leased || kind == 0);
            prop_assert!(delivery.crashes <= 5);
        }
    }
}
