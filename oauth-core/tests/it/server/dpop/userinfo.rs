//! Bound tokens at the UserInfo endpoint.

use std::time::Duration;

use oauth_core::dpop::{Htu, NONCE_HEADER, NonceKey};

use super::super::fixture::{json, reason, with_bearer};
use super::*;

const USERINFO: &str = "https://auth.example/userinfo";

fn presenting(token: &str, proof: Option<&SignedProof>) -> Request<Bytes> {
    let request = Request::get("/userinfo").header("authorization", format!("DPoP {token}"));
    proving(request.body(Bytes::new()).unwrap(), proof)
}

fn made_for(fixture: &Fixture, token: &str) -> Proof {
    let uri = USERINFO.parse().unwrap();
    Proof::new(Method::GET, uri, &OsEntropy, fixture.now()).with_access_token(token)
}

/// Checks a refusal: its challenge has this scheme and this error.
fn refused(answer: &EndpointResponse, scheme: &str, error: &str, expected: &str) {
    assert_eq!(answer.response.status(), 401, "{answer:?}");
    let challenge = answer.response.headers()["www-authenticate"].to_str().unwrap();
    assert!(challenge.starts_with(scheme), "{challenge}");
    assert!(challenge.contains(&format!("error=\"{error}\"")), "{challenge}");
    assert_eq!(reason(answer), expected);
}

/// O18, O20, DP12, DP13, DP15: a bound token passes with the scheme `DPoP` and a fresh proof of its
/// key. Without either, or with a proof of another key, it is refused.
#[tokio::test]
async fn userinfo_needs_key_of_bound_token() {
    let (fixture, own, thief) = (fixture(), key(1), key(2));
    let token = sign_in(&fixture, &own).await.access;
    let ask = async |proof: Option<&SignedProof>| fixture.server.userinfo(presenting(&token, proof)).await;
    let proof = made_for(&fixture, &token).sign(&own).unwrap();
    let answer = ask(Some(&proof)).await;
    assert_eq!(answer.response.status(), 200, "{answer:?}");
    assert_eq!(json(&answer.response)["sub"], "ada");

    let invalid = "invalid_dpop_proof";
    refused(&ask(Some(&proof)).await, "DPoP", invalid, "dpop_proof_replayed");
    refused(&ask(None).await, "DPoP", invalid, "dpop_proof_missing");
    let stolen = made_for(&fixture, &token).sign(&thief).unwrap();
    refused(
        &ask(Some(&stolen)).await,
        "DPoP",
        "invalid_token",
        "dpop_proof_of_another_key",
    );
    let other = made_for(&fixture, "another token").sign(&own).unwrap();
    refused(
        &ask(Some(&other)).await,
        "DPoP",
        invalid,
        "dpop_proof_for_another_token",
    );

    let bearer = fixture.server.userinfo(with_bearer(&token)).await;
    refused(
        &bearer,
        "Bearer",
        "invalid_token",
        "access_token_of_another_scheme",
    );
    let unbound = fixture.sign_in().await.access;
    let proof = made_for(&fixture, &unbound).sign(&own).unwrap();
    let answer = fixture.server.userinfo(presenting(&unbound, Some(&proof))).await;
    refused(&answer, "DPoP", "invalid_token", "access_token_of_another_scheme");
}

/// O18, O20, DP8: HEAD is answered as GET is, but a proof for the one is refused for the other.
#[tokio::test]
async fn proof_for_head_is_for_head_only() {
    let (fixture, own) = (fixture(), key(1));
    let token = sign_in(&fixture, &own).await.access;
    let uri: Htu = USERINFO.parse().unwrap();
    for (sent, proven) in [
        (Method::HEAD, Method::HEAD),
        (Method::HEAD, Method::GET),
        (Method::GET, Method::HEAD),
        (Method::GET, Method::GET),
        (Method::POST, Method::GET),
    ] {
        let proof = Proof::new(proven.clone(), uri.clone(), &OsEntropy, fixture.now());
        let proof = proof.with_access_token(&token).sign(&own).unwrap();
        let mut request = presenting(&token, Some(&proof));
        *request.method_mut() = sent.clone();
        let answer = fixture.server.userinfo(request).await;
        if sent == proven {
            assert_eq!(answer.response.status(), 200, "{answer:?}");
            assert_eq!(
                json(&answer.response)["sub"],
                "ada",
                "whose content the server leaves out"
            );
        } else {
            refused(
                &answer,
                "DPoP",
                "invalid_dpop_proof",
                "dpop_proof_for_another_method",
            );
        }
    }
}

/// O20: a server without DPoP does not know the scheme.
#[tokio::test]
async fn dpop_scheme_is_unknown_without_dpop() {
    let fixture = Fixture::new();
    let token = fixture.sign_in().await.access;
    let answer = fixture.server.userinfo(presenting(&token, None)).await;
    assert_eq!(answer.response.status(), 401);
    let challenges = answer.response.headers().get_all("www-authenticate");
    let challenges: Vec<_> = challenges.iter().collect();
    assert_eq!(challenges, [r#"Bearer realm="https://auth.example""#]);
    assert_eq!(reason(&answer), "access_token_missing");
}

/// O20, DP10: a server with nonces requires them here, too.
#[tokio::test]
async fn userinfo_requires_nonce() {
    let fixture = fixture_with(|builder| builder.with_dpop_nonces(NonceKey::from_bytes([7; 32])));
    let key = key(1);
    let ask = async |proof: Proof| {
        let proof = proof.sign(&key).unwrap();
        let code = fixture.code().await;
        token(&fixture, &redemption(&code), Some(&proof)).await
    };
    let handed = |answer: &EndpointResponse| {
        let nonce = answer.response.headers().get(NONCE_HEADER)?;
        Some(nonce.to_str().unwrap().to_owned())
    };
    let nonce = handed(&ask(made(&fixture)).await).unwrap();
    let tokens = Tokens::of(&ask(made(&fixture).with_nonce(&nonce)).await);
    let present = async |proof: Proof| {
        let proof = proof.sign(&key).unwrap();
        let request = presenting(&tokens.access, Some(&proof));
        fixture.server.userinfo(request).await
    };
    let answer = present(made_for(&fixture, &tokens.access)).await;
    refused(&answer, "DPoP", "use_dpop_nonce", "dpop_nonce_missing");
    assert_eq!(handed(&answer).as_ref(), Some(&nonce));
    let answer = present(made_for(&fixture, &tokens.access).with_nonce(&nonce)).await;
    assert_eq!((answer.response.status().as_u16(), handed(&answer)), (200, None));
    fixture.clock.advance(Duration::from_secs(60));
    let answer = present(made_for(&fixture, &tokens.access).with_nonce(&nonce)).await;
    assert_eq!(answer.response.status(), 200);
    assert!(handed(&answer).is_some_and(|next| next != nonce));
    // a cached nonce would be handed out after its expiry
    let cache_control = answer.response.headers()["cache-control"].to_str();
    assert!(cache_control.unwrap().contains("no-store"));
}
