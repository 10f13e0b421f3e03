//! No secret in the log.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use host_store_sqlite::Database;
use http::Response;
use serde_json::Value;
use service::app::{App, Config};
use service::logging::LogFormat;
use service::mail::Mailbox;

use crate::browser::Browser;
use crate::desk::{ALL_SCOPES, BASE, FORM, SERVICE, ask, bearer, call, charge, json, request};
use crate::log::capture;
use crate::sign_in::{begin, decide, log_in, tokens};

const PASSWORD: &str = "correct horse battery staple";
/// Secrets of the seed and of these flows, of which no part may be logged.
const KNOWN: [&str; 6] = [
    PASSWORD,
    "demo-service-secret",
    "demo-web-secret",
    "ZGVtby1zZXJ2aWNlOmRlbW8tc2VydmljZS1zZWNyZXQ=",
    "wrong-password-of-ada",
    "token-of-a-stranger",
];

/// Values that the service hands out as secrets: tokens, codes, cookies, CSRF tokens, signing
/// secrets and links of letters.
#[derive(Default)]
struct Secrets(BTreeSet<String>);

impl Secrets {
    fn add(&mut self, secret: &str) {
        assert!(secret.len() >= 16, "{secret} could be in a line by chance");
        self.0.insert(secret.to_owned());
    }

    /// Adds the cookies and the members of a response that are secrets.
    fn add_from(&mut self, response: &Response<Bytes>) {
        for cookie in response.headers().get_all("set-cookie") {
            let (_, value) = cookie.to_str().unwrap().split_once('=').unwrap();
            let value = value.split(';').next().unwrap();
            if !value.is_empty() {
                self.add(value);
            }
        }
        if let Ok(body) = serde_json::from_slice::<Value>(response.body()) {
            for name in [
                "access_token",
                "refresh_token",
                "id_token",
                "secret",
                "request_uri",
            ] {
                if let Some(secret) = body.get(name).and_then(Value::as_str) {
                    self.add(secret);
                }
            }
        }
        let location = response.headers().get("location");
        let query = location.and_then(|url| url.to_str().ok()?.split_once('?'));
        for (name, value) in form_urlencoded::parse(query.map_or("", |(_, query)| query).as_bytes()) {
            if ["code", "token", "interaction"].contains(&&*name) {
                self.add(&value);
            }
        }
    }
}

/// Grants, webhooks, and requests with secrets at wrong places.
async fn call_api(app: &Arc<App>, secrets: &mut Secrets) {
    let post = async |path: &str, authorization: &str, body: &str| {
        ask(
            app,
            request(
                "POST",
                path,
                &[FORM, ("authorization", authorization)],
                body.to_owned(),
            ),
        )
        .await
    };
    for (authorization, body) in [
        (SERVICE, "grant_type=client_credentials"),
        (
            "Basic ZGVtby13ZWI6d3JvbmctcGFzc3dvcmQtb2YtYWRh",
            "grant_type=client_credentials",
        ),
    ] {
        secrets.add_from(&post("/token", authorization, body).await);
    }
    for path in ["/oauth/introspect", "/oauth/revoke"] {
        post(path, SERVICE, "token=token-of-a-stranger").await;
    }
    let token = bearer(app, ALL_SCOPES).await;
    secrets.add(token.strip_prefix("Bearer ").unwrap());
    charge(app, &token, 500).await;
    let hook = r#"{"url":"https://hooks.example.com/?key=token-of-a-stranger"}"#;
    let hook = call(app, &token, ("POST", "/v1/webhook-endpoints"), &[], hook).await;
    secrets.add_from(&hook);
    let path = format!(
        "/v1/webhook-endpoints/{}/rotations",
        json(&hook).get("id").unwrap().as_str().unwrap()
    );
    secrets.add_from(&call(app, &token, ("POST", &path), &[], "").await);
    for path in [
        "/v1/charges?access_token=token-of-a-stranger",
        "/graphql?query={token-of-a-stranger}",
    ] {
        ask(
            app,
            request(
                "GET",
                path,
                &[("authorization", "Bearer token-of-a-stranger")],
                "",
            ),
        )
        .await;
    }
    call(
        app,
        &token,
        ("POST", "/graphql"),
        &[],
        r#"{"query":"{ token-of-a-stranger }"}"#,
    )
    .await;
}

/// Sign-ins, a refresh token that is used twice, and a password reset.
async fn sign_in(app: &Arc<App>, letters: &Mailbox, secrets: &mut Secrets) {
    let mut browser = Browser::new(app);
    let begun = begin(&mut browser, "").await;
    secrets.add_from(&log_in(&mut browser, &begun, "wrong-password-of-ada").await);
    secrets.add_from(&log_in(&mut browser, &begun, PASSWORD).await);
    secrets.add_from(&decide(&mut browser, &begun, "allow").await);
    let mut other = Browser::new(app);
    secrets.add_from(&other.sign_in().await);
    let issued = tokens(app, &mut browser).await;
    for name in ["access_token", "refresh_token"] {
        secrets.add(issued.get(name).and_then(Value::as_str).unwrap());
    }
    let refresh = issued.get("refresh_token").and_then(Value::as_str).unwrap();
    for _ in 0..2 {
        let again = format!("grant_type=refresh_token&client_id=demo-native&refresh_token={refresh}");
        let refreshed = ask(app, request("POST", "/token", &[FORM], again)).await;
        secrets.add_from(&refreshed);
    }
    other.get("/password/forgotten").await;
    other
        .post("/password/forgotten", &[("email", "ada@example.com")])
        .await;
    let letter = letters.take().unwrap().text;
    let (_, rest) = letter.split_once("/password/reset?token=").unwrap();
    let reset = rest.split_whitespace().next().unwrap();
    secrets.add(reset);
    other.get(&format!("/password/reset?token={reset}")).await;
    for browser in [browser, other] {
        secrets.add(&browser.token);
        browser.cookies.values().for_each(|cookie| secrets.add(cookie));
    }
}

/// X8: sign-ins, grants, refreshes, resets, webhooks and refused requests log no secret, in neither
/// format and at no level.
#[tokio::test]
async fn log_has_no_secret() {
    for format in [LogFormat::Json, LogFormat::Pretty] {
        let (lines, _capturing) = capture(format);
        let letters = Mailbox::default();
        let mut config = Config::new(BASE, Database::open_in_memory().unwrap());
        config.mail = letters.as_mail();
        let app = Arc::new(App::open(config).await.unwrap());
        let mut secrets = Secrets::default();
        call_api(&app, &mut secrets).await;
        sign_in(&app, &letters, &mut secrets).await;
        let log = lines.text();
        // the flows have been logged, and their secrets are known
        for expected in [
            "/v1/webhook-endpoints/{id}/rotations",
            "authorization event",
            "signed in",
        ] {
            assert!(log.contains(expected), "{log}");
        }
        assert!(secrets.0.len() >= 15, "{:?}", secrets.0);
        let found = secrets.0.iter().map(String::as_str).chain(KNOWN);
        let found: Vec<&str> = found.filter(|secret| log.contains(secret)).collect();
        assert_eq!(found, [""; 0]);
    }
}
