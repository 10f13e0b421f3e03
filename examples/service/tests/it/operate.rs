//! Routes for the operator, request log, and the trace of outbound requests.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use host_store_sqlite::{Database, DatabaseError};
use http::{Request, Response, StatusCode};
use http_conventions::forwarding::TrustedProxies;
use serde_json::{Value, json};
use service::app::{App, Config};
use service::logging::{LogFormat, subscriber};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tracing::subscriber::set_default;

use crate::browser::{Browser, text};
use crate::desk::{ALL_SCOPES, BASE, FORM, SERVICE, ask, bearer, call, header, open, request};
use crate::idempotency::rename;
use crate::log::{Lines, capture};
use crate::servers::Server;

async fn operated(change: impl FnOnce(&mut Config)) -> Arc<App> {
    let mut config = Config::new(BASE, Database::open_in_memory().unwrap());
    config.operator_routes = true;
    change(&mut config);
    Arc::new(App::open(config).await.unwrap())
}

async fn get(app: &Arc<App>, path: &str) -> Response<Bytes> {
    ask(app, request("GET", path, &[], "")).await
}

fn body(response: &Response<Bytes>) -> Value {
    crate::desk::json(response)
}

/// X8: a probe sees that the process lives, that it is ready, and from `stop` on that it is not.
#[tokio::test]
async fn readiness_ends_with_the_stop() {
    let app = operated(|_| {}).await;
    let health = get(&app, "/healthz").await;
    assert_eq!(
        (health.status(), body(&health)),
        (StatusCode::OK, json!({"status": "alive"}))
    );
    let ready = get(&app, "/readyz").await;
    assert_eq!(
        (ready.status(), body(&ready)),
        (StatusCode::OK, json!({"status": "ready"}))
    );
    app.stop();
    let stopping = get(&app, "/readyz").await;
    assert_eq!(stopping.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(header(stopping.headers(), "retry-after"), "1");
    assert_eq!(body(&stopping).get("failing").unwrap(), &json!(["service"]));
    assert_eq!(get(&app, "/healthz").await.status(), StatusCode::OK);
    // requests that still arrive are handled
    bearer(&app, ALL_SCOPES).await;
}

/// X8: a store that fails, or hangs, makes the service not ready. The answer names the part and no
/// cause; the log has the cause.
#[tokio::test]
async fn failing_store_is_named_without_its_cause() {
    let database = Database::open_in_memory().unwrap();
    let app = operated(|config| config.database = database.clone().into()).await;
    let (lines, _capturing) = capture(LogFormat::Json);
    rename(&database, "charge", "charge_away").await;
    let failing = get(&app, "/readyz").await;
    assert_eq!(failing.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(body(&failing).get("failing").unwrap(), &json!(["database"]));
    assert!(!String::from_utf8_lossy(failing.body()).contains("charge"));
    assert!(lines.text().contains("no such table: charge"));
    rename(&database, "charge_away", "charge").await;

    let (release, held) = std::sync::mpsc::channel::<()>();
    let busy = database.write(move |_| -> Result<(), DatabaseError> {
        let _released = held.recv();
        Ok(())
    });
    // the database is busy before it is asked
    let (written, hanging) = tokio::join!(busy, async {
        let hanging = get(&app, "/readyz").await;
        drop(release);
        hanging
    });
    written.unwrap();
    assert_eq!(body(&hanging).get("failing").unwrap(), &json!(["database"]));
    assert_eq!(get(&app, "/readyz").await.status(), StatusCode::OK);
}

/// X8: pages of no origin read the operator's routes, and no cache stores them. Unless asked for,
/// the app does not serve them.
#[tokio::test]
async fn operator_routes_have_no_cors() {
    let origin = "https://app.example.com";
    let app = operated(|config| config.cross_origins = vec![origin.to_owned()]).await;
    for path in ["/healthz", "/readyz", "/metrics"] {
        for method in ["GET", "HEAD"] {
            let shown = ask(&app, request(method, path, &[("origin", origin)], "")).await;
            assert_eq!(shown.status(), StatusCode::OK, "{path}");
            assert_eq!(header(shown.headers(), "cache-control"), "private, no-store");
            assert!(
                !shown.headers().contains_key("access-control-allow-origin"),
                "{path}"
            );
        }
        let posted = ask(&app, request("POST", path, &[("origin", origin)], "")).await;
        assert_eq!(posted.status(), StatusCode::METHOD_NOT_ALLOWED, "{path}");
        assert_eq!(header(posted.headers(), "allow"), "GET, HEAD");
        assert_eq!(
            get(&open().await, path).await.status(),
            StatusCode::NOT_FOUND,
            "{path}"
        );
    }
    // on a listener of their own they are always served, and nothing else is
    let private = open().await;
    for (path, status) in [("/metrics", 200), ("/v1/charges", 404), ("/", 404)] {
        let answer = private.handle_operator(request("GET", path, &[], "")).await;
        assert_eq!(answer.status(), status, "{path}");
    }
}

/// X8: requests are counted by the template of their route, so that ids add no time series;
/// refusals are counted by policy.
#[tokio::test]
async fn requests_are_counted_by_route_template() {
    let app = operated(|config| config.limits.of_token_endpoints = 1).await;
    let token = bearer(&app, ALL_SCOPES).await;
    let charge = crate::desk::charge(&app, &token, 500).await;
    for path in [charge.as_str(), "/v1/charges/ch_00000000000000000000000000000000"] {
        call(&app, &token, ("GET", path), &[], "").await;
    }
    get(&app, "/no/such/path?code=s3cret").await;
    for _ in 0..2 {
        let mut limited = request("POST", "/token", &[FORM, ("authorization", SERVICE)], "");
        limited
            .extensions_mut()
            .insert(SocketAddr::from(([203, 0, 113, 7], 1)));
        ask(&app, limited).await;
    }
    let head = Request::get("/no/such/path").body(()).unwrap();
    let _refused = app.refuse(&head, StatusCode::MISDIRECTED_REQUEST);
    let metrics = get(&app, "/metrics").await;
    let content_type = header(metrics.headers(), "content-type");
    assert!(
        content_type.starts_with("application/openmetrics-text; version=1.0.0"),
        "{content_type}"
    );
    let text = String::from_utf8(metrics.body().to_vec()).unwrap();
    let has = |method: &str, route: &str, status: u16, count: u32| {
        let line = format!(
            "http_server_request_duration_seconds_count{{http_request_method=\"{method}\",\
             http_route=\"{route}\",http_response_status_code=\"{status}\"}} {count}\n"
        );
        assert!(text.contains(&line), "{line}{text}");
    };
    has("POST", "/v1/charges", 201, 1);
    has("GET", "/v1/charges/{id}", 200, 1);
    has("GET", "/v1/charges/{id}", 404, 1);
    has("GET", "unmatched", 404, 1);
    has("GET", "unmatched", 421, 1);
    has("POST", "/token", 429, 1);
    assert!(
        text.contains("\nrate_limit_refusals_total{policy=\"token\"} 1\n"),
        "{text}"
    );
    assert!(text.contains("\nwebhook_backlog 0\n"), "{text}");
    assert!(!text.contains("ch_") && !text.contains("s3cret"), "{text}");
}

/// X8: each request is one event with its route, status, ids, principal and client address.
#[tokio::test]
async fn request_is_one_structured_event() {
    let app = operated(|config| {
        config.proxies = TrustedProxies::new().with_network("10.0.0.1").unwrap();
    })
    .await;
    let token = bearer(&app, ALL_SCOPES).await;
    let (lines, _capturing) = capture(LogFormat::Json);
    let linked = "0af7651916cd43dd8448eb211c80319c";
    let mut asked = request(
        "GET",
        "/v1/charges/ch_00000000000000000000000000000000?token=s3cret",
        &[
            ("authorization", token.as_str()),
            ("x-forwarded-for", "203.0.113.7"),
            ("traceparent", &format!("00-{linked}-b7ad6b7169203331-01")),
        ],
        "",
    );
    asked
        .extensions_mut()
        .insert(SocketAddr::from(([10, 0, 0, 1], 9)));
    let answer = ask(&app, asked).await;
    let events = lines.of("service::request");
    let [event] = events.as_slice() else {
        panic!("{events:?}")
    };
    let member = |name: &str| event.get(name).unwrap_or(&Value::Null);
    assert_eq!(member("method"), "GET");
    assert_eq!(member("route"), "/v1/charges/{id}");
    assert_eq!(member("status"), 404);
    assert_eq!(member("principal"), "demo-service");
    assert_eq!(member("address"), "203.0.113.7");
    assert_eq!(member("linked_trace_id"), linked);
    assert!(member("milliseconds").as_f64().unwrap() > 0.0);
    let span = member("span");
    assert_eq!(
        span.get("request_id").unwrap(),
        header(answer.headers(), "x-request-id")
    );
    let trace_id = span.get("trace_id").and_then(Value::as_str).unwrap();
    assert_eq!((trace_id.len(), trace_id == linked), (32, false));
    assert!(!lines.text().contains("s3cret"), "{}", lines.text());
}

/// X8: a filter that drops the events of requests leaves their ids at other events.
#[tokio::test]
async fn warning_names_its_request_under_any_filter() {
    let lines = Lines::default();
    let writer = lines.clone();
    let filter = "warn".parse().unwrap();
    let _capturing = set_default(subscriber(LogFormat::Json, filter, move || writer.clone()));
    let app = operated(|config| config.limits.of_token_endpoints = 1).await;
    for _ in 0..2 {
        let mut limited = request("POST", "/token", &[FORM, ("x-request-id", "checkout-7f3a")], "");
        limited
            .extensions_mut()
            .insert(SocketAddr::from(([203, 0, 113, 7], 1)));
        ask(&app, limited).await;
    }
    assert_eq!(lines.of("service::request"), [] as [Value; 0]);
    let warnings = lines.of("service::app::limits");
    let [warning] = &warnings[..] else {
        panic!("{warnings:?}")
    };
    assert_eq!(warning.get("policy").unwrap(), "token");
    assert_eq!(warning.pointer("/span/request_id").unwrap(), "checkout-7f3a");
}

/// X8: the event of a page names the user of its session.
#[tokio::test]
async fn page_is_logged_with_its_user() {
    let app = open().await;
    let mut browser = Browser::new(&app);
    browser.sign_in().await;
    let (lines, _capturing) = capture(LogFormat::Json);
    browser.get("/account").await;
    Browser::new(&app).get("/account").await;
    let events = lines.of("service::request");
    let principals: Vec<_> = events.iter().map(|event| event.get("principal")).collect();
    let [Some(Value::String(user)), None] = principals[..] else {
        panic!("{principals:?}")
    };
    assert!(!user.is_empty() && !user.contains('@'), "{user}");
}

/// X8: a request without a response is logged as that of a client that disconnected.
#[tokio::test]
async fn disconnected_client_is_logged() {
    let database = Database::open_in_memory().unwrap();
    let app = operated(|config| config.database = database.clone().into()).await;
    let token = bearer(&app, ALL_SCOPES).await;
    let (lines, _capturing) = capture(LogFormat::Json);
    let (release, held) = std::sync::mpsc::channel::<()>();
    let mut busy = Box::pin(database.write(move |_| -> Result<(), DatabaseError> {
        let _released = held.recv();
        Ok(())
    }));
    assert!(futures_util::poll!(&mut busy).is_pending());
    let asked = request("GET", "/v1/charges", &[("authorization", &token)], "");
    let mut handled = Box::pin(app.handle(asked));
    assert!(futures_util::poll!(&mut handled).is_pending());
    drop(handled);
    drop(release);
    let events = lines.of("service::request");
    let [event] = events.as_slice() else {
        panic!("{events:?}")
    };
    assert_eq!(event.get("message").unwrap(), "client disconnected");
    assert_eq!(event.get("route").unwrap(), "/v1/charges");
    assert_eq!(event.get("status"), None);
}

/// Receives one webhook and acknowledges it; returns its `traceparent`.
async fn receive(listener: &TcpListener) -> String {
    let (mut peer, _) = listener.accept().await.unwrap();
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        assert_ne!(peer.read_buf(&mut head).await.unwrap(), 0);
    }
    let answer = b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n";
    peer.write_all(answer).await.unwrap();
    let head = String::from_utf8_lossy(&head).to_lowercase();
    let mut fields = head.lines().filter_map(|line| line.split_once(": "));
    fields
        .find(|field| field.0 == "traceparent")
        .unwrap()
        .1
        .to_owned()
}

/// An app, a token, and a listener that is registered as the webhook endpoint of a path.
async fn received() -> (Arc<App>, String, TcpListener, String) {
    let app = operated(|config| config.danger_deliver_to_loopback = true).await;
    let token = bearer(&app, ALL_SCOPES).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!(r#"{{"url":"http://{}/"}}"#, listener.local_addr().unwrap());
    let registered = call(&app, &token, ("POST", "/v1/webhook-endpoints"), &[], &url).await;
    assert_eq!(registered.status(), 201);
    let path = header(registered.headers(), "location").to_owned();
    (app, token, listener, path)
}

/// X8, H31: a webhook is a span of the trace of the request that caused it: of REST, of GraphQL
/// with a whole or a streamed answer, of a refund that is booked later, and of a test event. The
/// log lines of the request and of the attempt name the trace.
#[tokio::test]
async fn webhook_continues_the_trace_of_its_request() {
    let (app, token, listener, endpoint) = received().await;
    let (lines, _capturing) = capture(LogFormat::Json);
    let path = crate::desk::charge(&app, &token, 500).await;
    let mutation = r#"{"query":"mutation { createCharge(amount: 7, currency: \"eur\") { id } }"}"#;
    call(&app, &token, ("POST", &format!("{path}/refunds")), &[], "{}").await;
    for accept in ["application/json", "text/event-stream"] {
        let fields = [("accept", accept)];
        call(&app, &token, ("POST", "/graphql"), &fields, mutation).await;
    }
    call(
        &app,
        &token,
        ("POST", &format!("{endpoint}/test-events")),
        &[],
        "",
    )
    .await;
    let delivered = async {
        let mut parents = Vec::new();
        for _ in 0..5 {
            parents.push(receive(&listener).await);
        }
        while lines.of("service::webhook").len() < 10 {
            tokio::task::yield_now().await;
        }
        parents
    };
    let parents = crate::refunds::working(&app, delivered).await;
    let text_of = |value: Option<&Value>| value.unwrap().as_str().unwrap().to_owned();
    let requests = lines.of("service::request");
    let requests = requests
        .iter()
        .map(|line| text_of(line.pointer("/span/trace_id")));
    let attempts = lines.of("service::webhook");
    let attempts = attempts.iter().filter(|line| line.get("status").is_some());
    let attempts = attempts.map(|line| text_of(line.get("trace_id")));
    let messages = parents
        .iter()
        .map(|parent| parent.split('-').nth(1).unwrap().to_owned());
    let [mut requests, mut attempts, mut messages]: [Vec<String>; 3] =
        [requests.collect(), attempts.collect(), messages.collect()];
    for ids in [&mut requests, &mut attempts, &mut messages] {
        ids.sort_unstable();
    }
    assert_eq!(requests.len(), 5);
    assert_eq!((&messages, &attempts), (&requests, &requests), "{}", lines.text());
}

/// X8: attempts and outcomes of webhooks are logged and counted, and so is what is due.
#[tokio::test]
async fn webhook_is_logged_and_counted() {
    let (app, token, listener, _) = received().await;
    crate::desk::charge(&app, &token, 500).await;
    let backlog = get(&app, "/metrics").await;
    assert!(
        text(&backlog).contains("\nwebhook_backlog 1\n"),
        "{}",
        text(&backlog)
    );
    let (lines, _capturing) = capture(LogFormat::Json);
    let delivered = async {
        receive(&listener).await;
        while lines.of("service::webhook").len() < 2 {
            tokio::task::yield_now().await;
        }
    };
    crate::refunds::working(&app, delivered).await;
    let [attempt, settled] = &lines.of("service::webhook")[..] else {
        panic!("{}", lines.text())
    };
    assert_eq!(attempt.get("status").unwrap(), 204);
    assert_eq!(settled.get("outcome").unwrap(), "acked");
    let metrics = text(&get(&app, "/metrics").await);
    for line in [
        "\nwebhook_attempt_duration_seconds_count{outcome=\"2xx\"} 1\n",
        "\nwebhook_settlements_total{outcome=\"acked\"} 1\n",
        "\nwebhook_backlog 0\n",
    ] {
        assert!(metrics.contains(line), "{line}{metrics}");
    }
}

/// Number of open connections that `/metrics` shows.
async fn open_connections(app: &Arc<App>) -> usize {
    let answer = app.handle_operator(request("GET", "/metrics", &[], "")).await;
    let metrics = text(&answer);
    let mut lines = metrics.lines();
    let gauge = lines.find_map(|line| line.strip_prefix("http_server_open_connections "));
    gauge.unwrap().parse().unwrap()
}

/// X8: `/metrics` shows the open connections of each server.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn metrics_count_connections_by_server() {
    for name in Server::NAMES {
        let app = open().await;
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Server::start(name, Arc::clone(&app), listener, None);
        assert_eq!(open_connections(&app).await, 0, "{name}");
        let head = b"GET /openapi.json HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n";
        let connected = [(); 3].map(|()| server.connect(head));
        for (_, line) in &connected {
            assert!(line.starts_with("HTTP/1.1 200"), "{name}: {line}");
        }
        assert_eq!(open_connections(&app).await, 3, "{name}");
        drop(connected);
        let began = Instant::now();
        while open_connections(&app).await > 0 {
            assert!(began.elapsed() < Duration::from_secs(20), "{name}");
            tokio::task::yield_now().await;
        }
    }
}
