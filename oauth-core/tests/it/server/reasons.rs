//! Precise reasons for the host, of refusals that look alike to the peer.

use oauth_core::ports::entropy_fn;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Request};
use oauth_core::basic::BasicCredentials;
use oauth_core::error::Reason;
use oauth_core::memory::MemoryTokens;
use oauth_core::server::{Authorize, Consent, EndpointResponse};
use oauth_core::vocabulary::ClientId;

use super::fixture::{Fixture, Pairs, basic, change, post, reason, redemption, secret, web_request};

const CLIENT_CREDENTIALS: (&str, &str) = ("grant_type", "client_credentials");

async fn check(fixture: &Fixture, request: Request<Bytes>, expected: Reason) {
    let answer = fixture.server.token(request).await;
    assert_eq!(reason(&answer), expected.code());
}

/// The client in the event of a refusal.
fn refused_client(answer: &EndpointResponse) -> Option<&str> {
    let event = answer.events.last()?;
    event.client_id.as_ref().map(ClientId::as_str)
}

/// O26, 5, 6, 7, 9, 10, 13: every failed authentication is the same 401, with a reason of its own
/// for the host.
#[tokio::test]
async fn each_failed_authentication_has_its_reason() {
    let fixture = Fixture::new();
    let none = |pairs: &[(&str, &str)]| post(HeaderMap::new(), pairs);
    check(&fixture, none(&[CLIENT_CREDENTIALS]), Reason::ClientIdMissing).await;
    check(
        &fixture,
        none(&[CLIENT_CREDENTIALS, ("client_id", "unregistered")]),
        Reason::ClientUnknown,
    )
    .await;
    let unreadable = [
        CLIENT_CREDENTIALS,
        ("client_id", "web"),
        ("client_secret", "\u{e9}"),
    ];
    check(&fixture, none(&unreadable), Reason::MalformedClientSecret).await;
    let assertion = [
        CLIENT_CREDENTIALS,
        ("client_id", "web"),
        ("client_assertion", "a.b.c"),
    ];
    check(&fixture, none(&assertion), Reason::ClientAssertionUnsupported).await;
    let without = [CLIENT_CREDENTIALS, ("client_id", "web")];
    check(&fixture, none(&without), Reason::ClientAuthenticationMismatch).await;

    let malformed = HeaderMap::from_iter([(AUTHORIZATION, HeaderValue::from_static("Basic !!!"))]);
    check(
        &fixture,
        post(malformed, &[CLIENT_CREDENTIALS]),
        Reason::MalformedBasicCredentials,
    )
    .await;
    let foreign = BasicCredentials {
        client_id: "service".parse().unwrap(),
        secret: secret("web"),
    };
    let foreign = HeaderMap::from_iter([(AUTHORIZATION, foreign.to_header())]);
    check(
        &fixture,
        post(foreign, &[CLIENT_CREDENTIALS]),
        Reason::ClientSecretMismatch,
    )
    .await;

    let public = post(HeaderMap::new(), &[("client_id", "native"), ("token", "t")]);
    assert_eq!(
        reason(&fixture.server.introspect(public).await),
        Reason::CallerIsPublic.code()
    );
}

/// O26, 1, 2, 3, 4, 23, 57: every faulty token request of an authenticated client has its reason,
/// and the event names the client.
#[tokio::test]
async fn each_faulty_token_request_has_its_reason() {
    let fixture = Fixture::new();
    let missing = |grant_type| vec![("grant_type", grant_type)];
    let table: [(&str, Pairs<'_>, Reason); 7] = [
        ("web", vec![], Reason::ParameterMissing),
        ("web", missing("authorization_code"), Reason::ParameterMissing),
        ("web", missing("refresh_token"), Reason::ParameterMissing),
        (
            "web",
            vec![("grant_type", "password")],
            Reason::GrantTypeUnsupported,
        ),
        ("web", vec![CLIENT_CREDENTIALS], Reason::GrantTypeNotAllowed),
        (
            "web",
            vec![("grant_type", "refresh_token"), ("refresh_token", "rt_guess")],
            Reason::RefreshTokenUnknown,
        ),
        (
            "service",
            vec![CLIENT_CREDENTIALS, ("scope", "a\"b")],
            Reason::MalformedScope,
        ),
    ];
    for (client, pairs, expected) in table {
        let answer = fixture.server.token(post(basic(client), &pairs)).await;
        assert_eq!(reason(&answer), expected.code());
        assert_eq!(refused_client(&answer), Some(client), "{expected:?}");
    }
    let (introspection, revocation) = (post(basic("web"), &[]), post(basic("web"), &[]));
    for answer in [
        fixture.server.introspect(introspection).await,
        fixture.server.revoke(revocation).await,
    ] {
        assert_eq!(reason(&answer), Reason::ParameterMissing.code());
        assert_eq!(refused_client(&answer), Some("web"));
    }
    let code = fixture.code().await;
    let native = change(redemption(&code), "redirect_uri", None);
    let native = post(
        HeaderMap::new(),
        &[native.as_slice(), &[("client_id", "native")]].concat(),
    );
    check(&fixture, native, Reason::CodeOfAnotherClient).await;
}

/// O26, 3, 4: every malformed request has its reason.
#[tokio::test]
async fn each_faulty_shape_has_its_reason() {
    let fixture = Fixture::new();
    let of_type = |content_type: &'static str, body: Vec<u8>| {
        let mut request = post(basic("web"), &[]);
        request
            .headers_mut()
            .insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        *request.body_mut() = body.into();
        request
    };
    let form = "application/x-www-form-urlencoded";
    let get = Request::get("/token").body(Bytes::new()).unwrap();
    check(&fixture, get, Reason::MethodNotAllowed).await;
    check(
        &fixture,
        of_type("application/json", Vec::new()),
        Reason::ContentTypeNotAForm,
    )
    .await;
    check(&fixture, of_type(form, vec![b'a'; 70_000]), Reason::BodyTooLarge).await;
    check(
        &fixture,
        of_type(form, b"a=%".to_vec()),
        Reason::MalformedParameters,
    )
    .await;

    let large = of_type(form, vec![b'a'; 70_000]);
    let answer = fixture.server.authorize(large).await;
    let Authorize::Respond(answer) = answer else {
        unreachable!("a page that says no")
    };
    assert_eq!(reason(&answer), Reason::RequestTooLarge.code());
}

/// O24, 31: a consent without scopes has its reason.
#[tokio::test]
async fn consent_without_scopes_has_its_reason() {
    let fixture = Fixture::new();
    let interaction = fixture.interact(&web_request()).await;
    let nothing = fixture.ada().with_scopes("email".parse().unwrap());
    let (id, browser) = (&interaction.id, interaction.browser.expose());
    let decision = Consent::Granted(nothing);
    let answer = fixture
        .server
        .resume(&Request::post("/").body(()).unwrap(), id, browser, decision)
        .await;
    assert_eq!(reason(&answer), Reason::NothingGranted.code());
}

/// O26: repeated entropy and a clock before 1970 are reported as faults of the host.
#[tokio::test]
async fn faults_of_the_host_have_their_reason() {
    let repeating = entropy_fn(|bytes: &mut [u8]| bytes.fill(7));
    let fixture = Fixture::with(Arc::new(MemoryTokens::new()), |builder| {
        builder.with_entropy(repeating)
    });
    fixture.interact(&web_request()).await;
    let again = fixture.refused(&web_request()).await;
    assert_eq!(
        (again.response.status().as_u16(), reason(&again)),
        (500, Reason::EntropyRepeats.code())
    );

    let fixture = Fixture::new();
    fixture
        .clock
        .set(SystemTime::UNIX_EPOCH - Duration::from_secs(3_600));
    let answer: EndpointResponse = fixture.token_as("service", &vec![CLIENT_CREDENTIALS]).await;
    assert_eq!(
        (answer.response.status().as_u16(), reason(&answer)),
        (500, Reason::SigningFailed.code())
    );
}
