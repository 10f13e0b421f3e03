//! Concurrency limits refuse at once, and permits come back.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Barrier,
    thread,
};

use http::{Method, Request};
use http_conventions::{
    errors::Problem,
    limits::{CallerConcurrency, ConcurrencyLimit, ConcurrencyPermit, Priority},
};
use proptest::prelude::*;

/// Asserts a refusal with this status, and `Retry-After`.
fn expect_refusal(acquired: Result<ConcurrencyPermit, Problem>, status: u16) {
    let refused = acquired.unwrap_err().into_response();
    assert_eq!(refused.status(), status);
    assert_eq!(refused.headers()["retry-after"], "1");
}

/// H29: ordinary requests leave the reserve to those of high priority, which stop at the limit.
#[test]
fn reserve_is_for_high_priority() {
    for (most, reserved, in_flight, ordinary, high) in [
        (0, 0, 0, false, false),
        (1, 0, 0, true, true),
        (1, 0, 1, false, false),
        (10, 2, 7, true, true),
        (10, 2, 8, false, true),
        (10, 2, 9, false, true),
        (10, 2, 10, false, false),
        (10, 2, usize::MAX, false, false),
        (1, 5, 0, false, true),
    ] {
        let limit = ConcurrencyLimit::new(most).with_reserve(reserved);
        let admitted = [Priority::Ordinary, Priority::High].map(|priority| limit.admits(in_flight, priority));
        assert_eq!(
            admitted,
            [ordinary, high],
            "{in_flight} of {most}, {reserved} reserved"
        );
    }
}

/// H29: an unsafe request with a key has high priority; a key does not lift a read.
#[test]
fn keyed_write_has_high_priority() {
    let of = |method: Method, key: &str| {
        let request = Request::builder().method(method);
        let request = if key.is_empty() {
            request
        } else {
            request.header("idempotency-key", key)
        };
        Priority::of(&request.body(()).unwrap())
    };
    assert_eq!(of(Method::POST, "k"), Priority::High);
    assert_eq!(of(Method::PATCH, "k"), Priority::High);
    assert_eq!(of(Method::POST, ""), Priority::Ordinary);
    assert_eq!(of(Method::GET, "k"), Priority::Ordinary);
    assert_eq!(of(Method::QUERY, "k"), Priority::Ordinary);
}

/// H29: a request above the limit is refused at once with 503, until another has ended.
#[test]
fn request_above_the_limit_gets_503() {
    let limit = ConcurrencyLimit::new(2);
    let first = limit.acquire(Priority::Ordinary).unwrap();
    let second = limit.clone().acquire(Priority::High).unwrap();
    expect_refusal(limit.acquire(Priority::High), 503);
    assert_eq!(limit.in_flight(), 2);
    let clone = first.clone();
    drop(first);
    expect_refusal(limit.acquire(Priority::High), 503);
    drop(clone);
    let _third = limit.acquire(Priority::Ordinary).unwrap();
    drop(second);
    assert_eq!(limit.in_flight(), 1);
}

/// H29: each caller has its own permits; a request above them gets 429.
#[test]
fn caller_above_its_limit_gets_429() {
    let limit = CallerConcurrency::new(2);
    let held = [limit.acquire("a").unwrap(), limit.acquire("a").unwrap()];
    expect_refusal(limit.clone().acquire("a"), 429);
    let other = limit.acquire("b").unwrap();
    drop(held);
    let again = limit.acquire("a").unwrap();
    drop(other);
    drop((again, limit.acquire("a").unwrap(), limit.acquire("b").unwrap()));
    expect_refusal(CallerConcurrency::new(0).acquire("a"), 429);
}

/// H29: a panic returns the permits.
#[test]
fn panic_returns_its_permits() {
    let (limit, callers) = (ConcurrencyLimit::new(1), CallerConcurrency::new(1));
    for _ in 0..3 {
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _permits = (
                limit.acquire(Priority::Ordinary).unwrap(),
                callers.acquire("a").unwrap(),
            );
            std::panic::resume_unwind(Box::new(()));
        }));
        assert!(panicked.is_err());
    }
    assert_eq!(limit.in_flight(), 0);
    assert!(callers.acquire("a").is_ok());
}

/// H29: of 32 concurrent requests exactly as many are admitted as the limits allow.
#[test]
fn concurrent_requests_share_the_permits() {
    let (limit, callers) = (ConcurrencyLimit::new(7), CallerConcurrency::new(5));
    let (begin, end) = (Barrier::new(32), Barrier::new(32));
    let run = || {
        begin.wait();
        let permits = (limit.acquire(Priority::Ordinary), callers.acquire("a"));
        end.wait();
        (permits.0.is_ok(), permits.1.is_ok())
    };
    let admitted: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..32).map(|_| scope.spawn(run)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(admitted.iter().filter(|(limit, _)| *limit).count(), 7);
    assert_eq!(admitted.iter().filter(|(_, caller)| *caller).count(), 5);
    assert_eq!(limit.in_flight(), 0);
}

proptest! {
    /// H29: after any sequence, the count equals the number of held permits, and is within the
    /// limit.
    #[test]
    fn in_flight_counts_held_permits(
        most in 0_usize..5,
        reserved in 0_usize..5,
        steps in prop::collection::vec((any::<bool>(), any::<bool>(), 0_usize..8), 0..60),
    ) {
        let limit = ConcurrencyLimit::new(most).with_reserve(reserved);
        let mut held = Vec::new();
        for (acquires, is_high, index) in steps {
            let priority = if is_high { Priority::High } else { Priority::Ordinary };
            if acquires {
                let expected = limit.admits(held.len(), priority);
                let acquired = limit.acquire(priority);
                prop_assert_eq!(acquired.is_ok(), expected);
                held.extend(acquired);
            } else if index < held.len() {
                drop(held.swap_remove(index));
            }
            prop_assert_eq!(limit.in_flight(), held.len());
            prop_assert!(held.len() <= most);
        }
    }
}
