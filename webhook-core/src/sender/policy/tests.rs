use proptest::prelude::*;

use super::*;
use crate::{
    address::AddressPolicy,
    secret::SigningSecret,
    sender::{DeliveryId, DeliveryState, Owner},
    signature::Signer,
};

const HOUR: Duration = Duration::from_secs(60 * 60);
/// Jitter that leaves a delay unchanged.
const MIDDLE: u64 = 1 << 63;

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)
}

fn after(attempts: u32) -> Delivery {
    let id = DeliveryId {
        event: "evt_1".parse().unwrap(),
        endpoint: "ep_1".parse().unwrap(),
    };
    Delivery {
        attempts,
        ..Delivery::new(id, now())
    }
}

fn answered(status: u16, retry_after: Option<Duration>) -> AttemptOutcome {
    AttemptOutcome::Answered {
        status: StatusCode::from_u16(status).unwrap(),
        retry_after,
    }
}

fn decide(attempts: u32, outcome: &AttemptOutcome) -> DeliveryDecision {
    DeliveryPolicy::default().after_attempt(&after(attempts), outcome, Classification::Strict, now(), MIDDLE)
}

/// W15: a delivery whose lease has ended is not sent, and no attempt is counted.
#[test]
fn nothing_is_sent_under_a_lease_that_has_ended() {
    let endpoint = endpoint(EndpointState::Enabled);
    let policy = DeliveryPolicy::default();
    let until = now() + Duration::from_secs(40);
    let leased = Delivery {
        state: DeliveryState::Leased,
        due_at: until,
        fence: 1,
        ..after(0)
    };
    let last_moment = until - Duration::from_nanos(1);
    assert!(
        policy
            .admit(&leased, &acme(), Some(&endpoint), last_moment)
            .is_ok()
    );
    for late in [until, until + HOUR] {
        let left = policy.admit(&leased, &acme(), Some(&endpoint), late).err();
        assert_eq!(
            left,
            Some(DeliveryDecision::unsent(Disposition::Held { due_at: late }))
        );
    }
}

/// W13: each failure is followed by the delay of the schedule, the seventh by a dead letter.
#[test]
fn failures_follow_schedule_to_dead_letter() {
    for (spent, minutes) in [(0, 1), (1, 10), (2, 60), (3, 360), (4, 720), (5, 1_440)] {
        let due_at = now() + Duration::from_secs(60 * minutes);
        for outcome in [
            answered(500, None),
            answered(302, None),
            AttemptOutcome::Failed(TransportErrorKind::Timeout),
        ] {
            assert_eq!(
                decide(spent, &outcome),
                DeliveryDecision::spent(Disposition::Retry { due_at }),
                "{spent} spent"
            );
        }
    }
    let dead = Disposition::Failed(FailureReason::AttemptsExhausted);
    assert_eq!(decide(6, &answered(500, None)), DeliveryDecision::spent(dead));
}

/// W11: 429 holds the endpoint, counts no attempt, and waits one jittered minute or `Retry-After`.
#[test]
fn a_429_holds_the_endpoint_and_spends_nothing() {
    for (asked, wait) in [(None, 60), (Some(10), 60), (Some(300), 300)] {
        let due_at = now() + Duration::from_secs(wait);
        let decision = decide(6, &answered(429, asked.map(Duration::from_secs)));
        let held = DeliveryDecision::unsent(Disposition::Held { due_at });
        assert_eq!(
            decision,
            DeliveryDecision {
                hold_endpoint_until: Some(due_at),
                ..held
            }
        );
    }
}

/// W15: a message with an unlimited lifetime is sent.
#[test]
fn an_endless_lifetime_does_not_end() {
    let policy = DeliveryPolicy::default().with_lifetime(Duration::MAX);
    let endpoint = endpoint(EndpointState::Enabled);
    assert!(policy.admit(&after(0), &acme(), Some(&endpoint), now()).is_ok());
    let throttled = policy.after_attempt(
        &after(0),
        &answered(429, None),
        Classification::Strict,
        now(),
        MIDDLE,
    );
    assert!(matches!(throttled.disposition, Disposition::Held { .. }));
}

/// W11: a delivery that is throttled beyond its lifetime is a dead letter.
#[test]
fn a_429_is_bounded_by_the_lifetime() {
    let policy = DeliveryPolicy::default();
    let decide = |now| {
        policy
            .after_attempt(
                &after(0),
                &answered(429, Some(HOUR)),
                Classification::Strict,
                now,
                MIDDLE,
            )
            .disposition
    };
    let last = now() + 71 * HOUR - Duration::from_secs(1);
    assert_eq!(decide(last), Disposition::Held { due_at: last + HOUR });
    assert_eq!(
        decide(now() + 71 * HOUR),
        Disposition::Failed(FailureReason::LifetimeExpired)
    );
}

/// W11: a 503 with `Retry-After` holds the whole endpoint, and the attempt is counted.
#[test]
fn a_503_with_retry_after_holds_the_endpoint_too() {
    let until = now() + Duration::from_secs(600);
    let decision = decide(0, &answered(503, Some(Duration::from_secs(600))));
    let retried = DeliveryDecision::spent(Disposition::Retry { due_at: until });
    assert_eq!(
        decision,
        DeliveryDecision {
            hold_endpoint_until: Some(until),
            ..retried
        }
    );
    assert_eq!(
        decide(0, &answered(503, Some(Duration::ZERO))).hold_endpoint_until,
        None
    );
    assert_eq!(
        decide(0, &answered(500, Some(Duration::from_secs(600)))).hold_endpoint_until,
        None
    );
}

/// W11: any other 4xx fails the delivery, and a 410 also disables the endpoint; a refused address
/// (W10) has its own reason.
#[test]
fn refusals_are_final() {
    let rejected = DeliveryDecision::spent(Disposition::Failed(FailureReason::Rejected));
    assert_eq!(decide(0, &answered(404, None)), rejected);
    let gone = DeliveryDecision::spent(Disposition::Failed(FailureReason::EndpointGone));
    assert_eq!(
        decide(0, &answered(410, None)),
        DeliveryDecision {
            disable_endpoint: true,
            ..gone
        }
    );
    let refused = DeliveryDecision::spent(Disposition::Failed(FailureReason::AddressRefused));
    assert_eq!(
        decide(0, &AttemptOutcome::Failed(TransportErrorKind::RefusedAddress)),
        refused
    );
}

/// W11: a host can replace the classification.
#[test]
fn a_host_may_classify_differently() {
    let stubborn = DeliveryPolicy::default().with_classification(|outcome| match outcome {
        AttemptOutcome::Answered {
            status: StatusCode::NOT_FOUND,
            ..
        } => AttemptClass::Retry,
        other => Classification::Strict.classify(other),
    });
    let decision = stubborn.after_attempt(
        &after(0),
        &answered(404, None),
        Classification::Strict,
        now(),
        MIDDLE,
    );
    assert_eq!(
        decision.disposition,
        Disposition::Retry {
            due_at: now() + Duration::from_secs(60)
        }
    );
    let decision = stubborn.after_attempt(
        &after(0),
        &answered(403, None),
        Classification::Strict,
        now(),
        MIDDLE,
    );
    assert_eq!(decision.disposition, Disposition::Failed(FailureReason::Rejected));
}

fn owner(tenant: &str) -> Owner {
    Owner::Tenant(tenant.parse().unwrap())
}

fn acme() -> Audience {
    owner("acme").into()
}

fn endpoint(state: EndpointState) -> Endpoint {
    let secret = SigningSecret::from_bytes(&[7; 32]).unwrap();
    let url = "https://example.com/".parse().unwrap();
    let signer = Signer::standard_webhooks(&secret);
    let endpoint = Endpoint::register(
        "ep_1".parse().unwrap(),
        owner("acme"),
        &url,
        signer,
        &AddressPolicy::new(),
    )
    .unwrap();
    Endpoint { state, ..endpoint }
}

/// W16: only enabled endpoints are called; deliveries to a paused endpoint wait, and deliveries to
/// a disabled endpoint fail.
#[test]
fn only_enabled_endpoint_is_called() {
    let refusal = |endpoint: Option<Endpoint>| {
        let admitted = DeliveryPolicy::default()
            .admit(&after(0), &acme(), endpoint.as_ref(), now())
            .map(|_| ());
        admitted.map_err(|decision| decision.disposition)
    };
    let failed = |reason| Err(Disposition::Failed(reason));
    assert_eq!(refusal(Some(endpoint(EndpointState::Enabled))), Ok(()));
    assert_eq!(refusal(None), failed(FailureReason::EndpointUnknown));
    assert_eq!(
        refusal(Some(endpoint(EndpointState::Disabled))),
        failed(FailureReason::EndpointDisabled)
    );
    let held = Disposition::Held {
        due_at: now() + PAUSE_CHECK,
    };
    assert_eq!(refusal(Some(endpoint(EndpointState::Paused))), Err(held));
}

/// W23: a delivery to an endpoint of another owner is never sent, whatever the state of the
/// endpoint; an operator's endpoint gets nothing for everyone.
#[test]
fn nothing_is_sent_outside_of_the_audience() {
    for (owned_by, audience, is_sent) in [
        (owner("acme"), acme(), true),
        (owner("acme"), Audience::everyone(), true),
        (Owner::Operator, Audience::operator(), true),
        (owner("zenith"), acme(), false),
        (owner("operator"), Audience::operator(), false),
        (Owner::Operator, Audience::everyone(), false),
        (Owner::Operator, owner("operator").into(), false),
    ] {
        for state in EndpointState::ALL {
            let endpoint = Endpoint {
                owner: owned_by.clone(),
                ..endpoint(state)
            };
            let admitted = DeliveryPolicy::default().admit(&after(0), &audience, Some(&endpoint), now());
            let refused = admitted.err().map(|decision| decision.disposition);
            let outside = Some(Disposition::Failed(FailureReason::OutsideAudience));
            assert_eq!(refused == outside, !is_sent, "{owned_by} {audience} {state}");
        }
    }
}

/// W11: nothing is sent from the end of the lifetime on, so that receivers can forget the id.
#[test]
fn nothing_is_sent_once_the_lifetime_is_over() {
    let policy = DeliveryPolicy::default();
    let enabled = endpoint(EndpointState::Enabled);
    let refusal = |now| policy.admit(&after(0), &acme(), Some(&enabled), now).err();
    let end = now() + 72 * HOUR;
    assert_eq!(refusal(end - Duration::from_nanos(1)), None);
    let expired = DeliveryDecision::unsent(Disposition::Failed(FailureReason::LifetimeExpired));
    assert_eq!(refusal(end), Some(expired));
}

/// W13: the lifetime leaves room for every attempt of the schedule.
#[test]
fn the_lifetime_covers_the_schedule() {
    assert_eq!(DeliveryPolicy::default().lifetime(), 72 * HOUR);
    let slow = Schedule::new([100 * HOUR, 100 * HOUR]).unwrap();
    assert!(DeliveryPolicy::new(slow.clone()).lifetime() > slow.longest_span());
}

proptest! {
    /// W14: with any jitter a retry is never before `Retry-After`; without `Retry-After` its delay
    /// is within ±50 % of the schedule.
    #[test]
    fn retry_after_is_never_called_early(attempts in 0_u32..8, status in 100_u16..600, asked in 0_u64..=86_400, jitter: u64) {
        let asked = Duration::from_secs(asked);
        let policy = DeliveryPolicy::default();
        let delivery = after(attempts);
        let decision = policy.after_attempt(&delivery, &answered(status, Some(asked)), Classification::Strict, now(), jitter);
        if let Disposition::Retry { due_at } | Disposition::Held { due_at } = decision.disposition {
            prop_assert!(due_at >= now() + asked);
            prop_assert!(due_at < delivery.started_at + policy.lifetime());
            let longest = policy.schedule().delay_after(attempts + 1, u64::MAX).unwrap_or_default().max(THROTTLE_PAUSE * 3 / 2);
            prop_assert!(due_at <= now() + asked.max(longest));
        }
        if let Some(until) = decision.hold_endpoint_until {
            prop_assert!(until >= now() + asked);
        }
    }

    /// W11: every outcome at any time has a decision and causes no panic.
    #[test]
    fn every_outcome_at_any_time_is_decided(seconds: u32, attempts: u32, status in 100_u16..1000, jitter: u64) {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(u64::from(seconds));
        let decision = DeliveryPolicy::default().after_attempt(&after(attempts), &answered(status, None), Classification::Strict, now, jitter);
        let unsent = matches!(decision.disposition, Disposition::Held { .. } | Disposition::Failed(_));
        prop_assert!(decision.spent || unsent);
    }
}
