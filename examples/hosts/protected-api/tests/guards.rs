//! Starts the program with its defaults beside the authorization server of the payments service,
//! and plays its callers.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::net::TcpListener;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use host_store_sqlite::Database;
use host_transport_hyper::HyperTransport;
use http::{Method, Request, Response};
use oauth_core::SigningKey;
use oauth_core::dpop::Proof;
use oauth_core::grant::AccessTokenFormat;
use oauth_core::ports::{Clock as _, OsEntropy, SystemClock, Transport};
use serde_json::{Value, json};
use service::app::{App, Config};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use webhook_core::address::AddressPolicy;

/// Public URL of the API, independent of its socket.
const API: &str = "https://charges.example";
const SERVICE: &str = "Basic ZGVtby1zZXJ2aWNlOmRlbW8tc2VydmljZS1zZWNyZXQ=";
/// Cache lifetime of introspection results: `--remember 1`.
const REMEMBER: Duration = Duration::from_secs(1);
const PROGRAM: &str = env!("CARGO_BIN_EXE_protected-api");

/// The running program and its authorization server; dropping it ends the program.
struct World {
    _program: Child,
    api: String,
    issuer: String,
    desk: Desk,
    transport: HyperTransport,
}

impl World {
    async fn start(format: AccessTokenFormat) -> Self {
        let (issuer, desk) = open_desk(format).await;
        let mut program = Command::new(PROGRAM)
            .args(["--issuer", &issuer, "--url", API, "--listen", "127.0.0.1:0"])
            .args(["--remember", "1"])
            .env("CLIENT_SECRET", "demo-api-secret")
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut output = BufReader::new(program.stdout.take().unwrap()).lines();
        let greeting = output.next_line().await.unwrap().unwrap();
        Self {
            _program: program,
            api: greeting.strip_prefix("listening on ").unwrap().to_owned(),
            issuer,
            desk,
            transport: HyperTransport::new(AddressPolicy::new().danger_allow_loopback()),
        }
    }

    async fn send(&self, request: http::request::Builder, body: &str) -> Response<Bytes> {
        let request = request.body(Bytes::copy_from_slice(body.as_bytes())).unwrap();
        Transport::send(&self.transport, request).await.unwrap()
    }

    /// Posts a form as the client that acts for itself.
    async fn post(&self, path: &str, proof: Option<Proof>, key: &SigningKey, form: &str) -> Response<Bytes> {
        let request = Request::post(format!("{}{path}", self.issuer))
            .header("content-type", "application/x-www-form-urlencoded")
            .header("authorization", SERVICE);
        let request = match proof {
            Some(proof) => request.header("dpop", proof.sign(key).unwrap().to_header()),
            None => request,
        };
        self.send(request, form).await
    }

    /// A bearer token with this scope, for the API of this URL.
    async fn token_for(&self, api: &str, scope: &str) -> String {
        let form = format!("grant_type=client_credentials&scope={scope}&resource={api}");
        let bought = self.post("/token", None, &key(), &form).await;
        text(&json(&bought)["access_token"])
    }

    async fn token(&self, scope: &str) -> String {
        self.token_for(API, scope).await
    }

    /// A token for reading that is bound to this key.
    async fn bound_token(&self, key: &SigningKey) -> String {
        let form = format!("grant_type=client_credentials&scope=read:charges&resource={API}");
        let proof = Proof::new(
            Method::POST,
            format!("{}/token", self.issuer).parse().unwrap(),
            &OsEntropy,
            SystemTime::now(),
        );
        let asked = self.post("/token", Some(proof.clone()), key, &form).await;
        let nonce = header(&asked, "dpop-nonce");
        let bought = self
            .post("/token", Some(proof.with_nonce(&nonce)), key, &form)
            .await;
        assert_eq!(json(&bought)["token_type"], "DPoP");
        text(&json(&bought)["access_token"])
    }

    /// Calls the API with these headers, and with a proof if there is one.
    async fn call(&self, method: Method, path: &str, fields: &[(&str, &str)]) -> Response<Bytes> {
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.api));
        let request = fields
            .iter()
            .fold(request, |request, (name, value)| request.header(*name, *value));
        self.send(request, r#"{"amount":5,"currency":"eur"}"#).await
    }

    async fn bear(&self, method: Method, path: &str, token: &str) -> Response<Bytes> {
        let bearer = format!("Bearer {token}");
        self.call(method, path, &[("authorization", &bearer)]).await
    }

    async fn prove(&self, token: &str, key: &SigningKey, nonce: &str) -> Response<Bytes> {
        let url = format!("{API}/charges").parse().unwrap();
        let proof = Proof::new(Method::GET, url, &OsEntropy, SystemClock.now());
        let proof = proof
            .with_access_token(token)
            .with_nonce(nonce)
            .sign(key)
            .unwrap();
        let scheme = format!("DPoP {token}");
        let fields = [("authorization", scheme.as_str()), ("dpop", proof.expose())];
        self.call(Method::GET, "/charges", &fields).await
    }
}

/// The server at the issuer's address, which tests replace.
type Desk = Arc<Mutex<Arc<App>>>;

/// The payments service in this process, with tokens of this format for the API, and its issuer.
async fn open_desk(format: AccessTokenFormat) -> (String, Desk) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let issuer = format!("http://{}", listener.local_addr().unwrap());
    let app = app(&issuer, format).await;
    let refusing = Arc::clone(&app);
    let refuse = move |head: &Request<()>, status| refusing.refuse(head, status);
    let desk: Desk = Arc::new(Mutex::new(app));
    let answering = Arc::clone(&desk);
    let handle = move |request| {
        let app = Arc::clone(&answering.lock().unwrap());
        async move { app.handle(request).await }
    };
    let (limits, forever) = (host_adapter_hyper::Limits::default(), std::future::pending());
    tokio::spawn(host_adapter_hyper::serve(
        listener, handle, refuse, limits, forever,
    ));
    (issuer, desk)
}

/// A payments service with new keys.
async fn app(issuer: &str, format: AccessTokenFormat) -> Arc<App> {
    let mut config = Config::new(issuer, Database::open_in_memory().unwrap());
    config.access_tokens.format = format;
    config.access_tokens.other_apis = vec![API.to_owned()];
    Arc::new(App::open(config).await.unwrap())
}

fn key() -> SigningKey {
    SigningKey::generate_es256(&OsEntropy).unwrap()
}

fn json(response: &Response<Bytes>) -> Value {
    serde_json::from_slice(response.body()).unwrap_or_else(|_| panic!("{response:?}"))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value}")).to_owned()
}

fn header(response: &Response<Bytes>, name: &str) -> String {
    let value = response
        .headers()
        .get(name)
        .unwrap_or_else(|| panic!("{response:?}"));
    value.to_str().unwrap().to_owned()
}

/// Asserts a refusal: a problem with one challenge of this error.
fn assert_refused(response: &Response<Bytes>, status: u16, scheme: &str, error: &str) {
    assert_eq!(response.status(), status, "{response:?}");
    assert_eq!(header(response, "content-type"), "application/problem+json");
    assert_eq!(json(response)["error"], error);
    let challenges = response.headers().get_all("www-authenticate").iter();
    let challenges: Vec<_> = challenges.map(|value| value.to_str().unwrap()).collect();
    let own = challenges.iter().find(|challenge| challenge.starts_with(scheme));
    assert!(
        own.unwrap().contains(&format!("error=\"{error}\"")),
        "{challenges:?}"
    );
}

/// O14, O16, O17: a token grants its scopes at this API alone, as a JWT and by introspection.
#[tokio::test]
async fn a_token_opens_what_its_scopes_say() {
    for format in [AccessTokenFormat::Jwt, AccessTokenFormat::Opaque] {
        let world = World::start(format).await;
        let (reader, writer) = (
            world.token("read:charges").await,
            world.token("write:charges").await,
        );
        assert_eq!(reader.starts_with("at_"), format == AccessTokenFormat::Opaque);
        let read = world.bear(Method::GET, "/charges", &reader).await;
        assert_eq!((read.status().as_u16(), json(&read)), (200, json!([])));
        let made = world.bear(Method::POST, "/charges", &writer).await;
        assert_eq!(
            (made.status().as_u16(), header(&made, "location")),
            (201, "/charges/0".into())
        );
        let read = world.bear(Method::GET, "/charges/0", &reader).await;
        assert_eq!(json(&read)["amount"], 5);

        let refused = world.bear(Method::POST, "/charges", &reader).await;
        assert_refused(&refused, 403, "Bearer", "insufficient_scope");
        assert!(header(&refused, "www-authenticate").contains(r#"scope="write:charges""#));
        let refused = world.bear(Method::GET, "/charges", &writer).await;
        assert_refused(&refused, 403, "Bearer", "insufficient_scope");
        let of_the_desk = world.token_for(&world.issuer, "read:charges").await;
        for foreign in [of_the_desk.as_str(), "made-up", "a.b.c"] {
            let refused = world.bear(Method::GET, "/charges", foreign).await;
            assert_refused(&refused, 401, "Bearer", "invalid_token");
        }
    }
}

/// O22: a caller without a token is led to the metadata, and from there to the authorization
/// server.
#[tokio::test]
async fn a_caller_without_a_token_is_led_to_one() {
    let world = World::start(AccessTokenFormat::Jwt).await;
    let refused = world.call(Method::GET, "/charges", &[]).await;
    assert_eq!(refused.status(), 401);
    let path = "/.well-known/oauth-protected-resource";
    for challenge in refused.headers().get_all("www-authenticate") {
        let url = format!(r#"resource_metadata="{API}{path}""#);
        assert!(challenge.to_str().unwrap().contains(&url), "{challenge:?}");
    }
    let document = json(&world.call(Method::GET, path, &[]).await);
    assert_eq!(document["resource"], API);
    assert_eq!(document["authorization_servers"], json!([world.issuer]));
    assert_eq!(
        document["scopes_supported"],
        json!(["read:charges", "write:charges"])
    );
    let nowhere = world.call(Method::GET, "/nowhere", &[]).await;
    assert_eq!(
        (nowhere.status().as_u16(), header(&nowhere, "content-type")),
        (404, "application/problem+json".into())
    );
}

/// O20, DP10, DP12, DP13, DP15: a bound token needs a proof of its key with the nonce of the API.
#[tokio::test]
async fn a_bound_token_is_of_its_key_alone() {
    for format in [AccessTokenFormat::Jwt, AccessTokenFormat::Opaque] {
        let world = World::start(format).await;
        let (own, thief) = (key(), key());
        let token = world.bound_token(&own).await;
        let asked = world.prove(&token, &own, "none").await;
        assert_refused(&asked, 401, "DPoP", "use_dpop_nonce");
        let nonce = header(&asked, "dpop-nonce");
        assert_eq!(world.prove(&token, &own, &nonce).await.status(), 200);
        let stolen = world.prove(&token, &thief, &nonce).await;
        assert_refused(&stolen, 401, "DPoP", "invalid_token");
        let stolen = world.bear(Method::GET, "/charges", &token).await;
        assert_refused(&stolen, 401, "Bearer", "invalid_token");
        let plain = world.token("read:charges").await;
        assert_refused(
            &world.prove(&plain, &own, &nonce).await,
            401,
            "DPoP",
            "invalid_token",
        );
    }
}

/// O13, O14: a revoked opaque token is accepted while its introspection result is cached, and no
/// longer.
#[tokio::test]
async fn revoked_token_is_refused_after_cache_lifetime() {
    let world = World::start(AccessTokenFormat::Opaque).await;
    let token = world.token("read:charges").await;
    let begun = Instant::now();
    assert_eq!(world.bear(Method::GET, "/charges", &token).await.status(), 200);
    let remembered = Instant::now();
    let revoked = world
        .post("/oauth/revoke", None, &key(), &format!("token={token}"))
        .await;
    assert_eq!(revoked.status(), 200);
    let again = world.bear(Method::GET, "/charges", &token).await;
    // on a slow machine the second may have passed
    assert!(again.status() == 200 || begun.elapsed() >= REMEMBER);
    // the program uses the machine's clock, so the shortest cache lifetime has to pass
    tokio::time::sleep_until((remembered + REMEMBER).into()).await;
    let refused = world.bear(Method::GET, "/charges", &token).await;
    assert_refused(&refused, 401, "Bearer", "invalid_token");
}

/// O22: an issuer rotates its keys without a restart of the API; a withdrawn key is refused after
/// the next fetch of the JWKS.
#[tokio::test]
async fn rotated_key_is_accepted_without_restart() {
    let world = World::start(AccessTokenFormat::Jwt).await;
    let before = world.token("read:charges").await;
    assert_eq!(world.bear(Method::GET, "/charges", &before).await.status(), 200);

    let after = app(&world.issuer, AccessTokenFormat::Jwt).await;
    *world.desk.lock().unwrap() = after;
    let token = world.token("read:charges").await;
    assert_eq!(world.bear(Method::GET, "/charges", &token).await.status(), 200);
    let refused = world.bear(Method::GET, "/charges", &before).await;
    assert_refused(&refused, 401, "Bearer", "invalid_token");
}

#[tokio::test]
async fn a_wrong_use_is_explained() {
    let explanation = async |arguments: &[&str]| {
        let mut program = Command::new(PROGRAM);
        let output = program
            .args(arguments)
            .env_remove("CLIENT_SECRET")
            .output()
            .await
            .unwrap();
        assert!(!output.status.success(), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let unreachable = ["--issuer", "http://127.0.0.1:1"];
    for arguments in [
        &["--verbose"] as &[_],
        &["--listen"],
        &["--client", "demo-api"],
        &["--remember", "1"],
    ] {
        assert!(
            explanation(arguments).await.starts_with("usage: protected-api"),
            "{arguments:?}"
        );
    }
    let listening = [&unreachable[..], &["--listen", "127.0.0.1:0"]].concat();
    assert!(
        explanation(&listening)
            .await
            .starts_with("the server could not be reached: ")
    );
}
