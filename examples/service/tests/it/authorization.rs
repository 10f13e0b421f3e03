//! Pushed authorization requests at the service.

use std::sync::Arc;

use host_store_sqlite::Database;
use serde_json::Value;
use service::app::{App, Config};

use crate::desk::{BASE, FORM, ask, header, json, request};

const REDIRECT: &str = "http://127.0.0.1:9999/callback";
/// Code challenge of RFC 7636 appendix B.
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/// A service with `sign_in_as`, so that `/authorize` needs no pages.
async fn open() -> Arc<App> {
    let mut config = Config::new(BASE, Database::open_in_memory().unwrap());
    config.sign_in_as = Some("ada@example.com".to_owned());
    Arc::new(App::open(config).await.unwrap())
}

fn member<'a>(document: &'a Value, name: &str) -> &'a str {
    document.get(name).and_then(Value::as_str).unwrap()
}

/// A client pushes its request, and the browser uses the `request_uri` once.
#[tokio::test]
async fn pushed_request_is_used_once_by_the_browser() {
    let app = open().await;
    let metadata = ask(&app, request("GET", "/.well-known/openid-configuration", &[], "")).await;
    let endpoint = member(&json(&metadata), "pushed_authorization_request_endpoint").to_owned();
    let pushed = format!(
        "response_type=code&client_id=demo-native&redirect_uri={REDIRECT}&scope=read:charges&state=s\
         &code_challenge={CHALLENGE}&code_challenge_method=S256"
    );
    let path = endpoint.strip_prefix(BASE).unwrap();
    let response = ask(&app, request("POST", path, &[FORM], pushed)).await;
    assert_eq!(response.status(), 201, "{response:?}");
    let uri = member(&json(&response), "request_uri").to_owned();

    let authorize = format!("/authorize?client_id=demo-native&request_uri={uri}");
    let back = ask(&app, request("GET", &authorize, &[], "")).await;
    assert_eq!(back.status(), 302, "{back:?}");
    assert!(header(back.headers(), "location").starts_with(&format!("{REDIRECT}?code=ac_")));
    let again = ask(&app, request("GET", &authorize, &[], "")).await;
    assert!(header(again.headers(), "location").contains("error=invalid_request_uri"));
}
