//! The authorization endpoint.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Request};
use oauth_core::memory::MemoryTokens;
use oauth_core::params::Params;
use oauth_core::secret::TokenHash;
use oauth_core::server::{Authorize, Consent};
use oauth_core::store::{GrantType, RegisteredClient};
use oauth_core::vocabulary::{Nonce, RegisteredRedirectUri, Scopes};

use super::fixture::{
    CALLBACK, CHALLENGE, Fixture, ISSUER, Pairs, SCOPE, change, codes, post, reason, redirected, web_request,
};

/// O2, O24, 15, 17, 19, 20: a valid request becomes an interaction with its client, scopes and
/// redirect URI.
#[tokio::test]
async fn a_valid_request_is_handed_to_the_host() {
    let fixture = Fixture::new();
    let interaction = fixture.interact(&web_request()).await;
    assert_eq!(interaction.details.client_id.as_str(), "web");
    assert_eq!(interaction.details.client_name.as_deref(), Some("The Web App"));
    assert_eq!(
        interaction.details.scopes.to_string(),
        "openid read:charges write:charges"
    );
    assert_eq!(codes(&interaction.events), ["authorization_requested"]);
    assert!(interaction.id.len() >= 43 && interaction.browser.expose().len() >= 43);
    assert_ne!(interaction.id, interaction.browser.expose());
}

/// O2, 30: `POST` works as `GET` does.
#[tokio::test]
async fn a_posted_request_is_handed_to_the_host() {
    let fixture = Fixture::new();
    let outcome = fixture
        .server
        .authorize(post(HeaderMap::new(), &web_request()))
        .await;
    assert!(matches!(outcome, Authorize::Interact(_)));
    // a POST has its parameters in the form only
    let uri = format!("{ISSUER}/authorize?client_id=web");
    let outcome = fixture
        .server
        .authorize(Request::post(uri).body(Bytes::new()).unwrap())
        .await;
    assert!(matches!(outcome, Authorize::Respond(answer) if answer.response.status() == 400));
}

/// O2, 29, 34: unknown parameters, and those of OpenID Connect that need no action, are ignored.
#[tokio::test]
async fn unknown_parameters_are_ignored() {
    let fixture = Fixture::new();
    for (name, value) in [
        ("extra", "foobar"),
        ("ui_locales", "se"),
        ("claims_locales", "se"),
        ("display", "popup"),
        ("max_age", "10000"),
        ("acr_values", "1 2"),
        ("prompt", "login consent"),
        ("login_hint", "ada@example.com"),
        ("response_mode", "query"),
        ("state", "'\"<>"),
    ] {
        let interaction = fixture.interact(&change(web_request(), name, Some(value))).await;
        assert_eq!(
            interaction.details.login_hint.as_deref(),
            (name == "login_hint").then_some(value)
        );
    }
}

/// O2: a `login_hint` that cannot be an account name is dropped: neither stored nor shown, because
/// an attacker can send one.
#[tokio::test]
async fn a_login_hint_is_short_text_or_none() {
    let fixture = Fixture::new();
    let (fits, long) = ("a".repeat(256), "a".repeat(257));
    for (hint, kept) in [
        (fits.as_str(), true),
        ("\u{e4}da@example.com", true),
        (&long, false),
        ("ada\r\nbob", false),
        ("\u{1b}[2J", false),
    ] {
        let interaction = fixture
            .interact(&change(web_request(), "login_hint", Some(hint)))
            .await;
        let shown = interaction.details.login_hint;
        assert_eq!(shown.as_deref(), kept.then_some(hint), "{hint:?}");
    }
}

/// O3, O4, 15, 17, 28: a fault of `client_id` or `redirect_uri` is shown on a page and never
/// redirected.
#[tokio::test]
async fn invalid_client_or_redirect_uri_is_never_redirected() {
    let fixture = Fixture::new();
    let uris = [
        "https://app.example/callback",
        "https://app.example/callback?tenant=1&more=2",
        "https://app.example/callback?tenant=12",
        "https://app.example/callback/?tenant=1",
        "https://app.example/callback/../callback?tenant=1",
        "https://app.example:443/callback?tenant=1",
        "https://APP.example/callback?tenant=1",
        "https://app.example.evil.com/callback?tenant=1",
        "https://app.example@evil.com/callback?tenant=1",
        "https://evil.com/?x=https://app.example/callback?tenant=1",
        "http://app.example/callback?tenant=1",
        "https://app.example/callback?tenant=1#fragment",
        "javascript:alert(1)",
        "not a uri",
    ];
    let mut attacks: Vec<Pairs<'_>> = uris
        .iter()
        .map(|uri| change(web_request(), "redirect_uri", Some(uri)))
        .collect();
    attacks.push(change(web_request(), "redirect_uri", None));
    attacks.push(change(web_request(), "client_id", None));
    attacks.push(change(web_request(), "client_id", Some("unregistered")));
    attacks.push(change(web_request(), "client_id", Some("WEB")));
    attacks.push([web_request(), vec![("client_id", "web")]].concat());
    attacks.push([web_request(), vec![("client_id", "")]].concat());
    attacks.push([web_request(), vec![("redirect_uri", CALLBACK)]].concat());
    attacks.push(
        [
            web_request(),
            vec![("state", "x"), ("redirect_uri", "https://evil.com")],
        ]
        .concat(),
    );
    for attack in attacks {
        let answer = fixture.refused(&attack).await;
        assert_eq!(answer.response.status(), 400, "{attack:?}");
        assert!(!answer.response.headers().contains_key("location"), "{attack:?}");
        assert_eq!(
            answer.response.headers()["content-type"],
            "text/html; charset=utf-8"
        );
        for (name, value) in [
            ("x-frame-options", "DENY"),
            ("referrer-policy", "no-referrer"),
            ("cache-control", "no-store"),
        ] {
            assert_eq!(answer.response.headers()[name], value);
        }
        let page = String::from_utf8_lossy(answer.response.body());
        assert!(
            !page.contains("evil") && !page.contains("app.example"),
            "nothing is reflected"
        );
        assert_eq!(codes(&answer.events), ["request_refused"]);
    }
}

/// O4: a native client may use any port of its registered loopback address; all else must match.
#[tokio::test]
async fn a_loopback_redirect_uri_matches_with_any_port() {
    let fixture = Fixture::new();
    let native = change(web_request(), "client_id", Some("native"));
    for uri in [
        "http://127.0.0.1/callback",
        "http://127.0.0.1:51004/callback",
        "http://127.0.0.1:1/callback",
    ] {
        fixture
            .interact(&change(native.clone(), "redirect_uri", Some(uri)))
            .await;
    }
    for uri in [
        "http://localhost:51004/callback",
        "http://127.0.0.2:51004/callback",
        "http://[::1]:51004/callback",
        "https://127.0.0.1:51004/callback",
        "http://127.0.0.1:51004/callback/more",
        "http://127.0.0.1:51004/callback?x=y",
        "http://127.0.0.1:51004@evil.com/callback",
        "http://127.0.0.1:port/callback",
    ] {
        let answer = fixture
            .refused(&change(native.clone(), "redirect_uri", Some(uri)))
            .await;
        assert_eq!(answer.response.status(), 400, "{uri}");
    }
}

/// O4: a public client that is registered with `localhost` may use any port of it.
#[tokio::test]
async fn localhost_redirect_uri_matches_with_any_port() {
    let fixture = Fixture::new();
    let localhost = RegisteredRedirectUri::localhost_any_port("http://localhost/callback").unwrap();
    fixture
        .change_client("native", |native| native.with_redirect_uri(localhost))
        .await;
    let native = change(web_request(), "client_id", Some("native"));
    for uri in ["http://localhost/callback", "http://localhost:51004/callback"] {
        fixture
            .interact(&change(native.clone(), "redirect_uri", Some(uri)))
            .await;
    }
    for uri in [
        "http://localhost:51004/callback/more",
        "http://localhost.evil.com:51004/callback",
        "http://localhost:51004@evil.com/callback",
        "https://localhost:51004/callback",
        "http://app.localhost:51004/callback",
    ] {
        let answer = fixture
            .refused(&change(native.clone(), "redirect_uri", Some(uri)))
            .await;
        assert_eq!(answer.response.status(), 400, "{uri}");
    }
}

/// O4: a URI with any port is for public clients; of a confidential client it matches nothing.
#[tokio::test]
async fn confidential_client_has_no_uri_with_any_port() {
    let fixture = Fixture::new();
    let loopback = RegisteredRedirectUri::loopback_any_port("http://127.0.0.1/callback").unwrap();
    let localhost = RegisteredRedirectUri::localhost_any_port("http://localhost/callback").unwrap();
    fixture
        .change_client("web", |web| {
            web.with_redirect_uri(loopback).with_redirect_uri(localhost)
        })
        .await;
    for uri in [
        "http://127.0.0.1/callback",
        "http://127.0.0.1:51004/callback",
        "http://localhost:51004/callback",
    ] {
        let answer = fixture
            .refused(&change(web_request(), "redirect_uri", Some(uri)))
            .await;
        assert_eq!(
            (answer.response.status().as_u16(), reason(&answer)),
            (400, "redirect_uri_not_registered")
        );
        let named = answer.events.last().and_then(|event| event.client_id.clone());
        assert_eq!(named, "web".parse().ok(), "the host learns whose request it was");
    }
}

/// O2, O3: the response reaches the client in the requested mode: a code, a denial, and an error of
/// the request itself.
#[tokio::test]
async fn response_has_requested_mode() {
    let fixture = Fixture::new();
    fixture
        .change_client("web", RegisteredClient::with_fragment_responses)
        .await;
    for mode in ["fragment", "form_post"] {
        let request = change(web_request(), "response_mode", Some(mode));
        let granted = fixture.grant(&fixture.interact(&request).await).await.response;
        let interaction = fixture.interact(&request).await;
        let (id, browser) = (&interaction.id, interaction.browser.expose());
        let again = Request::new(());
        let denied = fixture.server.resume(&again, id, browser, Consent::Denied);
        let denied = denied.await.response;
        let faulty = change(request, "scope", Some("unknown"));
        let refused = fixture.refused(&faulty).await.response;
        for (response, name) in [(granted, "code"), (denied, "error"), (refused, "error")] {
            if mode == "fragment" {
                let location = response.headers()["location"].to_str().unwrap();
                let (uri, fragment) = location.split_once('#').unwrap();
                assert_eq!(uri, CALLBACK);
                let params = Params::parse(fragment.as_bytes()).unwrap();
                assert!(params.optional(name).is_some() && params.optional("iss").is_some());
            } else {
                assert_eq!(response.status(), 200);
                let page = String::from_utf8(response.body().to_vec()).unwrap();
                assert!(
                    page.contains(&format!("<input type=\"hidden\" name=\"{name}\"")),
                    "{page}"
                );
                assert!(page.contains("name=\"state\""), "{page}");
            }
        }
    }
}

/// O2: no form is posted to a private-use scheme; the error is in the query.
#[tokio::test]
async fn native_application_gets_no_form() {
    let fixture = Fixture::new();
    let uri = "com.example.app:/callback";
    let register =
        |client: RegisteredClient| client.with_redirect_uri(RegisteredRedirectUri::exact(uri).unwrap());
    fixture.change_client("web", register).await;
    let request = change(web_request(), "redirect_uri", Some(uri));
    let request = change(request, "response_mode", Some("form_post"));
    let refused = fixture.refused(&request).await;
    assert_eq!(reason(&refused), "response_mode_unsupported");
    assert_eq!(redirected(&refused.response).0, uri);
}

/// A parameter, its value (empty: left out), the error, and the precise reason.
const FAULTS: &str = "
    response_type         |               | invalid_request           | response_type_missing
    response_type         | token         | unsupported_response_type | response_type_unsupported
    response_type         | code id_token | unsupported_response_type | response_type_unsupported
    response_type         | none          | unsupported_response_type | response_type_unsupported
    response_type         | CODE          | unsupported_response_type | response_type_unsupported
    response_mode         | fragment      | invalid_request           | response_mode_unsupported
    response_mode         | web_message   | invalid_request           | response_mode_unsupported
    response_mode         | QUERY         | invalid_request           | response_mode_unsupported
    code_challenge        |               | invalid_request           | code_challenge_missing
    code_challenge        | E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-c   | invalid_request | code_challenge_malformed
    code_challenge        | E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cMM | invalid_request | code_challenge_malformed
    code_challenge        | E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw+cM  | invalid_request | code_challenge_malformed
    code_challenge        | E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cN  | invalid_request | code_challenge_malformed
    code_challenge_method |               | invalid_request           | code_challenge_method_not_s256
    code_challenge_method | plain         | invalid_request           | code_challenge_method_not_s256
    code_challenge_method | s256          | invalid_request           | code_challenge_method_not_s256
    scope                 | read:charges  write:charges | invalid_scope | scope_missing
    scope                 | read:charges admin | invalid_scope        | scope_exceeded
    scope                 | read:charge   | invalid_scope             | scope_exceeded
    nonce                 | tab\there     | invalid_request           | nonce_malformed
    request               | e30.e30.      | request_not_supported     | request_object
    request_uri           | https://a.b/r | request_uri_not_supported | request_uri
    prompt                | none          | login_required            | login_required
";

/// O1, O2, 19, 20, 23, 25: each other fault is reported to the client by redirect, with error,
/// state and issuer.
#[tokio::test]
async fn other_faults_are_redirected_to_client() {
    let fixture = Fixture::new();
    for fault in FAULTS.lines().filter(|line| !line.trim().is_empty()) {
        let [name, value, error, expected] = fault.split('|').map(str::trim).collect::<Vec<_>>()[..] else {
            panic!("not four columns: {fault}");
        };
        let answer = fixture
            .refused(&change(
                web_request(),
                name,
                Some(value).filter(|value| !value.is_empty()),
            ))
            .await;
        let (address, query) = redirected(&answer.response);
        assert_eq!(
            (answer.response.status().as_u16(), &*address),
            (302, "https://app.example/callback"),
            "{fault}"
        );
        assert_eq!(query.optional("tenant"), Some("1"));
        assert_eq!(query.optional("error"), Some(error), "{fault}");
        assert_eq!(query.optional("state"), Some("a state & more"));
        assert_eq!(query.optional("iss"), Some(ISSUER));
        assert_eq!(query.optional("code"), None);
        assert_eq!(reason(&answer), expected, "{fault}");
    }
}

/// O2, O5, 24: without a usable `state` the error is redirected without one.
#[tokio::test]
async fn request_without_usable_state_is_refused() {
    let fixture = Fixture::new();
    for state in [None, Some(""), Some("caf\u{e9}"), Some("nul\0")] {
        let answer = fixture.refused(&change(web_request(), "state", state)).await;
        let (_, query) = redirected(&answer.response);
        assert_eq!(query.optional("error"), Some("invalid_request"), "{state:?}");
        assert_eq!(query.optional("state"), None);
        assert_eq!(query.optional("iss"), Some(ISSUER));
    }
}

/// O2, 1: a request with any repeated parameter is refused, and a repeated state is not echoed.
#[tokio::test]
async fn a_repeated_parameter_is_refused() {
    let fixture = Fixture::new();
    for (name, value) in [
        ("scope", "read:charges"),
        ("state", "a state & more"),
        ("response_type", "code"),
        ("code_challenge", CHALLENGE),
        ("code_challenge_method", "plain"),
        ("nonce", ""),
    ] {
        let answer = fixture
            .refused(&[web_request(), vec![(name, value)]].concat())
            .await;
        let (_, query) = redirected(&answer.response);
        assert_eq!(query.optional("error"), Some("invalid_request"), "{name}");
        assert_eq!(query.optional("state").is_some(), name != "state", "{name}");
        assert_eq!(reason(&answer), "parameter_repeated");
    }
    let unknown = [web_request(), vec![("x", "1"), ("x", "2")]].concat();
    assert_eq!(reason(&fixture.refused(&unknown).await), "parameter_repeated");
}

/// O2: a client that is registered for it may omit `state`. A malformed state is refused
/// nevertheless, and so is the request of another client.
#[tokio::test]
async fn registered_client_may_omit_state() {
    let fixture = Fixture::new();
    fixture
        .change_client("web", RegisteredClient::with_optional_state)
        .await;
    let stateless = change(web_request(), "state", None);
    let answer = fixture.grant(&fixture.interact(&stateless).await).await;
    let (_, query) = redirected(&answer.response);
    assert!(query.optional("code").is_some());
    assert_eq!(
        (query.optional("state"), query.optional("iss")),
        (None, Some(ISSUER))
    );
    let denied = change(stateless.clone(), "code_challenge", None);
    let (_, query) = redirected(&fixture.refused(&denied).await.response);
    assert_eq!(
        (query.optional("state"), query.optional("iss")),
        (None, Some(ISSUER))
    );
    for state in ["caf\u{e9}", "nul\0"] {
        let answer = fixture
            .refused(&change(web_request(), "state", Some(state)))
            .await;
        assert_eq!(reason(&answer), "state_missing");
    }
    let other = change(stateless, "client_id", Some("other"));
    assert_eq!(reason(&fixture.refused(&other).await), "state_missing");
}

/// O2: an absent `scope` stands for the registered scopes except `openid`; a client without others
/// must send one.
#[tokio::test]
async fn absent_scope_stands_for_registered_ones() {
    let fixture = Fixture::new();
    let request = change(web_request(), "scope", None);
    let code = fixture.code_for(&request).await;
    let record = fixture
        .tokens
        .code(&TokenHash::new(&code))
        .await
        .unwrap()
        .unwrap();
    let registered: Scopes = format!("{SCOPE} email").parse().unwrap();
    assert!(registered.contains_str("openid"));
    assert_eq!(record.grant.scopes, registered.without("openid"));
    fixture
        .change_client("web", |web| web.with_scopes("openid".parse().unwrap()))
        .await;
    assert_eq!(reason(&fixture.refused(&request).await), "scope_missing");
}

/// O2: `offline_access` is ignored for a client that is not registered for it, and kept otherwise.
#[tokio::test]
async fn unregistered_offline_access_is_ignored() {
    let fixture = Fixture::new();
    let granted = async |scope| {
        let code = fixture
            .code_for(&change(web_request(), "scope", Some(scope)))
            .await;
        let record = fixture.tokens.code(&TokenHash::new(&code)).await.unwrap();
        record.unwrap().grant.scopes.to_string()
    };
    assert_eq!(granted("offline_access read:charges").await, "read:charges");
    let alone = change(web_request(), "scope", Some("offline_access"));
    assert_eq!(reason(&fixture.refused(&alone).await), "scope_exceeded");
    let scopes: Scopes = "offline_access read:charges".parse().unwrap();
    fixture
        .change_client("web", |web| web.with_scopes(scopes.clone()))
        .await;
    assert_eq!(
        granted("offline_access read:charges").await,
        "offline_access read:charges"
    );
}

/// O2, 25: a nonce is optional, also with `openid`, unless the server requires it; one that is sent
/// is kept.
#[tokio::test]
async fn nonce_is_optional_unless_required() {
    let strict = Fixture::with(Arc::new(MemoryTokens::new()), |builder| {
        builder.with_nonce_required()
    });
    let answer = strict.refused(&change(web_request(), "nonce", None)).await;
    assert_eq!(reason(&answer), "nonce_missing");
    let fixture = Fixture::new();
    let plain = change(
        change(web_request(), "scope", Some("read:charges")),
        "nonce",
        None,
    );
    strict.code_for(&plain).await;
    for (pairs, expected) in [
        (change(web_request(), "nonce", None), None),
        (plain.clone(), None),
        (change(plain, "nonce", Some("a-nonce")), Some("a-nonce")),
    ] {
        let code = fixture.code_for(&pairs).await;
        let record = fixture
            .tokens
            .code(&TokenHash::new(&code))
            .await
            .unwrap()
            .unwrap();
        assert_eq!(record.grant.nonce.as_ref().map(Nonce::as_str), expected);
    }
}

/// O3, 27, 28: an error after a POST is a 303, so that the browser drops the body.
#[tokio::test]
async fn a_refused_post_is_answered_by_303() {
    let fixture = Fixture::new();
    let request = post(HeaderMap::new(), &change(web_request(), "code_challenge", None));
    let Authorize::Respond(answer) = fixture.server.authorize(request).await else {
        panic!("accepted")
    };
    assert_eq!(answer.response.status(), 303);
}

/// O1: a client without the code grant is refused.
#[tokio::test]
async fn a_client_without_the_code_grant_is_refused() {
    let fixture = Fixture::new();
    fixture
        .change_client("web", |web| web.with_grant_types([GrantType::ClientCredentials]))
        .await;
    let answer = fixture.refused(&web_request()).await;
    assert_eq!(
        redirected(&answer.response).1.optional("error"),
        Some("unauthorized_client")
    );
}

/// Malformed input gets 400 or 405, without a panic.
#[tokio::test]
async fn garbage_is_refused() {
    let fixture = Fixture::new();
    let long = format!("/authorize?client_id={}", "a".repeat(60_000));
    let many = format!("/authorize?{}", "a=1&".repeat(1_000));
    for uri in [
        "/authorize",
        "/authorize?",
        "/authorize?%",
        "/authorize?a=%ff&client_id=web",
        &long,
        &many,
    ] {
        let request = Request::get(uri).body(Bytes::new()).unwrap();
        let Authorize::Respond(answer) = fixture.server.authorize(request).await else {
            panic!("accepted")
        };
        assert_eq!(answer.response.status(), 400, "{uri:.40}");
    }
    let mut big = post(HeaderMap::new(), &web_request());
    *big.body_mut() = vec![b'a'; 70_000].into();
    let Authorize::Respond(answer) = fixture.server.authorize(big).await else {
        panic!("accepted")
    };
    assert_eq!(answer.response.status(), 400);
    let request = Request::put("/authorize").body(Bytes::new()).unwrap();
    let Authorize::Respond(answer) = fixture.server.authorize(request).await else {
        panic!("accepted")
    };
    assert_eq!(answer.response.status(), 405);
    assert_eq!(answer.response.headers()["allow"], "GET, POST");
}
