//! Pushed authorization requests, RFC 9126.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request};
use oauth_core::memory::MemoryTokens;
use oauth_core::server::{Authorize, Consent, EndpointResponse, Interaction};
use oauth_core::vocabulary::RegisteredRedirectUri;
use serde_json::Value;

use super::fixture::{
    CALLBACK, Fixture, ISSUER, Pairs, Tokens, assert_error, basic, change, codes, post, reason, redirected,
    web_request,
};

const SECOND: Duration = Duration::from_secs(1);

async fn push(fixture: &Fixture, pairs: &Pairs<'_>) -> EndpointResponse {
    fixture.server.par(post(basic("web"), pairs)).await
}

/// Pushes a request of `web`; returns its `request_uri`.
async fn pushed(fixture: &Fixture, pairs: &Pairs<'_>) -> String {
    let answer = push(fixture, pairs).await;
    assert_eq!(answer.response.status(), 201, "{answer:?}");
    let body: Value = serde_json::from_slice(answer.response.body()).unwrap();
    body.get("request_uri")
        .and_then(Value::as_str)
        .unwrap()
        .to_owned()
}

/// The authorization request with a `request_uri`.
fn reference(request_uri: &str) -> Pairs<'_> {
    vec![("client_id", "web"), ("request_uri", request_uri)]
}

/// The reason of a refusal that is shown on a page, without a redirect.
async fn shown(fixture: &Fixture, pairs: &Pairs<'_>) -> &'static str {
    let answer = fixture.refused(pairs).await;
    assert_eq!(answer.response.status(), 400, "{pairs:?}");
    assert!(!answer.response.headers().contains_key("location"));
    reason(&answer)
}

/// The reason of a refusal that is redirected to the client.
async fn told(fixture: &Fixture, pairs: &Pairs<'_>) -> (String, &'static str) {
    let answer = fixture.refused(pairs).await;
    let (address, query) = redirected(&answer.response);
    assert_eq!(address, "https://app.example/callback");
    assert_eq!(query.optional("state"), Some("a state & more"));
    assert_eq!(query.optional("iss"), Some(ISSUER));
    (query.optional("error").unwrap().to_owned(), reason(&answer))
}

/// O23: the response has a `request_uri` for 60 seconds with more than 128 random bits, and is
/// never cached.
#[tokio::test]
async fn pushed_request_gets_uri_for_sixty_seconds() {
    let fixture = Fixture::new();
    let answer = push(&fixture, &web_request()).await;
    assert_eq!(answer.response.status(), 201);
    assert_eq!(answer.response.headers()["cache-control"], "no-cache, no-store");
    assert_eq!(answer.response.headers()["content-type"], "application/json");
    let body: Value = serde_json::from_slice(answer.response.body()).unwrap();
    let uri = body["request_uri"].as_str().unwrap();
    let name = uri.strip_prefix("urn:ietf:params:oauth:request_uri:").unwrap();
    assert_eq!(name.len(), 43);
    assert_eq!(body, serde_json::json!({ "request_uri": uri, "expires_in": 60 }));
    assert_eq!(codes(&answer.events), ["request_pushed"]);
    assert!(!format!("{answer:?}").contains(name), "no name in a log");
    assert_ne!(pushed(&fixture, &web_request()).await, uri);
}

/// O23, 32: a sign-in by a pushed request works up to the tokens.
#[tokio::test]
async fn user_signs_in_by_pushed_request() {
    let fixture = Fixture::new();
    let uri = pushed(&fixture, &change(web_request(), "login_hint", Some("ada"))).await;
    let interaction = fixture.interact(&reference(&uri)).await;
    assert_eq!(interaction.details.login_hint.as_deref(), Some("ada"));
    let (_, query) = redirected(&fixture.grant(&interaction).await.response);
    assert_eq!(query.optional("state"), Some("a state & more"));
    let tokens = Tokens::of(&fixture.redeem(query.optional("code").unwrap()).await);
    assert!(fixture.is_active(&tokens.access).await);
}

/// O23, 29: only pushed parameters count; parameters beside the `request_uri` are ignored, because
/// an attacker can change them.
#[tokio::test]
async fn parameters_beside_request_uri_are_ignored() {
    let fixture = Fixture::new();
    let uri = pushed(
        &fixture,
        &change(web_request(), "scope", Some("openid read:charges")),
    )
    .await;
    let mut pairs = reference(&uri);
    pairs.extend([
        ("scope", "openid read:charges write:charges"),
        ("redirect_uri", "https://evil.example/callback"),
        ("state", "forged"),
        ("code_challenge", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"),
        ("response_type", "token"),
        ("prompt", "none"),
        ("request", "e30.e30."),
    ]);
    let interaction = fixture.interact(&pairs).await;
    assert_eq!(interaction.details.scopes.to_string(), "openid read:charges");
    assert_eq!(interaction.details.redirect_uri.as_str(), CALLBACK);
    let (_, query) = redirected(&fixture.grant(&interaction).await.response);
    assert_eq!(query.optional("state"), Some("a state & more"));
    let code = query.optional("code").unwrap();
    Tokens::of(&fixture.redeem(code).await);
}

/// O23, 32: the `request_uri` of another client is refused on a page, and stays usable for its own
/// client.
#[tokio::test]
async fn request_uri_is_bound_to_its_client() {
    let fixture = Fixture::new();
    let uri = pushed(&fixture, &web_request()).await;
    for client in ["other", "native", "once"] {
        let stolen = change(reference(&uri), "client_id", Some(client));
        assert_eq!(shown(&fixture, &stolen).await, "request_uri_of_another_client");
    }
    let without_client = change(reference(&uri), "client_id", None);
    assert_eq!(shown(&fixture, &without_client).await, "client_id_missing");
    fixture.interact(&reference(&uri)).await;
}

/// O23: a forged `request_uri` is refused on a page.
#[tokio::test]
async fn forged_request_uri_is_refused_on_page() {
    let fixture = Fixture::new();
    let uri = pushed(&fixture, &web_request()).await;
    let longer = format!("{uri}A");
    let zeros = format!("urn:ietf:params:oauth:request_uri:{}", "A".repeat(43));
    for forged in [
        uri.split_at(uri.len() - 1).0,
        longer.as_str(),
        zeros.as_str(),
        "urn:ietf:params:oauth:request_uri:",
        "urn:ietf:params:oauth:request_uri:' OR 1=1 --",
    ] {
        assert_eq!(
            shown(&fixture, &reference(forged)).await,
            "request_uri_unknown",
            "{forged}"
        );
    }
    let mut twice = reference(&uri);
    twice.push(("request_uri", &zeros));
    assert_eq!(shown(&fixture, &twice).await, "client_or_redirect_uri_repeated");
}

/// O23, 32: a `request_uri` expires after 60 seconds to the nanosecond; a sign-in that began before
/// has ten minutes.
#[tokio::test]
async fn request_uri_expires_at_exact_instant() {
    let fixture = Fixture::new();
    let uri = pushed(&fixture, &web_request()).await;
    fixture.clock.advance(60 * SECOND - Duration::from_nanos(1));
    let interaction = fixture.interact(&reference(&uri)).await;
    fixture.clock.advance(Duration::from_nanos(1));
    let expected = ("invalid_request_uri".to_owned(), "request_uri_expired");
    assert_eq!(told(&fixture, &reference(&uri)).await, expected);
    fixture.clock.advance(9 * 60 * SECOND);
    let answer = fixture.grant(&interaction).await;
    assert_eq!(codes(&answer.events), ["authorization_granted"]);
}

/// O23, 32: reloading the page does not use up the request; the first answer, of any kind, uses it
/// up for all open pages.
#[tokio::test]
async fn request_uri_is_used_up_by_first_answer() {
    let fixture = Fixture::new();
    for denied in [false, true] {
        let uri = pushed(&fixture, &web_request()).await;
        let first = fixture.interact(&reference(&uri)).await;
        let second = fixture.interact(&reference(&uri)).await;
        let answer = if denied {
            answered(&fixture, &second, Consent::Denied).await
        } else {
            fixture.grant(&second).await
        };
        assert_eq!(answer.response.status(), 303);
        let late = fixture.grant(&first).await;
        assert_eq!(late.response.status(), 400);
        assert!(!late.response.headers().contains_key("location"));
        assert_eq!(reason(&late), "request_uri_spent");
        let expected = ("invalid_request_uri".to_owned(), "request_uri_spent");
        assert_eq!(told(&fixture, &reference(&uri)).await, expected);
    }
}

async fn answered(fixture: &Fixture, interaction: &Interaction, decision: Consent) -> EndpointResponse {
    let (id, browser) = (&interaction.id, interaction.browser.expose());
    fixture
        .server
        .resume(&Request::post("/").body(()).unwrap(), id, browser, decision)
        .await
}

/// O23: a push requires client authentication, as at the token endpoint.
#[tokio::test]
async fn push_requires_client_authentication() {
    let fixture = Fixture::new();
    let without = fixture.server.par(post(HeaderMap::new(), &web_request())).await;
    assert_error(&without, 401, "invalid_client");
    let mut wrong = web_request();
    wrong.push(("client_secret", "guess"));
    let wrong = fixture.server.par(post(HeaderMap::new(), &wrong)).await;
    assert_error(&wrong, 401, "invalid_client");
    let foreign = fixture.server.par(post(basic("other"), &web_request())).await;
    assert_error(&foreign, 400, "invalid_request");
    assert_eq!(reason(&foreign), "client_id_mismatch");

    let native = change(web_request(), "client_id", Some("native"));
    let native = change(native, "redirect_uri", Some("http://127.0.0.1:50123/callback"));
    let public = fixture.server.par(post(HeaderMap::new(), &native)).await;
    assert_eq!(public.response.status(), 201);
}

/// A parameter, its value (`None`: left out), the error, and the precise reason.
const FAULTS: &[(&str, Option<&str>, &str, &str)] = &[
    (
        "request_uri",
        Some("urn:ietf:params:oauth:request_uri:x"),
        "invalid_request",
        "request_uri_pushed",
    ),
    (
        "request_uri",
        Some("https://a.b/r"),
        "invalid_request",
        "request_uri_pushed",
    ),
    ("redirect_uri", None, "invalid_request", "redirect_uri_missing"),
    (
        "redirect_uri",
        Some("javascript:alert(1)"),
        "invalid_request",
        "redirect_uri_missing",
    ),
    (
        "redirect_uri",
        Some("https://app.example/callback"),
        "invalid_request",
        "redirect_uri_not_registered",
    ),
    (
        "redirect_uri",
        Some("https://evil.example/callback"),
        "invalid_request",
        "redirect_uri_not_registered",
    ),
    ("state", None, "invalid_request", "state_missing"),
    (
        "code_challenge",
        None,
        "invalid_request",
        "code_challenge_missing",
    ),
    (
        "code_challenge_method",
        Some("plain"),
        "invalid_request",
        "code_challenge_method_not_s256",
    ),
    (
        "response_type",
        Some("token"),
        "unsupported_response_type",
        "response_type_unsupported",
    ),
    ("scope", Some("openid admin"), "invalid_scope", "scope_exceeded"),
    (
        "resource",
        Some("https://other.example"),
        "invalid_target",
        "resource_exceeded",
    ),
    (
        "request",
        Some("e30.e30."),
        "request_not_supported",
        "request_object",
    ),
];

/// O23: a request that `/authorize` would refuse is refused at the push, as JSON.
#[tokio::test]
async fn each_fault_is_reported_at_the_push() {
    let fixture = Fixture::new();
    for (name, value, error, expected) in FAULTS {
        let answer = push(&fixture, &change(web_request(), name, *value)).await;
        assert_error(&answer, 400, error);
        assert_eq!(reason(&answer), *expected);
        let client = answer.events[0].client_id.as_ref().map(|id| id.as_str());
        assert_eq!(client, Some("web"), "{expected}");
    }
    fixture.change_client("web", |web| web.with_grant_types([])).await;
    assert_error(&push(&fixture, &web_request()).await, 400, "unauthorized_client");
}

/// O23: a push is a POST of a form of at most 64 KiB without repeated parameters; the query is not
/// read.
#[tokio::test]
async fn malformed_push_is_refused() {
    let fixture = Fixture::new();
    for name in ["scope", "state", "extra"] {
        let mut twice = change(web_request(), "extra", Some("1"));
        twice.push((name, "read:charges"));
        let answer = push(&fixture, &twice).await;
        assert_error(&answer, 400, "invalid_request");
        assert_eq!(reason(&answer), "parameter_repeated");
    }
    let mut big = post(basic("web"), &web_request());
    *big.body_mut() = vec![b'a'; 70_000].into();
    assert_error(&fixture.server.par(big).await, 413, "invalid_request");

    let query = oauth_core::params::encode(web_request());
    let mut get = Request::get(format!("/par?{query}")).body(Bytes::new()).unwrap();
    get.headers_mut().extend(basic("web"));
    let answer = fixture.server.par(get.clone()).await;
    assert_error(&answer, 405, "invalid_request");
    assert_eq!(answer.response.headers()["allow"], "POST");
    *get.method_mut() = http::Method::POST;
    let form = http::HeaderValue::from_static("application/x-www-form-urlencoded");
    get.headers_mut().insert("content-type", form);
    let unread = fixture.server.par(get).await;
    assert_eq!(reason(&unread), "redirect_uri_missing");
}

/// O4, O23: a redirect URI that is withdrawn after the push is not used, neither for a code nor for
/// an error.
#[tokio::test]
async fn a_redirect_uri_withdrawn_after_the_push_is_not_used() {
    let fixture = Fixture::new();
    let uri = pushed(&fixture, &web_request()).await;
    fixture
        .change_client("web", |mut web| {
            web.redirect_uris.clear();
            web.with_redirect_uri(RegisteredRedirectUri::exact("https://app.example/new").unwrap())
        })
        .await;
    assert_eq!(
        shown(&fixture, &reference(&uri)).await,
        "redirect_uri_not_registered"
    );
}

/// O23: `prompt=none` is decided at the browser, because the push knows no user.
#[tokio::test]
async fn prompt_none_is_decided_at_browser() {
    let fixture = Fixture::new();
    let uri = pushed(&fixture, &change(web_request(), "prompt", Some("none"))).await;
    let expected = ("login_required".to_owned(), "login_required");
    assert_eq!(told(&fixture, &reference(&uri)).await, expected);
}

/// O23: a server that requires pushed requests refuses others, and states so in its metadata.
#[tokio::test]
async fn server_can_require_pushed_requests() {
    let fixture = Fixture::with(Arc::new(MemoryTokens::new()), |builder| {
        builder.with_pushed_requests_required()
    });
    let expected = ("invalid_request".to_owned(), "request_not_pushed");
    assert_eq!(told(&fixture, &web_request()).await, expected);
    let elsewhere = change(web_request(), "redirect_uri", Some("https://evil.example/"));
    assert_eq!(shown(&fixture, &elsewhere).await, "redirect_uri_not_registered");
    let uri = pushed(&fixture, &web_request()).await;
    fixture.interact(&reference(&uri)).await;
    let request = Request::get("/").body(Bytes::new()).unwrap();
    let metadata: Value = serde_json::from_slice(fixture.server.metadata(&request).body()).unwrap();
    assert_eq!(metadata["require_pushed_authorization_requests"], true);
}

/// O2, O23: a form posted to `/authorize` may carry the `request_uri`.
#[tokio::test]
async fn posted_form_may_carry_request_uri() {
    let fixture = Fixture::new();
    let uri = pushed(&fixture, &web_request()).await;
    let posted = fixture
        .server
        .authorize(post(HeaderMap::new(), &reference(&uri)))
        .await;
    assert!(matches!(posted, Authorize::Interact(_)));
}
