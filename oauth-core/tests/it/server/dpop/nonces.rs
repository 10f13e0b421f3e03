//! DPoP nonces of the server.

use std::time::Duration;

use oauth_core::dpop::{NONCE_HEADER, NonceKey, Nonces};

use super::super::fixture::{assert_error, reason, web_request};
use super::*;

fn asking() -> Fixture {
    fixture_with(|builder| builder.with_dpop_nonces(NonceKey::from_bytes([7; 32])))
}

fn nonce(answer: &EndpointResponse) -> Option<&str> {
    let mut nonces = answer.response.headers().get_all(NONCE_HEADER).iter();
    let nonce = nonces.next().map(|nonce| nonce.to_str().unwrap());
    assert_eq!(nonces.next(), None, "exactly one");
    nonce
}

/// O20, DP10, DP16: a client without a nonce gets one and retries with it, and gets the next one
/// before the old one expires. A server with nonces refuses proofs without one.
#[tokio::test]
async fn client_without_nonce_gets_one() {
    let (fixture, key) = (asking(), key(1));
    let ask = async |nonce: Option<&str>| {
        let proof = made(&fixture);
        let proof = match nonce {
            Some(nonce) => proof.with_nonce(nonce),
            None => proof,
        };
        let proof = proof.sign(&key).unwrap();
        fixture.server.token(on_its_own(Some(&proof))).await
    };
    let first = ask(None).await;
    assert_error(&first, 400, "use_dpop_nonce");
    assert_eq!(reason(&first), "dpop_nonce_missing");
    let handed = nonce(&first).unwrap().to_owned();
    let answer = ask(Some(&handed)).await;
    assert_eq!((answer.response.status().as_u16(), nonce(&answer)), (200, None));

    fixture.clock.advance(Duration::from_secs(240));
    let answer = ask(Some(&handed)).await;
    assert_eq!(answer.response.status(), 200);
    let next = nonce(&answer).unwrap().to_owned();
    assert_ne!(next, handed);
    fixture.clock.advance(Duration::from_secs(60));
    let answer = ask(Some(&handed)).await;
    assert_error(&answer, 400, "use_dpop_nonce");
    assert_eq!(reason(&answer), "dpop_nonce_mismatch");
    assert!(nonce(&answer).is_some());
    assert_eq!(ask(Some(&next)).await.response.status(), 200);

    // neither a nonce of a resource server with the same key, nor one of another issuer
    let secret = NonceKey::from_bytes([7; 32]);
    let resource = Nonces::of_resource_server(&secret, &"https://auth.example".parse().unwrap());
    let other = Nonces::of_authorization_server(&secret, &"https://other.example".parse().unwrap());
    for foreign in [resource, other] {
        let answer = ask(Some(&foreign.newest(fixture.now()))).await;
        assert_eq!(reason(&answer), "dpop_nonce_mismatch");
    }
    // a request without any proof gets a bearer token
    let answer = fixture.server.token(on_its_own(None)).await;
    assert_eq!((answer.response.status().as_u16(), nonce(&answer)), (200, None));
}

/// O20, O23, DP10: a pushed request needs the nonce as well.
#[tokio::test]
async fn pushed_request_needs_nonce() {
    let (fixture, key) = (asking(), key(1));
    let push = async |nonce: &str| {
        let proof = Proof {
            uri: PAR.parse().unwrap(),
            nonce: Some(nonce.to_owned()),
            ..made(&fixture)
        };
        let proof = proof.sign(&key).unwrap();
        let request = proving(post(basic("web"), &web_request()), Some(&proof));
        fixture.server.par(request).await
    };
    let refused = push("1").await;
    assert_error(&refused, 400, "use_dpop_nonce");
    let handed = nonce(&refused).unwrap().to_owned();
    let pushed = push(&handed).await;
    assert_eq!((pushed.response.status().as_u16(), nonce(&pushed)), (201, None));
    fixture.clock.advance(Duration::from_secs(60));
    let pushed = push(&handed).await;
    assert_eq!(pushed.response.status(), 201);
    assert!(nonce(&pushed).is_some_and(|next| next != handed));
}
