//! The client's half of a sign-in, through its public face.

use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::{Request, Response};
use oauth_core::client::{
    AuthorizationGrant, CallbackError, Client, ClientCredentials, PendingAuthorization, Provider, TokenError,
    TokenResponse,
};
use oauth_core::jose::{IdTokenClaims, JwtError, KeySet, SigningKey};
use oauth_core::params::Params;
use oauth_core::pkce::CodeVerifier;
use oauth_core::vocabulary::Nonce;

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn provider() -> Provider {
    Provider::new(
        "https://as.example".parse().unwrap(),
        "https://as.example/authorize".parse().unwrap(),
        "https://as.example/token".parse().unwrap(),
    )
}

fn client() -> Client {
    Client::new(
        provider(),
        "demo web".parse().unwrap(),
        "https://app.example/cb".parse().unwrap(),
    )
}

fn authorize(client: &Client, scopes: &str) -> (Params, PendingAuthorization) {
    let counter = AtomicU8::new(1);
    let entropy = move |bytes: &mut [u8]| bytes.fill(counter.fetch_add(1, Ordering::Relaxed));
    let (url, pending) = client.authorize(&scopes.parse().unwrap_or_default(), &entropy, now());
    let (endpoint, query) = url.split_once('?').unwrap();
    assert_eq!(endpoint, "https://as.example/authorize");
    (Params::parse(query.as_bytes()).unwrap(), pending)
}

fn finish(query: &str) -> Result<AuthorizationGrant, CallbackError> {
    let (_, pending) = authorize(&client(), "openid");
    let query = query.replace("STATE", pending.state().as_str());
    pending.finish(&query, now())
}

const GOOD: &str = "code=c&state=STATE&iss=https%3A%2F%2Fas.example";

fn grant(client: &Client) -> (AuthorizationGrant, Nonce) {
    let (request, pending) = authorize(client, "openid read:charges");
    let query = GOOD.replace("STATE", pending.state().as_str());
    (
        pending.finish(&query, now()).unwrap(),
        request.optional("nonce").unwrap().parse().unwrap(),
    )
}

fn form(request: &Request<Bytes>) -> Vec<(String, String)> {
    assert_eq!(request.method(), "POST");
    assert_eq!(
        request.headers()["content-type"],
        "application/x-www-form-urlencoded"
    );
    let names = [
        "grant_type",
        "code",
        "redirect_uri",
        "code_verifier",
        "client_id",
        "client_secret",
        "refresh_token",
    ];
    let params = Params::parse(request.body()).unwrap();
    let pair = |name: &str| Some((name.to_owned(), params.optional(name)?.to_owned()));
    names.into_iter().filter_map(pair).collect()
}

fn answer(status: u16, body: &str) -> Response<Bytes> {
    Response::builder()
        .status(status)
        .body(Bytes::copy_from_slice(body.as_bytes()))
        .unwrap()
}

fn exchange(status: u16, body: &str) -> Result<TokenResponse, TokenError> {
    let client = client();
    client
        .exchange(grant(&client).0)
        .1
        .finish(&answer(status, body), now())
}

/// O2: the request carries what the server demands, and PKCE with S256 always.
#[test]
fn an_authorization_request_carries_everything() {
    let (params, pending) = authorize(&client(), "openid read:charges");
    assert_eq!(params.repeated(&[]), None);
    for (name, expected) in [
        ("response_type", "code"),
        ("client_id", "demo web"),
        ("redirect_uri", "https://app.example/cb"),
        ("scope", "openid read:charges"),
        ("state", pending.state().as_str()),
        ("code_challenge_method", "S256"),
    ] {
        assert_eq!(params.optional(name), Some(expected));
    }
    assert_eq!(params.optional("code_challenge").unwrap().len(), 43);
    assert_eq!(params.optional("nonce").unwrap().len(), 43);
    let (params, _) = authorize(&client(), "");
    assert_eq!((params.optional("nonce"), params.optional("scope")), (None, None));
}

/// O5: state is fresh for each request, compared exactly, and mandatory.
#[test]
fn an_answer_with_another_state_is_refused() {
    assert!(finish(GOOD).is_ok());
    for state in ["", "x", "STATEx", "STAT"] {
        let query = GOOD.replace("STATE", state);
        assert_eq!(finish(&query).unwrap_err(), CallbackError::WrongState, "{state}");
    }
    assert_eq!(
        finish("code=c&iss=https%3A%2F%2Fas.example").unwrap_err(),
        CallbackError::WrongState
    );
    assert_eq!(
        finish("error=access_denied&state=x&iss=https%3A%2F%2Fas.example").unwrap_err(),
        CallbackError::WrongState
    );
}

/// O5: an answer is taken for ten minutes, and not at the instant they end.
#[test]
fn an_answer_after_ten_minutes_is_refused() {
    let finish_after = |age| {
        let (_, pending) = authorize(&client(), "openid");
        let query = GOOD.replace("STATE", pending.state().as_str());
        pending.finish(&query, now() + age).map(|_| ())
    };
    assert_eq!(
        finish_after(Duration::from_secs(600) - Duration::from_nanos(1)),
        Ok(())
    );
    assert_eq!(
        finish_after(Duration::from_secs(600)),
        Err(CallbackError::Expired)
    );
}

/// O3: the answer must be from the server that was asked, before anything in it is believed, refusals included.
#[test]
fn an_answer_from_another_issuer_is_refused() {
    for issuer in [
        "https%3A%2F%2Fevil.example",
        "https%3A%2F%2Fas.example%2F",
        "https%3A%2F%2FAS.example",
        "",
    ] {
        for result in ["code=c", "error=access_denied"] {
            let query = format!("{result}&state=STATE&iss={issuer}");
            assert_eq!(finish(&query).unwrap_err(), CallbackError::WrongIssuer, "{query}");
        }
    }
    let lax = Client::new(
        provider().without_issuer_in_response(),
        "demo-web".parse().unwrap(),
        "https://app.example/cb".parse().unwrap(),
    );
    let finish_lax = |query: &str| {
        let (_, pending) = authorize(&lax, "openid");
        let query = query.replace("STATE", pending.state().as_str());
        pending.finish(&query, now()).map(|_| ())
    };
    assert_eq!(finish_lax("code=c&state=STATE"), Ok(()));
    assert_eq!(
        finish_lax("code=c&state=STATE&iss=https%3A%2F%2Fevil.example"),
        Err(CallbackError::WrongIssuer)
    );
}

/// O5: repeated parameters and contradictions are refused, whichever of the values would be right.
#[test]
fn a_contradictory_answer_is_refused() {
    for query in [
        "code=c&state=STATE&state=STATE&iss=https%3A%2F%2Fas.example",
        "code=c&state=x&state=STATE&iss=https%3A%2F%2Fas.example",
        "code=c&code=d&state=STATE&iss=https%3A%2F%2Fas.example",
        "code=c&state=STATE&iss=https%3A%2F%2Fas.example&iss=https%3A%2F%2Fevil.example",
        "code=c&error=access_denied&state=STATE&iss=https%3A%2F%2Fas.example",
        "state=STATE&iss=https%3A%2F%2Fas.example",
        "code=%0a&state=STATE&iss=https%3A%2F%2Fas.example",
        "code=%zz&state=STATE&iss=https%3A%2F%2Fas.example",
    ] {
        assert_eq!(finish(query).unwrap_err(), CallbackError::Malformed, "{query}");
    }
}

#[test]
fn a_refusal_is_told_with_its_code() {
    let query = "error=access_denied&error_description=no&state=STATE&iss=https%3A%2F%2Fas.example";
    let CallbackError::Refused(answer) = finish(query).unwrap_err() else {
        panic!("a refusal")
    };
    assert_eq!(
        (answer.code(), answer.description()),
        ("access_denied", Some("no"))
    );
}

/// O6: the code goes with its redirect URI and verifier; the client authenticates in exactly one way.
#[test]
fn a_code_is_redeemed_in_one_of_three_ways() {
    let secret = || "p%a+ss: w".parse().unwrap();
    let code = |request: &Request<Bytes>| form(request).into_iter().take(4).collect::<Vec<_>>();
    let credentials = |request: &Request<Bytes>| form(request).into_iter().skip(4).collect::<Vec<_>>();
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());

    let public = client();
    let (request, _) = public.exchange(grant(&public).0);
    assert_eq!(request.uri(), "https://as.example/token");
    let verifier = form(&request)[3].1.parse::<CodeVerifier>().unwrap();
    let expected = [
        pair("grant_type", "authorization_code"),
        pair("code", "c"),
        pair("redirect_uri", "https://app.example/cb"),
        pair("code_verifier", verifier.expose()),
    ];
    assert_eq!(code(&request), expected);
    assert_eq!(credentials(&request), [pair("client_id", "demo web")]);
    assert!(!request.headers().contains_key("authorization"));

    let post = client().with_credentials(ClientCredentials::Post(secret()));
    let (request, _) = post.exchange(grant(&post).0);
    assert_eq!(
        credentials(&request),
        [pair("client_id", "demo web"), pair("client_secret", "p%a+ss: w")]
    );
    assert!(!request.headers().contains_key("authorization"));

    let basic = client().with_credentials(ClientCredentials::Basic(secret()));
    let (request, _) = basic.exchange(grant(&basic).0);
    assert_eq!(credentials(&request), []);
    let header = oauth_core::basic::BasicCredentials::parse(&request.headers()["authorization"]).unwrap();
    assert_eq!(
        (header.client_id.as_str(), header.secret.expose()),
        ("demo web", "p%a+ss: w")
    );
    assert!(request.headers()["authorization"].is_sensitive());
}

/// O8: token responses are read strictly where it matters and leniently where the RFC wants it.
#[test]
fn a_token_response_is_read() {
    let tokens = exchange(
        200,
        r#" {"access_token":"at","token_type":"bEARER","expires_in":600,"refresh_token":"rt","scope":"openid","unknown":1}"#,
    )
    .unwrap();
    assert_eq!(tokens.access_token().expose(), "at");
    assert_eq!(tokens.refresh_token().unwrap().expose(), "rt");
    assert_eq!(tokens.expires_at(), Some(now() + Duration::from_secs(600)));
    assert_eq!(tokens.scopes().to_string(), "openid");
    let tokens = exchange(200, r#"{"access_token":"at","token_type":"Bearer"}"#).unwrap();
    assert_eq!(tokens.scopes().to_string(), "openid read:charges");
    assert!(tokens.refresh_token().is_none() && tokens.expires_at().is_none());
    assert!(!format!("{tokens:?}").contains("\"at\""));
    for body in [
        "",
        "[]",
        r#"["at","Bearer"]"#,
        r#"{"token_type":"Bearer"}"#,
        r#"{"access_token":"at"}"#,
        r#"{"access_token":"","token_type":"Bearer"}"#,
        r#"{"access_token":"a\nt","token_type":"Bearer"}"#,
        r#"{"access_token":"at","access_token":"at2","token_type":"Bearer"}"#,
        r#"{"access_token":"at","token_type":"Bearer","expires_in":-1}"#,
        r#"{"access_token":"at","token_type":"Bearer","scope":"a  b"}"#,
    ] {
        assert_eq!(exchange(200, body).unwrap_err(), TokenError::Malformed, "{body}");
    }
    let mac = exchange(200, r#"{"access_token":"at","token_type":"mac"}"#).unwrap_err();
    assert_eq!(mac, TokenError::UnsupportedTokenType);
}

/// O26: the codes of RFC 6749 §5.2 are understood, whatever else comes is not taken for one.
#[test]
fn a_refusal_of_the_token_endpoint_is_told_from_a_failure() {
    for status in [400, 401] {
        let error = exchange(status, r#"{"error":"invalid_grant","error_description":"used"}"#).unwrap_err();
        let TokenError::Refused(answer) = error else {
            panic!("a refusal")
        };
        assert_eq!(
            (answer.code(), answer.description()),
            ("invalid_grant", Some("used"))
        );
    }
    for (status, body) in [
        (400, "oops"),
        (500, r#"{"error":"invalid_grant"}"#),
        (302, ""),
        (503, ""),
    ] {
        assert!(
            matches!(exchange(status, body), Err(TokenError::UnexpectedStatus(_))),
            "{status}"
        );
    }
}

/// O9: a refresh sends the token under its name; a new one replaces it, none keeps it.
#[test]
fn a_refresh_takes_the_new_token_or_keeps_the_old() {
    let client = client();
    let scopes = "openid".parse().unwrap();
    let refresh = |body: &str| {
        let (request, pending) = client.refresh(&"rt-1".parse().unwrap(), &scopes);
        let pairs = form(&request);
        assert_eq!(pairs[0].1, "refresh_token");
        assert_eq!(pairs[2], ("refresh_token".to_owned(), "rt-1".to_owned()));
        pending.finish(&answer(200, body), now()).unwrap()
    };
    let rotated = refresh(r#"{"access_token":"at","token_type":"Bearer","refresh_token":"rt-2"}"#);
    assert_eq!(rotated.refresh_token().unwrap().expose(), "rt-2");
    let kept = refresh(r#"{"access_token":"at","token_type":"Bearer"}"#);
    assert_eq!(kept.refresh_token().unwrap().expose(), "rt-1");
    assert_eq!(kept.scopes(), &scopes);
}

/// O18: who signed in is told only after signature, issuer, audience, expiry, nonce and access token fit.
#[test]
fn an_identity_is_verified_before_it_is_believed() {
    let key = SigningKey::generate_es256(&|bytes: &mut [u8]| bytes.fill(7)).unwrap();
    let keys = KeySet::new([key.public_key().clone()]).unwrap();
    let client = client();
    let identity = |change: &dyn Fn(&mut IdTokenClaims), beside: &str, key: &SigningKey| {
        let (grant, nonce) = grant(&client);
        let mut claims = IdTokenClaims {
            issuer: "https://as.example".parse().unwrap(),
            subject: "ada".parse().unwrap(),
            audience: "demo web".parse().unwrap(),
            nonce: Some(nonce),
            issued_at: now(),
            expires_at: now() + Duration::from_secs(600),
            auth_time: Some(now()),
            email: Some("ada@example.com".to_owned()),
            email_verified: Some(true),
            name: Some("Ada".to_owned()),
        };
        change(&mut claims);
        let id_token = claims.sign(key, Some(&beside.parse().unwrap())).unwrap();
        let body = format!(r#"{{"access_token":"at","token_type":"Bearer","id_token":"{id_token}"}}"#);
        let tokens = client
            .exchange(grant)
            .1
            .finish(&answer(200, &body), now())
            .unwrap();
        tokens.identity(&keys, now()).map(|claims| claims.unwrap().email)
    };
    assert_eq!(
        identity(&|_| {}, "at", &key),
        Ok(Some("ada@example.com".to_owned()))
    );
    assert_eq!(
        identity(&|_| {}, "at-other", &key),
        Err(JwtError::WrongAccessToken)
    );
    assert_eq!(
        identity(&|claims| claims.nonce = None, "at", &key),
        Err(JwtError::WrongNonce)
    );
    assert_eq!(
        identity(&|claims| claims.nonce = "x".parse().ok(), "at", &key),
        Err(JwtError::WrongNonce)
    );
    let other_audience = |claims: &mut IdTokenClaims| claims.audience = "demo-native".parse().unwrap();
    assert_eq!(
        identity(&other_audience, "at", &key),
        Err(JwtError::WrongAudience)
    );
    let other_issuer = |claims: &mut IdTokenClaims| claims.issuer = "https://evil.example".parse().unwrap();
    assert_eq!(identity(&other_issuer, "at", &key), Err(JwtError::WrongIssuer));
    let expired = |claims: &mut IdTokenClaims| claims.expires_at = now() - Duration::from_secs(5);
    assert_eq!(identity(&expired, "at", &key), Err(JwtError::Expired));
    let thief = SigningKey::generate_es256(&|bytes: &mut [u8]| bytes.fill(8)).unwrap();
    assert_eq!(identity(&|_| {}, "at", &thief), Err(JwtError::UnknownKey));
}

/// O18: after a refresh the ID token must be about the same person; it needs no nonce.
#[test]
fn a_refreshed_identity_is_the_same_person() {
    let key = SigningKey::generate_es256(&|bytes: &mut [u8]| bytes.fill(7)).unwrap();
    let keys = KeySet::new([key.public_key().clone()]).unwrap();
    let identity = |subject: &str| {
        let claims = IdTokenClaims {
            issuer: "https://as.example".parse().unwrap(),
            subject: subject.parse().unwrap(),
            audience: "demo web".parse().unwrap(),
            nonce: None,
            issued_at: now(),
            expires_at: now() + Duration::from_secs(600),
            auth_time: None,
            email: None,
            email_verified: None,
            name: None,
        };
        let id_token = claims.sign(&key, None).unwrap();
        let body = format!(r#"{{"access_token":"at","token_type":"Bearer","id_token":"{id_token}"}}"#);
        let (_, pending) = client().refresh(&"rt".parse().unwrap(), &"openid".parse().unwrap());
        let pending = pending.with_subject("ada".parse().unwrap());
        pending
            .finish(&answer(200, &body), now())
            .unwrap()
            .identity(&keys, now())
            .map(|_| ())
    };
    assert_eq!(identity("ada"), Ok(()));
    assert_eq!(identity("eve"), Err(JwtError::WrongSubject));
    assert_eq!(
        exchange(200, r#"{"access_token":"at","token_type":"Bearer"}"#)
            .unwrap()
            .identity(&keys, now()),
        Ok(None)
    );
}
