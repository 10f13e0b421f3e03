//! Providers that lie elsewhere than in the token, or change while somebody signs in.

use futures_util::future::join_all;
use oauth_core::client::{DiscoveryError, MetadataError};

use super::*;

/// O18, O22, 77: `signing-key-rotation`: the next sign-in is verified with the next key.
#[tokio::test]
async fn a_provider_may_rotate_its_keys_between_sign_ins() {
    let op = Op::new();
    let rp = Rp::of(&op).await;
    assert_eq!(rp.sign_in(&op).await, same("ada"));
    op.change(|script| script.keys = vec![2]);
    assert_eq!(rp.sign_in(&op).await, same("ada"));
    assert_eq!(op.asked("/jwks"), 2);
    // with a key that was never published
    op.change(|script| script.lie.header = json!({ "kid": "k3" }));
    assert_eq!(rp.sign_in(&op).await, Err(JwtError::UnknownKey));
}

/// O18, O22, 77: `signing-key-rotation-just-before-signing`: also when the keys had been fetched a moment before.
#[tokio::test]
async fn a_provider_may_rotate_its_keys_while_somebody_signs_in() {
    let op = Op::new();
    let rp = Rp::of(&op).await;
    rp.keys.keys(now()).await.unwrap();
    op.change(|script| script.rotate_to = Some(vec![2, 1]));
    assert_eq!(rp.sign_in(&op).await, same("ada"));
    assert_eq!(op.asked("/jwks"), 2);
}

/// O18, O22, 77: however many sign in at that moment, the keys are fetched once.
#[tokio::test]
async fn many_who_sign_in_after_a_rotation_ask_once() {
    let op = Op::new();
    let rp = Rp::of(&op).await;
    assert_eq!(rp.sign_in(&op).await, same("ada"));
    op.change(|script| script.keys = vec![2]);
    let mut signed_in = Vec::new();
    for _ in 0..32 {
        signed_in.push(rp.tokens(&op, |query| query).await.unwrap());
    }
    let identities = join_all(signed_in.iter().map(|tokens| rp.identity(tokens))).await;
    assert!(identities.iter().all(|identity| *identity == same("ada")));
    assert_eq!(op.asked("/jwks"), 2);
}

/// O22, 82, 94: `discovery-issuer-mismatch`.
#[tokio::test]
async fn a_provider_with_another_name_is_refused() {
    for other in [
        "https://op.example",
        "https://op.example/tenant/",
        "https://op.example/Tenant",
        "https://evil.example/tenant",
    ] {
        let op = Op::new();
        op.change(|script| script.metadata["issuer"] = json!(other));
        let refused = Provider::discover(&ISSUER.parse().unwrap(), &*op.transport()).await;
        assert!(
            matches!(refused, Err(DiscoveryError::Unusable(MetadataError::WrongIssuer))),
            "{other}"
        );
    }
}

/// O3, O5, 90, 91: the answer in the browser says who it is from, where the metadata promise it, and is to this request.
#[tokio::test]
async fn an_answer_that_lies_is_noticed() {
    const ISS: &str = "iss=https%3A%2F%2Fop.example%2Ftenant";
    let promise = "authorization_response_iss_parameter_supported";
    let without = |query: String| query.replace(&format!("&{ISS}"), "");
    let wrong = |query: String| query.replace(ISS, "iss=https%3A%2F%2Fop.example%2Ftenant%2F");
    for (promised, is_needed) in [(json!(true), true), (json!(false), false), (Value::Null, false)] {
        let op = Op::new();
        op.change(|script| {
            script.metadata = provider::with(script.metadata.clone(), &json!({ promise: promised }));
        });
        let rp = Rp::of(&op).await;
        assert!(rp.tokens(&op, |query| query).await.is_ok());
        assert_eq!(
            rp.tokens(&op, wrong).await.err(),
            Some(CallbackError::WrongIssuer)
        );
        let refused = is_needed.then_some(CallbackError::WrongIssuer);
        assert_eq!(rp.tokens(&op, without).await.err(), refused, "{promised}");
    }
    let op = Op::new();
    let rp = Rp::of(&op).await;
    let stateless = |query: String| query.replace("state=", "s=");
    let stale = |query: String| query.replace("state=", "state=x");
    let refused = Some(CallbackError::WrongState);
    assert_eq!(rp.tokens(&op, stateless).await.err(), refused);
    assert_eq!(rp.tokens(&op, stale).await.err(), refused);
    assert_eq!(op.asked("/token"), 0);
}

/// O8, 98: `token-type` in any case; an answer need not say how long its token lives.
#[tokio::test]
async fn a_token_response_may_be_spelled_otherwise() {
    for members in [
        json!({ "token_type": "bEARER" }),
        json!({ "expires_in": null }),
        json!({ "scope": "openid", "unknown": { "x": [1] } }),
    ] {
        let op = Op::new();
        op.change(|script| script.token_response = members.clone());
        assert_eq!(Rp::of(&op).await.sign_in(&op).await, same("ada"), "{members}");
    }
}
