//! Clients whose keys are at their `jwks_uri`.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{Request, Response};
use oauth_core::error::Reason;
use oauth_core::jose::{Algorithm, KeySet};
use oauth_core::ports::TransportError;
use oauth_core::store::{ClientKeysUri, ClientStore, GrantType, RegisteredClient};
use serde_json::json;

use super::{Replays, assertion, claims, configured, present, public_key};
use crate::server::fixture::{Fixture, reason};

const URI: &str = "https://robot.example/jwks.json";

/// The web server of the client.
#[derive(Default)]
struct Robot {
    document: Mutex<String>,
    is_down: AtomicBool,
    fetched: AtomicUsize,
}

impl Robot {
    fn publish(&self, seed: u8) {
        let keys = KeySet::new([public_key(seed)]).unwrap();
        *self.document.lock().unwrap() = keys.to_json();
    }
}

async fn server(algorithm: Algorithm) -> (Fixture, Arc<Robot>) {
    let robot = Arc::new(Robot::default());
    robot.publish(7);
    let web = robot.clone();
    let transport = oauth_core::ports::transport_fn(move |request: Request<Bytes>| {
        assert_eq!(request.uri(), URI);
        web.fetched.fetch_add(1, Ordering::Relaxed);
        let answer = match web.is_down.load(Ordering::Relaxed) {
            true => Err(TransportError::connect("refused")),
            false => Ok(Response::new(Bytes::from(web.document.lock().unwrap().clone()))),
        };
        async move { answer }
    });
    let replays = Arc::new(Replays::default());
    let fixture = configured(&replays, |builder| builder.with_client_key_transport(transport)).await;
    let keys = ClientKeysUri::new(algorithm, URI).unwrap();
    let client = RegisteredClient::keyed_at("robot".parse().unwrap(), keys)
        .with_grant_types([GrantType::ClientCredentials])
        .with_scopes("read:charges".parse().unwrap());
    fixture.clients.put_client(client).await.unwrap();
    (fixture, robot)
}

/// O32: the keys of a client are fetched from its `jwks_uri` and cached; an assertion is accepted
/// once.
#[tokio::test]
async fn keys_are_fetched_and_cached() {
    let (fixture, robot) = server(Algorithm::EdDsa).await;
    let first = assertion(&claims());
    assert_eq!(present(&fixture.server, &first).await.response.status(), 200);
    let mut second = claims();
    second["jti"] = json!("another");
    assert_eq!(
        present(&fixture.server, &assertion(&second))
            .await
            .response
            .status(),
        200
    );
    assert_eq!(robot.fetched.load(Ordering::Relaxed), 1);
    let replayed = present(&fixture.server, &first).await;
    assert_eq!(reason(&replayed), Reason::ClientAssertionReplayed.code());
}

/// O32: attacks: a signature by another key, another algorithm than the registered one, and a
/// client without a transport.
#[tokio::test]
async fn foreign_assertion_is_refused() {
    let (fixture, robot) = server(Algorithm::EdDsa).await;
    robot.publish(8);
    let refused = present(&fixture.server, &assertion(&claims())).await;
    assert_eq!(refused.response.status(), 401);
    assert_eq!(reason(&refused), Reason::ClientAssertionSignatureMismatch.code());

    let (fixture, robot) = server(Algorithm::Es256).await;
    let refused = present(&fixture.server, &assertion(&claims())).await;
    assert_eq!(reason(&refused), Reason::ClientAssertionAlgorithm.code());
    assert_eq!(robot.fetched.load(Ordering::Relaxed), 0);

    let without = configured(&Arc::new(Replays::default()), |builder| builder).await;
    let keys = ClientKeysUri::new(Algorithm::EdDsa, URI).unwrap();
    let client = RegisteredClient::keyed_at("robot".parse().unwrap(), keys);
    without.clients.put_client(client).await.unwrap();
    let refused = present(&without.server, &assertion(&claims())).await;
    assert_eq!(refused.response.status(), 401);
    assert_eq!(reason(&refused), Reason::ClientAssertionUnsupported.code());
}

/// O32: while the client's server is down, the response is 503, and the assertion is not used up.
#[tokio::test]
async fn unreachable_keys_are_a_503() {
    let (fixture, robot) = server(Algorithm::EdDsa).await;
    robot.is_down.store(true, Ordering::Relaxed);
    let sent = assertion(&claims());
    let failed = present(&fixture.server, &sent).await;
    assert_eq!(failed.response.status(), 503);
    assert_eq!(reason(&failed), Reason::ClientKeysUnavailable.code());
    robot.is_down.store(false, Ordering::Relaxed);
    fixture.clock.advance(std::time::Duration::from_secs(6));
    assert_eq!(present(&fixture.server, &sent).await.response.status(), 200);
}

/// O32: only `https` and loopback URLs are registered.
#[test]
fn key_location_is_https() {
    for uri in [
        "http://robot.example/jwks.json",
        "file:///etc/passwd",
        "",
        "robot.example",
    ] {
        assert!(ClientKeysUri::new(Algorithm::Rs256, uri).is_err(), "{uri}");
    }
}
