//! Single-flight of the JWKS client: waiting callers and dropped callers.

use futures_util::FutureExt;

use super::*;

/// O22, 77: concurrent callers cause one request, and all get its result.
#[tokio::test]
async fn concurrent_callers_share_one_fetch() {
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

/// O22, 77: if the caller that began the request is dropped, the next caller continues it.
#[tokio::test]
async fn next_caller_continues_dropped_fetch() {
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

/// O22, 77: callers that send unknown key ids and disconnect do not use up the fetch of the next
/// rotation.
#[tokio::test]
async fn dropped_fetch_does_not_use_up_cool_down() {
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

/// O22, 77: at the end of the lifetime one caller waits for the issuer; the others use the old keys
/// meanwhile.
#[tokio::test]
async fn one_caller_waits_and_others_use_old_keys() {
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

/// O22, 77: a dropped fetch does not extend the use of withdrawn keys: the next caller waits for
/// it.
#[tokio::test]
async fn dropped_fetch_does_not_extend_old_keys() {
    let issuer = Issuer::closed(&[1, 2]);
    issuer.gate.add_permits(1);
    let keys = issuer.keys();
    keys.keys(now()).await.unwrap();
    issuer.publishes(&[2]);
    for minute in 0..5 {
        let at = now() + HOUR + MINUTE * minute;
        assert!(verify(&keys, 99, at).now_or_never().is_none());
        // the fetch of the dropped caller has stopped
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

/// O22, 77: a new set is used as soon as it is there, before its waiters were woken.
#[tokio::test]
async fn fetched_set_is_used_at_once() {
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

/// O22, 77: a request that is not polled, or hangs, is abandoned after one minute; its late
/// response does not replace a newer one.
#[tokio::test]
async fn hanging_fetch_is_abandoned_after_a_minute() {
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
    // the late old response did not replace the newer one
    assert_eq!(verify(&keys, 2, now() + MINUTE).await, PASSES);
    assert_eq!(issuer.asked(), 2);
}

/// O22: a request under way does not keep a dropped set alive.
#[tokio::test]
async fn dropping_set_cancels_fetch() {
    let issuer = Issuer::closed(&[1]);
    let gate = Arc::downgrade(&issuer.gate);
    let keys = issuer.keys();
    assert!(keys.keys(now()).now_or_never().is_none());
    drop((keys, issuer));
    assert!(gate.upgrade().is_none());
}
