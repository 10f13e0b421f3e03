//! The pages of a sign-in, and what an attacker makes of them.

use std::sync::Arc;

use bytes::Bytes;
use http::Response;
use serde_json::Value;
use service::app::App;
use store_sqlite::Database;

use crate::desk::{ALL_SCOPES, BASE, FORM, ask, header, json, open, request};

/// The appendix B pair of RFC 7636.
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
const REDIRECT: &str = "http://127.0.0.1:9999/callback";
const HTML: (&str, &str) = ("accept", "text/html,application/xhtml+xml;q=0.9");

/// A sign-in that has begun in some browser.
struct Begun {
    login: String,
    interaction: String,
    set_cookie: String,
    cookie: String,
}

fn authorize_url() -> String {
    let scope = ALL_SCOPES.replace(' ', "+");
    format!(
        "/authorize?response_type=code&client_id=demo-native&redirect_uri={REDIRECT}&scope={scope}&state=s\
         &code_challenge={CHALLENGE}&code_challenge_method=S256"
    )
}

async fn begin(app: &Arc<App>) -> Begun {
    let response = ask(app, request("GET", &authorize_url(), &[HTML], "")).await;
    assert_eq!(response.status(), 303, "{response:?}");
    assert_eq!(header(response.headers(), "cache-control"), "no-store");
    let login = header(response.headers(), "location").to_owned();
    let set_cookie = header(response.headers(), "set-cookie").to_owned();
    Begun {
        interaction: login.strip_prefix("/login?interaction=").unwrap().to_owned(),
        cookie: set_cookie.split(';').next().unwrap().to_owned(),
        login,
        set_cookie,
    }
}

async fn post(app: &Arc<App>, path: &str, cookie: &str, fields: &[(&str, &str)]) -> Response<Bytes> {
    let body = form_urlencoded::Serializer::new(String::new())
        .extend_pairs(fields)
        .finish();
    ask(
        app,
        request("POST", path, &[FORM, HTML, ("cookie", cookie)], body),
    )
    .await
}

async fn log_in(app: &Arc<App>, begun: &Begun, password: &str) -> Response<Bytes> {
    let fields = [
        ("interaction", begun.interaction.as_str()),
        ("email", "ada@example.com"),
        ("password", password),
    ];
    post(app, "/login", &begun.cookie, &fields).await
}

const PASSWORD: &str = "correct horse battery staple";

async fn decide(app: &Arc<App>, begun: &Begun, cookie: &str, decision: &str) -> Response<Bytes> {
    let fields = [
        ("interaction", begun.interaction.as_str()),
        ("decision", decision),
    ];
    post(app, "/consent", cookie, &fields).await
}

/// The `Authorization` of the demo's user, who signs in for it.
pub(crate) async fn access_token(app: &Arc<App>) -> String {
    let begun = begin(app).await;
    assert_eq!(log_in(app, &begun, PASSWORD).await.status(), 200);
    let back = decide(app, &begun, &begun.cookie, "allow").await;
    let location = header(back.headers(), "location");
    let query = location.strip_prefix(REDIRECT).unwrap().trim_start_matches('?');
    let (_, code) = form_urlencoded::parse(query.as_bytes())
        .find(|(name, _)| name == "code")
        .unwrap();
    let body = format!(
        "grant_type=authorization_code&client_id=demo-native&code={code}&redirect_uri={REDIRECT}&code_verifier={VERIFIER}"
    );
    let tokens = json(&ask(app, request("POST", "/token", &[FORM], body)).await);
    format!(
        "Bearer {}",
        tokens.get("access_token").and_then(Value::as_str).unwrap()
    )
}

/// S1: the cookie is out of reach of scripts and of forms on other sites, and gone when the sign-in is over.
#[tokio::test]
async fn the_cookie_of_a_sign_in_is_for_this_browser_alone() {
    let app = open().await;
    let begun = begin(&app).await;
    let attributes = begun.set_cookie.split_once(';').unwrap().1;
    assert_eq!(attributes, " HttpOnly; SameSite=Lax; Path=/; Max-Age=600");
    log_in(&app, &begun, PASSWORD).await;
    let back = decide(&app, &begun, &begun.cookie, "allow").await;
    let name = begun.cookie.split('=').next().unwrap();
    assert!(header(back.headers(), "set-cookie").starts_with(&format!("{name}=; ")));
    assert!(header(back.headers(), "set-cookie").contains("Max-Age=0"));
}

/// S1: over TLS the cookie is `Secure` and bound to its host by its name.
#[tokio::test]
async fn over_tls_the_cookie_is_secure_and_of_this_host() {
    let config = service::app::Config::new("https://desk.example.com", Database::open_in_memory().unwrap());
    let app = Arc::new(App::open(config).await.unwrap());
    let begun = begin(&app).await;
    assert!(
        begun.set_cookie.starts_with("__Host-interaction-"),
        "{}",
        begun.set_cookie
    );
    assert!(begun.set_cookie.ends_with("; Secure"), "{}", begun.set_cookie);
    assert_eq!(log_in(&app, &begun, PASSWORD).await.status(), 200);
}

/// O24: a link sent to a victim, and a form posted from another site, carry no cookie and lead nowhere.
#[tokio::test]
async fn a_sign_in_goes_on_only_in_the_browser_that_began_it() {
    let app = open().await;
    let (victim, attacker) = (begin(&app).await, begin(&app).await);
    for cookie in ["", attacker.cookie.as_str(), "interaction=x", "other=x; ="] {
        let page = ask(&app, request("GET", &victim.login, &[("cookie", cookie)], "")).await;
        assert_eq!(page.status(), 400, "{cookie}");
        let stolen = Begun {
            cookie: cookie.to_owned(),
            ..begin(&app).await
        };
        assert_eq!(log_in(&app, &stolen, PASSWORD).await.status(), 400, "{cookie}");
    }
    assert_eq!(log_in(&app, &victim, PASSWORD).await.status(), 200);
    for cookie in ["", attacker.cookie.as_str()] {
        assert_eq!(
            decide(&app, &victim, cookie, "allow").await.status(),
            400,
            "{cookie}"
        );
    }
    // and what the attacker tried has not used it up
    assert_eq!(decide(&app, &victim, &victim.cookie, "allow").await.status(), 303);
}

/// O24: consent without a password is none, and neither page works a second time.
#[tokio::test]
async fn consent_needs_the_password_and_counts_once() {
    let app = open().await;
    let begun = begin(&app).await;
    assert_eq!(decide(&app, &begun, &begun.cookie, "allow").await.status(), 400);
    assert_eq!(log_in(&app, &begun, "wrong").await.status(), 422);
    assert_eq!(decide(&app, &begun, &begun.cookie, "allow").await.status(), 400);
    assert_eq!(log_in(&app, &begun, PASSWORD).await.status(), 200);
    assert_eq!(decide(&app, &begun, &begun.cookie, "allow").await.status(), 303);
    assert_eq!(decide(&app, &begun, &begun.cookie, "allow").await.status(), 400);
    assert_eq!(log_in(&app, &begun, PASSWORD).await.status(), 400);
}

#[tokio::test]
async fn two_sign_ins_in_one_browser_do_not_disturb_each_other() {
    let app = open().await;
    let (one, other) = (begin(&app).await, begin(&app).await);
    let jar = format!("{}; {}", one.cookie, other.cookie);
    for begun in [one, other] {
        let begun = Begun {
            cookie: jar.clone(),
            ..begun
        };
        assert_eq!(log_in(&app, &begun, PASSWORD).await.status(), 200);
        assert_eq!(decide(&app, &begun, &jar, "allow").await.status(), 303);
    }
}

/// O3: a refusal by the user goes back to the client as an error; so does an answer that is no answer.
#[tokio::test]
async fn whoever_does_not_allow_denies() {
    let app = open().await;
    for decision in ["deny", "", "ALLOW"] {
        let begun = begin(&app).await;
        log_in(&app, &begun, PASSWORD).await;
        let back = decide(&app, &begun, &begun.cookie, decision).await;
        let location = header(back.headers(), "location");
        assert!(
            location.contains("error=access_denied") && !location.contains("code="),
            "{location}"
        );
    }
}

/// O24: every page forbids frames and everything inline or from elsewhere, and has nothing of that.
#[tokio::test]
async fn every_page_has_a_policy_that_it_keeps() {
    let app = open().await;
    let begun = begin(&app).await;
    let pages = [
        ("'none'", ask(&app, request("GET", "/", &[HTML], "")).await),
        (
            "'none'",
            ask(&app, request("GET", "/callback?code=x", &[HTML], "")).await,
        ),
        (
            "'none'",
            ask(&app, request("GET", "/problems/invalid-body", &[HTML], "")).await,
        ),
        (
            "'none'",
            ask(&app, request("GET", "/login?interaction=x", &[HTML], "")).await,
        ),
        (
            "'self'",
            ask(
                &app,
                request("GET", &begun.login, &[HTML, ("cookie", &begun.cookie)], ""),
            )
            .await,
        ),
        ("'self'", log_in(&app, &begun, "<script>").await),
        (
            "'self' http://127.0.0.1:9999",
            log_in(&app, &begun, PASSWORD).await,
        ),
    ];
    for (form_action, page) in pages {
        assert_keeps_its_policy(&page, form_action);
    }
}

fn assert_keeps_its_policy(page: &Response<Bytes>, form_action: &str) {
    let policy = header(page.headers(), "content-security-policy");
    assert!(
        policy.starts_with("default-src 'none'; style-src 'self'; "),
        "{policy}"
    );
    assert!(
        policy.contains("frame-ancestors 'none'") && policy.contains("base-uri 'none'"),
        "{policy}"
    );
    assert!(
        policy.ends_with(&format!("form-action {form_action}")),
        "{policy}"
    );
    assert!(!policy.contains("unsafe"), "{policy}");
    assert_eq!(header(page.headers(), "x-frame-options"), "DENY");
    assert_eq!(header(page.headers(), "cache-control"), "no-store");
    let text = String::from_utf8_lossy(page.body());
    assert!(text.starts_with("<!doctype html>"), "{text}");
    for inline in [
        "<style",
        " style=",
        "<script>",
        " onclick=",
        " onsubmit=",
        "javascript:",
        "https://",
    ] {
        assert!(!text.contains(inline), "{inline} in {text}");
    }
}

/// `/graphql` is an explorer to a browser, under a policy of its own, and the graph to everybody else.
#[tokio::test]
async fn the_graph_shows_a_browser_an_explorer() {
    let app = open().await;
    let accept = (
        "accept",
        "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8",
    );
    let page = ask(&app, request("GET", "/graphql", &[accept], "")).await;
    assert_eq!(
        (page.status().as_u16(), header(page.headers(), "content-type")),
        (200, "text/html; charset=utf-8")
    );
    assert!(header(page.headers(), "content-security-policy").contains("frame-ancestors 'none'"));
    let answer = ask(&app, request("GET", "/graphql?query=%7B__typename%7D", &[], "")).await;
    assert_eq!(
        json(&answer).pointer("/data/__typename"),
        Some(&Value::from("Query"))
    );
}

/// What the pages load is there, with the type that `nosniff` insists on, and is asked about again by its tag.
#[tokio::test]
async fn what_the_pages_load_is_served() {
    let app = open().await;
    for (path, content_type) in [
        ("/assets/desk.css", "text/css; charset=utf-8"),
        ("/assets/console.js", "text/javascript; charset=utf-8"),
        ("/assets/icon.svg", "image/svg+xml"),
    ] {
        let asset = ask(&app, request("GET", path, &[], "")).await;
        assert_eq!(
            (asset.status().as_u16(), header(asset.headers(), "content-type")),
            (200, content_type)
        );
        let tag = header(asset.headers(), "etag");
        let again = ask(&app, request("GET", path, &[("if-none-match", tag)], "")).await;
        assert_eq!((again.status().as_u16(), again.body().len()), (304, 0));
    }
}

/// H13: a person is told in words, a program by a problem.
#[tokio::test]
async fn a_sign_in_that_is_over_is_told_as_its_reader_reads() {
    let app = open().await;
    let person = ask(&app, request("GET", "/login?interaction=x", &[HTML], "")).await;
    assert_eq!(person.status(), 400);
    assert_eq!(
        header(person.headers(), "content-type"),
        "text/html; charset=utf-8"
    );
    assert!(String::from_utf8_lossy(person.body()).contains("start again"));
    let program = ask(
        &app,
        request("GET", "/login?interaction=x", &[("accept", "*/*")], ""),
    )
    .await;
    assert_eq!(
        header(program.headers(), "content-type"),
        "application/problem+json"
    );
}

/// What a client or a user typed stands in the pages as text.
#[tokio::test]
async fn what_was_typed_is_escaped() {
    let app = open().await;
    let begun = begin(&app).await;
    let fields = [
        ("interaction", begun.interaction.as_str()),
        ("email", "\"><script>alert(1)</script>"),
        ("password", "x"),
    ];
    let page = post(&app, "/login", &begun.cookie, &fields).await;
    assert_eq!(page.status(), 422);
    assert!(!String::from_utf8_lossy(page.body()).contains("<script>"));
}

/// `--sign-in-as`: the way to the code without a page; somebody who does not exist keeps the service from starting.
#[tokio::test]
async fn sign_in_as_skips_the_pages_for_a_user_who_exists() {
    let open_as = async |email: &str| {
        let mut config = service::app::Config::new(BASE, Database::open_in_memory().unwrap());
        config.sign_in_as = Some(email.to_owned());
        App::open(config).await
    };
    let app = Arc::new(open_as("ada@example.com").await.unwrap());
    let response = ask(&app, request("GET", &authorize_url(), &[], "")).await;
    assert_eq!(response.status(), 302);
    assert!(header(response.headers(), "location").starts_with(&format!("{REDIRECT}?")));
    assert!(open_as("nobody@example.com").await.is_err());
}
