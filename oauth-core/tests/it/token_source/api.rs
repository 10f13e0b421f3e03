//! Access tokens that an API refuses.

use oauth_core::client::ApiError;
use oauth_core::ports::ExchangeLimits;

use super::*;

/// O9, 97: ten calls with 401 cause one refresh, concurrent or one after the other.
#[tokio::test]
async fn ten_calls_with_401_cause_one_refresh() {
    let server = Rotating::closed();
    let source = server.source();
    let mut waiting: Vec<_> = (0..10).map(|_| Box::pin(renew(&source, "at-1"))).collect();
    for caller in &mut waiting {
        assert!(caller.now_or_never().is_none());
    }
    server.gate.add_permits(10);
    for caller in waiting {
        assert_eq!(caller.await, same("at-2"));
    }
    // and late callers
    for _ in 0..10 {
        assert_eq!(renew(&source, "at-1").await, same("at-2"));
        assert_eq!(token(&source).await, same("at-2"));
    }
    assert_eq!(server.asked(), ["rt-1"]);
    assert_eq!(renew(&source, "at-2").await, same("at-3"));
}

/// O9, 97: a caller with an older token gets the current one without a refresh, unless it has
/// expired.
#[tokio::test]
async fn refusal_of_older_token_causes_no_refresh() {
    let server = Rotating::open();
    let source = server.source();
    for other in ["at-0", "at-11", "at-", "AT-1", "at-1 "] {
        assert_eq!(renew(&source, other).await, same("at-1"), "{other}");
    }
    assert!(server.asked().is_empty());
    server.clock.advance(LIFE);
    assert_eq!(renew(&source, "at-0").await, same("at-2"));
}

const API: &str = "https://api.example/charges";

/// A token source over `server`, and the tokens that the API saw; it accepts `good` only.
fn world(server: &Rotating, body: &str, good: &'static str) -> (TokenSource, Arc<Mutex<Vec<String>>>) {
    let (ports, seen) = api(server, good, "Bearer");
    (TokenSource::new(server.signed_in(body), ports), seen)
}

/// The ports of an API that accepts `good` and refuses with `challenge`, and the tokens it saw.
fn api(server: &Rotating, good: &'static str, challenge: &'static str) -> (Ports, Arc<Mutex<Vec<String>>>) {
    let (ports, seen) = (server.ports(), Arc::<Mutex<Vec<String>>>::default());
    let (token_endpoint, log) = (Arc::clone(ports.transport()), Arc::clone(&seen));
    let transport = transport_fn(move |request: Request<Bytes>| {
        let (token_endpoint, log) = (Arc::clone(&token_endpoint), Arc::clone(&log));
        async move {
            if request.uri().host() == Some("as.example") {
                return token_endpoint.send(request).await;
            }
            assert_eq!(request.body(), "charge");
            let shown = request.headers()["authorization"].to_str().unwrap().to_owned();
            let status = if shown == good { 200 } else { 401 };
            log.lock().unwrap().push(shown);
            let response = Response::builder().status(status);
            let response = response.header("www-authenticate", challenge);
            Ok(response.body(Bytes::new()).unwrap())
        }
    });
    let ports = Ports::new(transport, OsEntropy, server.clock.clone());
    (ports, seen)
}

async fn charge(source: &TokenSource, uri: &str) -> Result<u16, ApiError> {
    let request = Request::post(uri).body(Bytes::from_static(b"charge")).unwrap();
    Ok(source.call(request).await?.status().as_u16())
}

/// O9, 97: a call is repeated once after a 401, with another token.
#[tokio::test]
async fn call_is_retried_once_after_401() {
    let server = Rotating::open();
    let first = server.tokens(1);
    let (source, seen) = world(&server, &first, "Bearer at-1");
    assert_eq!(charge(&source, API).await.unwrap(), 200);
    assert_eq!(*seen.lock().unwrap(), ["Bearer at-1"]);

    let (source, seen) = world(&server, &first, "Bearer at-2");
    assert_eq!(charge(&source, API).await.unwrap(), 200);
    assert_eq!(*seen.lock().unwrap(), ["Bearer at-1", "Bearer at-2"]);

    let server = Rotating::open();
    let (source, seen) = world(&server, &first, "nothing is good");
    assert_eq!(charge(&source, API).await.unwrap(), 401);
    assert_eq!(*seen.lock().unwrap(), ["Bearer at-1", "Bearer at-2"]);
    assert_eq!(server.asked().len(), 1);

    // without a refresh token the 401 goes to the caller
    let bare = r#"{"access_token":"at-1","token_type":"Bearer"}"#;
    let call = client().client_credentials(&"read:charges".parse().unwrap());
    let (_, pending) = call.start(&OsEntropy, server.clock.now()).unwrap();
    let tokens = pending.finish(Response::new(bare.into()), server.clock.now());
    let api = transport_fn(async |_: Request<Bytes>| {
        Ok(Response::builder().status(401).body(Bytes::new()).unwrap())
    });
    let ports = Ports::new(api, OsEntropy, server.clock.clone());
    let source = TokenSource::new(tokens.unwrap(), ports);
    assert_eq!(charge(&source, API).await.unwrap(), 401);
}

/// O9: a call and its retry have the host's limits, in the extensions of the request.
#[tokio::test]
async fn call_and_retry_keep_exchange_limits() {
    let server = Rotating::open();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (log, token_endpoint) = (Arc::clone(&seen), Arc::clone(server.ports().transport()));
    let transport = transport_fn(move |request: Request<Bytes>| {
        let (log, token_endpoint) = (Arc::clone(&log), Arc::clone(&token_endpoint));
        async move {
            if request.uri() != API {
                return token_endpoint.send(request).await;
            }
            log.lock().unwrap().push(request.extensions().get().copied());
            Ok(Response::builder().status(401).body(Bytes::new()).unwrap())
        }
    });
    let ports = Ports::new(transport, OsEntropy, server.clock.clone());
    let source = TokenSource::new(server.signed_in(&server.tokens(1)), ports);
    let limits = ExchangeLimits {
        max_response_body: 1 << 20,
        ..Default::default()
    };
    let mut request = Request::get(API).body(Bytes::new()).unwrap();
    request.extensions_mut().insert(limits);
    source.call(request).await.unwrap();
    assert_eq!(*seen.lock().unwrap(), [Some(limits), Some(limits)]);
}

/// O9, O16, 97: a call that cannot be made reports the reason, and no token is sent without TLS.
#[tokio::test]
async fn call_that_cannot_be_made_reports_reason() {
    let server = Rotating::open();
    let (source, seen) = world(&server, &server.tokens(1), "Bearer at-1");
    let refused = charge(&source, "http://api.example/charges").await;
    assert!(matches!(refused, Err(ApiError::Target(_))), "{refused:?}");
    assert!(seen.lock().unwrap().is_empty());
    server.clock.advance(LIFE);
    server.meets([Fault::Status(400, r#"{"error":"invalid_grant"}"#)]);
    let refused = charge(&source, "https://api.example/charges").await;
    assert!(matches!(refused, Err(ApiError::Refresh(RefreshError::Ended(_)))));
    assert!(seen.lock().unwrap().is_empty());
}

/// O9, 97: an API that refuses every token causes one refresh in ten seconds.
#[tokio::test]
async fn api_that_refuses_all_causes_few_refreshes() {
    let server = Rotating::open();
    let (source, seen) = world(&server, &server.tokens(1), "nothing is good");
    for _ in 0..10 {
        assert_eq!(charge(&source, API).await.unwrap(), 401);
    }
    assert_eq!(server.asked(), ["rt-1"]);
    assert_eq!(seen.lock().unwrap().len(), 11);
    server.clock.advance(SECOND * 10 - TICK);
    assert_eq!(charge(&source, API).await.unwrap(), 401);
    assert_eq!(server.asked(), ["rt-1"]);
    server.clock.advance(TICK);
    for _ in 0..10 {
        assert_eq!(charge(&source, API).await.unwrap(), 401);
    }
    assert_eq!(server.asked(), ["rt-1", "rt-2"]);
    // the first tokens are as new
    let (ports, _) = api(&server, "nothing is good", "Bearer");
    let stored = client().refresh(&"rt-3".parse().unwrap(), &"read:charges".parse().unwrap());
    let source = TokenSource::from_call(stored, ports);
    for _ in 0..10 {
        assert_eq!(charge(&source, API).await.unwrap(), 401);
    }
    assert_eq!(server.asked().len(), 3);
    // and a host may force a refresh
    assert_eq!(renew(&source, "at-4").await, same("at-5"));
}

/// O9, O16, 97: a 401 for another reason than the token goes to the host.
#[tokio::test]
async fn refusal_for_other_reason_causes_no_refresh() {
    for (challenge, asked) in [
        (r#"Bearer realm="api""#, 1),
        (r#"Bearer realm="api", error="invalid_token""#, 1),
        (r#"DPoP algs="ES256", Bearer error="invalid_token""#, 1),
        (
            r#"Bearer error="insufficient_user_authentication", max_age="60""#,
            0,
        ),
        (r#"DPoP algs="ES256", error="invalid_dpop_proof""#, 0),
        (r#"DPoP error="use_dpop_nonce""#, 0),
        (r#"Bearer error="insufficient_scope""#, 0),
    ] {
        let server = Rotating::open();
        let (ports, seen) = api(&server, "nothing is good", challenge);
        let source = TokenSource::new(server.signed_in(&server.tokens(1)), ports);
        assert_eq!(charge(&source, API).await.unwrap(), 401);
        assert_eq!(server.asked().len(), asked, "{challenge}");
        assert_eq!(seen.lock().unwrap().len(), 1 + asked, "{challenge}");
    }
}

/// O9, 97: if no other token can be had, the host gets the first response.
#[tokio::test]
async fn failed_refresh_returns_first_response() {
    let server = Rotating::open();
    let (source, seen) = world(&server, &server.tokens(1), "Bearer at-2");
    server.meets([Fault::Lost, Fault::Status(503, "")]);
    for asked in 1..3 {
        assert_eq!(charge(&source, API).await.unwrap(), 401);
        assert_eq!(server.asked().len(), asked);
    }
    assert_eq!(charge(&source, API).await.unwrap(), 200);
    assert_eq!(seen.lock().unwrap().len(), 4);
    let (source, _) = world(&server, &server.tokens(2), "nothing is good");
    server.meets([Fault::Status(400, r#"{"error":"invalid_grant"}"#)]);
    let ended = charge(&source, API).await;
    assert!(matches!(ended, Err(ApiError::Refresh(RefreshError::Ended(_)))));
}
