//! The account page: the list of sessions and every way to end one.

use std::sync::Arc;
use std::time::Duration;

use host_store_sqlite::Database;
use oauth_core::store::SubjectLocks;
use serde_json::Value;
use service::app::App;
use service::clock::DemoClock;
use service::desk::{Desk, User};

use crate::browser::{Browser, EMAIL, PASSWORD, text, where_to};
use crate::desk::{FORM, ask, call, header, json, open, open_at, open_over, request};
use crate::sign_in::{begin, send_password, tokens};

const MINUTE: Duration = Duration::from_secs(60);

/// Status of a refresh with these tokens.
async fn refresh(app: &Arc<App>, tokens: &Value) -> u16 {
    let token = tokens.get("refresh_token").and_then(Value::as_str).unwrap();
    let body = format!("grant_type=refresh_token&client_id=demo-native&refresh_token={token}");
    let response = ask(app, request("POST", "/token", &[FORM], body)).await;
    if response.status() == 400 {
        assert_eq!(json(&response).get("error"), Some(&Value::from("invalid_grant")));
    }
    response.status().as_u16()
}

/// Ids of the other sessions in the account page.
fn others(page: &str) -> Vec<String> {
    let ids = page.split("name=\"session\" value=\"").skip(1);
    ids.map(|rest| rest.split('"').next().unwrap().to_owned())
        .collect()
}

/// S1: the session cookie is `HttpOnly` and `SameSite`, changes with each sign-in, and is invalid
/// after sign-out, also for a thief.
#[tokio::test]
async fn session_starts_at_sign_in_and_ends_at_sign_out() {
    let mut browser = Browser::new(&open().await);
    assert!(!browser.is_signed_in().await);
    browser.get("/login").await;
    let before = browser.cookies.get("session").unwrap().clone();
    let fields = [("email", EMAIL), ("password", PASSWORD)];
    let signed_in = browser.post("/login", &fields).await;
    let cookie = header(signed_in.headers(), "set-cookie");
    assert!(
        cookie.ends_with("; Path=/; Max-Age=28800; HttpOnly; SameSite=Lax"),
        "{cookie}"
    );
    assert_ne!(browser.cookies.get("session"), Some(&before));
    let page = text(&browser.get("/account").await);
    assert!(page.contains("Ada Lovelace") && page.contains(EMAIL), "{page}");
    assert!(
        page.contains("Firefox on Linux") && page.contains("this device"),
        "{page}"
    );
    let mut thief = browser.clone();
    assert_eq!(where_to(&browser.get("/login").await), "/account");
    let signed_out = browser.post("/account/sign-out", &[]).await;
    assert_eq!(where_to(&signed_out), "/login?notice=signed-out");
    assert!(header(signed_out.headers(), "set-cookie").contains("Max-Age=0"));
    assert!(!browser.is_signed_in().await);
    assert!(!thief.is_signed_in().await);
    // the cookie from before the sign-in never becomes a session
    thief.cookies.insert("session".to_owned(), before);
    assert!(!thief.is_signed_in().await);
}

/// S2: a session expires after 30 minutes without use or 8 hours in total.
#[tokio::test]
async fn idle_or_old_session_expires() {
    let (app, clock) = open_at().await;
    let mut idle = Browser::new(&app);
    idle.sign_in().await;
    clock.advance(31 * MINUTE);
    assert!(!idle.is_signed_in().await);
    let mut busy = Browser::new(&app);
    busy.sign_in().await;
    for _ in 0..16 {
        clock.advance(29 * MINUTE);
        assert!(busy.is_signed_in().await);
    }
    clock.advance(17 * MINUTE);
    assert!(!busy.is_signed_in().await);
    assert!(!text(&busy.sign_in().await).contains("End the session"));
}

/// S3: ending a session in the list ends it at once, with the tokens granted in it and no others.
#[tokio::test]
async fn session_can_end_another_session() {
    let app = open().await;
    let (mut here, mut there) = (Browser::new(&app), Browser::new(&app));
    there.agent =
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1".to_owned();
    let (kept, lost) = (tokens(&app, &mut here).await, tokens(&app, &mut there).await);
    let page = text(&here.get("/account").await);
    assert!(page.contains("Safari on iPhone"), "{page}");
    let ids = others(&page);
    let [id] = ids.as_slice() else { panic!("{page}") };
    let ended = here.post("/account/end-session", &[("session", id)]).await;
    assert_eq!(where_to(&ended), "/account?notice=ended");
    assert!(!there.is_signed_in().await);
    assert_eq!(refresh(&app, &lost).await, 400);
    assert_eq!(refresh(&app, &kept).await, 200);
    assert!(others(&text(&here.get("/account").await)).is_empty());
    // the same id again, and invalid ids
    for id in [id, "", "x"] {
        let ended = here.post("/account/end-session", &[("session", id)]).await;
        assert_eq!(where_to(&ended), "/account?notice=ended");
    }
    assert!(here.is_signed_in().await);
}

/// S3: a user cannot end the session of another user.
#[tokio::test]
async fn user_cannot_end_session_of_another_user() {
    let database = Database::open_in_memory().unwrap();
    let app = open_over(database.clone()).await;
    let desk = Desk::open(database, DemoClock::new()).await.unwrap();
    let mallory = User::new("usr_mallory", "mallory@example.com", "Mallory");
    desk.register_user(mallory, "a long enough password".parse().unwrap())
        .await
        .unwrap();
    let mut attacker = Browser::new(&app);
    attacker.get("/login").await;
    let fields = [
        ("email", "mallory@example.com"),
        ("password", "a long enough password"),
    ];
    attacker.post("/login", &fields).await;
    let (mut ada, mut other) = (Browser::new(&app), Browser::new(&app));
    ada.sign_in().await;
    let ids = others(&text(&other.sign_in().await));
    let [id] = ids.as_slice() else { panic!("{ids:?}") };
    let page = text(&attacker.get("/account").await);
    assert!(others(&page).is_empty(), "{page}");
    attacker.post("/account/end-session", &[("session", id)]).await;
    attacker.post("/account/sign-out-everywhere", &[]).await;
    assert!(!attacker.is_signed_in().await);
    assert!(ada.is_signed_in().await && other.is_signed_in().await);
}

/// S3: signing out everywhere revokes every session and every token family in one step.
#[tokio::test]
async fn sign_out_everywhere_revokes_sessions_and_tokens() {
    let app = open().await;
    let (mut here, mut there) = (Browser::new(&app), Browser::new(&app));
    let (one, other) = (tokens(&app, &mut here).await, tokens(&app, &mut there).await);
    here.get("/account").await;
    let out = here.post("/account/sign-out-everywhere", &[]).await;
    assert_eq!(where_to(&out), "/login?notice=everywhere");
    let page = text(&here.get("/login?notice=everywhere").await);
    assert!(page.contains("signed out on every device"), "{page}");
    for browser in [&mut here, &mut there] {
        assert!(!browser.is_signed_in().await);
    }
    for tokens in [&one, &other] {
        assert_eq!(refresh(&app, tokens).await, 400);
    }
}

/// S3, S4: a password change requires the old password, ends every other session and renews this
/// one's secret.
#[tokio::test]
async fn new_password_ends_other_sessions_and_renews_this_one() {
    let app = open().await;
    let (mut here, mut there) = (Browser::new(&app), Browser::new(&app));
    let (kept, lost) = (tokens(&app, &mut here).await, tokens(&app, &mut there).await);
    here.get("/account").await;
    let new = "another long password";
    for (current, new, says) in [
        ("wrong", new, "not your current password"),
        (PASSWORD, "short", "12 characters"),
        (PASSWORD, &"x".repeat(1025), "too long"),
    ] {
        let fields = [("password", current), ("new_password", new)];
        let page = here.post("/account/password", &fields).await;
        assert_eq!(page.status(), 422);
        assert!(text(&page).contains(says), "{}", text(&page));
    }
    assert!(there.is_signed_in().await);
    here.get("/account").await;
    let old = here.clone();
    let fields = [("password", PASSWORD), ("new_password", new)];
    let changed = here.post("/account/password", &fields).await;
    assert_eq!(where_to(&changed), "/account?notice=password");
    assert!(here.is_signed_in().await);
    for mut browser in [there, old] {
        assert!(!browser.is_signed_in().await);
    }
    assert_eq!(refresh(&app, &lost).await, 400);
    assert_eq!(refresh(&app, &kept).await, 200);
    let mut again = Browser::new(&app);
    for (password, status) in [(PASSWORD, 422), (new, 303)] {
        again.get("/login").await;
        let fields = [("email", EMAIL), ("password", password)];
        assert_eq!(again.post("/login", &fields).await.status(), status);
    }
}

/// S1, S4: a sign-out that arrives after a parallel renewal of its session still ends the session.
#[tokio::test]
async fn sign_out_after_renewal_ends_the_session() {
    let mut here = Browser::new(&open().await);
    here.sign_in().await;
    let mut on_its_way = here.clone();
    let fields = [("password", PASSWORD), ("new_password", "another long password")];
    let changed = here.post("/account/password", &fields).await;
    assert_eq!(where_to(&changed), "/account?notice=password");
    let signed_out = on_its_way.post("/account/sign-out", &[]).await;
    assert_eq!(where_to(&signed_out), "/login?notice=signed-out");
    assert!(!here.is_signed_in().await);
}

/// O36, S3: after a sign-out everywhere the desk refuses the access tokens at once, as its pages
/// say, although they are JWTs.
#[tokio::test]
async fn signed_out_access_token_is_refused_at_once() {
    let app = open().await;
    let mut browser = Browser::new(&app);
    let tokens = tokens(&app, &mut browser).await;
    let bearer = format!(
        "Bearer {}",
        tokens.get("access_token").and_then(Value::as_str).unwrap()
    );
    let account = text(&browser.get("/account").await);
    assert_eq!(
        account.matches("lose their access at once").count(),
        2,
        "{account}"
    );
    let list = ("GET", "/v1/charges");
    assert_eq!(call(&app, &bearer, list, &[], "").await.status(), 200);
    let out = browser.post("/account/sign-out-everywhere", &[]).await;
    let page = text(&browser.get(where_to(&out)).await);
    assert!(page.contains("Applications have lost their access"), "{page}");
    assert_eq!(call(&app, &bearer, list, &[], "").await.status(), 401);
    assert_eq!(refresh(&app, &tokens).await, 400);
}

/// O45: a locked user cannot sign in, even with the right password, and the tokens of the user are
/// refused at once, also by the API; after the lock they are valid again.
#[tokio::test]
async fn locked_account_is_refused_everywhere() {
    let database = Database::open_in_memory().unwrap();
    let app = open_over(database.clone()).await;
    let mut browser = Browser::new(&app);
    let tokens = tokens(&app, &mut browser).await;
    let bearer = format!(
        "Bearer {}",
        tokens.get("access_token").and_then(Value::as_str).unwrap()
    );
    let list = ("GET", "/v1/charges");
    let ada = "usr_ada".parse().unwrap();
    database.lock_subject(&ada).await.unwrap();
    assert_eq!(call(&app, &bearer, list, &[], "").await.status(), 401);
    assert_eq!(refresh(&app, &tokens).await, 400);
    let mut other = Browser::new(&app);
    other.get("/login").await;
    for (password, expected) in [
        (PASSWORD, "This account is locked"),
        ("another password", "Email and password do not match"),
    ] {
        let fields = [("email", EMAIL), ("password", password)];
        let refused = other.post("/login", &fields).await;
        assert_eq!(refused.status(), 422);
        assert!(text(&refused).contains(expected), "{password}");
    }
    assert!(!other.is_signed_in().await);
    database.unlock_subject(&ada).await.unwrap();
    assert_eq!(call(&app, &bearer, list, &[], "").await.status(), 200);
    assert_eq!(refresh(&app, &tokens).await, 200);
}

/// S4: `prompt=login` renews the session and leaves the tokens of other clients active.
#[tokio::test]
async fn fresh_sign_in_leaves_other_clients_tokens_active() {
    let (app, clock) = open_at().await;
    let mut browser = Browser::new(&app);
    let kept = tokens(&app, &mut browser).await;
    let mut thief = browser.clone();
    clock.advance(MINUTE);
    let begun = begin(&mut browser, "&prompt=login").await;
    assert_eq!(browser.get(&begun.login).await.status(), 200);
    let fresh = send_password(&mut browser, &begun, PASSWORD).await;
    assert_eq!(where_to(&fresh), begun.consent());
    assert!(!thief.is_signed_in().await);
    assert_eq!(refresh(&app, &kept).await, 200);
    let page = text(&browser.get("/account").await);
    assert!(others(&page).is_empty(), "{page}");
    assert!(page.contains("Signed in a minute ago"), "{page}");
}
