//! X9: the explorer and the API reference of the console: pages, operations with the session of the
//! person, and requests that another site makes.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use graph_core::persisted::Manifest;
use host_store_sqlite::Database;
use http::{Request, Response};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use service::app::{App, Body, Config};
use service::clock::DemoClock;

use crate::browser::{Browser, text, where_to};
use crate::desk::{ALL_SCOPES, BASE, ask, bearer, charge, charges, header, json, open, request};

const OPERATION: &str = "/console/explorer/operation";
const ESTIMATE: &str = "/console/explorer/estimate";
const JSON: (&str, &str) = ("content-type", "application/json");
/// Origin to which the service grants CORS.
const FRIEND: &str = "http://app.example";

/// A signed-in person at the page of the explorer.
struct Explorer {
    app: Arc<App>,
    clock: DemoClock,
    browser: Browser,
    token: String,
    cookie: String,
}

async fn explorer() -> Explorer {
    let mut config = Config::new(BASE, Database::open_in_memory().unwrap());
    let clock = DemoClock::new();
    config.clock = clock.clone();
    config.cross_origins = vec![FRIEND.to_owned()];
    let app = Arc::new(App::open(config).await.unwrap());
    let mut browser = Browser::new(&app);
    browser.sign_in().await;
    let page = text(&browser.get("/console/explorer").await);
    Explorer {
        token: value_of(&page, "data-token"),
        cookie: browser.jar(),
        app,
        clock,
        browser,
    }
}

/// Value of an attribute that occurs once.
fn value_of(page: &str, name: &str) -> String {
    let rest = page.split(&format!("{name}=\"")).nth(1).unwrap();
    rest.split('"').next().unwrap().to_owned()
}

impl Explorer {
    /// Request of the page's script, with `changes` to its header fields; an empty value removes.
    fn request(&self, path: &str, body: &Value, changes: &[(&str, &str)]) -> Request<Bytes> {
        let mut fields = vec![
            JSON,
            ("accept", "application/json"),
            ("origin", BASE),
            ("sec-fetch-site", "same-origin"),
            ("x-csrf-token", &self.token),
            ("cookie", &self.cookie),
        ];
        fields.retain(|(name, _)| changes.iter().all(|(changed, _)| changed != name));
        fields.extend(changes.iter().filter(|(_, value)| !value.is_empty()));
        request("POST", path, &fields, body.to_string())
    }

    async fn run(&self, body: &Value) -> Response<Bytes> {
        ask(&self.app, self.request(OPERATION, body, &[])).await
    }

    async fn estimate(&self, body: &Value) -> Value {
        let response = ask(&self.app, self.request(ESTIMATE, body, &[])).await;
        assert_eq!(response.status(), 200, "{response:?}");
        json(&response)
    }

    async fn subscribe(&self) -> Body {
        let body = json!({ "query": "subscription { chargeUpdated { id } }" });
        let request = self.request(OPERATION, &body, &[("accept", "text/event-stream")]);
        let response = self.app.handle(request).await;
        assert_eq!(
            header(response.headers(), "content-type"),
            "text/event-stream; charset=utf-8"
        );
        response.into_body()
    }
}

fn create() -> Value {
    json!({ "query": "mutation { createCharge(amount: 100, currency: \"eur\") { id } }" })
}

/// Reads a body to its end.
async fn rest(body: Body) -> String {
    let read = tokio::time::timeout(Duration::from_secs(20), body.collect()).await;
    String::from_utf8_lossy(&read.unwrap().unwrap().to_bytes()).into_owned()
}

/// X9: both pages have a policy of their own, which allows inline styles and nothing else more.
#[tokio::test]
async fn explorer_and_reference_have_their_policy() {
    let mut at = explorer().await;
    for path in ["/console/explorer", "/console/reference"] {
        let page = at.browser.get(path).await;
        assert_eq!(page.status(), 200, "{path}");
        assert_eq!(
            header(page.headers(), "content-security-policy"),
            "default-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; \
             frame-ancestors 'none'; script-src 'self'; worker-src 'self'; connect-src 'self'; \
             font-src 'self'; form-action 'self'"
        );
        let page = text(&page);
        assert!(page.contains(&format!("href=\"{path}\" aria-current=\"page\"")));
        for inline in [
            "<style",
            " style=",
            "<script>",
            " onclick=",
            "javascript:",
            "https://",
        ] {
            assert!(!page.contains(inline), "{path}: {inline}");
        }
    }
    let overview = at.browser.get("/").await;
    assert!(!header(overview.headers(), "content-security-policy").contains("unsafe"));
}

/// X9: without a session both pages lead to the sign-in and back.
#[tokio::test]
async fn explorer_and_reference_need_a_session() {
    let app = open().await;
    for place in ["explorer", "explorer/schema", "reference"] {
        let response = Browser::new(&app).get(&format!("/console/{place}")).await;
        let place = place.replace('/', "%2F");
        assert_eq!(
            where_to(&response),
            format!("/login?return_to=%2Fconsole%2F{place}")
        );
    }
}

/// X9: without JavaScript the examples and the schema can be read.
#[tokio::test]
async fn examples_and_schema_are_readable_without_script() {
    let mut at = explorer().await;
    let token = bearer(&at.app, ALL_SCOPES).await;
    let path = charge(&at.app, &token, 500).await;
    let id = path.rsplit('/').next().unwrap();
    let page = text(&at.browser.get("/console/explorer?op=charge").await);
    assert!(
        page.contains("query Charge($id: ID!)") && page.contains(id),
        "{page}"
    );
    let unknown = at.browser.get("/console/explorer?op=%3Cb%3E").await;
    assert!(text(&unknown).contains("query Charges("));
    let schema = at.browser.get("/console/explorer/schema").await;
    assert_eq!(
        header(schema.headers(), "content-type"),
        "text/plain; charset=utf-8"
    );
    assert!(text(&schema).contains("type Query {"));
}

/// X9: every example runs, except the one that is refused on purpose.
#[tokio::test]
async fn examples_run() {
    let mut at = explorer().await;
    let token = bearer(&at.app, ALL_SCOPES).await;
    charge(&at.app, &token, 500).await;
    let words = ["charges", "charge", "create", "refund", "partial", "much"];
    for word in words {
        let page = text(&at.browser.get(&format!("/console/explorer?op={word}")).await);
        let start = page.find(&format!("?op={word}\"")).unwrap();
        let example = page.get(start..).unwrap();
        let plain = |name| {
            value_of(example, name)
                .replace("&#34;", "\"")
                .replace("&#38;", "&")
        };
        let variables: Value = serde_json::from_str(&plain("data-variables")).unwrap_or_default();
        let ran = json(
            &at.run(&json!({ "query": plain("data-query"), "variables": variables }))
                .await,
        );
        let has = |member: &str| ran.get(member).is_some();
        let expected = match word {
            "partial" => (true, true),
            "much" => (false, true),
            _ => (true, false),
        };
        assert_eq!((has("data"), has("errors")), expected, "{word}: {ran}");
    }
    assert_eq!(charges(&at.app, &token).await, 2);
}

/// X9: an operation runs as the user of the session, with no token of the API.
#[tokio::test]
async fn operation_runs_as_the_signed_in_user() {
    let at = explorer().await;
    let ran = json(&at.run(&json!({ "query": "{ viewer { subject } }" })).await);
    let page = text(&at.browser.clone().get("/console/explorer").await);
    let subject = value_of(&page, "data-subject");
    assert_eq!(ran.pointer("/data/viewer/subject"), Some(&Value::from(subject)));
    let created = at.run(&create()).await;
    assert!(json(&created).pointer("/data/createCharge/id").is_some());
    assert_eq!(header(created.headers(), "access-control-allow-origin"), "");
}

/// X9: a request that another site could make is refused, and changes nothing.
#[tokio::test]
async fn request_of_another_site_is_refused() {
    let at = explorer().await;
    let mut other = Browser::new(&at.app);
    other.sign_in().await;
    let foreign = value_of(&text(&other.get("/console/explorer").await), "data-token");
    let token = bearer(&at.app, ALL_SCOPES).await;
    let attacks: &[&[(&str, &str)]] = &[
        &[("origin", "http://evil.example")],
        &[("origin", "null")],
        &[("origin", "")],
        &[("origin", "http://127.0.0.1:8081")],
        &[("origin", BASE), ("origin", "http://evil.example")],
        // CORS does not cover the session
        &[("origin", FRIEND)],
        &[("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "same-site")],
        &[("sec-fetch-site", "none")],
        &[("x-csrf-token", "")],
        &[("x-csrf-token", "guess")],
        &[("x-csrf-token", &foreign)],
        &[("cookie", "")],
        &[("cookie", ""), ("authorization", &token)],
        &[("cookie", &other.jar())],
    ];
    for attack in attacks {
        for path in [OPERATION, ESTIMATE] {
            let refused = ask(&at.app, at.request(path, &create(), attack)).await;
            assert_eq!(refused.status(), 403, "{path} {attack:?}");
            assert_eq!(
                header(refused.headers(), "access-control-allow-credentials"),
                "",
                "{attack:?}"
            );
        }
    }
    assert_eq!(charges(&at.app, &token).await, 0);
}

/// X9: what a form or a link of another site can send is no operation, whatever its headers say.
#[tokio::test]
async fn forms_gets_and_websockets_are_no_operations() {
    let at = explorer().await;
    for content_type in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
    ] {
        for path in [OPERATION, ESTIMATE] {
            let simple = at.request(path, &create(), &[("content-type", content_type)]);
            let refused = ask(&at.app, simple).await.status();
            assert!(
                [400, 415].contains(&refused.as_u16()),
                "{path} {content_type}: {refused}"
            );
        }
    }
    let socket = [
        ("connection", "upgrade"),
        ("upgrade", "websocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ("sec-websocket-protocol", "graphql-transport-ws"),
    ];
    for origin in [BASE, "http://evil.example"] {
        for extra in [&[][..], &socket[..]] {
            let mut fields = vec![("origin", origin), ("cookie", at.cookie.as_str())];
            fields.extend_from_slice(extra);
            let target = format!("{OPERATION}?query=%7B__typename%7D");
            let refused = ask(&at.app, request("GET", &target, &fields, "")).await;
            assert_eq!(refused.status(), 405, "{origin}");
        }
    }
    // a WebSocket of the API takes no session: the connection is anonymous
    let mut fields = vec![("origin", "http://evil.example"), ("cookie", at.cookie.as_str())];
    fields.extend_from_slice(&socket);
    let refused = ask(&at.app, request("GET", "/graphql", &fields, "")).await;
    assert_eq!(refused.status(), 403);
    let token = bearer(&at.app, ALL_SCOPES).await;
    assert_eq!(charges(&at.app, &token).await, 0);
}

/// X9: the session alone opens nothing at the API itself.
#[tokio::test]
async fn session_is_no_token_at_the_api() {
    let at = explorer().await;
    let fields = [
        JSON,
        ("cookie", at.cookie.as_str()),
        ("x-csrf-token", &at.token),
        ("origin", BASE),
    ];
    let anonymous = request(
        "POST",
        "/graphql",
        &fields,
        r#"{"query":"{ viewer { subject } }"}"#,
    );
    let anonymous = json(&ask(&at.app, anonymous).await);
    assert_eq!(anonymous.pointer("/data/viewer"), Some(&Value::Null));
    let refused = ask(&at.app, request("GET", "/v1/charges", &fields, "")).await;
    assert_eq!(refused.status(), 401);
}

/// X9: the size of an operation is told without running it, also above the limits.
#[tokio::test]
async fn estimate_runs_no_operation() {
    let at = explorer().await;
    let query = "query($n: Int) { charges(first: $n) { edges { node { customer { name } } } } }";
    let small = at
        .estimate(&json!({ "query": query, "variables": { "n": 8 } }))
        .await;
    assert_eq!(
        small,
        json!({ "cost": 16, "depth": 5, "aliases": 0, "root_fields": 1, "errors": [] })
    );
    assert_eq!(at.estimate(&create()).await["cost"], 10);
    let aliases: String = (0..31)
        .map(|number| format!("a{number}: viewer {{ subject }} "))
        .collect();
    let large = at.estimate(&json!({ "query": format!("{{ {aliases} }}") })).await;
    assert_eq!(
        (&large["aliases"], &large["root_fields"]),
        (&json!(31), &json!(31))
    );
    let codes: Vec<_> = large["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| &error["code"])
        .collect();
    assert_eq!(codes, ["MAX_ALIASES_EXCEEDED", "MAX_COST_EXCEEDED"]);
    for (query, code) in [
        ("{ charges {", "GRAPHQL_PARSE_FAILED"),
        ("", "GRAPHQL_PARSE_FAILED"),
        ("{ nothing }", "GRAPHQL_VALIDATION_FAILED"),
    ] {
        let wrong = at.estimate(&json!({ "query": query })).await;
        assert_eq!(wrong["errors"][0]["code"], code, "{query}");
        assert!(wrong.get("cost").is_none());
    }
    let token = bearer(&at.app, ALL_SCOPES).await;
    assert_eq!(charges(&at.app, &token).await, 0);
}

/// X9, G14: with trusted documents no other document is parsed, also not for its size.
#[tokio::test]
async fn size_is_unknown_with_trusted_documents() {
    let mut at = explorer().await;
    let mut config = Config::new(BASE, Database::open_in_memory().unwrap());
    config.trusted_documents = Some(Manifest::new().with_document("viewer-1", "{ viewer { subject } }"));
    at.app = Arc::new(App::open(config).await.unwrap());
    at.browser = Browser::new(&at.app);
    at.browser.sign_in().await;
    at.cookie = at.browser.jar();
    let page = text(&at.browser.get("/console/explorer").await);
    at.token = value_of(&page, "data-token");
    let body = json!({ "query": "{ viewer { subject } }" });
    let asked = at.request("/console/explorer/estimate", &body, &[]);
    assert_eq!(ask(&at.app, asked).await.status(), 404);
}

/// X9: what is no question for a size is refused with a problem.
#[tokio::test]
async fn malformed_estimate_request_is_refused() {
    let at = explorer().await;
    for (body, status) in [
        (json!([]), 422),
        (json!({}), 422),
        (json!({ "query": 1 }), 422),
        (json!({ "query": "{ viewer }", "variables": [1] }), 422),
    ] {
        let refused = ask(&at.app, at.request(ESTIMATE, &body, &[])).await;
        assert_eq!(refused.status(), status, "{body}");
        assert_eq!(
            header(refused.headers(), "content-type"),
            "application/problem+json"
        );
    }
    let mut torn = at.request(ESTIMATE, &json!({}), &[]);
    *torn.body_mut() = Bytes::from_static(b"{\"query\":");
    assert_eq!(ask(&at.app, torn).await.status(), 400);
}

/// X9: a subscription hears a change of another request, and ends with the session of the person.
#[tokio::test]
async fn subscription_ends_with_the_session() {
    let mut at = explorer().await;
    let reading = tokio::spawn(rest(at.subscribe().await));
    // the stream starts when it is first polled
    tokio::task::yield_now().await;
    let token = bearer(&at.app, ALL_SCOPES).await;
    let path = charge(&at.app, &token, 500).await;
    at.clock.advance(Duration::from_secs(5));
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(!reading.is_finished());
    let page = at.browser.get("/account").await;
    assert_eq!(page.status(), 200);
    at.browser.post("/account/sign-out", &[]).await;
    at.clock.advance(Duration::from_secs(5));
    let read = reading.await.unwrap();
    assert!(read.contains(path.trim_start_matches("/v1/charges/")), "{read}");
}

/// X9: an open subscription does not keep an idle session alive.
#[tokio::test]
async fn subscription_ends_with_an_idle_session() {
    let at = explorer().await;
    let reading = tokio::spawn(rest(at.subscribe().await));
    tokio::task::yield_now().await;
    for _ in 0..400 {
        if reading.is_finished() {
            break;
        }
        at.clock.advance(Duration::from_secs(10));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    reading.await.unwrap();
    let late = at.run(&json!({ "query": "{ viewer { subject } }" })).await;
    assert_eq!(late.status(), 403);
}

/// X9: a user has at most twelve open subscriptions in the explorer, over all sessions; the next
/// one is refused as a GraphQL error, and a closed one frees its place.
#[tokio::test]
async fn subscriptions_are_bounded_by_user() {
    let mut at = explorer().await;
    let mut open = Vec::new();
    for _ in 0..12 {
        let mut stream = at.subscribe().await;
        // the stream starts when it is first polled
        assert!(stream.frame().now_or_never().is_none());
        open.push(stream);
    }
    at.browser = Browser::new(&at.app);
    at.browser.sign_in().await;
    at.cookie = at.browser.jar();
    at.token = value_of(&text(&at.browser.get("/console/explorer").await), "data-token");
    let refused = rest(at.subscribe().await).await;
    assert!(
        refused.contains("\"code\":\"RATE_LIMITED\"") && refused.contains("event: complete"),
        "{refused}"
    );
    assert!(
        refused.contains("12 subscriptions of this user are open"),
        "{refused}"
    );
    // queries and mutations are not affected
    let ran = json(&at.run(&create()).await);
    assert!(ran.pointer("/data/createCharge/id").is_some(), "{ran}");
    open.pop();
    let mut next = at.subscribe().await;
    assert!(next.frame().now_or_never().is_none());
}

/// X9: operations of the explorer count against the limit of the user.
#[tokio::test]
async fn explored_operations_count_against_the_user() {
    let mut config = Config::new(BASE, Database::open_in_memory().unwrap());
    config.limits.of_caller = 2;
    let app = Arc::new(App::open(config).await.unwrap());
    let mut browser = Browser::new(&app);
    browser.sign_in().await;
    let page = text(&browser.get("/console/explorer").await);
    let at = Explorer {
        token: value_of(&page, "data-token"),
        cookie: browser.jar(),
        app,
        clock: DemoClock::new(),
        browser,
    };
    let query = json!({ "query": "{ viewer { subject } }" });
    for status in [200, 200, 429] {
        assert_eq!(at.run(&query).await.status(), status);
    }
    let estimated = ask(&at.app, at.request(ESTIMATE, &query, &[])).await;
    assert_eq!(estimated.status(), 429);
}
