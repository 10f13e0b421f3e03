//! Responses that a client must refuse.

use oauth_core::client::{CallError, ResponseError, UserInfoError};

use super::peer::{Peer, unusable, with};
use super::*;

fn endpoint(path: &str) -> oauth_core::vocabulary::Endpoint {
    format!("https://as.example/{path}").parse().unwrap()
}

fn everything() -> Client {
    let provider = provider()
        .with_pushed_authorization_request_endpoint(endpoint("par"))
        .with_userinfo_endpoint(endpoint("userinfo"));
    Client::new(provider, "demo web".parse().unwrap())
        .with_credentials(ClientCredentials::Basic("secret".parse().unwrap()))
}

fn tokens() -> TokenResponse {
    let call = everything().refresh(&"rt".parse().unwrap(), &Scopes::default());
    Peer::new([answer(200, r#"{"access_token":"at","token_type":"Bearer"}"#)])
        .ask(call)
        .unwrap()
}

fn ada() -> IdTokenClaims {
    IdTokenClaims {
        issuer: "https://as.example".parse().unwrap(),
        subject: "ada".parse().unwrap(),
        audience: "demo web".parse().unwrap(),
        nonce: None,
        issued_at: now(),
        expires_at: now(),
        auth_time: None,
        email: None,
        email_verified: None,
        name: None,
        claims: Default::default(),
    }
}

fn push(response: Response<Bytes>) -> Result<(String, PendingAuthorization), CallError<ResponseError>> {
    let call = everything().push(&asking("openid"), &OsEntropy, now()).unwrap();
    Peer::new([response]).ask(call)
}

fn user_info(response: Response<Bytes>) -> Result<oauth_core::client::UserInfo, CallError<UserInfoError>> {
    Peer::new([response]).ask(tokens().user_info(&ada()).unwrap())
}

/// A body of the maximum size plus `excess` bytes.
fn padded(body: &str, more: usize) -> String {
    let padding = " ".repeat(64 * 1024 + more - body.len());
    format!("{body}{padding}")
}

/// O8: a response over the size limit is refused, even with valid content.
#[test]
fn a_huge_answer_is_refused() {
    let token = r#"{"access_token":"at","token_type":"Bearer"}"#;
    assert!(exchange(200, &padded(token, 0)).is_ok());
    assert_eq!(
        exchange(200, &padded(token, 1)).unwrap_err(),
        TokenError::Malformed
    );
    let refusal = r#"{"error":"invalid_grant"}"#;
    assert!(matches!(
        exchange(400, &padded(refusal, 0)),
        Err(TokenError::Refused(_))
    ));
    let status = exchange(400, &padded(refusal, 1)).unwrap_err();
    assert!(matches!(status, TokenError::UnexpectedStatus(_)));
    let pushed = r#"{"request_uri":"urn:a"}"#;
    assert!(push(answer(201, &padded(pushed, 0))).is_ok());
    assert_eq!(
        unusable(push(answer(201, &padded(pushed, 1)))),
        ResponseError::Malformed
    );
    let person = r#"{"sub":"ada"}"#;
    assert!(user_info(answer(200, &padded(person, 0))).is_ok());
    assert_eq!(
        unusable(user_info(answer(200, &padded(person, 1)))),
        UserInfoError::Malformed
    );
}

/// O6, O26: redirects are not followed, and an error body with status 200 is refused.
#[test]
fn redirects_and_disguised_errors_are_refused() {
    let elsewhere = |status| with("location", "https://evil.example/token", answer(status, ""));
    for status in [301, 302, 303, 307, 308] {
        let peer = Peer::new([elsewhere(status)]);
        let call = everything().refresh(&"rt".parse().unwrap(), &Scopes::default());
        let error = unusable(peer.ask(call));
        assert!(matches!(error, TokenError::UnexpectedStatus(got) if got == status));
        assert_eq!(peer.asked().len(), 1);
        assert!(matches!(
            unusable(push(elsewhere(status))),
            ResponseError::UnexpectedStatus(_)
        ));
        let told = unusable(user_info(elsewhere(status)));
        assert!(matches!(told, UserInfoError::UnexpectedStatus(_)));
    }
    let error = r#"{"error":"invalid_grant"}"#;
    assert_eq!(exchange(200, error).unwrap_err(), TokenError::Malformed);
    assert_eq!(unusable(push(answer(201, error))), ResponseError::Malformed);
    assert_eq!(unusable(user_info(answer(200, error))), UserInfoError::Malformed);
}

/// O8: an unreachable server is reported as a transport failure, not as a refusal.
#[test]
fn unreachable_server_is_transport_failure() {
    let call = everything().refresh(&"rt".parse().unwrap(), &Scopes::default());
    let sent = Peer::new([]).ask(call);
    assert!(matches!(sent, Err(CallError::Transport(_))), "{sent:?}");
}

/// O23: a sign-in is pushed if the server offers that, and goes through the browser otherwise.
#[tokio::test]
async fn sign_in_is_pushed_if_offered() {
    let peer = Peer::new([answer(201, r#"{"request_uri":"urn:a"}"#)]);
    let (url, _) = everything()
        .sign_in(&asking("openid"), &peer.ports())
        .await
        .unwrap();
    assert!(url.ends_with("&request_uri=urn%3Aa"));
    let plain = Client::new(provider(), "demo web".parse().unwrap());
    let (url, _) = plain.sign_in(&asking("openid"), &peer.ports()).await.unwrap();
    assert!(url.contains("code_challenge="));
    assert_eq!(peer.asked().len(), 1);
    let impossible = provider().with_required_pushed_authorization_requests();
    let impossible = Client::new(impossible, "demo web".parse().unwrap());
    let refused = impossible.sign_in(&asking("openid"), &peer.ports()).await;
    assert!(matches!(refused, Err(CallError::NotOffered(_))));
}

/// O18, 87: userinfo about another subject than that of the ID token is refused.
#[test]
fn userinfo_about_another_person_is_refused() {
    let body = r#"{"sub":"ada","email":"ada@example.com","email_verified":true,"name":"Ada","groups":["x"]}"#;
    let told = user_info(answer(200, body)).unwrap();
    assert_eq!((told.subject().as_str(), told.name()), ("ada", Some("Ada")));
    assert_eq!(
        (told.email(), told.email_verified()),
        (Some("ada@example.com"), Some(true))
    );
    assert_eq!(told.json(), body.as_bytes());
    assert!(!format!("{told:?}").contains("ada"));
    // the text "true" is not the boolean
    let told = user_info(answer(200, r#"{"sub":"ada","email_verified":"true"}"#)).unwrap();
    assert_eq!(told.email_verified(), None);
    for other in ["eve", "Ada", "ada ", "", "ad", "ada\\u0000"] {
        let told = user_info(answer(200, &format!(r#"{{"sub":"{other}"}}"#)));
        assert_eq!(unusable(told), UserInfoError::WrongSubject, "{other}");
    }
    for body in [
        "",
        "[]",
        "{}",
        r#"{"sub":1}"#,
        r#"{"sub":"ada","sub":"ada"}"#,
        r#"{"sub":"ada""#,
    ] {
        assert_eq!(
            unusable(user_info(answer(200, body))),
            UserInfoError::Malformed,
            "{body}"
        );
    }
}

/// O18: signed userinfo is refused with an error of its own, because this crate cannot verify it.
#[test]
fn signed_userinfo_is_refused_by_name() {
    for content_type in ["application/jwt", "Application/JWT; charset=utf-8"] {
        let signed = with("content-type", content_type, answer(200, "eyJ.eyJ.sig"));
        assert_eq!(unusable(user_info(signed)), UserInfoError::Signed);
    }
    for status in [401, 403] {
        let told = unusable(user_info(answer(status, "")));
        assert!(matches!(told, UserInfoError::Refused(got) if got == status));
    }
    let nothing = Client::new(provider(), "demo web".parse().unwrap());
    let call = nothing.refresh(&"rt".parse().unwrap(), &Scopes::default());
    let tokens = Peer::new([answer(200, r#"{"access_token":"at","token_type":"Bearer"}"#)]).ask(call);
    let refused = tokens.unwrap().user_info(&ada());
    assert_eq!(refused.unwrap_err(), NotOffered::UserInfo);
}
