//! Sign-out that a client requests.
#![expect(clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

use bytes::Bytes;
use http::{HeaderMap, Method, Request};
use oauth_core::error::Reason;
use oauth_core::params::encode;
use oauth_core::server::{Consent, EndSession, SignOutRequest};
use oauth_core::store::{RegisteredClient, SessionId};

use oauth_core::vocabulary::Claims;

use super::fixture::{Fixture, ISSUER, Pairs, change, json, post, reason, redirected, web_request};

const BACK: &str = "https://app.example/signed-out?a=b";

async fn fixture() -> (Fixture, String) {
    let fixture = Fixture::new();
    let register = |client: RegisteredClient| client.with_post_logout_redirect_uri(BACK.parse().unwrap());
    fixture.change_client("web", register).await;
    let tokens = fixture.sign_in().await;
    let id_token = tokens.body["id_token"].as_str().unwrap().to_owned();
    (fixture, id_token)
}

async fn end_session(fixture: &Fixture, pairs: &Pairs<'_>) -> EndSession {
    let uri = format!("{ISSUER}/end_session?{}", encode(pairs.iter().copied()));
    let request = Request::get(uri).body(Bytes::new()).unwrap();
    fixture.server.end_session(&request).await
}

async fn accepted(fixture: &Fixture, pairs: &Pairs<'_>) -> SignOutRequest {
    match end_session(fixture, pairs).await {
        EndSession::SignOut(request) => *request,
        EndSession::Respond(response) => panic!("refused: {response:?}"),
    }
}

/// Checks that the response is an error page, never a redirect.
async fn refused(fixture: &Fixture, pairs: &Pairs<'_>, expected: Reason) {
    match end_session(fixture, pairs).await {
        EndSession::Respond(response) => {
            assert_eq!(response.response.status(), 400, "{pairs:?}");
            assert!(!response.response.headers().contains_key("location"));
            assert_eq!(reason(&response), expected.code(), "{pairs:?}");
        }
        EndSession::SignOut(request) => panic!("accepted: {request:?}"),
    }
}

fn request<'a>(id_token: &'a str) -> Pairs<'a> {
    vec![
        ("id_token_hint", id_token),
        ("post_logout_redirect_uri", BACK),
        ("state", "a state & more"),
    ]
}

/// O34: a request with an ID token names the user and the client, and leads back with the state,
/// even after the token has expired.
#[tokio::test]
async fn sign_out_leads_back_to_registered_uri() {
    let (fixture, id_token) = fixture().await;
    fixture
        .clock
        .advance(std::time::Duration::from_secs(30 * 24 * 60 * 60));
    for request in [
        request(&id_token),
        change(request(&id_token), "client_id", Some("web")),
    ] {
        let request = accepted(&fixture, &request).await;
        assert_eq!(request.client_id.as_ref().unwrap().as_str(), "web");
        assert_eq!(request.client_name.as_deref(), Some("The Web App"));
        assert_eq!(request.subject.as_ref().unwrap().as_str(), "ada");
        let response = request.redirect(&Method::GET).unwrap();
        assert_eq!(response.status(), 302);
        assert_eq!(request.redirect(&Method::POST).unwrap().status(), 303);
        let (uri, params) = redirected(&response);
        assert_eq!(uri, "https://app.example/signed-out");
        assert_eq!(params.optional("a"), Some("b"));
        assert_eq!(params.optional("state"), Some("a state & more"));
    }
}

/// O34: the form of a `POST` is read too, and without a target there is no redirect.
#[tokio::test]
async fn sign_out_without_target_has_no_redirect() {
    let (fixture, id_token) = fixture().await;
    let pairs = [("id_token_hint", id_token.as_str())];
    match fixture.server.end_session(&post(HeaderMap::new(), &pairs)).await {
        EndSession::SignOut(request) => assert!(request.redirect(&Method::POST).is_none()),
        EndSession::Respond(response) => panic!("refused: {response:?}"),
    }
    let bare = accepted(&fixture, &vec![("logout_hint", "ada@example.com")]).await;
    assert_eq!((bare.client_id, bare.subject), (None, None));
    assert_eq!(bare.logout_hint.as_deref(), Some("ada@example.com"));
}

/// O34: attacks: another URI, a client without a hint or an unknown one, a forged, foreign or
/// access token as hint, a hint of another client, repeated parameters.
#[tokio::test]
async fn invalid_sign_out_is_an_error_page() {
    let (fixture, id_token) = fixture().await;
    let base = || request(&id_token);
    let uri = "post_logout_redirect_uri";
    for target in [
        "https://evil.example/",
        "https://app.example/signed-out",
        "https://app.example/signed-out?a=b&c=d",
        "https://app.example/callback?tenant=1",
        "javascript:alert(1)",
    ] {
        let request = change(base(), uri, Some(target));
        refused(&fixture, &request, Reason::RedirectUriNotRegistered).await;
    }
    refused(&fixture, &vec![(uri, BACK)], Reason::ClientIdMissing).await;
    let unknown = vec![("client_id", "unknown"), (uri, BACK)];
    refused(&fixture, &unknown, Reason::ClientUnknown).await;
    let other = change(base(), "client_id", Some("other"));
    refused(&fixture, &other, Reason::ClientIdMismatch).await;
    let of_other = vec![("client_id", "other"), (uri, BACK)];
    refused(&fixture, &of_other, Reason::RedirectUriNotRegistered).await;

    let access = fixture.sign_in().await.access;
    for hint in ["forged", access.as_str(), &format!("{id_token}A")] {
        let request = change(base(), "id_token_hint", Some(hint));
        refused(&fixture, &request, Reason::IdTokenHintInvalid).await;
    }
    let twice = [base(), vec![("state", "another")]].concat();
    refused(&fixture, &twice, Reason::ParameterRepeated).await;
}

/// O34: a request whose hint is not of the user and session of the browser needs a question, since
/// any page can send a browser to the endpoint.
#[tokio::test]
async fn foreign_sign_out_needs_confirmation() {
    let (fixture, id_token) = fixture().await;
    let session = SessionId::from_bytes([1; 16]);
    let hinted = accepted(&fixture, &request(&id_token)).await;
    assert!(!hinted.needs_confirmation(&"ada".parse().unwrap(), &session));
    assert!(hinted.needs_confirmation(&"bob".parse().unwrap(), &session));
    let mut of_session = hinted.clone();
    of_session.session = Some(session);
    assert!(!of_session.needs_confirmation(&"ada".parse().unwrap(), &session));
    let other = SessionId::from_bytes([2; 16]);
    assert!(of_session.needs_confirmation(&"ada".parse().unwrap(), &other));
    let bare = accepted(&fixture, &vec![("client_id", "web")]).await;
    assert!(bare.needs_confirmation(&"ada".parse().unwrap(), &session));
}

/// O34: an ID token with a `sid` of the host, which names no session of this server, does not end
/// one without a question.
#[tokio::test]
async fn foreign_sid_needs_confirmation() {
    let (fixture, _) = fixture().await;
    let interaction = fixture.interact(&web_request()).await;
    let claims = Claims::new().with("sid", "of the host").unwrap();
    let decision = Consent::Granted(fixture.ada().with_claims(claims));
    let (id, browser) = (&interaction.id, interaction.browser.expose());
    let resumed = fixture
        .server
        .resume(&Request::new(()), id, browser, decision)
        .await;
    let code = redirected(&resumed.response)
        .1
        .optional("code")
        .unwrap()
        .to_owned();
    let tokens = json(&fixture.redeem(&code).await.response);
    let hinted = accepted(&fixture, &request(tokens["id_token"].as_str().unwrap())).await;
    assert_eq!(hinted.session, None);
    assert!(hinted.needs_confirmation(&"ada".parse().unwrap(), &SessionId::from_bytes([1; 16])));
}

/// O34: an ID token whose key is no longer published proves nothing: the user is asked.
#[tokio::test]
async fn hint_of_retired_key_is_ignored() {
    use host_ports::testing::SeededEntropy;
    use oauth_core::jose::{SigningKey, SigningKeys};

    let (_, id_token) = fixture().await;
    let rotated = Fixture::with(
        std::sync::Arc::new(oauth_core::memory::MemoryTokens::new()),
        |builder| {
            let key = SigningKey::generate_ed25519(&SeededEntropy::new(77)).unwrap();
            builder.with_signing_keys(SigningKeys::new(key))
        },
    );
    let register = |client: RegisteredClient| client.with_post_logout_redirect_uri(BACK.parse().unwrap());
    rotated.change_client("web", register).await;
    let request = change(request(&id_token), "client_id", Some("web"));
    let request = accepted(&rotated, &request).await;
    assert_eq!(request.subject, None);
    assert!(request.needs_confirmation(&"ada".parse().unwrap(), &SessionId::from_bytes([1; 16])));
    assert!(request.redirect(&Method::GET).is_some());
}
