//! Refusals that a developer can act on: descriptions, error pages and events.
#![expect(clippy::panic, reason = "a test fails by panicking")]

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::Request;
use oauth_core::error::Reason;
use oauth_core::memory::MemoryTokens;
use oauth_core::params::encode;
use oauth_core::server::{
    AuthorizationFault, AuthorizationServerBuilder, Authorize, Consent, EndpointResponse, RequestContext,
};
use serde_json::json;

use super::fixture::{Fixture, ISSUER, Pairs, basic, change, post, redirected, web_request};

fn fixture(configure: impl FnOnce(AuthorizationServerBuilder) -> AuthorizationServerBuilder) -> Fixture {
    Fixture::with(Arc::new(MemoryTokens::new()), configure)
}

fn context() -> RequestContext {
    let context = RequestContext::new().with_request_id("0197f9a1");
    context.with_address("192.0.2.7".parse().unwrap())
}

async fn refused(fixture: &Fixture, pairs: &Pairs<'_>) -> EndpointResponse {
    let uri = format!("{ISSUER}/authorize?{}", encode(pairs.iter().copied()));
    let mut request = Request::get(uri).body(Bytes::new()).unwrap();
    request.extensions_mut().insert(context());
    match fixture.server.authorize(request).await {
        Authorize::Respond(response) => response,
        Authorize::Interact(_) => panic!("accepted: {pairs:?}"),
    }
}

/// O37: an error that is sent to the client describes its reason, unless the host hides that.
#[tokio::test]
async fn error_describes_its_reason() {
    let request = change(web_request(), "code_challenge_method", Some("plain"));
    let response = refused(&Fixture::new(), &request).await;
    let (_, params) = redirected(&response.response);
    let description = params.optional("error_description").unwrap();
    assert!(description.contains("code_challenge_method"), "{description}");
    assert!(!description.contains(['"', '\\', '\n']), "{description}");

    let hidden = fixture(AuthorizationServerBuilder::without_error_descriptions);
    let (_, params) = redirected(&refused(&hidden, &request).await.response);
    assert_eq!(params.optional("error_description"), None);
}

/// O37: every reason has a description of its own, with characters that RFC 6749 allows.
#[test]
fn every_reason_has_a_description() {
    let mut seen = std::collections::BTreeSet::new();
    for reason in Reason::ALL {
        let text = reason.description();
        assert!(text.len() > 10 && text.ends_with('.'), "{reason:?}: {text}");
        assert!(
            !text.contains("  ") && !text.starts_with(' '),
            "{reason:?}: {text}"
        );
        assert!(seen.insert(text), "{reason:?}: {text}");
    }
}

/// O37: the host renders the error page from the fault, which has the request's identifier.
#[tokio::test]
async fn host_renders_error_page() {
    let faults: Arc<Mutex<Vec<AuthorizationFault>>> = Arc::default();
    let seen = faults.clone();
    let fixture = fixture(|builder| {
        builder.with_error_page(move |fault| {
            seen.lock().unwrap().push(fault.clone());
            format!("<p>{}</p>", fault.reason.code())
        })
    });
    let foreign = change(web_request(), "redirect_uri", Some("https://evil.example/"));
    let response = refused(&fixture, &foreign).await;
    assert_eq!(response.response.status(), 400);
    assert_eq!(response.response.body(), "<p>redirect_uri_not_registered</p>");
    let policy = response
        .response
        .headers()
        .get("content-security-policy")
        .unwrap();
    assert!(policy.to_str().unwrap().contains("frame-ancestors 'none'"));
    let resumed = fixture
        .server
        .resume(&Request::new(()), "unknown", "unknown", Consent::Denied)
        .await;
    assert_eq!(resumed.response.body(), "<p>interaction_unknown</p>");

    let fault = faults.lock().unwrap().remove(0);
    assert_eq!(fault.reason, Reason::RedirectUriNotRegistered);
    assert_eq!(fault.client_id.unwrap().as_str(), "web");
    assert_eq!(fault.redirect_uri.as_deref(), Some("https://evil.example/"));
    assert_eq!(fault.request_id.as_deref(), Some("0197f9a1"));
}

/// O37: the default page names the reason and the request.
#[tokio::test]
async fn default_page_names_reason_and_request() {
    let foreign = change(web_request(), "redirect_uri", Some("https://evil.example/"));
    let response = refused(&Fixture::new(), &foreign).await;
    let page = String::from_utf8(response.response.body().to_vec()).unwrap();
    for text in ["redirect_uri_not_registered", "0197f9a1", "Tell its developer"] {
        assert!(page.contains(text), "{text}");
    }
}

/// O37: events have the instant, the request and the address, and are JSON with codes.
#[tokio::test]
async fn events_are_json_with_context() {
    let fixture = Fixture::new();
    let foreign = change(web_request(), "redirect_uri", Some("https://evil.example/"));
    let response = refused(&fixture, &foreign).await;
    let event = serde_json::to_value(response.events.first().unwrap()).unwrap();
    let expected = json!({
        "time": 1_800_000_000.0,
        "kind": "request_refused",
        "reason": "redirect_uri_not_registered",
        "client_id": "web",
        "request_id": "0197f9a1",
        "address": "192.0.2.7",
    });
    assert_eq!(event, expected);

    let mut request = post(basic("web"), &[("grant_type", "password")]);
    request.extensions_mut().insert(context());
    let token = fixture.server.token(request).await;
    assert_eq!(
        token.events.first().unwrap().request_id.as_deref(),
        Some("0197f9a1")
    );

    let interaction = fixture.interact(&web_request()).await;
    let mut request = Request::new(());
    request.extensions_mut().insert(context());
    let (id, browser) = (&interaction.id, interaction.browser.expose());
    for _ in 0..2 {
        let decision = Consent::Granted(fixture.ada());
        let resumed = fixture.server.resume(&request, id, browser, decision).await;
        let event = resumed.events.first().unwrap();
        assert_eq!((event.time, event.address), (fixture.now(), context().address));
        assert_eq!(event.request_id.as_deref(), Some("0197f9a1"));
        // the interaction can be completed once: the second response is an error page
        let page = String::from_utf8_lossy(resumed.response.body());
        assert_eq!(page.contains("0197f9a1"), resumed.response.status() == 400);
    }
}
