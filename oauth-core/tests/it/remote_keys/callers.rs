//! Callers who wait, and callers who go away.

use futures_util::FutureExt;

use super::*;

/// O22, 77: however many come at once, one request is sent, and each has its answer.
#[tokio::test]
async fn callers_who_come_at_once_ask_once() {
    let issuer = Issuer::closed(&[1]);
    let keys = issuer.keys();
    let mut waiting: Vec<_> = (0..32).map(|_| Box::pin(verify(&keys, 1, now()))).collect();
    for caller in &mut waiting {
        assert!(caller.now_or_never().is_none());
    }
    assert_eq!(issuer.asked(), 1);
    issuer.gate.add_permits(1);
    for caller in waiting {
        assert_eq!(caller.await, PASSES);
    }
    assert_eq!(issuer.asked(), 1);
}

/// O22, 77: a caller who goes away takes nothing along: the next drives on what it began.
#[tokio::test]
async fn a_caller_who_goes_away_stops_nobody() {
    let issuer = Issuer::closed(&[1]);
    let keys = issuer.keys();
    for _ in 0..10 {
        assert!(verify(&keys, 1, now()).now_or_never().is_none());
    }
    let mut first = Box::pin(verify(&keys, 1, now()));
    let mut second = Box::pin(verify(&keys, 1, now()));
    assert!((&mut first).now_or_never().is_none());
    assert!((&mut second).now_or_never().is_none());
    drop(first);
    issuer.gate.add_permits(1);
    assert_eq!(second.await, PASSES);
    assert_eq!(issuer.asked(), 1);
}

/// O22, 77: who makes up names and hangs up at once does not spend what the next rotation needs.
#[tokio::test]
async fn a_stranger_who_hangs_up_keeps_nobody_from_new_keys() {
    let issuer = Issuer::closed(&[1]);
    issuer.gate.add_permits(1);
    let keys = issuer.keys();
    keys.keys(now()).await.unwrap();
    issuer.publishes(&[1, 2]);
    for _ in 0..1000 {
        assert!(verify(&keys, 99, now()).now_or_never().is_none());
    }
    let mut rotated = Box::pin(verify(&keys, 2, now()));
    assert!((&mut rotated).now_or_never().is_none());
    assert_eq!(verify(&keys, 1, now()).await, PASSES);
    issuer.gate.add_permits(1);
    assert_eq!(rotated.await, PASSES);
    assert_eq!(issuer.asked(), 2);
}

/// O22, 77: at the end of the lifetime one caller waits for the issuer, and no other, while the keys of before will do.
#[tokio::test]
async fn one_caller_waits_while_the_others_go_on() {
    let issuer = Issuer::closed(&[1]);
    issuer.gate.add_permits(1);
    let keys = issuer.keys();
    keys.keys(now()).await.unwrap();
    let mut first = Box::pin(verify(&keys, 1, now() + HOUR));
    assert!((&mut first).now_or_never().is_none());
    for _ in 0..10 {
        assert_eq!(verify(&keys, 1, now() + HOUR).now_or_never(), Some(PASSES));
    }
    // a token of the new key has to wait
    let mut rotated = Box::pin(verify(&keys, 99, now() + HOUR));
    assert!((&mut rotated).now_or_never().is_none());
    issuer.gate.add_permits(1);
    assert_eq!(first.await, PASSES);
    assert_eq!(rotated.await, UNKNOWN);
    assert_eq!(issuer.asked(), 2);
}

/// O22, 77: a stranger who has keys fetched and hangs up keeps none alive that was taken back: the next caller waits in their place.
#[tokio::test]
async fn a_stranger_who_hangs_up_keeps_no_key_alive() {
    let issuer = Issuer::closed(&[1, 2]);
    issuer.gate.add_permits(1);
    let keys = issuer.keys();
    keys.keys(now()).await.unwrap();
    issuer.publishes(&[2]);
    for minute in 0..5 {
        let at = now() + HOUR + MINUTE * minute;
        assert!(verify(&keys, 99, at).now_or_never().is_none());
        // nobody drives what the stranger began
        let mut next = Box::pin(verify(&keys, 1, at));
        assert!((&mut next).now_or_never().is_none());
        assert_eq!(verify(&keys, 1, at).now_or_never(), Some(PASSES));
    }
    issuer.gate.add_permits(5);
    let at = now() + HOUR + MINUTE * 4;
    assert_eq!(verify(&keys, 1, at).await, UNKNOWN);
    assert_eq!(verify(&keys, 2, at).await, PASSES);
    assert_eq!(issuer.asked(), 1 + 5);
}

/// O22, 77: once the new set is there the old one is used no more, though who waits for it was not yet told.
#[tokio::test]
async fn a_set_that_has_come_is_used_at_once() {
    let issuer = Issuer::closed(&[1, 2]);
    issuer.gate.add_permits(1);
    let keys = issuer.keys();
    keys.keys(now()).await.unwrap();
    issuer.publishes(&[2]);
    let mut idle = Box::pin(verify(&keys, 1, now() + HOUR));
    assert!((&mut idle).now_or_never().is_none());
    assert_eq!(verify(&keys, 1, now() + HOUR).now_or_never(), Some(PASSES));
    issuer.gate.add_permits(1);
    assert_eq!(verify(&keys, 1, now() + HOUR).now_or_never(), Some(UNKNOWN));
    assert_eq!(idle.await, UNKNOWN);
    assert_eq!(issuer.asked(), 2);
}

/// O22, 77: a request that nobody waited for, or that hangs, is given up after a minute; its answer is not taken for a newer one.
#[tokio::test]
async fn a_request_that_hangs_is_given_up() {
    let issuer = Issuer::closed(&[1]);
    let keys = issuer.keys();
    let mut hanging = Box::pin(keys.keys(now()));
    assert!((&mut hanging).now_or_never().is_none());
    assert!(verify(&keys, 1, now() + MINUTE - TICK).now_or_never().is_none());
    assert_eq!(issuer.asked(), 1);
    issuer.publishes(&[2]);
    let mut second = Box::pin(verify(&keys, 2, now() + MINUTE));
    assert!((&mut second).now_or_never().is_none());
    assert_eq!(issuer.asked(), 2);
    issuer.gate.add_permits(2);
    assert_eq!(second.await, PASSES);
    assert_eq!(hanging.await.unwrap().iter().count(), 1);
    // the old answer, which came last, did not take the place of the new one
    assert_eq!(verify(&keys, 2, now() + MINUTE).await, PASSES);
    assert_eq!(issuer.asked(), 2);
}

/// O22: a request that is under way keeps nothing alive that nobody uses any more.
#[tokio::test]
async fn what_is_under_way_ends_with_the_set() {
    let issuer = Issuer::closed(&[1]);
    let gate = Arc::downgrade(&issuer.gate);
    let keys = issuer.keys();
    assert!(keys.keys(now()).now_or_never().is_none());
    drop((keys, issuer));
    assert!(gate.upgrade().is_none());
}
