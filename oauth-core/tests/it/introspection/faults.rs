//! Tokens that are refused without introspection, and failing issuers.

use super::*;

/// O14, 81: a token over the size limit is refused without a request; one of the limit is
/// introspected.
#[tokio::test]
async fn token_over_16_kib_is_refused_without_request() {
    let issuer = Issuer::new(&active());
    let api = issuer.api().with_dpop(API.parse().unwrap(), MemoryReplays::new());
    for scheme in ["Bearer", "DPoP"] {
        let long = request(&format!("{scheme} {}", "a".repeat(16 * 1024 + 1)));
        let refused = api.authenticate(&long, now()).await.unwrap_err();
        assert_eq!(refused.reason(), &ChallengeReason::MalformedRequest);
        assert_eq!(
            (refused.status().as_u16(), refused.code()),
            (400, Some("invalid_request"))
        );
    }
    assert_eq!(issuer.asked(), 0);
    assert!(present(&api, &"a".repeat(16 * 1024), now()).await.is_ok());
    assert_eq!(issuer.asked(), 1);
}

/// O14: a panic of the transport fails all waiters, and the next caller succeeds.
#[tokio::test]
async fn panic_of_transport_fails_its_waiters_only() {
    let issuer = closed(&active());
    let (panics, inner) = (Arc::new(AtomicUsize::new(1)), issuer.clone());
    let broken = transport_fn(move |request| {
        let (panics, issuer) = (Arc::clone(&panics), inner.clone());
        async move {
            let answer = issuer.answer(request).await;
            assert_ne!(panics.swap(0, Ordering::SeqCst), 1, "there is no reactor running");
            answer
        }
    });
    let endpoint = format!("{ISSUER}/oauth/introspect").parse().unwrap();
    let (client_id, secret) = ("api".parse().unwrap(), "secret".parse().unwrap());
    let api = api_with(Introspection::new(endpoint, client_id, secret, broken));
    let mut callers: Vec<_> = (0..3).map(|_| Box::pin(present(&api, "at_1", now()))).collect();
    for caller in &mut callers {
        assert!(caller.now_or_never().is_none());
    }
    issuer.gate.add_permits(2);
    for caller in callers {
        let refused = caller.await.unwrap_err();
        assert_eq!(refused.reason(), &ChallengeReason::Unavailable);
        assert!(refused.source().unwrap().source().is_some());
    }
    assert_eq!(issuer.asked(), 1);
    assert!(present(&api, "at_1", now()).await.is_ok());
    assert_eq!(issuer.asked(), 2);
}
