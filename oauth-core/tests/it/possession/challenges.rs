//! Challenges to clients that were refused, and the metadata that they link.

use async_trait::async_trait;
use oauth_core::dpop::{NonceKey, Nonces};
use oauth_core::ports::StoreError;
use oauth_core::secret::TokenHash;
use oauth_core::store::SpendOutcome;

use super::*;

/// O20, DP10, DP16: an API with nonces issues its own, and refuses those of the authorization
/// server.
#[tokio::test]
async fn an_api_hands_out_nonces_of_its_own() {
    let (secret, own) = (NonceKey::from_bytes([7; 32]), key(1));
    let nonces = Nonces::of_resource_server(&secret, &API.parse().unwrap());
    let of_server = Nonces::of_authorization_server(&secret, &ISSUER.parse().unwrap());
    let token = token(Some(jkt(&own)));
    for api in [
        api().with_dpop_nonces(&secret),
        bearer_api()
            .with_dpop_nonces(&secret)
            .with_dpop(API.parse().unwrap(), MemoryReplays::new()),
    ] {
        for proof in [made(&token), made(&token).with_nonce(of_server.newest(now()))] {
            let request = request("DPoP", &token, &[value(&proof, &own)]);
            let refused = present(&api, &request).await.unwrap_err();
            assert_eq!(
                (refused.status().as_u16(), refused.code()),
                (401, Some("use_dpop_nonce"))
            );
            assert_eq!(refused.headers()[NONCE_HEADER], nonces.newest(now()));
        }
        let proof = made(&token).with_nonce(nonces.newest(now()));
        let principal = present(&api, &request("DPoP", &token, &[value(&proof, &own)]))
            .await
            .unwrap();
        assert_eq!(principal.dpop_nonce(), None);
        assert!(principal.headers().is_empty());
        let older = nonces.newest(now() - Duration::from_secs(60));
        let proof = made(&token).with_nonce(older);
        let principal = present(&api, &request("DPoP", &token, &[value(&proof, &own)]))
            .await
            .unwrap();
        assert_eq!(principal.dpop_nonce().unwrap(), &nonces.newest(now()));
        let expected = [
            ("access-control-expose-headers", "DPoP-Nonce".to_owned()),
            ("cache-control", "no-store".to_owned()),
            ("dpop-nonce", nonces.newest(now())),
        ];
        let headers = principal.headers();
        let mut headers: Vec<_> = headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.to_str().unwrap().to_owned()))
            .collect();
        headers.sort_unstable();
        assert_eq!(headers, expected);
    }
}

/// O20: a request without a token is challenged for both schemes, without an error; a request with
/// two tokens is malformed.
#[tokio::test]
async fn request_without_token_is_challenged_for_both_schemes() {
    let (api, own) = (api(), key(1));
    let token = token(Some(jkt(&own)));
    let anonymous = Request::get("/").body(()).unwrap().into_parts().0;
    let refused = present(&api, &anonymous).await.unwrap_err();
    assert_eq!(
        challenges(&refused),
        [
            r#"Bearer realm="https://api.example""#,
            r#"DPoP realm="https://api.example", algs="ES256 Ed25519 EdDSA""#,
        ]
    );
    let mut twice = request("DPoP", &token, &[value(&made(&token), &own)]);
    let bearer = format!("Bearer {token}").parse().unwrap();
    twice.headers.append("authorization", bearer);
    let refused = present(&api, &twice).await.unwrap_err();
    assert_eq!(refused.status(), 400);
    assert_eq!(
        challenges(&refused),
        [
            r#"Bearer realm="https://api.example", error="invalid_request""#,
            r#"DPoP realm="https://api.example", error="invalid_request", algs="ES256 Ed25519 EdDSA""#,
        ]
    );
    let mut query = request("DPoP", &token, &[]);
    query.uri = format!("/?access_token={token}").parse().unwrap();
    assert_eq!(present(&api, &query).await.unwrap_err().status(), 400);
}

/// A replay store that is down.
struct Down;

#[async_trait]
impl ReplayStore for Down {
    async fn insert_once(
        &self,
        _: TokenHash,
        _: SystemTime,
        _: SystemTime,
    ) -> Result<SpendOutcome, StoreError> {
        Err(StoreError::unavailable("the cable is out"))
    }

    async fn purge_replays(&self, _: SystemTime) -> Result<u64, StoreError> {
        Ok(0)
    }
}

/// O20, DP13: if the replay store is down, a proof is refused with 503, and the peer gets no
/// detail.
#[tokio::test]
async fn replay_store_that_is_down_lets_no_proof_pass() {
    use std::error::Error;
    let own = key(1);
    let token = token(Some(jkt(&own)));
    let request = request("DPoP", &token, &[value(&made(&token), &own)]);
    let refused = present(&api_over(Arc::new(Down)), &request).await.unwrap_err();
    assert_eq!(refused.reason(), &ChallengeReason::Unavailable);
    assert!(refused.source().unwrap().source().is_some());
    let response = refused.into_response();
    assert_eq!(response.status(), 503);
    assert!(response.headers().contains_key("retry-after") && response.body().is_empty());
    assert!(!response.headers().contains_key("www-authenticate"));
}

/// O22: the challenge links the metadata of the resource, which name the authorization servers.
#[tokio::test]
async fn challenge_links_metadata() {
    let api = api().with_metadata("read:charges write:charges".parse().unwrap());
    let anonymous = Request::get("/").body(()).unwrap().into_parts().0;
    let url = "https://api.example/.well-known/oauth-protected-resource";
    for challenge in challenges(&present(&api, &anonymous).await.unwrap_err()) {
        assert!(
            challenge.ends_with(&format!(r#", resource_metadata="{url}""#)),
            "{challenge}"
        );
    }
    let path = api.metadata_path().unwrap();
    assert_eq!(path, "/.well-known/oauth-protected-resource");
    let ask = |method: Method| {
        let request = Request::builder().method(method).uri(&path);
        api.metadata(&request.body(bytes::Bytes::new()).unwrap())
    };
    let document: serde_json::Value = serde_json::from_slice(ask(Method::GET).body()).unwrap();
    assert_eq!(
        document,
        serde_json::json!({
            "resource": API,
            "authorization_servers": [ISSUER],
            "bearer_methods_supported": ["header"],
            "scopes_supported": ["read:charges", "write:charges"],
            "dpop_signing_alg_values_supported": ["ES256", "Ed25519", "EdDSA"],
        })
    );
    let refused = ask(Method::POST);
    assert_eq!(
        (refused.status().as_u16(), &refused.headers()["allow"]),
        (405, &HeaderValue::from_static("GET, HEAD"))
    );

    let keys = KeySet::new([]).unwrap();
    let named = ResourceServer::new(ISSUER.parse().unwrap(), "payments".parse().unwrap(), keys)
        .with_metadata("read:charges".parse().unwrap());
    assert_eq!(named.metadata_path(), None);
    let refused = present(&named, &anonymous).await.unwrap_err();
    assert_eq!(challenges(&refused), [r#"Bearer realm="payments""#]);
}

/// O22: the metadata URL puts the well-known part before the path of the resource; only a path of a
/// single slash is dropped.
#[tokio::test]
async fn metadata_url_precedes_path_of_resource() {
    let anonymous = Request::get("/").body(()).unwrap().into_parts().0;
    for (resource, path, query) in [
        ("https://api.example", "", ""),
        ("https://api.example/", "", ""),
        ("https://api.example/?t=1", "", "?t=1"),
        ("https://api.example?t=1", "", "?t=1"),
        ("https://api.example/v1", "/v1", ""),
        ("https://api.example/v1/", "/v1/", ""),
        ("https://api.example/v1//", "/v1//", ""),
        ("https://api.example/v1?t=1", "/v1", "?t=1"),
        ("https://api.example/v1/?t=1&u=/", "/v1/", "?t=1&u=/"),
    ] {
        let keys = KeySet::new([]).unwrap();
        let api = ResourceServer::new(ISSUER.parse().unwrap(), resource.parse().unwrap(), keys)
            .with_metadata("read:charges".parse().unwrap());
        let well_known = format!("/.well-known/oauth-protected-resource{path}");
        assert_eq!(api.metadata_path().as_ref(), Some(&well_known), "{resource}");
        let url = format!("https://api.example{well_known}{query}");
        let refused = present(&api, &anonymous).await.unwrap_err();
        assert_eq!(
            challenges(&refused),
            [format!(r#"Bearer realm="{resource}", resource_metadata="{url}""#)]
        );
        let document = api.metadata(&Request::get(&url).body(bytes::Bytes::new()).unwrap());
        let document: serde_json::Value = serde_json::from_slice(document.body()).unwrap();
        assert_eq!(document["resource"], resource);
    }
}
