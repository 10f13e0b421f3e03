//! Sign-out at the server, and logout tokens of the server.

use http::{Method, StatusCode};
use oauth_core::client::{LogoutError, accept_logout};
use oauth_core::jose::{LogoutToken, RemoteKeySet};
use oauth_core::params::encode;
use oauth_core::ports::{TransportError, transport_fn};

use super::*;

fn signing() -> SigningKey {
    SigningKey::generate_es256(&entropy_fn(|bytes: &mut [u8]| bytes.fill(7))).unwrap()
}

fn logout_token(audience: &str) -> String {
    let (issuer, audience) = ("https://as.example".parse().unwrap(), audience.parse().unwrap());
    let token = LogoutToken {
        session: Some("s1".to_owned()),
        ..LogoutToken::new(issuer, audience, &OsEntropy, now())
    };
    token.sign(&signing()).unwrap()
}

fn keys() -> RemoteKeySet {
    let jwks = KeySet::new([signing().public_key().clone()]).unwrap().to_json();
    let transport = transport_fn(move |_: Request<Bytes>| {
        let response = Response::new(Bytes::from(jwks.clone()));
        async { Ok(response) }
    });
    RemoteKeySet::new("https://as.example/jwks".parse().unwrap(), transport)
}

fn post(body: String) -> Request<Bytes> {
    let request = Request::post("https://app.example/backchannel");
    let request = request.header("content-type", "application/x-www-form-urlencoded; charset=utf-8");
    request.body(body.into()).unwrap()
}

/// O34: the URL has the client, the ID token, the target and the state.
#[test]
fn sign_out_url_names_client_and_target() {
    let endpoint = "https://as.example/logout?tenant=1".parse().unwrap();
    let client = Client::new(
        provider().with_end_session_endpoint(endpoint),
        "demo web".parse().unwrap(),
    );
    let back = "https://app.example/out?a=b".parse().unwrap();
    let state = "s t".parse().unwrap();
    let url = client.sign_out_url(Some("id.to.ken"), Some(&back), Some(&state));
    let expected = "https://as.example/logout?tenant=1&client_id=demo+web&id_token_hint=id.to.ken\
                    &post_logout_redirect_uri=https%3A%2F%2Fapp.example%2Fout%3Fa%3Db&state=s+t";
    assert_eq!(url.as_deref(), Ok(expected));
    let bare = client.sign_out_url(None, None, None);
    assert_eq!(
        bare.as_deref(),
        Ok("https://as.example/logout?tenant=1&client_id=demo+web")
    );
    let refused = super::client().sign_out_url(None, None, None);
    assert_eq!(refused, Err(NotOffered::EndSession));
}

/// O34: a logout is a `POST` of a form with one token, for this client.
#[tokio::test]
async fn backchannel_logout_is_verified() {
    let keys = keys();
    let client = client();
    let form = encode([
        ("logout_token", logout_token("demo web").as_str()),
        ("other", "x"),
    ]);
    let logout = client
        .verify_backchannel_logout(&post(form.clone()), &keys, now())
        .await;
    assert_eq!(logout.unwrap().session.as_deref(), Some("s1"));
    let accepted = accept_logout();
    assert_eq!(accepted.status(), StatusCode::OK);
    assert_eq!(accepted.headers()["cache-control"], "no-store");

    let mut by_get = post(form.clone());
    *by_get.method_mut() = Method::GET;
    let mut as_text = post(form.clone());
    as_text
        .headers_mut()
        .insert("content-type", "text/plain".parse().unwrap());
    let twice = post(format!("{form}&{form}"));
    let of_other = post(encode([("logout_token", logout_token("other").as_str())]));
    for (request, is_malformed) in [
        (by_get, true),
        (as_text, true),
        (twice, true),
        (post("logout_token=%zz".to_owned()), true),
        (post("token=x".to_owned()), true),
        (post("logout_token=".to_owned()), true),
        (post("logout_token=a.b.c".to_owned()), false),
        (of_other, false),
    ] {
        let refused = client
            .verify_backchannel_logout(&request, &keys, now())
            .await
            .unwrap_err();
        assert_eq!(
            matches!(refused, LogoutError::Malformed),
            is_malformed,
            "{request:?}"
        );
        let response = refused.response();
        assert_eq!(response.status(), StatusCode::BAD_REQUEST);
        assert_eq!(response.headers()["cache-control"], "no-store");
        assert_eq!(response.body().as_ref(), br#"{"error":"invalid_request"}"#);
    }
}

/// O34: without the keys of the server the response is 503, so that the server tries again.
#[tokio::test]
async fn logout_without_keys_is_answered_by_503() {
    let failing = transport_fn(async |_: Request<Bytes>| Err(TransportError::other("down")));
    let keys = RemoteKeySet::new("https://as.example/jwks".parse().unwrap(), failing);
    let form = encode([("logout_token", logout_token("demo web").as_str())]);
    let refused = client()
        .verify_backchannel_logout(&post(form), &keys, now())
        .await
        .unwrap_err();
    assert_eq!(refused.response().status(), StatusCode::SERVICE_UNAVAILABLE);
}
