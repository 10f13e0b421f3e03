//! Faults outside of the ID token, and key rotations during a sign-in.

use futures_util::future::join_all;
use oauth_core::client::{DiscoveryError, MetadataError};

use super::*;

/// O18, O22, 77: `signing-key-rotation`: the next sign-in is verified with the next key.
#[tokio::test]
async fn key_rotation_between_sign_ins_is_followed() {
    let op = Op::new();
    let rp = Rp::of(&op).await;
    assert_eq!(rp.sign_in(&op).await, same("ada"));
    op.change(|script| script.keys = vec![2]);
    assert_eq!(rp.sign_in(&op).await, same("ada"));
    assert_eq!(op.asked("/jwks"), 2);
    // signed with a key that was never published
    op.change(|script| script.lie.header = json!({ "kid": "k3" }));
    assert_eq!(rp.sign_in(&op).await, Err(JwtError::UnknownKey));
}

/// O18, O22, 77: `signing-key-rotation-just-before-signing`: also if the keys were fetched a moment
/// before.
#[tokio::test]
async fn key_rotation_during_sign_in_is_followed() {
    let op = Op::new();
    let rp = Rp::of(&op).await;
    rp.keys.keys(now()).await.unwrap();
    op.change(|script| script.rotate_to = Some(vec![2, 1]));
    assert_eq!(rp.sign_in(&op).await, same("ada"));
    assert_eq!(op.asked("/jwks"), 2);
}

/// O18, O22, 77: concurrent sign-ins after a rotation fetch the keys once.
#[tokio::test]
async fn concurrent_sign_ins_fetch_rotated_keys_once() {
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
async fn provider_with_other_issuer_is_refused() {
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

/// O3, O5, 90, 91: the response in the browser names its issuer, if the metadata promise it, and
/// its state fits the request.
#[tokio::test]
async fn wrong_authorization_response_is_refused() {
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

/// O8, 98: `token-type` in any case; `expires_in` is optional.
#[tokio::test]
async fn token_type_case_and_missing_expiry_are_accepted() {
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
