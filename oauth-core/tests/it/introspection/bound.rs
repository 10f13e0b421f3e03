//! Opaque tokens that are bound to a key or a certificate of the sender.

use oauth_core::dpop::{HEADER, Proof};
use oauth_core::mtls::ClientCertificate;

use super::*;

/// O20, DP12, DP15: an opaque token bound to a key needs a proof, also if its introspection is
/// cached.
#[tokio::test]
async fn an_opaque_token_may_be_bound() {
    let key = SigningKey::generate_es256(&OsEntropy).unwrap();
    let mut answer = changed("cnf", json!({ "jkt": key.public_key().thumbprint() }));
    answer["token_type"] = json!("DPoP");
    let issuer = Issuer::new(&answer);
    let api = issuer.api().with_dpop(API.parse().unwrap(), MemoryReplays::new());
    for _ in 0..2 {
        let uri = format!("{API}/v1/charges").parse().unwrap();
        let proof = Proof::new(Method::GET, uri, &OsEntropy, now()).with_access_token("at_1");
        let mut proven = request("DPoP at_1");
        proven
            .headers
            .insert(HEADER, proof.sign(&key).unwrap().to_header());
        assert!(api.authenticate(&proven, now()).await.is_ok());
        assert!(api.authenticate(&proven, now()).await.is_err());
        assert!(api.authenticate(&request("DPoP at_1"), now()).await.is_err());
        assert!(present(&api, "at_1", now()).await.is_err());
    }
    assert_eq!(issuer.asked(), 1);
}

/// O19, MT3: an opaque token bound to a certificate passes only over a connection with it, also if
/// its introspection is cached or names no token type.
#[tokio::test]
async fn bound_opaque_token_needs_its_certificate() {
    let (own, other) = (
        ClientCertificate::from_der(b"own"),
        ClientCertificate::from_der(b"other"),
    );
    let cnf = serde_json::to_value(own.confirmation()).unwrap();
    assert!(cnf["x5t#S256"].is_string(), "{cnf}");
    let typed = changed("cnf", cnf.clone());
    let mut untyped = typed.clone();
    untyped.as_object_mut().unwrap().remove("token_type");
    for answer in [typed, untyped] {
        let issuer = Issuer::new(&answer);
        let api = match answer.get("token_type") {
            Some(_) => issuer.api(),
            None => api_with(issuer.introspection().danger_allow_untyped_tokens()),
        };
        let with_proofs = api.clone().with_dpop(API.parse().unwrap(), MemoryReplays::new());
        // the attacker comes before the owner, and again after
        let shown = [Some(&other), None, Some(&own), Some(&other), None, Some(&own)];
        for (api, certificate) in [&api, &with_proofs]
            .iter()
            .flat_map(|api| shown.map(|certificate| (*api, certificate)))
        {
            let mut request = request("Bearer at_1");
            if let Some(certificate) = certificate {
                request.extensions.insert(certificate.clone());
            }
            let presented = api.authenticate(&request, now()).await;
            if certificate == Some(&own) {
                assert_eq!(presented.unwrap().confirmation(), Some(own.confirmation()));
                continue;
            }
            let refused = presented.unwrap_err();
            assert_eq!(refused.reason(), &ChallengeReason::WrongCertificate);
            assert_eq!(
                (refused.status().as_u16(), refused.code()),
                (401, Some("invalid_token"))
            );
        }
        assert_eq!(issuer.asked(), 1);
    }
}
