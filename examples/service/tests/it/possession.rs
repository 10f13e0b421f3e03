//! DPoP-bound tokens at the API of the service.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use host_store_sqlite::Database;
use http::{Method, Response};
use oauth_core::dpop::Proof;
use oauth_core::jose::SigningKey;
use oauth_core::ports::OsEntropy;
use serde_json::Value;
use service::app::{App, Config};
use service::clock::DemoClock;

use crate::desk::{BASE, FORM, SERVICE, ask, bearer, call, header, json, request};

const SECOND: Duration = Duration::from_secs(1);
const TYPENAME: &str = "/graphql?query=%7B__typename%7D";
const PAGE: &str = "https://app.example.com";

/// A client with a key and a bound token with `read:charges`.
pub(crate) struct Bound {
    app: Arc<App>,
    clock: DemoClock,
    pub(crate) key: SigningKey,
    pub(crate) token: String,
    /// Nonce of the authorization server.
    nonce: String,
}

impl Bound {
    /// Starts at the beginning of a minute, so that no nonce becomes old during the test.
    async fn new() -> Self {
        let mut config = Config::new(BASE, Database::open_in_memory().unwrap());
        let clock = DemoClock::new();
        config.clock = clock.clone();
        config.cross_origins = vec![PAGE.to_owned()];
        let app = Arc::new(App::open(config).await.unwrap());
        let since = clock.now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        clock.advance(Duration::from_secs(60 - since.as_secs() % 60));
        Self::at(app, clock).await
    }

    pub(crate) async fn at(app: Arc<App>, clock: DemoClock) -> Self {
        let key = SigningKey::generate_es256(&OsEntropy).unwrap();
        let mut bound = Self {
            app,
            clock,
            key,
            token: String::new(),
            nonce: String::new(),
        };
        let nonceless = bound.buy().await;
        assert_eq!(nonceless.status(), 400);
        bound.nonce = header(nonceless.headers(), "dpop-nonce").to_owned();
        let bought = json(&bound.buy().await);
        bound.token = bought
            .get("access_token")
            .and_then(Value::as_str)
            .unwrap()
            .to_owned();
        bound
    }

    async fn buy(&self) -> Response<Bytes> {
        let proof = self.proof(Method::POST, "/token", &self.nonce);
        let proof = proof.sign(&self.key).unwrap();
        let headers = [FORM, ("authorization", SERVICE), ("dpop", proof.expose())];
        let body = "grant_type=client_credentials&scope=read:charges";
        ask(&self.app, request("POST", "/token", &headers, body)).await
    }

    /// A proof, with the nonce if it is not empty.
    pub(crate) fn proof(&self, method: Method, path: &str, nonce: &str) -> Proof {
        let path = path.split('?').next().unwrap_or_default();
        let uri = format!("{BASE}{path}").parse().unwrap();
        let proof = Proof::new(method, uri, &OsEntropy, self.clock.now());
        match nonce {
            "" => proof,
            nonce => proof.with_nonce(nonce),
        }
    }

    async fn send(&self, sent: &str, path: &str, proof: Proof, more: &[(&str, &str)]) -> Response<Bytes> {
        let proof = proof.with_access_token(&self.token).sign(&self.key).unwrap();
        let authorization = format!("DPoP {}", self.token);
        let mut headers = vec![
            ("authorization", authorization.as_str()),
            ("dpop", proof.expose()),
            ("graphql-require-preflight", "1"),
        ];
        headers.extend_from_slice(more);
        ask(&self.app, request(sent, path, &headers, "")).await
    }

    async fn get(&self, path: &str, nonce: &str) -> Response<Bytes> {
        self.send("GET", path, self.proof(Method::GET, path, nonce), &[])
            .await
    }

    /// Nonce of the API, from the response to a request without one.
    async fn nonce_of_api(&self) -> String {
        let refused = self.get("/v1/charges", "").await;
        header(refused.headers(), "dpop-nonce").to_owned()
    }
}

fn nonce(answer: &Response<Bytes>) -> Option<&str> {
    Some(answer.headers().get("dpop-nonce")?.to_str().unwrap())
}

/// H2, O20, DP8: a proof covers the method of the request, also for HEAD.
#[tokio::test]
async fn proof_for_head_is_not_valid_for_get() {
    let bound = Bound::new().await;
    let api = bound.nonce_of_api().await;
    let present = async |sent: &str, proven: Method, path: &str, nonce: &str| {
        let proof = bound.proof(proven, path, nonce);
        bound.send(sent, path, proof, &[]).await.status().as_u16()
    };
    for path in ["/v1/charges", TYPENAME] {
        assert_eq!(present("HEAD", Method::HEAD, path, &api).await, 200, "{path}");
        assert_eq!(present("GET", Method::GET, path, &api).await, 200, "{path}");
        assert_eq!(present("HEAD", Method::GET, path, &api).await, 401, "{path}");
        assert_eq!(present("GET", Method::HEAD, path, &api).await, 401, "{path}");
    }
    // the token lacks the scope, but its proof is valid
    assert_eq!(
        present("HEAD", Method::HEAD, "/userinfo", &bound.nonce).await,
        403
    );
    assert_eq!(present("HEAD", Method::GET, "/userinfo", &bound.nonce).await, 401);
}

/// O20, DP10, H14, H18: the API requires its own nonce, and a page of another origin may read it in
/// the challenge.
#[tokio::test]
async fn a_bound_call_needs_the_nonce_of_the_api() {
    let bound = Bound::new().await;
    for path in ["/v1/charges", TYPENAME, "/graphql/stream"] {
        for foreign in ["", &bound.nonce, "made-up"] {
            let proof = bound.proof(Method::GET, path, foreign);
            let refused = bound.send("GET", path, proof, &[("origin", PAGE)]).await;
            assert_eq!(refused.status(), 401, "{path} {foreign}");
            let headers = refused.headers();
            assert_eq!(headers.get_all("www-authenticate").iter().count(), 1);
            let challenge = header(headers, "www-authenticate");
            assert!(challenge.starts_with("DPoP ") && challenge.contains(r#"error="use_dpop_nonce""#));
            assert_eq!(header(headers, "content-type"), "application/problem+json");
            assert_eq!(header(headers, "cache-control"), "no-store");
            assert_eq!(json(&refused)["error"], "use_dpop_nonce");
            let exposed = header(headers, "access-control-expose-headers").to_ascii_lowercase();
            for name in ["dpop-nonce", "www-authenticate"] {
                assert!(exposed.split(", ").any(|exposed| exposed == name), "{exposed}");
            }
            let accepted = bound.get("/v1/charges", nonce(&refused).unwrap()).await;
            // the newest nonce need not be repeated
            assert_eq!((accepted.status().as_u16(), nonce(&accepted)), (200, None));
        }
    }
    let scopes = bearer(&bound.app, "read:charges").await;
    let plain = call(&bound.app, &scopes, ("GET", "/v1/charges"), &[], "").await;
    assert_eq!((plain.status().as_u16(), nonce(&plain)), (200, None));
}

/// O20, DP10, DP16: every response carries the next nonce before the old one expires, and is not
/// cacheable.
#[tokio::test]
async fn an_older_nonce_is_answered_with_the_newest() {
    let bound = Bound::new().await;
    let old = bound.nonce_of_api().await;
    bound.clock.advance(61 * SECOND);
    let newest = bound.nonce_of_api().await;
    assert_ne!(old, newest);
    for (method, path, status) in [
        ("GET", "/v1/charges", 200),
        ("HEAD", "/v1/charges", 200),
        ("GET", TYPENAME, 200),
        ("GET", "/v1/charges?limit=x", 400),
        ("GET", "/v1/charges/ch_00000000000000000000000000000000", 404),
        ("POST", "/v1/charges", 403),
    ] {
        let proof = bound.proof(method.parse().unwrap(), path, &old);
        let answer = bound.send(method, path, proof, &[]).await;
        assert_eq!(answer.status(), status, "{method} {path}");
        assert_eq!(nonce(&answer), Some(newest.as_str()), "{method} {path}");
        assert_eq!(
            header(answer.headers(), "cache-control"),
            "no-store",
            "{method} {path}"
        );
    }
    // a nonce expires after five minutes, to the second
    bound.clock.advance(238 * SECOND);
    assert_eq!(bound.get("/v1/charges", &old).await.status(), 200);
    bound.clock.advance(SECOND);
    let refused = bound.get("/v1/charges", &old).await;
    assert_eq!(
        (refused.status().as_u16(), nonce(&refused).is_some()),
        (401, true)
    );
}
