//! APIs that require bound tokens.

use oauth_core::resource::RequiredPossession::{self, Certificate, Key, KeyOrCertificate};

use super::*;

const DPOP: &str = r#"DPoP realm="https://api.example", algs="ES256 Ed25519 EdDSA""#;
const BEARER: &str = r#"Bearer realm="https://api.example""#;

/// Guards with this requirement, set before or after the location.
fn apis(required: RequiredPossession) -> [ResourceServer; 2] {
    let replays = || Arc::new(MemoryReplays::new());
    [
        api_over(replays()).with_required_possession(required),
        bearer_api()
            .with_required_possession(required)
            .with_dpop(API.parse().unwrap(), replays()),
    ]
}

/// O19, O20, DP15, MT3: a token with the required binding passes with its proof; every other valid
/// token is refused.
#[tokio::test]
async fn token_without_required_binding_is_refused() {
    let (own, shown) = (key(1), ClientCertificate::from_der(b"own"));
    let bound_to = [None, Some(jkt(&own)), Some(shown.confirmation())];
    for (required, passing) in [
        (Key, [false, true, false]),
        (Certificate, [false, false, true]),
        (KeyOrCertificate, [false, true, true]),
    ] {
        for api in apis(required) {
            for (bound_to, passes) in bound_to.into_iter().zip(passing) {
                let token = token(bound_to);
                let is_of_key = bound_to == Some(jkt(&own));
                let scheme = if is_of_key { "DPoP" } else { "Bearer" };
                let proofs: Vec<_> = is_of_key
                    .then(|| value(&made(&token), &own))
                    .into_iter()
                    .collect();
                // the sender has every kind of proof
                let mut request = request(scheme, &token, &proofs);
                request.extensions.insert(shown.clone());
                for _ in 0..2 {
                    let presented = present(&api, &request).await;
                    if passes {
                        assert_eq!(presented.unwrap().confirmation(), bound_to, "{required:?}");
                        break;
                    }
                    let refused = presented.unwrap_err();
                    // without proofs the scheme is unknown
                    let is_unknown = is_of_key && required == Certificate;
                    let reason = if is_unknown {
                        ChallengeReason::NoToken
                    } else {
                        ChallengeReason::WrongPossession
                    };
                    assert_eq!(refused.reason(), &reason, "{required:?} {bound_to:?}");
                    assert_eq!(refused.status(), 401);
                    assert_eq!(refused.code(), (!is_unknown).then_some("invalid_token"));
                }
            }
            // a token of a key is no bearer token here either
            let stolen = request("Bearer", &token(Some(jkt(&own))), &[]);
            assert!(present(&api, &stolen).await.is_err(), "{required:?}");
        }
    }
}

/// O20, O22: the challenge names the schemes that can pass, and the metadata state the requirement.
#[tokio::test]
async fn challenge_names_schemes_that_can_pass() {
    let error = r#", error="invalid_token""#;
    let anonymous = Request::get("/").body(()).unwrap().into_parts().0;
    let unbound = request("Bearer", &token(None), &[]);
    for (required, on_offer, refused) in [
        (
            Key,
            vec![DPOP],
            vec![DPOP.replace(", algs", &format!("{error}, algs"))],
        ),
        (Certificate, vec![BEARER], vec![format!("{BEARER}{error}")]),
        (
            KeyOrCertificate,
            vec![BEARER, DPOP],
            vec![format!("{BEARER}{error}"), DPOP.to_owned()],
        ),
    ] {
        for api in apis(required) {
            let challenge = present(&api, &anonymous).await.unwrap_err();
            assert_eq!(challenges(&challenge), on_offer, "{required:?}");
            let challenge = present(&api, &unbound).await.unwrap_err();
            assert_eq!(challenges(&challenge), refused, "{required:?}");
            let document = api.metadata(&Request::get("/").body(bytes::Bytes::new()).unwrap());
            let document: serde_json::Value = serde_json::from_slice(document.body()).unwrap();
            let says = |name: &str| document.get(name).cloned();
            let yes = |holds: bool| holds.then_some(serde_json::Value::Bool(true));
            assert_eq!(says("dpop_bound_access_tokens_required"), yes(required == Key));
            assert_eq!(
                says("tls_client_certificate_bound_access_tokens"),
                yes(required != Key)
            );
            let methods = if required == Key { "[]" } else { r#"["header"]"# };
            assert_eq!(document["bearer_methods_supported"].to_string(), methods);
            assert_eq!(
                says("dpop_signing_alg_values_supported").is_some(),
                required != Certificate
            );
        }
    }
}
