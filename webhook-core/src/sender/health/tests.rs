use std::collections::{HashSet, VecDeque};

use proptest::prelude::*;

use super::*;

const FAILED: Signal = Signal::Failed { congested: false };
const TIMED_OUT: Signal = Signal::Failed { congested: true };
const MINUTE: Duration = Duration::from_secs(60);

fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

fn observe(health: &mut EndpointHealth, signal: Signal, seconds: u64) -> Option<HealthEvent> {
    health.observe(signal, at(seconds), at(seconds))
}

/// W17: the concurrency limit grows by one after as many successes as the limit, up to 64.
#[test]
fn the_limit_grows_by_one_a_window() {
    let mut health = EndpointHealth::default();
    for limit in 4..64 {
        for _ in 0..limit {
            assert_eq!(health.limit, limit);
            observe(&mut health, Signal::Delivered, 0);
        }
    }
    for _ in 0..200 {
        observe(&mut health, Signal::Delivered, 0);
    }
    assert_eq!(health.limit, 64);
}

/// W17: throttling and timeouts halve the limit, down to one; other failures do not.
#[test]
fn the_limit_is_halved_by_throttling_and_timeouts() {
    for (signal, expected) in [
        (Signal::Throttled, [32, 16, 8, 4, 2, 1, 1]),
        (Signal::Rejected, [64; 7]),
    ] {
        let mut health = EndpointHealth {
            limit: 64,
            ..EndpointHealth::default()
        };
        for (seconds, expected) in (0..).zip(expected) {
            observe(&mut health, signal, seconds);
            assert_eq!(health.limit, expected);
        }
    }
    let mut health = EndpointHealth::default();
    observe(&mut health, FAILED, 0);
    assert_eq!(health.limit, 4);
    observe(&mut health, TIMED_OUT, 0);
    assert_eq!(health.limit, 2);
}

/// W17: concurrent exchanges halve the limit once.
#[test]
fn a_wave_of_timeouts_is_one_halving() {
    let mut health = EndpointHealth {
        limit: 64,
        ..EndpointHealth::default()
    };
    for _ in 0..64 {
        health.observe(TIMED_OUT, at(0), at(10));
    }
    assert_eq!((health.limit, health.failures, health.is_open()), (32, 64, false));
    health.observe(TIMED_OUT, at(10), at(20));
    assert!(health.is_open(), "the next wave shows that it was no accident");
}

/// W17: pauses double from one minute to one hour, and each ends with one probe.
#[test]
fn pauses_grow_to_an_hour() {
    let mut health = EndpointHealth::default();
    for _ in 0..4 {
        assert_eq!(observe(&mut health, FAILED, 0), None);
    }
    let mut now = at(0);
    for minutes in [1, 2, 4, 8, 16, 32, 60, 60] {
        let until = now + minutes * MINUTE;
        assert_eq!(
            health.observe(FAILED, now, now),
            Some(HealthEvent::BreakerOpened { until })
        );
        assert_eq!(health.limit, 1);
        // exchanges that began before the pause do not count after it
        for late in [FAILED, Signal::Throttled, Signal::Rejected] {
            assert_eq!(health.observe(late, now, until), None);
        }
        now = until;
    }
    assert_eq!(
        health.observe(Signal::Delivered, now, now),
        Some(HealthEvent::BreakerClosed)
    );
    let expected = EndpointHealth {
        limit: 2,
        counts_from: Some(now),
        ..EndpointHealth::default()
    };
    assert_eq!(health, expected, "it starts slowly");
}

/// W17: any response to a probe closes the breaker; a success of an earlier exchange does not.
#[test]
fn an_answered_probe_closes_the_breaker() {
    for signal in [Signal::Delivered, Signal::Throttled, Signal::Rejected] {
        let mut health = EndpointHealth::default();
        for _ in 0..5 {
            observe(&mut health, FAILED, 0);
        }
        assert_eq!(health.observe(Signal::Delivered, at(0), at(1)), None);
        assert!(health.is_open());
        assert_eq!(observe(&mut health, signal, 60), Some(HealthEvent::BreakerClosed));
        assert!(!health.is_open());
    }
}

/// W17: five days of failures end in one event, at the exact instant; a success in between restarts
/// the five days.
#[test]
fn five_days_without_a_success_disable() {
    let days = |days: u64| days * 24 * 60 * 60;
    for signal in [FAILED, Signal::Rejected] {
        let mut health = EndpointHealth::default();
        for hour in 0..5 * 24 {
            let event = observe(&mut health, signal, hour * 60 * 60);
            assert!(!matches!(event, Some(HealthEvent::Disabled { .. })));
        }
        let mut before = health;
        let event = observe(&mut before, signal, days(5) - 1);
        assert!(!matches!(event, Some(HealthEvent::Disabled { .. })));
        let mut mended = health;
        observe(&mut mended, Signal::Delivered, days(5) - 1);
        observe(&mut mended, signal, days(5));
        assert_eq!(mended.failing_since, Some(at(days(5))));
        assert_eq!(
            observe(&mut health, signal, days(5)),
            Some(HealthEvent::Disabled { failing_since: at(0) })
        );
        assert_eq!(
            observe(&mut health, signal, days(5) + 1),
            Some(HealthEvent::Disabled { failing_since: at(0) }),
            "repeated until the endpoint is disabled"
        );
    }
}

/// W17: two failures do not disable an endpoint that gets one event a week.
#[test]
fn few_failures_never_disable() {
    let mut health = EndpointHealth::default();
    let week = 7 * 24 * 60 * 60;
    for n in 0..4 {
        assert_eq!(observe(&mut health, Signal::Rejected, n * week), None);
    }
    assert_eq!(
        observe(&mut health, Signal::Rejected, 4 * week),
        Some(HealthEvent::Disabled { failing_since: at(0) })
    );
}

/// W17: 429 alone never disables an endpoint, however long it lasts.
#[test]
fn throttling_alone_never_disables() {
    let mut health = EndpointHealth::default();
    for day in 0..100 {
        assert_eq!(observe(&mut health, Signal::Throttled, day * 24 * 60 * 60), None);
    }
    assert_eq!((health.failures, health.failing_since), (0, None));
}

const SIGNALS: [Signal; 5] = [
    Signal::Delivered,
    Signal::Throttled,
    Signal::Rejected,
    FAILED,
    TIMED_OUT,
];

/// Invariants of every reachable health.
fn check(health: &EndpointHealth) {
    assert!((1..=64).contains(&health.limit), "{health:?}");
    assert!(health.successes < health.limit, "{health:?}");
    assert!(!health.is_open() || health.limit == 1, "{health:?}");
    assert_eq!(health.failing_since.is_some(), health.failures > 0, "{health:?}");
}

/// Invariants of every step.
fn check_step(before: &EndpointHealth, after: &EndpointHealth, signal: Signal, event: Option<HealthEvent>) {
    match event {
        Some(HealthEvent::BreakerOpened { until }) => {
            assert!(matches!(signal, Signal::Failed { .. }) && (after.failures >= 5 || before.is_open()));
            assert_eq!(
                (after.pauses, after.counts_from),
                (before.pauses + 1, Some(until))
            );
        }
        Some(HealthEvent::BreakerClosed) => {
            assert!(before.is_open() && !after.is_open() && !matches!(signal, Signal::Failed { .. }));
        }
        Some(HealthEvent::Disabled { .. }) => {
            assert!(matches!(signal, Signal::Failed { .. } | Signal::Rejected) && before.failures >= 4);
        }
        None => assert_eq!(after.pauses, before.pauses),
    }
}

/// W17: the invariants hold in every state that seven exchanges reach, with current and late
/// signals.
#[test]
fn every_signal_in_every_state_is_decided() {
    let mut seen = HashSet::new();
    let mut open = VecDeque::from([(EndpointHealth::default(), 0_u64, 0_u8)]);
    while let Some((health, seconds, depth)) = open.pop_front() {
        if depth == 7 || !seen.insert(format!("{health:?}{seconds}")) {
            continue;
        }
        for signal in SIGNALS {
            for (pause, ago) in [(0, 0), (60, 0), (60, 60), (5 * 24 * 60 * 60, 0)] {
                let (mut next, now) = (health, seconds + pause);
                let event = next.observe(signal, at(now - ago), at(now));
                check(&next);
                check_step(&health, &next, signal, event);
                open.push_back((next, now, depth + 1));
            }
        }
    }
    assert!(seen.len() > 1_000);
}

proptest! {
    /// W17: the invariants hold after every history, in whatever order its exchanges end.
    #[test]
    fn no_history_breaks_the_health(
        exchanges in proptest::collection::vec((0_usize..5, 0_u64..10_000, 0_u64..200_000), 0..200),
    ) {
        let mut health = EndpointHealth::default();
        let mut now = 1_000_000;
        for (signal, ago, pause) in exchanges {
            now += pause;
            let before = health;
            let event = health.observe(SIGNALS[signal], at(now - ago), at(now));
            check(&health);
            check_step(&before, &health, SIGNALS[signal], event);
        }
    }

    /// W17: from any state, an endpoint that responds again gets one delivery after at most an
    /// hour, which closes its breaker, and returns to a limit of 64.
    #[test]
    fn any_health_recovers_when_the_endpoint_does(
        exchanges in proptest::collection::vec((0_usize..5, 0_u64..10_000, 0_u64..200_000), 0..200),
    ) {
        let mut health = EndpointHealth::default();
        let mut now = 1_000_000;
        for (signal, ago, pause) in exchanges {
            now += pause;
            health.observe(SIGNALS[signal], at(now - ago), at(now));
        }
        let again = health.counts_from.unwrap_or(at(now)).max(at(now));
        prop_assert!(again <= at(now) + 60 * MINUTE);
        let was_open = health.is_open();
        let event = health.observe(Signal::Delivered, again, again);
        prop_assert_eq!(event, was_open.then_some(HealthEvent::BreakerClosed));
        for _ in 0..65 * 64 {
            prop_assert_eq!(health.observe(Signal::Delivered, again, again), None);
        }
        prop_assert_eq!((health.limit, health.failures, health.is_open()), (64, 0, false));
    }
}
