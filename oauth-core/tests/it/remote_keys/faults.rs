//! Failing issuers.

use std::error::Error as _;

use super::*;

/// Responses that are no key set, each for another reason.
fn failures() -> Vec<StubResponse> {
    let padding = " ".repeat(64 * 1024);
    let nameless = r#"{"kty":"oct","k":"AAAA"}"#;
    let twice = document(&[2]).replace(
        r#"{"keys":["#,
        &format!(r#"{{"keys":[{},"#, key(2).public_key().to_json()),
    );
    vec![
        StubResponse(0, "", String::new()),
        StubResponse(500, "", document(&[2])),
        StubResponse(404, "", document(&[2])),
        StubResponse(302, "", document(&[2])),
        StubResponse(206, "", document(&[2])),
        StubResponse(304, "", String::new()),
        StubResponse(204, "", document(&[2])),
        StubResponse(200, "", String::new()),
        StubResponse(200, "", "<html>".to_owned()),
        StubResponse(200, "", "[]".to_owned()),
        StubResponse(200, "", r#"{"keys":{}}"#.to_owned()),
        StubResponse(200, "", r#"{"keys":[],"keys":[]}"#.to_owned()),
        StubResponse(200, "", document(&[2]) + &padding),
        StubResponse(200, "", format!(r#"{{"keys":[{}]}}"#, [nameless; 101].join(","))),
        StubResponse(200, "", twice),
    ]
}

/// O15, O22, 77: while the issuer fails, the old keys are used for one more day, then none.
#[tokio::test]
async fn failing_issuer_keeps_old_keys_for_a_day() {
    for failure in failures() {
        let issuer = Issuer::publishing(&[1]);
        let keys = issuer.keys();
        assert_eq!(verify(&keys, 1, now()).await, PASSES);
        issuer.says(failure.clone());
        let StubResponse(status, _, body) = failure;
        let excerpt: String = body.chars().take(80).collect();
        for later in [HOUR, HOUR * 12, DAY - TICK] {
            assert_eq!(
                verify(&keys, 1, now() + later).await,
                PASSES,
                "{status} {excerpt}"
            );
            assert_eq!(
                verify(&keys, 2, now() + later).await,
                UNKNOWN,
                "{status} {excerpt}"
            );
        }
        assert_eq!(verify(&keys, 1, now() + DAY).await, None, "{status} {excerpt}");
        issuer.publishes(&[2]);
        assert_eq!(verify(&keys, 2, now() + DAY + MINUTE).await, PASSES);
    }
}

/// O22, 77: the host can shorten the use of stale keys; it ends at the exact instant.
#[tokio::test]
async fn stale_keys_are_used_for_a_day_at_most() {
    for (asked_for, last_use) in [
        (Duration::ZERO, HOUR),
        (HOUR * 2, HOUR * 2),
        (DAY * 2, DAY),
        (Duration::MAX, DAY),
    ] {
        let issuer = Issuer::publishing(&[1]);
        let keys = issuer.keys().with_last_use(asked_for);
        keys.keys(now()).await.unwrap();
        issuer.says(StubResponse(503, "", String::new()));
        assert!(keys.keys(now() + last_use - TICK).await.is_ok());
        let unavailable = keys.keys(now() + last_use).await.unwrap_err();
        assert!(unavailable.source().is_some(), "{asked_for:?}");
    }
}

/// O22, 77: after a failure the issuer is not asked again for five seconds, with or without keys.
#[tokio::test]
async fn a_failing_issuer_is_asked_every_five_seconds() {
    let pause = Duration::from_secs(5);
    for failure in failures() {
        let issuer = Issuer::with(failure.clone(), 1000);
        let keys = issuer.keys();
        for _ in 0..3 {
            let unavailable = keys.keys(now()).await.unwrap_err();
            assert_eq!(
                unavailable.to_string(),
                "the key set of the issuer could not be fetched"
            );
            assert!(unavailable.source().is_some());
        }
        assert_eq!(verify(&keys, 1, now() + pause - TICK).await, None);
        assert_eq!(issuer.asked(), 1);
        issuer.publishes(&[1]);
        assert_eq!(verify(&keys, 1, now() + pause).await, PASSES);
        assert_eq!(issuer.asked(), 2);

        issuer.says(failure);
        for number in 0..1000 {
            let now = now() + pause + HOUR + Duration::from_millis(10 * number);
            assert_eq!(keys.keys(now).await.unwrap().iter().count(), 1);
        }
        assert_eq!(issuer.asked(), 4);
    }
}

/// O15, 77: a token of an unknown key is invalid, also while newer keys cannot be fetched.
#[tokio::test]
async fn unknown_key_is_invalid_while_issuer_fails() {
    let issuer = Issuer::publishing(&[1]);
    let keys = issuer.keys();
    keys.keys(now()).await.unwrap();
    issuer.says(StubResponse(0, "", String::new()));
    for later in [Duration::ZERO, MINUTE - TICK] {
        assert_eq!(verify(&keys, 2, now() + later).await, UNKNOWN);
        assert_eq!(verify(&keys, 1, now() + later).await, PASSES);
        assert_eq!(issuer.asked(), 2);
    }
    issuer.publishes(&[2]);
    assert_eq!(verify(&keys, 2, now() + MINUTE).await, PASSES);
}

/// O15, 66, 77: unusable keys of a set are left out, and the rest is used.
#[tokio::test]
async fn unusable_keys_are_left_out() {
    let symmetric = r#"{"keys":[{"kty":"oct","k":"AAAA","kid":"x"},{"kty":"EC"},1,"#;
    let answer = StubResponse(200, "", document(&[1]).replace(r#"{"keys":["#, symmetric));
    let keys = Issuer::with(answer, 1000).keys();
    assert_eq!(keys.keys(now()).await.unwrap().iter().count(), 1);
    assert_eq!(verify(&keys, 1, now()).await, PASSES);
}

/// O22: a panic of the transport is a failure, and the next caller succeeds.
#[tokio::test]
async fn panic_of_transport_is_one_failed_fetch() {
    let issuer = Issuer::publishing(&[1]);
    let (panics, transport) = (Arc::new(AtomicUsize::new(1)), issuer.transport());
    let broken = transport_fn(move |request| {
        let (panics, transport) = (Arc::clone(&panics), Arc::clone(&transport));
        async move {
            let left = panics.load(Ordering::SeqCst);
            panics.store(left.saturating_sub(1), Ordering::SeqCst);
            assert_eq!(left, 0, "there is no reactor running");
            transport.send(request).await
        }
    });
    let keys = RemoteKeySet::new(JWKS.parse().unwrap(), broken);
    assert!(keys.keys(now()).await.is_err());
    assert!(keys.keys(now() + Duration::from_secs(5)).await.is_ok());
}
