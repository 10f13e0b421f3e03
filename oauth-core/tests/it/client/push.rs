//! Pushed authorization requests of the client.

use oauth_core::client::ResponseError;

use super::*;

const ENDPOINT: &str = "https://as.example/par";

fn pushing() -> Client {
    let provider = provider()
        .with_pushed_authorization_request_endpoint(ENDPOINT.parse().unwrap())
        .with_required_pushed_authorization_requests();
    let secret = "secret".parse().unwrap();
    Client::new(provider, "demo web".parse().unwrap()).with_credentials(ClientCredentials::Post(secret))
}

fn push(client: &Client) -> (Request<Bytes>, Pending<(String, PendingAuthorization)>) {
    start(client.push(&asking("openid"), &OsEntropy, now()).unwrap())
}

fn pushed(status: u16, body: &str) -> Result<(String, PendingAuthorization), ResponseError> {
    push(&pushing()).1.finish(answer(status, body), now())
}

/// O23: all parameters go to the server with client authentication; the browser carries the
/// `request_uri` alone. The response is checked as usual.
#[test]
fn browser_carries_request_uri_only() {
    let client = pushing();
    let (request, pending) = push(&client);
    assert_eq!(
        (request.uri().to_string().as_str(), request.uri().query()),
        (ENDPOINT, None)
    );
    let sent = Params::parse(request.body()).unwrap();
    for name in [
        "response_type",
        "redirect_uri",
        "scope",
        "state",
        "nonce",
        "code_challenge",
        "client_secret",
    ] {
        assert!(sent.optional(name).is_some(), "{name}");
    }
    assert!(sent.first_repeated(&[]).is_none());
    let named = answer(
        201,
        r#"{"request_uri":"urn:ietf:params:oauth:request_uri:a&b","expires_in":60}"#,
    );
    let (url, pending) = pending.finish(named, now()).unwrap();
    assert_eq!(
        url,
        "https://as.example/authorize?client_id=demo+web&request_uri=urn%3Aietf%3Aparams%3Aoauth%3Arequest_uri%3Aa%26b"
    );
    assert_eq!(Some(pending.state().as_str()), sent.optional("state"));
    let query = GOOD.replace("STATE", pending.state().as_str());
    let (request, _) = start(pending.finish(&query, now()).unwrap());
    assert_eq!(request.uri(), "https://as.example/token");
}

/// O23: a refusal is distinguished from a failure, and a malformed response starts no sign-in.
#[test]
fn malformed_push_response_starts_no_sign_in() {
    let name = |text: &str| serde_json::json!({ "request_uri": text, "expires_in": 60 }).to_string();
    assert!(pushed(200, &name("urn:x")).is_ok());
    for body in [
        String::new(),
        "{}".to_owned(),
        r#"{"request_uri":"a","request_uri":"b"}"#.to_owned(),
        r#"{"request_uri":7}"#.to_owned(),
        name(""),
        name("a b"),
        name("a\n"),
        name("\u{e9}"),
        name(&"a".repeat(2049)),
        format!("{}{}", name("a"), " ".repeat(64 * 1024)),
    ] {
        assert_eq!(
            pushed(201, &body).unwrap_err(),
            ResponseError::Malformed,
            "{body:.60}"
        );
    }
    for status in [302, 307, 404, 500, 503] {
        let unexpected = ResponseError::UnexpectedStatus(status.try_into().unwrap());
        assert_eq!(pushed(status, &name("a")).unwrap_err(), unexpected);
    }
    let Err(ResponseError::Refused(refused)) = pushed(400, r#"{"error":"invalid_request"}"#) else {
        unreachable!("a refusal")
    };
    assert_eq!(refused.code(), "invalid_request");
}

/// O23: without a known endpoint nothing is pushed.
#[test]
fn nothing_is_pushed_without_endpoint() {
    let refused = client().push(&asking("openid"), &OsEntropy, now()).unwrap_err();
    assert_eq!(refused, NotOffered::PushedAuthorizationRequest);
}
