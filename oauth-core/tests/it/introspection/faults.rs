//! What is refused before anybody is asked, and an issuer that cannot be asked.

use super::*;

/// O14, 81: what is longer than any token is none, and asks no question; the longest one does.
#[tokio::test]
async fn a_token_of_more_than_16_kib_asks_no_question() {
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

/// O14: a transport that panics is one that fails, for all who wait for its answer, and the next caller finds it mended.
#[tokio::test]
async fn a_panic_of_the_transport_takes_nobody_along() {
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
