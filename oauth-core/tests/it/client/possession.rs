//! DPoP proofs of the client, and the nonces that servers require in them.

use std::sync::Mutex;

use http::Method;
use oauth_core::client::DpopKey;
use oauth_core::dpop::{HEADER, ProofPolicy, ProvenKey, Target};
use oauth_core::ports::Entropy;

use super::peer::{Peer, unusable, with};
use super::*;

const TOKENS: &str = r#"{"access_token":"at","token_type":"DPoP","refresh_token":"rt"}"#;
const CHARGES: &str = "https://api.example/v1/charges?limit=2";

fn key() -> SigningKey {
    SigningKey::generate_es256(&entropy_fn(|bytes: &mut [u8]| bytes.fill(7))).unwrap()
}

fn bound() -> Client {
    client().with_dpop(DpopKey::new(key()))
}

fn refresh(client: &Client) -> Call<TokenResponse> {
    client.refresh(&"rt".parse().unwrap(), &Scopes::default())
}

fn wants_nonce(nonce: &str) -> Response<Bytes> {
    with("dpop-nonce", nonce, answer(400, r#"{"error":"use_dpop_nonce"}"#))
}

fn challenge(nonce: &str, challenge: &str) -> Response<Bytes> {
    with(
        "dpop-nonce",
        nonce,
        with("www-authenticate", challenge, answer(401, "")),
    )
}

/// The claims of the only proof of a request.
fn claims(request: &Request<Bytes>) -> serde_json::Value {
    use base64::Engine;
    let proof = request.headers()[HEADER].to_str().unwrap();
    let claims = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(proof.split('.').nth(1).unwrap());
    serde_json::from_slice(&claims.unwrap()).unwrap()
}

fn proven(request: &Request<Bytes>, token: Option<&str>) -> ProvenKey {
    let uri = request.uri().to_string().parse().unwrap();
    let target = Target {
        method: request.method(),
        uri: &uri,
        access_token: token,
    };
    ProofPolicy::new()
        .verify(request.headers(), &target, now())
        .unwrap()
}

/// O20, DP8, DP9, DP12: each request carries a proof for its own method, URL and access token.
#[test]
fn each_request_proves_the_key_of_the_client() {
    let client = bound();
    let (request, pending) = start(refresh(&client));
    assert!(request.headers()[HEADER].is_sensitive());
    let first = proven(&request, None);
    assert_eq!(first.thumbprint(), key().public_key().thumbprint());

    let tokens = pending.finish(answer(200, TOKENS), now()).unwrap();
    let asked = Request::post(CHARGES)
        .header("authorization", "Bearer stale")
        .header("dpop", "stale")
        .header("content-type", "application/json")
        .body(Bytes::from_static(b"{}"))
        .unwrap();
    let (request, pending) = start(tokens.call(asked).unwrap());
    assert_eq!(request.headers().get_all("authorization").iter().count(), 1);
    assert_eq!(request.headers()["authorization"], "DPoP at");
    assert!(request.headers()["authorization"].is_sensitive());
    assert_eq!(
        (request.method(), request.uri().to_string()),
        (&Method::POST, CHARGES.to_owned())
    );
    assert_eq!(request.headers()["content-type"], "application/json");
    assert_eq!(request.body(), "{}");
    let second = proven(&request, Some("at"));
    assert_ne!(first.replay_key(), second.replay_key());
    // any other response belongs to the host
    let response = pending.finish(answer(418, "teapot"), now()).unwrap();
    assert_eq!(response.status(), 418);
    assert!(!format!("{client:?} {tokens:?}").contains("\"at\""));
}

/// O20, 33: the authorization request names the key, so that the code is bound to it.
#[test]
fn an_authorization_request_names_the_key() {
    let (params, _) = authorize(&bound(), &asking("openid"));
    let jkt = key().public_key().thumbprint().to_string();
    assert_eq!(params.optional("dpop_jkt"), Some(jkt.as_str()));
    let (params, _) = authorize(&client(), &asking("openid"));
    assert_eq!(params.optional("dpop_jkt"), None);
}

/// O20, 96: a request that was refused for a nonce is sent once more, with the nonce and with a new
/// proof and assertion.
#[test]
fn request_is_retried_once_with_nonce() {
    let assertions = ClientCredentials::PrivateKey(SigningKey::generate_ed25519(&OsEntropy).unwrap());
    let client = bound().with_credentials(assertions);
    let peer = Peer::new([wants_nonce("n-1"), with("dpop-nonce", "n-2", answer(200, TOKENS))]);
    let tokens = peer.ask(refresh(&client)).unwrap();
    assert_eq!(tokens.access_token().expose(), "at");
    let [first, second] = &peer.asked()[..] else {
        panic!("{:?}", peer.asked())
    };
    let (before, after) = (claims(first), claims(second));
    assert!(before.get("nonce").is_none() && before["jti"] != after["jti"]);
    assert_eq!(after["nonce"], "n-1");
    let assertion = |request| form(request).pop().unwrap();
    assert_eq!(assertion(first).0, "client_assertion");
    assert_ne!(assertion(first), assertion(second));

    // and the next request has the newest nonce at once
    let peer = Peer::new([answer(200, TOKENS)]);
    peer.ask(refresh(&client)).unwrap();
    assert_eq!(claims(&peer.asked()[0])["nonce"], "n-2");
    // a nonce is for its own server only
    let peer = Peer::new([answer(200, "")]);
    let call = tokens.call(Request::get(CHARGES).body(Bytes::new()).unwrap());
    peer.ask(call.unwrap()).unwrap();
    assert!(claims(&peer.asked()[0]).get("nonce").is_none());
}

/// O20, 96: a server that always requires another nonce gets two requests, not more.
#[test]
fn server_that_always_wants_nonce_gets_two_requests() {
    let nonces = (0..100).map(|count| wants_nonce(&format!("n-{count}")));
    let peer = Peer::new(nonces);
    let TokenError::Refused(refusal) = unusable(peer.ask(refresh(&bound()))) else {
        panic!("a refusal")
    };
    assert_eq!(refusal.code(), "use_dpop_nonce");
    assert_eq!(peer.asked().len(), 2);

    let tokens = Peer::new([answer(200, TOKENS)]).ask(refresh(&bound())).unwrap();
    let api =
        Peer::new((0..100).map(|count| challenge(&count.to_string(), r#"DPoP error="use_dpop_nonce""#)));
    let call = tokens.call(Request::get(CHARGES).body(Bytes::new()).unwrap());
    assert_eq!(api.ask(call.unwrap()).unwrap().status(), 401);
    assert_eq!(api.asked().len(), 2);
}

/// O20, 96: a request is not repeated without a usable nonce, or after another error.
#[test]
fn request_is_not_repeated_without_nonce() {
    let long = "n".repeat(10_240);
    let body = r#"{"error":"use_dpop_nonce"}"#;
    let nonce = |response| with("dpop-nonce", "n", response);
    for response in [
        answer(400, body),
        with("dpop-nonce", &long, answer(400, body)),
        with("dpop-nonce", "", answer(400, body)),
        with("dpop-nonce", "a b", answer(400, body)),
        with("dpop-nonce", "m", nonce(answer(400, body))),
        nonce(answer(400, r#"{"error":"invalid_dpop_proof"}"#)),
        nonce(answer(400, r#"["use_dpop_nonce"]"#)),
        nonce(answer(200, body)),
        nonce(answer(500, body)),
        nonce(answer(302, body)),
    ] {
        let peer = Peer::new([response.clone()]);
        assert!(peer.ask(refresh(&bound())).is_err());
        assert_eq!(peer.asked().len(), 1, "{response:?}");
    }
    // nor for a client without a key
    let peer = Peer::new([wants_nonce("n")]);
    assert!(peer.ask(refresh(&client())).is_err());
    assert_eq!(peer.asked().len(), 1);
}

/// O20, 96: of two concurrent requests each is repeated with the nonce of its own response.
#[test]
fn retry_uses_nonce_of_its_own_response() {
    let client = bound();
    let (_, mut first) = start(refresh(&client));
    let (_, second) = start(refresh(&client));
    let second = Mutex::new(Some(second));
    // arrives while the first is signed again
    let meanwhile = entropy_fn(|bytes: &mut [u8]| {
        if let Some(mut second) = second.lock().unwrap().take() {
            let again = second.retry(&wants_nonce("n-2"), &OsEntropy, now()).unwrap();
            assert_eq!(claims(&again.unwrap())["nonce"], "n-2");
        }
        OsEntropy.fill(bytes);
    });
    let again = first.retry(&wants_nonce("n-1"), &meanwhile, now()).unwrap();
    assert!(second.lock().unwrap().is_none());
    assert_eq!(claims(&again.unwrap())["nonce"], "n-1");
    // a new request uses the newest nonce
    let (request, _) = start(refresh(&client));
    assert_eq!(claims(&request)["nonce"], "n-2");
}

/// O20, 96: an API request is repeated once for the challenge `use_dpop_nonce`, and for nothing
/// else.
#[test]
fn api_request_is_retried_once_with_nonce() {
    let tokens = || Peer::new([answer(200, TOKENS)]).ask(refresh(&bound())).unwrap();
    let call = |tokens: &TokenResponse| {
        let request = Request::put(CHARGES).body(Bytes::from_static(b"body")).unwrap();
        tokens.call(request).unwrap()
    };
    let wants = challenge(
        "n-1",
        r#"Bearer realm="api", DPoP error="use_dpop_nonce", algs="ES256""#,
    );
    let api = Peer::new([wants, answer(200, "charged")]);
    assert_eq!(api.ask(call(&tokens())).unwrap().body(), "charged");
    let [first, second] = &api.asked()[..] else {
        panic!("{:?}", api.asked())
    };
    assert_eq!(claims(second)["nonce"], "n-1");
    assert_eq!(claims(first)["ath"], claims(second)["ath"]);
    assert_ne!(claims(first)["jti"], claims(second)["jti"]);
    assert_eq!((second.method(), second.body()), (first.method(), first.body()));

    for refused in [
        challenge("n", r#"DPoP error="invalid_token""#),
        challenge("n", r#"Bearer error="use_dpop_nonce""#),
        with(
            "www-authenticate",
            r#"DPoP error="use_dpop_nonce""#,
            answer(401, ""),
        ),
        wants_nonce("n"),
    ] {
        let api = Peer::new([refused]);
        assert!(api.ask(call(&tokens())).unwrap().status().is_client_error());
        assert_eq!(api.asked().len(), 1);
    }
}

/// O20, 98: tokens of another type than requested are discarded: without binding a thief can use
/// them.
#[test]
fn tokens_of_another_type_are_discarded() {
    let read = |client: &Client, kind: &str| {
        let body = format!(r#"{{"access_token":"at","token_type":"{kind}","expires_in":600}}"#);
        Peer::new([answer(200, &body)]).ask(refresh(client)).map(|_| ())
    };
    for kind in ["DPoP", "dpop", "DPOP"] {
        assert!(read(&bound(), kind).is_ok());
        assert_eq!(unusable(read(&client(), kind)), TokenError::WrongTokenType);
    }
    for kind in ["Bearer", "bearer", "mac", "N_A", "", "DPoP "] {
        assert_eq!(
            unusable(read(&bound(), kind)),
            TokenError::WrongTokenType,
            "{kind}"
        );
    }
}

/// O16: a token is sent over TLS only.
#[test]
fn token_is_sent_over_tls_only() {
    let tokens = Peer::new([answer(200, TOKENS)]).ask(refresh(&bound())).unwrap();
    let call = |uri: &str| tokens.call(Request::get(uri).body(Bytes::new()).unwrap());
    for uri in [
        "https://api.example/@me/a%20b?q={x}|y",
        "http://127.0.0.1:8080/charges",
        "http://[::1]:8080/charges",
    ] {
        assert!(call(uri).is_ok(), "{uri}");
    }
    for uri in [
        "/v1/charges",
        "http://api.example/v1/charges",
        "http://127.0.0.1.evil.com/",
        "https://user@api.example/",
        "ftp://api.example/",
    ] {
        assert!(call(uri).is_err(), "{uri}");
    }
}
