//! Every response of the service follows every convention: those of the pages, OAuth and GraphQL
//! too.

use std::sync::Arc;

use bytes::Bytes;
use host_store_sqlite::Database;
use http::{Request, Response, StatusCode};
use http_conventions::audit::{Rule, audit};
use service::app::{App, Config};
use tracing::subscriber::set_default;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::registry;

use crate::desk::{ALL_SCOPES, BASE, FORM, SERVICE, ask, bearer, call, header, json, request};
use crate::idempotency::rename;

const ORIGIN: &str = "https://app.example.com";
const ID: &str = "checkout-7f3a";
const CHARGE: &str = r#"{"amount":100,"currency":"eur"}"#;
const MISSING: &str = "ch_00000000000000000000000000000000";

async fn open_to_a_page(config: impl FnOnce(&mut Config)) -> Arc<App> {
    let mut settings = Config::new(BASE, Database::open_in_memory().unwrap());
    settings.cross_origins = vec![ORIGIN.to_owned()];
    config(&mut settings);
    Arc::new(App::open(settings).await.unwrap())
}

/// A request that leads to one exit, and its expected status.
struct Exit {
    status: u16,
    method: &'static str,
    path: String,
    headers: Vec<(&'static str, String)>,
    body: String,
}

impl Exit {
    fn of(status: u16, method: &'static str, path: impl Into<String>) -> Self {
        Self {
            status,
            method,
            path: path.into(),
            headers: vec![("origin", ORIGIN.to_owned()), ("x-request-id", ID.to_owned())],
            body: String::new(),
        }
    }

    fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    fn json(mut self, body: &str) -> Self {
        self.body = body.to_owned();
        self.with("content-type", "application/json")
    }

    fn form(mut self, body: &str) -> Self {
        self.body = body.to_owned();
        self.with("content-type", FORM.1)
    }

    fn request(&self) -> Request<Bytes> {
        let headers: Vec<(&str, &str)> = self
            .headers
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        request(self.method, &self.path, &headers, self.body.clone())
    }

    fn name(&self) -> String {
        format!("{} {:.40} ({})", self.method, self.path, self.status)
    }
}

/// Checks the headers for a page of the listed origin, and that the audit finds nothing except what
/// another protocol requires.
fn check(name: &str, request: &Request<Bytes>, answer: &Response<Bytes>, is_of_another_protocol: bool) {
    let headers = answer.headers();
    assert_eq!(header(headers, "x-request-id"), ID, "{name}");
    assert_eq!(headers.get_all("x-request-id").iter().count(), 1, "{name}");
    assert_eq!(
        header(headers, "access-control-allow-origin"),
        ORIGIN,
        "{name}: {answer:?}"
    );
    let vary: Vec<&str> = header(headers, "vary").split(", ").collect();
    assert!(
        vary.iter().any(|name| name.eq_ignore_ascii_case("origin")),
        "{name}: {vary:?}"
    );
    let is_preflight = request.headers().contains_key("access-control-request-method");
    let exposed = header(headers, "access-control-expose-headers");
    assert_eq!(
        exposed.contains("x-request-id"),
        !is_preflight,
        "{name}: {exposed}"
    );
    assert!(!header(headers, "cache-control").is_empty(), "{name}");
    let is_foreign = |rule| is_of_another_protocol && rule == Rule::NoProblem;
    let findings: Vec<String> = audit(request, answer)
        .iter()
        .filter(|finding| !is_foreign(finding.rule()))
        .map(ToString::to_string)
        .collect();
    assert_eq!(findings, [""; 0], "{name}: {answer:?}");
    let is_error = answer.status().is_client_error() || answer.status().is_server_error();
    if is_error && !is_of_another_protocol && request.method() != "HEAD" {
        let problem = json(answer);
        assert_eq!(problem.get("request_id").unwrap(), ID, "{name}: {problem}");
        assert_eq!(
            problem.get("instance").unwrap(),
            request.uri().path(),
            "{name}: {problem}"
        );
    }
}

async fn check_all(app: &Arc<App>, exits: Vec<Exit>, is_of_another_protocol: bool) {
    let mut others = Vec::new();
    for exit in exits {
        let (name, request) = (exit.name(), exit.request());
        let answer = ask(app, request.clone()).await;
        check(&name, &request, &answer, is_of_another_protocol);
        if answer.status() != exit.status {
            others.push(format!("{name}: {}", answer.status()));
        }
    }
    assert_eq!(others, [""; 0]);
}

/// Responses of the pipeline itself, before any handler.
fn early() -> Vec<Exit> {
    let preflight = Exit::of(204, "OPTIONS", "/v1/charges");
    vec![
        Exit::of(414, "GET", format!("/v1/charges?{}", "x".repeat(9000))),
        Exit::of(431, "GET", "/").with("x-long", "x".repeat(33_000)),
        Exit::of(413, "POST", "/v1/charges").with("content-length", "1048577"),
        preflight.with("access-control-request-method", "PUT"),
        Exit::of(404, "GET", "/v2/charges"),
        Exit::of(404, "GET", "/v1"),
        Exit::of(404, "GET", "/v1/login"),
        Exit::of(404, "GET", "/charges"),
        Exit::of(404, "HEAD", "/nowhere"),
        Exit::of(405, "DELETE", "/v1/charges"),
        Exit::of(405, "GET", "/token"),
        Exit::of(405, "AUDIT", "/"),
        Exit::of(204, "OPTIONS", "/v1/charges"),
        Exit::of(401, "GET", "/v1/charges"),
        Exit::of(401, "POST", "/v1/charges").with("authorization", "Bearer unknown"),
        Exit::of(401, "HEAD", "/v1/charges"),
    ]
}

fn of_resources(token: &str, reader: &str, charge: &str) -> Vec<Exit> {
    let exit = |status, method, path: &str| Exit::of(status, method, path).with("authorization", token);
    let keyed = |status| exit(status, "POST", "/v1/charges").with("idempotency-key", "order-1");
    let put = |status| exit(status, "PUT", charge).json(r#"{"amount":500,"currency":"eur"}"#);
    vec![
        Exit::of(403, "POST", "/v1/charges")
            .with("authorization", reader)
            .json(CHARGE),
        exit(200, "GET", "/v1/charges?limit=1"),
        exit(200, "HEAD", "/v1/charges"),
        exit(400, "GET", "/v1/charges?limit=0"),
        exit(400, "GET", "/v1/charges?after=nonsense"),
        exit(400, "GET", "/v1/charges?status=lost"),
        keyed(201).json(CHARGE),
        keyed(201).json(CHARGE),
        keyed(409).json(r#"{"amount":7,"currency":"eur"}"#),
        exit(400, "POST", "/v1/charges")
            .with("idempotency-key", "a,b")
            .json(CHARGE),
        exit(422, "POST", "/v1/charges").json(r#"{"amount":0,"currency":"eur"}"#),
        exit(422, "POST", "/v1/charges").json("[]"),
        exit(415, "POST", "/v1/charges").with("content-type", "text/plain"),
        exit(200, "GET", charge),
        exit(304, "GET", charge).with("if-none-match", "*"),
        exit(428, "PUT", charge).json(CHARGE),
        put(412).with("if-match", "\"never\""),
        put(412)
            .with("if-match", "\"never\"")
            .with("idempotency-key", "put-1"),
        // the replayed response, without a new check of the precondition
        put(412).with("if-match", "*").with("idempotency-key", "put-1"),
        put(200).with("if-match", "*"),
        exit(404, "GET", &format!("/v1/charges/{MISSING}")),
        exit(202, "POST", &format!("{charge}/refunds")).json("{}"),
        exit(409, "POST", &format!("{charge}/refunds")).json(r#"{"amount":9999}"#),
        exit(422, "POST", "/v1/webhook-endpoints").json(r#"{"url":"http://a.example"}"#),
        exit(201, "POST", "/v1/webhook-endpoints").json(r#"{"url":"https://a.example/hook"}"#),
    ]
}

/// Pages, assets and documents, and problems for clients that do not accept HTML.
fn of_pages(tag: &str) -> Vec<Exit> {
    vec![
        Exit::of(200, "GET", "/"),
        Exit::of(200, "GET", "/assets/desk.css"),
        Exit::of(304, "GET", "/assets/desk.css").with("if-none-match", tag),
        Exit::of(200, "GET", "/.well-known/openid-configuration"),
        Exit::of(200, "GET", "/.well-known/jwks.json"),
        Exit::of(200, "GET", "/openapi.json"),
        Exit::of(200, "GET", "/problems/invalid-content"),
        Exit::of(404, "GET", "/problems/none"),
        Exit::of(303, "GET", "/account"),
        Exit::of(200, "GET", "/login"),
        Exit::of(400, "GET", "/login?interaction=x"),
        Exit::of(415, "POST", "/password/forgotten").json("{}"),
        Exit::of(403, "POST", "/account/sign-out").form("csrf_token=x"),
    ]
}

/// Errors in the format of another protocol, which the pipeline must not change.
fn of_other_protocols() -> Vec<Exit> {
    let graph = |status, query: &str| {
        Exit::of(status, "POST", "/graphql")
            .json(query)
            .with("accept", "application/graphql-response+json")
    };
    let client = |status, path: &str| Exit::of(status, "POST", path).with("authorization", SERVICE);
    vec![
        Exit::of(403, "POST", "/account/sign-out")
            .form("csrf_token=x")
            .with("accept", "text/html"),
        graph(200, r#"{"query":"{ viewer { subject } }"}"#),
        graph(400, r#"{"query":"{ nothing }"}"#),
        graph(400, "[}"),
        Exit::of(401, "POST", "/token").form("grant_type=client_credentials"),
        client(400, "/token").form("grant_type=none"),
        client(200, "/token").form("grant_type=client_credentials"),
        client(200, "/oauth/introspect").form("token=x"),
        client(200, "/oauth/revoke").form("token=x"),
        client(400, "/par").form(""),
        client(400, "/authorize").form(""),
        Exit::of(401, "GET", "/userinfo").with("authorization", "Bearer unknown"),
    ]
}

/// H1, H5, H9, H11, H13, H18: every response has a request id, CORS, `Vary` and `Cache-Control`
/// headers, and every error outside of another protocol is a problem that names its request.
#[tokio::test]
async fn every_exit_keeps_every_rule() {
    let app = open_to_a_page(|_| {}).await;
    let (token, reader) = (bearer(&app, ALL_SCOPES).await, bearer(&app, "read:charges").await);
    let charge = crate::desk::charge(&app, &token, 500).await;
    let style = ask(&app, request("GET", "/assets/desk.css", &[], "")).await;
    check_all(&app, early(), false).await;
    check_all(&app, of_resources(&token, &reader, &charge), false).await;
    check_all(&app, of_pages(header(style.headers(), "etag")), false).await;
    check_all(&app, of_other_protocols(), true).await;
}

/// H15, H18: a refusal by a rate limit follows the same conventions, in the format of its route.
#[tokio::test]
async fn a_limit_refuses_by_the_same_exit() {
    let app =
        open_to_a_page(|config| (config.limits.of_address, config.limits.of_token_endpoints) = (1, 1)).await;
    for (path, method, is_of_another_protocol) in [("/v1/charges", "GET", false), ("/token", "POST", true)] {
        for status in [401, 429] {
            let exit = Exit::of(status, method, path);
            let mut request = exit.request();
            request
                .extensions_mut()
                .insert::<std::net::SocketAddr>("203.0.113.7:1".parse().unwrap());
            let answer = ask(&app, request.clone()).await;
            if status == 429 {
                assert_eq!(answer.status(), 429, "{path}");
            }
            check(path, &request, &answer, is_of_another_protocol);
        }
    }
}

/// A log that panics at an error.
struct FullLog;

impl<S: Subscriber> Layer<S> for FullLog {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        assert_ne!(*event.metadata().level(), Level::ERROR, "the log is full");
    }
}

/// H13, H16, H18: a panicking handler gets a regular response, in a task of its own or not.
#[tokio::test]
async fn a_panic_leaves_by_the_same_exit() {
    let database = Database::open_in_memory().unwrap();
    let app = open_to_a_page(|config| config.database = database.clone().into()).await;
    let token = bearer(&app, ALL_SCOPES).await;
    let _panicking = set_default(registry().with(FullLog));
    rename(&database, "charge", "charge_away").await;
    for method in ["GET", "POST"] {
        let exit = Exit::of(500, method, "/v1/charges").with("authorization", token.as_str());
        let request = exit.json(CHARGE).request();
        let answer = ask(&app, request.clone()).await;
        assert_eq!(answer.status(), 500, "{method}: {answer:?}");
        check(method, &request, &answer, false);
        assert!(!String::from_utf8_lossy(answer.body()).contains("log"));
    }
}

/// H13, H18, H19: a refusal by the server leaves through the same exit.
#[tokio::test]
async fn server_refusal_leaves_by_the_same_exit() {
    let app = open_to_a_page(|_| {}).await;
    let request = Exit::of(0, "POST", "/v1/charges").request();
    let (parts, body) = request.clone().into_parts();
    let head = Request::from_parts(parts, ());
    for status in [413, 408, 400, 500] {
        let status = StatusCode::from_u16(status).unwrap();
        let answer = app.refuse(&head, status);
        assert_eq!(answer.status(), status);
        check("a server", &request, &answer, false);
        if status == 413 {
            let problem = json(&answer);
            assert_eq!(
                problem.get("type").unwrap().as_str().unwrap(),
                format!("{BASE}/problems/content-too-large")
            );
            assert_eq!(problem.get("limit").unwrap(), 1 << 20);
        }
    }
    drop(body);
    // faults of the head are reported first
    let long = Exit::of(0, "POST", format!("/?{}", "x".repeat(9000))).request();
    let head = Request::from_parts(long.into_parts().0, ());
    assert_eq!(app.refuse(&head, StatusCode::REQUEST_TIMEOUT).status(), 414);
}

/// H18: a page of an unlisted origin gets no permission to read the responses.
#[tokio::test]
async fn unlisted_origin_may_not_read_responses() {
    for (origins, vary) in [(vec![ORIGIN.to_owned()], true), (Vec::new(), false)] {
        let app = open_to_a_page(|config| config.cross_origins = origins).await;
        let token = bearer(&app, ALL_SCOPES).await;
        for path in ["/v1/charges", "/nowhere", "/login", "/token", "/graphql"] {
            for other in [
                "https://evil.example",
                "null",
                "https://app.example.com.evil.example",
            ] {
                let answer = call(&app, &token, ("GET", path), &[("origin", other)], "").await;
                let headers = answer.headers();
                assert!(!headers.contains_key("access-control-allow-origin"), "{path}");
                assert!(
                    !headers.contains_key("access-control-allow-credentials"),
                    "{path}"
                );
                assert_eq!(
                    header(headers, "vary").to_lowercase().contains("origin"),
                    vary,
                    "{path}"
                );
            }
        }
    }
}
