//! Interactions: sign-in and consent by the host.

use std::time::Duration;

use http::Method;
use oauth_core::server::{Authentication, Consent};
use oauth_core::vocabulary::RegisteredRedirectUri;

use super::fixture::{Fixture, ISSUER, Tokens, change, codes, reason, redirected, web_request};

/// O3, 24, 26: code, state and issuer are added to the redirect URI, whose own query stays.
#[tokio::test]
async fn a_granted_request_is_redirected_with_code_state_and_issuer() {
    let fixture = Fixture::new();
    let interaction = fixture.interact(&web_request()).await;
    let answer = fixture.grant(&interaction).await;
    let (address, query) = redirected(&answer.response);
    assert_eq!(address, "https://app.example/callback");
    assert_eq!(query.optional("tenant"), Some("1"));
    assert!(
        query
            .optional("code")
            .is_some_and(|code| code.starts_with("ac_") && code.len() >= 43)
    );
    assert_eq!(query.optional("state"), Some("a state & more"));
    assert_eq!(query.optional("iss"), Some(ISSUER));
    assert_eq!(answer.response.headers()["cache-control"], "no-store");
    assert_eq!(codes(&answer.events), ["authorization_granted"]);
}

/// O3, 27: 303 after a POST, 302 after a GET.
#[tokio::test]
async fn redirect_status_depends_on_method() {
    let fixture = Fixture::new();
    for (method, status) in [(Method::POST, 303), (Method::GET, 302)] {
        let interaction = fixture.interact(&web_request()).await;
        let decision = Consent::Granted(fixture.ada());
        let answer = fixture
            .server
            .resume(
                &http::Request::builder().method(method).body(()).unwrap(),
                &interaction.id,
                interaction.browser.expose(),
                decision,
            )
            .await;
        assert_eq!(answer.response.status(), status);
    }
}

/// O24: a denied consent is `access_denied`.
#[tokio::test]
async fn a_denied_request_is_redirected_with_access_denied() {
    let fixture = Fixture::new();
    let interaction = fixture.interact(&web_request()).await;
    let browser = interaction.browser.expose();
    let answer = fixture
        .server
        .resume(
            &http::Request::post("/").body(()).unwrap(),
            &interaction.id,
            browser,
            Consent::Denied,
        )
        .await;
    let (_, query) = redirected(&answer.response);
    assert_eq!(query.optional("error"), Some("access_denied"));
    assert_eq!(query.optional("state"), Some("a state & more"));
    assert_eq!(query.optional("iss"), Some(ISSUER));
    assert_eq!(codes(&answer.events), ["authorization_denied"]);
}

/// O24, 31: a browser without the cookie can neither see nor answer nor use up the interaction.
#[tokio::test]
async fn other_browser_cannot_see_or_answer_interaction() {
    let fixture = Fixture::new();
    let victim = fixture.interact(&web_request()).await;
    let attacker = fixture.interact(&web_request()).await;
    for browser in ["", "guess", attacker.browser.expose(), &victim.id] {
        assert_eq!(
            fixture.server.interaction(&victim.id, browser).await.unwrap(),
            None
        );
        let decision = Consent::Granted(fixture.ada());
        let answer = fixture
            .server
            .resume(
                &http::Request::post("/").body(()).unwrap(),
                &victim.id,
                browser,
                decision,
            )
            .await;
        assert_eq!(
            (answer.response.status().as_u16(), reason(&answer)),
            (400, "interaction_unknown")
        );
        assert!(!answer.response.headers().contains_key("location"));
    }
    let seen = fixture
        .server
        .interaction(&victim.id, victim.browser.expose())
        .await
        .unwrap();
    assert_eq!(seen, Some(victim.details.clone()));
    assert_eq!(fixture.grant(&victim).await.response.status(), 303);
}

/// O24: an interaction is answered once.
#[tokio::test]
async fn an_interaction_is_answered_once() {
    let fixture = Fixture::new();
    let interaction = fixture.interact(&web_request()).await;
    assert_eq!(fixture.grant(&interaction).await.response.status(), 303);
    assert_eq!(fixture.grant(&interaction).await.response.status(), 400);
    let browser = interaction.browser.expose();
    assert_eq!(
        fixture
            .server
            .interaction(&interaction.id, browser)
            .await
            .unwrap(),
        None
    );
}

/// O24: an interaction expires after ten minutes, to the nanosecond.
#[tokio::test]
async fn an_interaction_ends_after_ten_minutes() {
    let fixture = Fixture::new();
    let interaction = fixture.interact(&web_request()).await;
    fixture
        .clock
        .advance(Duration::from_secs(600) - Duration::from_nanos(1));
    let browser = interaction.browser.expose();
    assert!(
        fixture
            .server
            .interaction(&interaction.id, browser)
            .await
            .unwrap()
            .is_some()
    );
    fixture.clock.advance(Duration::from_nanos(1));
    assert!(
        fixture
            .server
            .interaction(&interaction.id, browser)
            .await
            .unwrap()
            .is_none()
    );
    let answer = fixture.grant(&interaction).await;
    assert_eq!(
        (answer.response.status().as_u16(), reason(&answer)),
        (400, "interaction_expired")
    );
}

/// O24, 31: the user may grant fewer scopes than requested, never more; none is a denial.
#[tokio::test]
async fn user_grants_requested_scopes_or_fewer() {
    let fixture = Fixture::new();
    for (granted, expected) in [
        ("read:charges", Some("read:charges")),
        ("read:charges admin", Some("read:charges")),
        ("admin", None),
    ] {
        let interaction = fixture.interact(&web_request()).await;
        let decision = Consent::Granted(fixture.ada().with_scopes(granted.parse().unwrap()));
        let browser = interaction.browser.expose();
        let answer = fixture
            .server
            .resume(
                &http::Request::post("/").body(()).unwrap(),
                &interaction.id,
                browser,
                decision,
            )
            .await;
        let (_, query) = redirected(&answer.response);
        match expected {
            None => assert_eq!(query.optional("error"), Some("access_denied")),
            Some(scope) => {
                let tokens = Tokens::of(&fixture.redeem(query.optional("code").unwrap()).await);
                assert_eq!(tokens.body["scope"], scope);
                assert!(tokens.body.get("id_token").is_none(), "openid was not granted");
            }
        }
    }
}

/// O24, 31: scopes and grants that the client loses before the answer are not granted.
#[tokio::test]
async fn scopes_and_grants_withdrawn_meanwhile_are_not_granted() {
    let fixture = Fixture::new();
    let narrowed = fixture.interact(&web_request()).await;
    let read = || "read:charges".parse().unwrap();
    fixture.change_client("web", |web| web.with_scopes(read())).await;
    let answer = fixture.grant(&narrowed).await;
    let (_, query) = redirected(&answer.response);
    let tokens = Tokens::of(&fixture.redeem(query.optional("code").unwrap()).await);
    assert_eq!(tokens.body["scope"], "read:charges");

    let plain = change(
        change(web_request(), "scope", Some("read:charges")),
        "nonce",
        None,
    );
    let barred = fixture.interact(&plain).await;
    fixture.change_client("web", |web| web.with_grant_types([])).await;
    let answer = fixture.grant(&barred).await;
    assert_eq!(
        (answer.response.status().as_u16(), reason(&answer)),
        (400, "client_changed")
    );
}

/// O11, 58: a user whose subject is the id of a client gets no code, because the token would look
/// like one of the client.
#[tokio::test]
async fn user_with_client_id_as_subject_gets_no_code() {
    let fixture = Fixture::new();
    let interaction = fixture.interact(&web_request()).await;
    let decision = Consent::Granted(Authentication::new("service".parse().unwrap(), fixture.now()));
    let browser = interaction.browser.expose();
    let answer = fixture
        .server
        .resume(
            &http::Request::post("/").body(()).unwrap(),
            &interaction.id,
            browser,
            decision,
        )
        .await;
    assert_eq!(
        redirected(&answer.response).1.optional("error"),
        Some("server_error")
    );
    assert_eq!(reason(&answer), "subject_is_a_client");
}

/// O4: a redirect URI that is withdrawn before the answer is not used.
#[tokio::test]
async fn a_redirect_uri_withdrawn_meanwhile_is_not_used() {
    let fixture = Fixture::new();
    let interaction = fixture.interact(&web_request()).await;
    let elsewhere = RegisteredRedirectUri::exact("https://new.example/callback").unwrap();
    fixture
        .change_client("web", |mut web| {
            web.redirect_uris = vec![elsewhere];
            web
        })
        .await;
    let answer = fixture.grant(&interaction).await;
    assert_eq!(
        (answer.response.status().as_u16(), reason(&answer)),
        (400, "client_changed")
    );
}

/// O24: the response of a completed interaction deletes the cookie of this interaction; an error
/// page deletes none, because its identifier is any text of the browser.
#[tokio::test]
async fn completed_interaction_deletes_its_cookie() {
    let fixture = Fixture::new();
    let interaction = fixture.interact(&web_request()).await;
    let set = interaction.set_cookie.to_str().unwrap();
    let (name, _) = set.split_once('=').unwrap();
    let granted = fixture.grant(&interaction).await.response;
    let cleared = granted.headers().get("set-cookie").unwrap().to_str().unwrap();
    assert_eq!(
        cleared,
        format!("{name}=; Path=/; Max-Age=0; Secure; HttpOnly; SameSite=Lax")
    );
    let again = fixture.grant(&interaction).await.response;
    assert_eq!(
        (again.status().as_u16(), again.headers().get("set-cookie")),
        (400, None)
    );
}
