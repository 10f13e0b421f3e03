//! The lifetime of a key set.

use super::*;

/// O22, 77: keys are fetched at first use, once for all clones, and again after one hour.
#[tokio::test]
async fn keys_are_fetched_once_in_their_lifetime() {
    let issuer = Issuer::publishing(&[1]);
    let keys = issuer.keys();
    assert_eq!(issuer.asked(), 0);
    for later in [Duration::ZERO, MINUTE, HOUR - TICK] {
        assert_eq!(keys.keys(now() + later).await.unwrap().iter().count(), 1);
        assert_eq!(verify(&keys.clone(), 1, now() + later).await, PASSES);
        assert_eq!(issuer.asked(), 1);
    }
    issuer.publishes(&[1, 2]);
    assert_eq!(keys.keys(now() + HOUR).await.unwrap().iter().count(), 2);
    assert_eq!(
        keys.keys(now() + HOUR * 2 - TICK).await.unwrap().iter().count(),
        2
    );
    assert_eq!(issuer.asked(), 2);
}

/// O22, 77: a withdrawn key is refused after the next fetch, also if the issuer withdraws all keys.
#[tokio::test]
async fn withdrawn_key_is_refused_after_next_fetch() {
    let issuer = Issuer::publishing(&[1, 2]);
    let keys = issuer.keys();
    assert_eq!(verify(&keys, 1, now()).await, PASSES);
    issuer.publishes(&[2]);
    assert_eq!(verify(&keys, 1, now() + HOUR - TICK).await, PASSES);
    assert_eq!(verify(&keys, 1, now() + HOUR).await, UNKNOWN);
    assert_eq!(verify(&keys, 2, now() + HOUR).await, PASSES);
    issuer.publishes(&[]);
    assert_eq!(verify(&keys, 2, now() + HOUR * 2).await, UNKNOWN);
}

/// O22, 77: `Cache-Control` of the issuer can shorten the lifetime, to a minimum, but not extend
/// it.
#[tokio::test]
async fn an_issuer_may_shorten_the_lifetime() {
    let seconds = Duration::from_secs;
    for (cache_control, lifetime) in [
        ("max-age=300", seconds(300)),
        ("public, Max-Age=300", seconds(300)),
        ("public,max-age=\"300\" ,x=y", seconds(300)),
        ("max-age=600, max-age=300", seconds(300)),
        ("max-age=86400", HOUR),
        ("max-age=18446744073709551615", HOUR),
        ("max-age=18446744073709551616", HOUR),
        ("max-age=-1", HOUR),
        ("max-age", HOUR),
        ("s-maxage=300, maximum-age=5", HOUR),
        ("max-age=1", MINUTE),
        ("max-age=0", MINUTE),
        ("no-store", MINUTE),
        ("no-cache, max-age=300", MINUTE),
    ] {
        let issuer = Issuer::with(StubResponse(200, cache_control, document(&[1])), 1000);
        let keys = issuer.keys();
        for later in [Duration::ZERO, lifetime - TICK] {
            keys.keys(now() + later).await.unwrap();
            assert_eq!(issuer.asked(), 1, "{cache_control}");
        }
        keys.keys(now() + lifetime).await.unwrap();
        assert_eq!(issuer.asked(), 2, "{cache_control}");
    }
}

/// O22: the lifetime that a host sets is limited to between one second and one day.
#[tokio::test]
async fn key_set_lifetime_is_a_second_to_a_day() {
    for (asked_for, lifetime) in [
        (Duration::ZERO, Duration::from_secs(1)),
        (MINUTE, MINUTE),
        (DAY * 30, DAY),
        (Duration::MAX, DAY),
    ] {
        let issuer = Issuer::publishing(&[1]);
        let keys = issuer.keys().with_lifetime(asked_for);
        keys.keys(now()).await.unwrap();
        keys.keys(now() + lifetime - TICK).await.unwrap();
        assert_eq!(issuer.asked(), 1, "{asked_for:?}");
        keys.keys(now() + lifetime).await.unwrap();
        assert_eq!(issuer.asked(), 2, "{asked_for:?}");
    }
}

/// O22, 77: a clock that is set back neither extends the lifetime nor causes a fetch per caller.
#[tokio::test]
async fn clock_set_back_does_not_extend_lifetime() {
    let issuer = Issuer::publishing(&[1]);
    let keys = issuer.keys();
    // concurrent callers read the clock in another order than they call
    for step in [0, 3, 1, 2, 59, 0] {
        assert_eq!(verify(&keys, 1, now() + Duration::from_secs(step)).await, PASSES);
    }
    assert_eq!(issuer.asked(), 1);
    // set back by ten years: a set from the future is stale
    issuer.publishes(&[2]);
    let past = now() - DAY * 3650;
    assert_eq!(verify(&keys, 2, past).await, PASSES);
    assert_eq!(verify(&keys, 1, past + MINUTE).await, UNKNOWN);
    assert_eq!(issuer.asked(), 3);
    assert_eq!(verify(&keys, 1, past + MINUTE).await, UNKNOWN);
    assert_eq!(issuer.asked(), 3);
}

/// O22: keys are fetched at the limits of `SystemTime` too, and never live for ever.
#[tokio::test]
async fn keys_are_fetched_at_extreme_times() {
    let issuer = Issuer::publishing(&[1]);
    let keys = issuer.keys();
    let farthest = SystemTime::UNIX_EPOCH + Duration::from_secs(u64::from(u32::MAX) << 20);
    for (fetched, now) in [SystemTime::UNIX_EPOCH, farthest, SystemTime::UNIX_EPOCH, now()]
        .into_iter()
        .enumerate()
    {
        for _ in 0..2 {
            assert_eq!(keys.keys(now).await.unwrap().iter().count(), 1);
        }
        assert_eq!(issuer.asked(), fetched + 1);
    }
}
