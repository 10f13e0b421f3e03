//! Sign-in from the client's request to the code, and attacks on it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use host_store_sqlite::Database;
use http::Response;
use serde_json::Value;
use service::app::App;

use crate::browser::{Browser, EMAIL, HTML, PASSWORD, text, where_to};
use crate::desk::{ALL_SCOPES, FORM, ask, header, json, open, open_at, request};

/// Code verifier and challenge of RFC 7636 appendix B.
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
const REDIRECT: &str = "http://127.0.0.1:9999/callback";

/// A sign-in that a browser has started.
pub(crate) struct Begun {
    pub(crate) login: String,
    pub(crate) interaction: String,
    pub(crate) set_cookie: String,
}

impl Begun {
    pub(crate) fn consent(&self) -> String {
        format!("/consent?interaction={}", self.interaction)
    }

    /// Name of its cookie.
    fn cookie(&self) -> &str {
        self.set_cookie.split('=').next().unwrap()
    }
}

pub(crate) fn authorize_url(more: &str) -> String {
    let scope = ALL_SCOPES.replace(' ', "+");
    format!(
        "/authorize?response_type=code&client_id=demo-native&redirect_uri={REDIRECT}&scope={scope}&state=s\
         &code_challenge={CHALLENGE}&code_challenge_method=S256{more}"
    )
}

pub(crate) async fn begin(browser: &mut Browser, more: &str) -> Begun {
    let response = browser.get(&authorize_url(more)).await;
    let login = where_to(&response).to_owned();
    assert_eq!(header(response.headers(), "cache-control"), "no-store");
    Begun {
        interaction: login.strip_prefix("/login?interaction=").unwrap().to_owned(),
        set_cookie: header(response.headers(), "set-cookie").to_owned(),
        login,
    }
}

/// Opens the login page and submits this password.
pub(crate) async fn log_in(browser: &mut Browser, begun: &Begun, password: &str) -> Response<Bytes> {
    browser.get(&begun.login).await;
    send_password(browser, begun, password).await
}

pub(crate) async fn send_password(browser: &mut Browser, begun: &Begun, password: &str) -> Response<Bytes> {
    let fields = [
        ("interaction", begun.interaction.as_str()),
        ("email", EMAIL),
        ("password", password),
    ];
    browser.post("/login", &fields).await
}

/// Opens the consent page and submits this decision.
pub(crate) async fn decide(browser: &mut Browser, begun: &Begun, decision: &str) -> Response<Bytes> {
    browser.get(&begun.consent()).await;
    let fields = [
        ("interaction", begun.interaction.as_str()),
        ("decision", decision),
    ];
    browser.post("/consent", &fields).await
}

/// Tokens of a complete sign-in; without a session, the user signs in.
pub(crate) async fn tokens(app: &Arc<App>, browser: &mut Browser) -> Value {
    let begun = begin(browser, "").await;
    let mut page = browser.get(&begun.login).await;
    if page.status() == 200 {
        page = send_password(browser, &begun, PASSWORD).await;
    }
    assert_eq!(where_to(&page), begun.consent());
    let back = decide(browser, &begun, "allow").await;
    let query = where_to(&back).strip_prefix(REDIRECT).unwrap();
    let (_, code) = form_urlencoded::parse(query.trim_start_matches('?').as_bytes())
        .find(|(name, _)| name == "code")
        .unwrap();
    let body = format!(
        "grant_type=authorization_code&client_id=demo-native&code={code}&redirect_uri={REDIRECT}&code_verifier={VERIFIER}"
    );
    json(&ask(app, request("POST", "/token", &[FORM], body)).await)
}

/// `Authorization` header of the demo's user.
pub(crate) async fn access_token(app: &Arc<App>) -> String {
    let tokens = tokens(app, &mut Browser::new(app)).await;
    format!(
        "Bearer {}",
        tokens.get("access_token").and_then(Value::as_str).unwrap()
    )
}

/// S1: the cookie of a sign-in is `HttpOnly` and `SameSite`, and removed at the end.
#[tokio::test]
async fn the_cookie_of_a_sign_in_is_for_this_browser_alone() {
    let mut browser = Browser::new(&open().await);
    let begun = begin(&mut browser, "").await;
    let attributes = begun.set_cookie.split_once(';').unwrap().1;
    assert_eq!(attributes, " Path=/; Max-Age=600; HttpOnly; SameSite=Lax");
    log_in(&mut browser, &begun, PASSWORD).await;
    assert!(browser.cookies.contains_key(begun.cookie()));
    decide(&mut browser, &begun, "allow").await;
    assert!(!browser.cookies.contains_key(begun.cookie()));
}

/// S1: over TLS the cookies are `Secure` and have the prefix `__Host-`.
#[tokio::test]
async fn cookie_over_tls_is_secure_and_host_bound() {
    let config = service::app::Config::new("https://desk.example.com", Database::open_in_memory().unwrap());
    let mut browser = Browser::new(&Arc::new(App::open(config).await.unwrap()));
    let begun = begin(&mut browser, "").await;
    assert!(
        begun.set_cookie.starts_with("__Host-interaction-"),
        "{}",
        begun.set_cookie
    );
    assert!(
        begun
            .set_cookie
            .ends_with("; Path=/; Max-Age=600; Secure; HttpOnly; SameSite=Lax"),
        "{}",
        begun.set_cookie
    );
    let signed_in = log_in(&mut browser, &begun, PASSWORD).await;
    let cookie = header(signed_in.headers(), "set-cookie");
    assert!(cookie.starts_with("__Host-session=ss_"), "{cookie}");
    assert!(
        cookie.ends_with("; Path=/; Max-Age=28800; Secure; HttpOnly; SameSite=Lax"),
        "{cookie}"
    );
    assert_eq!(where_to(&signed_in), begun.consent());
}

/// O24: a link sent to a victim, and a cross-site form, have no cookie and are refused.
#[tokio::test]
async fn sign_in_continues_only_in_its_browser() {
    let app = open().await;
    let (mut victim, mut attacker) = (Browser::new(&app), Browser::new(&app));
    let begun = begin(&mut victim, "").await;
    attacker.sign_in().await;
    let theirs = begin(&mut attacker, "").await;
    let mut bare = Browser::new(&app);
    bare.cookies.insert("interaction".to_owned(), "x".to_owned());
    for browser in [&mut bare, &mut attacker] {
        assert_eq!(browser.get(&begun.login).await.status(), 400);
        assert_eq!(browser.get(&begun.consent()).await.status(), 400);
        browser.get("/account").await;
        assert_eq!(send_password(browser, &begun, PASSWORD).await.status(), 400);
        assert_eq!(decide(browser, &begun, "allow").await.status(), 400);
    }
    // a victim led into the attacker's sign-in
    assert_eq!(victim.get(&theirs.login).await.status(), 400);
    // the attempts of the attacker have not consumed the sign-in
    log_in(&mut victim, &begun, PASSWORD).await;
    let back = decide(&mut victim, &begun, "allow").await;
    assert!(where_to(&back).starts_with(REDIRECT));
}

/// O24: consent requires the password, and an interaction is answered once.
#[tokio::test]
async fn consent_requires_password_and_is_answered_once() {
    let mut browser = Browser::new(&open().await);
    let begun = begin(&mut browser, "").await;
    assert_eq!(where_to(&browser.get(&begun.consent()).await), begun.login);
    assert_eq!(decide(&mut browser, &begun, "allow").await.status(), 403);
    let wrong = log_in(&mut browser, &begun, "wrong").await;
    assert_eq!(wrong.status(), 422);
    assert_eq!(
        where_to(&decide(&mut browser, &begun, "allow").await),
        begun.login
    );
    let right = log_in(&mut browser, &begun, PASSWORD).await;
    assert_eq!(where_to(&right), begun.consent());
    let back = decide(&mut browser, &begun, "allow").await;
    assert!(where_to(&back).starts_with(REDIRECT));
    assert_eq!(decide(&mut browser, &begun, "allow").await.status(), 400);
    assert_eq!(log_in(&mut browser, &begun, PASSWORD).await.status(), 400);
}

/// O24, S4: a form of another site, of another user or from before the sign-in is refused.
#[tokio::test]
async fn form_of_another_browser_is_refused() {
    let app = open().await;
    let mut other = Browser::new(&app);
    other.sign_in().await;
    let mut browser = Browser::new(&app);
    let begun = begin(&mut browser, "").await;
    browser.get(&begun.login).await;
    let before = browser.token.clone();
    for token in ["", "x", other.token.as_str()] {
        browser.token = token.to_owned();
        let page = send_password(&mut browser, &begun, PASSWORD).await;
        assert_eq!(page.status(), 403, "{token}");
        assert!(!browser.is_signed_in().await);
    }
    log_in(&mut browser, &begun, PASSWORD).await;
    for token in ["", &before, &other.token] {
        let token = token.to_owned();
        let mut forged = browser.clone();
        forged.token = token.clone();
        let fields = [("interaction", begun.interaction.as_str()), ("decision", "allow")];
        assert_eq!(forged.post("/consent", &fields).await.status(), 403, "{token}");
        for form in ["sign-out", "sign-out-everywhere", "end-session", "password"] {
            forged.token = token.clone();
            let refused = forged.post(&format!("/account/{form}"), &[]).await;
            assert_eq!(refused.status(), 403, "{form} {token}");
        }
    }
    let back = decide(&mut browser, &begun, "allow").await;
    assert!(where_to(&back).contains("code="));
}

/// O24: two sign-ins in one browser are independent, and the second needs no password.
#[tokio::test]
async fn two_sign_ins_in_one_browser_are_independent() {
    let mut browser = Browser::new(&open().await);
    let (one, other) = (begin(&mut browser, "").await, begin(&mut browser, "").await);
    log_in(&mut browser, &one, PASSWORD).await;
    assert_eq!(where_to(&browser.get(&other.login).await), other.consent());
    for begun in [one, other] {
        let back = decide(&mut browser, &begun, "allow").await;
        assert!(where_to(&back).starts_with(REDIRECT));
    }
}

/// O24, S1: a session needs no password, unless the client sends `prompt=login`; then the old
/// sign-in is not sufficient.
#[tokio::test]
async fn session_suffices_without_prompt_login() {
    let (app, clock) = open_at().await;
    let mut browser = Browser::new(&app);
    browser.sign_in().await;
    clock.advance(Duration::from_secs(120));
    for more in ["", "&prompt=consent", "&max_age=600"] {
        let begun = begin(&mut browser, more).await;
        assert_eq!(
            where_to(&browser.get(&begun.login).await),
            begun.consent(),
            "{more}"
        );
    }
    for more in ["&prompt=login", "&max_age=60"] {
        clock.advance(Duration::from_secs(120));
        let begun = begin(&mut browser, more).await;
        let page = browser.get(&begun.login).await;
        assert_eq!(page.status(), 200, "{more}");
        assert!(!text(&page).contains("Continue as"), "{more}");
        // skips the pages, with the CSRF token of another form of the session
        let mut impatient = browser.clone();
        let fields = [("interaction", begun.interaction.as_str()), ("decision", "allow")];
        assert_eq!(where_to(&browser.get(&begun.consent()).await), begun.login);
        let fresh = send_password(&mut browser, &begun, PASSWORD).await;
        assert_eq!(where_to(&fresh), begun.consent(), "{more}");
        // the session was renewed, so the old secret belongs to no user
        let refused = impatient.post("/consent", &fields).await;
        assert_eq!(where_to(&refused), begun.login, "{more}");
        assert_eq!(header(refused.headers(), "set-cookie"), "", "{more}");
        let back = decide(&mut browser, &begun, "allow").await;
        assert!(where_to(&back).contains("code="), "{more}");
    }
    // signed in before the request, even within the same second
    let begun = begin(&mut browser, "&prompt=login").await;
    browser.get("/account").await;
    let fields = [("interaction", begun.interaction.as_str()), ("decision", "allow")];
    let back = browser.post("/consent", &fields).await;
    assert!(where_to(&back).contains("error=login_required"), "{back:?}");
}

/// O24: the user may switch to another user, by the client's or the user's choice.
#[tokio::test]
async fn user_may_switch_account() {
    let mut browser = Browser::new(&open().await);
    browser.sign_in().await;
    let begun = begin(&mut browser, "&prompt=select_account").await;
    let page = text(&browser.get(&begun.login).await);
    assert!(page.contains(&format!("Continue as {EMAIL}")), "{page}");
    let page = text(&browser.get(&begun.consent()).await);
    let other = format!("{}&amp;switch=1", begun.login);
    assert!(page.contains(&other), "{page}");
    let page = browser.get(&other.replace("&amp;", "&")).await;
    assert_eq!(page.status(), 200);
}

/// O3: a denial redirects to the client with an error; so does an unknown decision.
#[tokio::test]
async fn unknown_decision_denies() {
    let mut browser = Browser::new(&open().await);
    browser.sign_in().await;
    for decision in ["deny", "", "ALLOW"] {
        let begun = begin(&mut browser, "").await;
        let back = decide(&mut browser, &begun, decision).await;
        let location = where_to(&back);
        assert!(
            location.contains("error=access_denied") && !location.contains("code="),
            "{location}"
        );
    }
}

/// `--sign-in-as` skips the pages; an unknown user prevents the start.
#[tokio::test]
async fn sign_in_as_skips_pages_for_existing_user() {
    let open_as = async |email: &str| {
        let mut config = service::app::Config::new(crate::desk::BASE, Database::open_in_memory().unwrap());
        config.sign_in_as = Some(email.to_owned());
        App::open(config).await
    };
    let app = Arc::new(open_as(EMAIL).await.unwrap());
    let response = ask(&app, request("GET", &authorize_url(""), &[HTML], "")).await;
    assert_eq!(response.status(), 302);
    assert!(header(response.headers(), "location").starts_with(&format!("{REDIRECT}?")));
    let refused = open_as("unknown@example.com").await.err().unwrap();
    assert_eq!(refused.to_string(), "cannot start the service: --sign-in-as");
}
