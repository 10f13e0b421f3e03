//! The desk with `--opaque-tokens`: it looks each token up by introspection.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use host_store_sqlite::Database;
use http::Response;
use oauth_core::grant::AccessTokenFormat;
use serde_json::Value;
use service::app::{App, Config};

use crate::desk::{BASE, FORM, SERVICE, ask, bearer, call, header, json, request};

const OTHER_API: &str = "https://charges.example";
/// `demo-api:demo-api-secret`, as HTTP Basic.
const API: &str = "Basic ZGVtby1hcGk6ZGVtby1hcGktc2VjcmV0";

async fn open() -> Arc<App> {
    let mut config = Config::new(BASE, Database::open_in_memory().unwrap());
    config.access_tokens.format = AccessTokenFormat::Opaque;
    config.access_tokens.other_apis = vec![OTHER_API.to_owned()];
    Arc::new(App::open(config).await.unwrap())
}

async fn read(app: &Arc<App>, bearer: &str) -> Response<Bytes> {
    call(app, bearer, ("GET", "/v1/charges"), &[], "").await
}

fn assert_invalid(refused: &Response<Bytes>) {
    assert_eq!(refused.status(), 401, "{refused:?}");
    let challenges = refused.headers().get_all("www-authenticate").iter();
    let told: Vec<_> = challenges.map(|value| value.to_str().unwrap()).collect();
    assert!(told.join(", ").contains(r#"error="invalid_token""#), "{told:?}");
}

/// O13, O14: the desk accepts an opaque token until its revocation is answered.
#[tokio::test]
async fn opaque_token_is_valid_until_revocation() {
    let app = open().await;
    let bearer = bearer(&app, "read:charges").await;
    let token = bearer.strip_prefix("Bearer ").unwrap();
    assert!(token.starts_with("at_") && !token.contains('.'), "{token}");
    for _ in 0..2 {
        assert_eq!(read(&app, &bearer).await.status(), 200);
    }
    let refused = call(&app, &bearer, ("POST", "/v1/charges"), &[], "{}").await;
    assert_eq!(refused.status(), 403, "{refused:?}");

    let client = [FORM, ("authorization", SERVICE)];
    let form = format!("token={token}");
    let revoked = ask(&app, request("POST", "/oauth/revoke", &client, form)).await;
    assert_eq!(revoked.status(), 200);
    assert_invalid(&read(&app, &bearer).await);
}

/// O14: a token for another API is active there, but the desk refuses it.
#[tokio::test]
async fn opaque_token_for_another_api_is_refused() {
    let app = open().await;
    for (resource, status) in [(BASE, 200), (OTHER_API, 401)] {
        let form = format!("grant_type=client_credentials&scope=read:charges&resource={resource}");
        let client = [FORM, ("authorization", SERVICE)];
        let bought = json(&ask(&app, request("POST", "/token", &client, form)).await);
        let token = bought.get("access_token").and_then(Value::as_str).unwrap();
        let form = format!("token={token}");
        let asking = [FORM, ("authorization", API)];
        let told = json(&ask(&app, request("POST", "/oauth/introspect", &asking, form)).await);
        assert_eq!(told.get("active").unwrap(), true);
        assert_eq!(told.get("aud").unwrap(), resource);

        let answer = read(&app, &format!("Bearer {token}")).await;
        assert_eq!(answer.status(), status, "{resource}");
        if status == 401 {
            assert_invalid(&answer);
        }
    }
}

/// O27: guesses at the secret of the desk's own client do not block its introspection, also without
/// a client address.
#[tokio::test]
async fn guesses_at_desk_secret_do_not_block_introspection() {
    let app = open().await;
    let bearer = bearer(&app, "read:charges").await;
    let peers = ["127.0.0.1:1000", "203.0.113.7:1000"].map(|peer| peer.parse::<SocketAddr>().ok());
    for peer in peers.into_iter().chain([None]) {
        let guess = || {
            let client = [FORM, ("authorization", "Basic ZGVzay1pbnRyb3NwZWN0aW9uOmd1ZXNz")];
            let mut guess = request("POST", "/oauth/introspect", &client, "token=at_x");
            if let Some(peer) = peer {
                guess.extensions_mut().insert(peer);
            }
            ask(&app, guess)
        };
        let mut waits = 0;
        while waits == 0 {
            let refused = guess().await;
            if refused.status() == 429 {
                waits = header(refused.headers(), "retry-after").parse().unwrap();
            } else {
                assert_eq!(refused.status(), 401, "{refused:?}");
            }
        }
        assert_eq!(read(&app, &bearer).await.status(), 200, "{peer:?}");
    }
}
