//! Sign-out by a client, silent renewal and connected applications.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Response;
use serde_json::Value;
use service::app::App;

use crate::browser::{Browser, EMAIL, PASSWORD, text, where_to};
use crate::desk::{FORM, ask, header, json, open, open_at, request};

/// Code verifier and challenge of RFC 7636 appendix B.
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
const REDIRECT: &str = "http://127.0.0.1:9999/callback";
const SIGNED_OUT: &str = "http://127.0.0.1:9999/signed-out";
/// `demo-web:demo-web-secret`.
const BASIC: (&str, &str) = ("authorization", "Basic ZGVtby13ZWI6ZGVtby13ZWItc2VjcmV0");

fn authorize_url(more: &str) -> String {
    format!(
        "/authorize?response_type=code&client_id=demo-web&redirect_uri={REDIRECT}&scope=openid+read:charges&state=s\
         &code_challenge={CHALLENGE}&code_challenge_method=S256{more}"
    )
}

/// A parameter in the query of a redirect with status 302 or 303.
fn parameter(response: &Response<Bytes>, name: &str) -> Option<String> {
    assert!(matches!(response.status().as_u16(), 302 | 303), "{response:?}");
    let (_, query) = header(response.headers(), "location").split_once('?')?;
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    pairs
        .find(|(found, _)| found == name)
        .map(|(_, value)| value.into_owned())
}

/// Signs in as `demo-web` with login and consent pages; returns the tokens.
async fn sign_in(app: &Arc<App>, browser: &mut Browser) -> Value {
    let login = where_to(&browser.get(&authorize_url("")).await).to_owned();
    let interaction = login.strip_prefix("/login?interaction=").unwrap().to_owned();
    browser.get(&login).await;
    let fields = [
        ("interaction", interaction.as_str()),
        ("email", EMAIL),
        ("password", PASSWORD),
    ];
    let consent = where_to(&browser.post("/login", &fields).await).to_owned();
    assert_eq!(browser.get(&consent).await.status(), 200);
    let fields = [("interaction", interaction.as_str()), ("decision", "allow")];
    let back = browser.post("/consent", &fields).await;
    redeem(app, &parameter(&back, "code").unwrap()).await
}

async fn redeem(app: &Arc<App>, code: &str) -> Value {
    let body =
        format!("grant_type=authorization_code&code={code}&redirect_uri={REDIRECT}&code_verifier={VERIFIER}");
    json(&ask(app, request("POST", "/token", &[FORM, BASIC], body)).await)
}

fn member<'a>(tokens: &'a Value, name: &str) -> &'a str {
    tokens.get(name).and_then(Value::as_str).unwrap()
}

/// O28, O30, O35: in a browser with a session and consent, a silent request gets a code, and an
/// interactive one needs no page. The ID token is RS256.
#[tokio::test]
async fn silent_request_renews_without_pages() {
    let app = open().await;
    let mut browser = Browser::new(&app);
    let silent = authorize_url("&prompt=none");
    let refused = browser.get(&silent).await;
    assert_eq!(parameter(&refused, "error").as_deref(), Some("login_required"));
    let tokens = sign_in(&app, &mut browser).await;
    let header = member(&tokens, "id_token").split('.').next().unwrap().to_owned();
    // {"alg":"RS256"
    assert!(header.starts_with("eyJhbGciOiJSUzI1NiIs"), "{header}");

    let renewed = browser.get(&silent).await;
    let tokens = redeem(&app, &parameter(&renewed, "code").unwrap()).await;
    member(&tokens, "access_token");
    let more = silent.replace("read:charges", "read:charges+write:charges");
    let refused = browser.get(&more).await;
    assert_eq!(parameter(&refused, "error").as_deref(), Some("consent_required"));

    let login = where_to(&browser.get(&authorize_url("")).await).to_owned();
    let consent = where_to(&browser.get(&login).await).to_owned();
    assert!(parameter(&browser.get(&consent).await, "code").is_some());
    let login = where_to(&browser.get(&authorize_url("&prompt=consent")).await).to_owned();
    let consent = where_to(&browser.get(&login).await).to_owned();
    assert_eq!(browser.get(&consent).await.status(), 200);
}

/// O34: a client with its ID token signs the user out and gets the browser back; its tokens end.
#[tokio::test]
async fn client_signs_the_user_out() {
    let app = open().await;
    let mut browser = Browser::new(&app);
    let tokens = sign_in(&app, &mut browser).await;
    let hint = member(&tokens, "id_token");
    let path = format!("/end_session?id_token_hint={hint}&post_logout_redirect_uri={SIGNED_OUT}&state=x");
    // another browser has no session: it is only sent back
    let stranger = Browser::new(&app).get(&path).await;
    assert_eq!(
        header(stranger.headers(), "location"),
        format!("{SIGNED_OUT}?state=x")
    );
    assert!(browser.is_signed_in().await);

    let back = browser.get(&path).await;
    assert_eq!(
        header(back.headers(), "location"),
        format!("{SIGNED_OUT}?state=x")
    );
    assert!(!browser.is_signed_in().await);
    let body = format!(
        "grant_type=refresh_token&refresh_token={}",
        member(&tokens, "refresh_token")
    );
    let refresh = ask(&app, request("POST", "/token", &[FORM, BASIC], body)).await;
    assert_eq!(refresh.status(), 400);
}

/// O34: a client signs the user out although the session has timed out: its grants end, which the
/// timeout alone does not do.
#[tokio::test]
async fn client_signs_the_user_out_of_timed_out_session() {
    let (app, clock) = open_at().await;
    let mut browser = Browser::new(&app);
    let tokens = sign_in(&app, &mut browser).await;
    clock.advance(Duration::from_secs(31 * 60));
    assert!(!browser.is_signed_in().await);
    let path = format!(
        "/end_session?id_token_hint={}&post_logout_redirect_uri={SIGNED_OUT}",
        member(&tokens, "id_token")
    );
    let back = browser.get(&path).await;
    assert_eq!(header(back.headers(), "location"), SIGNED_OUT);
    let body = format!(
        "grant_type=refresh_token&refresh_token={}",
        member(&tokens, "refresh_token")
    );
    let refresh = ask(&app, request("POST", "/token", &[FORM, BASIC], body)).await;
    assert_eq!(refresh.status(), 400);
}

/// O34: without an ID token of the session the user is asked, because any page can send a browser
/// here; a form without the token of the page ends nothing.
#[tokio::test]
async fn foreign_sign_out_is_asked_for() {
    let app = open().await;
    let mut browser = Browser::new(&app);
    sign_in(&app, &mut browser).await;
    let path = format!("/end_session?client_id=demo-web&post_logout_redirect_uri={SIGNED_OUT}");
    let page = browser.get(&path).await;
    assert_eq!(page.status(), 200);
    // browsers apply the policy to the redirect after the form, too
    let policy = header(page.headers(), "content-security-policy");
    assert!(
        policy.ends_with("form-action 'self' http://127.0.0.1:9999"),
        "{policy}"
    );
    assert!(text(&page).contains("Demo web application asks to sign <strong>Ada Lovelace</strong> out"));
    let fields = [
        ("client_id", "demo-web"),
        ("post_logout_redirect_uri", SIGNED_OUT),
        ("decision", "sign-out"),
    ];
    let mut forger = browser.clone();
    forger.token = "forged".to_owned();
    assert_eq!(forger.post("/end_session", &fields).await.status(), 403);
    assert!(browser.is_signed_in().await);
    let staying = [("client_id", "demo-web"), ("decision", "stay")];
    browser.get(&path).await;
    assert_eq!(
        where_to(&browser.post("/end_session", &staying).await),
        "/account"
    );
    assert!(browser.is_signed_in().await);
    browser.get(&path).await;
    let left = browser.post("/end_session", &fields).await;
    assert_eq!(where_to(&left), SIGNED_OUT);
    assert!(!browser.is_signed_in().await);
}

/// O34: a form of another site is answered by a redirect, with which the browser sends its cookie.
#[tokio::test]
async fn posted_sign_out_is_repeated_with_cookie() {
    let app = open().await;
    let body = format!("client_id=demo-web&post_logout_redirect_uri={SIGNED_OUT}&state=x");
    let response = ask(&app, request("POST", "/end_session", &[FORM], body)).await;
    let expected = "/end_session?client_id=demo-web&post_logout_redirect_uri=http%3A%2F%2F127.0.0.1%3A9999%2Fsigned-out&state=x";
    assert_eq!(where_to(&response), expected);
    let evil =
        "client_id=demo-web&post_logout_redirect_uri=https://evil.example/&decision=sign-out".to_owned();
    let response = ask(&app, request("POST", "/end_session", &[FORM], evil)).await;
    assert_eq!(response.status(), 400);
}

/// O35: the account page lists connected applications; withdrawing one ends its tokens, and it must
/// ask again.
#[tokio::test]
async fn connected_application_is_listed_and_withdrawn() {
    let app = open().await;
    let mut browser = Browser::new(&app);
    let tokens = sign_in(&app, &mut browser).await;
    let page = text(&browser.get("/account").await);
    assert!(
        page.contains("Withdraw the permission of Demo web application"),
        "{page}"
    );
    assert!(page.contains("<code>read:charges</code>"));
    let withdrawn = browser
        .post("/account/withdraw-consent", &[("client", "demo-web")])
        .await;
    assert_eq!(where_to(&withdrawn), "/account?notice=withdrawn");
    assert!(text(&browser.get("/account").await).contains("You have allowed no application"));
    let body = format!(
        "grant_type=refresh_token&refresh_token={}",
        member(&tokens, "refresh_token")
    );
    let refresh = ask(&app, request("POST", "/token", &[FORM, BASIC], body)).await;
    assert_eq!(refresh.status(), 400);
    let refused = browser.get(&authorize_url("&prompt=none")).await;
    assert_eq!(parameter(&refused, "error").as_deref(), Some("consent_required"));
}

/// O34, O35: signing out of an application ends its tokens in every session, and keeps its
/// permission and the session of the browser.
#[tokio::test]
async fn signing_out_of_application_keeps_its_permission() {
    let app = open().await;
    let mut browser = Browser::new(&app);
    let tokens = sign_in(&app, &mut browser).await;
    browser.get("/account").await;
    let signed_out = browser
        .post("/account/sign-out-of-application", &[("client", "demo-web")])
        .await;
    assert_eq!(where_to(&signed_out), "/account?notice=application");
    let body = format!(
        "grant_type=refresh_token&refresh_token={}",
        member(&tokens, "refresh_token")
    );
    let refresh = ask(&app, request("POST", "/token", &[FORM, BASIC], body)).await;
    assert_eq!(refresh.status(), 400);
    assert!(browser.is_signed_in().await);
    let silent = browser.get(&authorize_url("&prompt=none")).await;
    assert!(parameter(&silent, "code").is_some());
}
