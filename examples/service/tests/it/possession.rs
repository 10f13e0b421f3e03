//! Bound tokens at the API of the service.

use std::sync::Arc;

use http::Method;
use oauth_core::dpop::Proof;
use oauth_core::jose::SigningKey;
use oauth_core::ports::OsEntropy;
use serde_json::Value;
use service::app::App;

use crate::desk::{BASE, FORM, SERVICE, ask, header, json, open_at, request};

/// H2, O20, DP8: a proof names the method that was sent, also where HEAD is answered as GET is.
#[tokio::test]
async fn a_proof_for_head_is_none_for_get() {
    let (app, clock) = open_at().await;
    let key = SigningKey::generate_es256(&OsEntropy).unwrap();
    let proof = |method, path: &str| {
        let uri = format!("{BASE}{path}").parse().unwrap();
        Proof::new(method, uri, &OsEntropy, clock.now())
    };
    let buy = async |proof: Proof| {
        let proof = proof.sign(&key).unwrap();
        let headers = [FORM, ("authorization", SERVICE), ("dpop", proof.expose())];
        let body = "grant_type=client_credentials&scope=read:charges";
        ask(&app, request("POST", "/token", &headers, body)).await
    };
    let nonceless = buy(proof(Method::POST, "/token")).await;
    let nonce = header(nonceless.headers(), "dpop-nonce").to_owned();
    let bought = json(&buy(proof(Method::POST, "/token").with_nonce(&nonce)).await);
    let token = bought.get("access_token").and_then(Value::as_str).unwrap();

    let present = async |sent: &str, proven: Method, path: &str| {
        let proof = proof(proven, path).with_access_token(token).with_nonce(&nonce);
        status(&app, sent, path, token, proof.sign(&key).unwrap().expose()).await
    };
    for path in ["/v1/charges", "/graphql?query=%7B__typename%7D"] {
        assert_eq!(present("HEAD", Method::HEAD, path).await, 200, "{path}");
        assert_eq!(present("GET", Method::GET, path).await, 200, "{path}");
        assert_eq!(present("HEAD", Method::GET, path).await, 401, "{path}");
        assert_eq!(present("GET", Method::HEAD, path).await, 401, "{path}");
    }
    // the token has no scope for it, and its proof is good
    assert_eq!(present("HEAD", Method::HEAD, "/userinfo").await, 403);
    assert_eq!(present("HEAD", Method::GET, "/userinfo").await, 401);
}

async fn status(app: &Arc<App>, method: &str, path: &str, token: &str, proof: &str) -> u16 {
    let authorization = format!("DPoP {token}");
    let headers = [
        ("authorization", authorization.as_str()),
        ("dpop", proof),
        ("graphql-require-preflight", "1"),
    ];
    ask(app, request(method, path, &headers, ""))
        .await
        .status()
        .as_u16()
}
