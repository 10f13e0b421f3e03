//! X9: faults that a person causes, and their healing. The service has the feature `break-it`.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use host_store_sqlite::Database;
use http::Response;
use service::app::{App, Config};
use service::clock::DemoClock;

use crate::browser::{Browser, HTML, text, where_to};
use crate::desk::{ALL_SCOPES, BASE, FORM, ask, bearer, charge, charges, request};
use crate::processes::{BINARIES, Process, get};
use crate::refunds::working;
use crate::servers::Server;

const PATH: &str = "/console/break-it";
/// Longer than the healing takes, so that a failing test ends.
const PATIENCE: Duration = Duration::from_secs(60);

/// Header fields of a form of the service's own pages.
const OWN_FORM: [(&str, &str); 3] = [
    ("sec-fetch-site", "same-origin"),
    ("sec-fetch-mode", "navigate"),
    ("origin", "null"),
];

/// A signed-in person under the service's own host.
struct Person {
    app: Arc<App>,
    browser: Browser,
    host: String,
    clock: DemoClock,
}

impl Person {
    async fn at(base_url: &str, allow_faults: bool) -> Self {
        let mut config = Config::new(base_url, Database::open_in_memory().unwrap());
        let clock = DemoClock::new();
        config.clock = clock.clone();
        config.danger_deliver_to_loopback = true;
        config.allow_faults = allow_faults;
        let app = Arc::new(App::open(config).await.unwrap());
        let mut browser = Browser::new(&app);
        browser.sign_in().await;
        Self {
            app,
            browser,
            host: base_url.rsplit('/').next().unwrap().to_owned(),
            clock,
        }
    }

    async fn ask(&mut self, method: &str, more: &[(&str, &str)], body: &str) -> Response<Bytes> {
        let cookies: Vec<_> = self
            .browser
            .cookies
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let (cookies, host) = (cookies.join("; "), self.host.clone());
        let mut headers = vec![FORM, HTML, ("cookie", cookies.as_str())];
        if more.iter().all(|(name, _)| *name != "host") {
            headers.push(("host", &host));
        }
        headers.extend_from_slice(more);
        ask(&self.app, request(method, PATH, &headers, body.to_owned())).await
    }

    async fn page(&mut self) -> String {
        text(&self.ask("GET", &[], "").await)
    }

    /// Causes a fault by its form.
    async fn cause(&mut self, fault: &str) {
        let body = format!("csrf_token={}&fault={fault}", self.browser.token);
        let caused = self.ask("POST", &OWN_FORM, &body).await;
        assert_eq!(where_to(&caused), PATH, "{fault}: {caused:?}");
    }

    /// Waits until the page has these words.
    async fn see(&mut self, words: &str) {
        let seen = async {
            while !self.page().await.contains(words) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let seen = tokio::time::timeout(PATIENCE, seen).await;
        assert!(seen.is_ok(), "{words}: {}", self.page().await);
    }
}

/// X9: other sites, other names of this machine, forms without a token and strangers cause nothing.
#[tokio::test]
async fn fault_of_a_foreign_request_is_refused() {
    let mut person = Person::at(BASE, true).await;
    let page = person.page().await;
    assert!(
        page.contains("Drop the next answer") && page.contains("aria-current=\"page\""),
        "{page}"
    );
    let token = person.browser.token.clone();
    let armed = format!("csrf_token={token}&fault=drop");
    let [same, navigate, null] = OWN_FORM;
    let attacks: [(&[(&str, &str)], &str); 10] = [
        (&[("sec-fetch-site", "cross-site"), navigate, null], &armed),
        (&[("sec-fetch-site", "same-site")], &armed),
        (&[("origin", "http://127.0.0.1:9")], &armed),
        (&[null], &armed),
        (&[], &armed),
        (&[same, navigate], &armed),
        (&OWN_FORM, "fault=drop"),
        (&OWN_FORM, "fault=drop&csrf_token=forged"),
        (&[("host", "rebound.example:8080"), same], &armed),
        (&[("host", "127.0.0.1:81"), same], &armed),
    ];
    for (headers, body) in attacks {
        let refused = person.ask("POST", headers, body).await;
        assert_eq!(refused.status(), 403, "{headers:?} {body}");
    }
    let foreign = person.ask("GET", &[("host", "rebound.example:8080")], "").await;
    assert_eq!(foreign.status(), 403);
    let unknown = person
        .ask("POST", &OWN_FORM, &format!("csrf_token={token}&fault=fire"))
        .await;
    assert_eq!(unknown.status(), 400);
    assert!(!person.page().await.contains("Waits for a POST"));
    let host = [("host", "127.0.0.1:8080"), FORM];
    let stranger = ask(&person.app, request("POST", PATH, &host, armed)).await;
    assert!(where_to(&stranger).starts_with("/login"), "{stranger:?}");
}

/// X9: where faults are not allowed, the page, its forms and the receiver do not exist.
#[tokio::test]
async fn break_it_is_absent_unless_allowed() {
    let mut person = Person::at(BASE, false).await;
    assert_eq!(person.ask("GET", &[], "").await.status(), 404);
    let body = format!("csrf_token={}&fault=drop", person.browser.token);
    assert_eq!(person.ask("POST", &[], &body).await.status(), 404);
    let headers = [("host", "127.0.0.1:8080"), ("webhook-id", "evt_1")];
    let receiver = request("POST", "/console/break-it/receiver", &headers, "{}");
    assert_eq!(ask(&person.app, receiver).await.status(), 404);
    assert!(!text(&person.browser.get("/").await).contains("Break it"));
}

/// X9: a process allows faults on loopback, and not behind a proxy.
#[test]
fn break_it_needs_a_local_process() {
    for (words, status) in [(&[][..], 303), (&["--trusted-proxy", "127.0.0.1/32"], 404)] {
        let process = Process::start(BINARIES[0], words);
        let (answered, text) = get(&process.address, PATH).unwrap();
        assert_eq!(answered, status, "{words:?}: {text}");
    }
}

/// X9: a dropped answer was carried out, and a retry with its key gets it, on hyper and axum. On
/// actix-web the client gets no answer either, but its connection stays open.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn break_it_drops_an_answer_that_a_retry_gets() {
    for name in ["hyper", "axum"] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let mut person = Person::at(&format!("http://{address}"), true).await;
        let token = bearer(&person.app, ALL_SCOPES).await;
        person.page().await;
        person.cause("drop").await;
        assert!(person.page().await.contains("Waits for a POST with a key"));
        // no retry could get these answers
        let (json, key) = (
            ("content-type", "application/json"),
            ("idempotency-key", "\"refused-1\""),
        );
        for (headers, body, status) in [
            (
                [("authorization", token.as_str()), json, ("x", "x")],
                r#"{"amount":300,"currency":"eur"}"#,
                201,
            ),
            (
                [("authorization", &token), json, key],
                r#"{"amount":0,"currency":"eur"}"#,
                422,
            ),
            (
                [("authorization", "Bearer wrong"), json, key],
                r#"{"amount":5,"currency":"eur"}"#,
                401,
            ),
        ] {
            let kept = ask(&person.app, request("POST", "/v1/charges", &headers, body)).await;
            assert_eq!(kept.status(), status, "{name}: {body}");
        }
        let page = person.page().await;
        assert!(
            page.contains("Waits for a POST with a key") && !page.contains("An answer was dropped"),
            "{page}"
        );
        let server = Arc::new(Server::start(name, Arc::clone(&person.app), listener, None));
        let body = r#"{"amount":500,"currency":"eur"}"#;
        let asked = format!(
            "POST /v1/charges HTTP/1.1\r\nhost: {address}\r\nauthorization: {token}\r\nconnection: close\r\n\
             idempotency-key: \"dropped-1\"\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let send = || {
            let (server, asked) = (Arc::clone(&server), asked.clone());
            tokio::task::spawn_blocking(move || String::from_utf8(server.ask(asked.as_bytes())).unwrap())
        };
        assert_eq!(send().await.unwrap(), "", "{name}");
        assert_eq!(charges(&person.app, &token).await, 2, "{name}");
        person.see("An answer was dropped").await;
        let again = send().await.unwrap();
        assert!(again.starts_with("HTTP/1.1 201"), "{name}: {again}");
        assert!(again.contains("idempotency-replayed: true"), "{name}: {again}");
        assert_eq!(charges(&person.app, &token).await, 2, "{name}");
    }
}

/// X9: an answer with a secret that is shown once is not dropped: no retry could get it.
#[tokio::test]
async fn break_it_keeps_answers_that_no_retry_gets() {
    let mut person = Person::at(BASE, true).await;
    let token = bearer(&person.app, ALL_SCOPES).await;
    person.page().await;
    person.cause("drop").await;
    let mut path = "/v1/webhook-endpoints".to_owned();
    for key in ["\"register-1\"", "\"rotate-1\""] {
        let body = r#"{"url":"https://one.example.com/hook"}"#;
        let body = if key.contains("register") { body } else { "" };
        let headers = [
            ("authorization", token.as_str()),
            ("content-type", "application/json"),
            ("idempotency-key", key),
        ];
        let send = || request("POST", &path, &headers, body);
        let answer = ask(&person.app, send()).await;
        assert!(answer.status().is_success(), "{key}: {answer:?}");
        let shown: serde_json::Value = serde_json::from_slice(answer.body()).unwrap();
        assert!(shown["secret"].as_str().unwrap().starts_with("whsec_"), "{key}");
        assert_eq!(ask(&person.app, send()).await.status(), 409, "{key}");
        let page = person.page().await;
        assert!(page.contains("Waits for a POST with a key"), "{key}: {page}");
        path = format!(
            "/v1/webhook-endpoints/{}/rotations",
            shown["id"].as_str().unwrap()
        );
    }
}

/// X9: a worker that is killed while it sends is replaced; the message comes again with its id, and
/// the receiver acts on it once. A hanging receiver gets it by a retry.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn break_it_heals_a_killed_worker_and_a_hung_receiver() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut person = Person::at(&format!("http://{}", listener.local_addr().unwrap()), true).await;
    let _server = Server::start("hyper", Arc::clone(&person.app), listener, None);
    let app = Arc::clone(&person.app);
    let walk = async {
        let token = bearer(&person.app, ALL_SCOPES).await;
        assert!(person.page().await.contains("has no endpoint"));
        person.cause("receiver").await;
        person.cause("hang").await;
        charge(&person.app, &token, 500).await;
        person.see("<dt>Messages that hang</dt><dd>1</dd>").await;
        person.cause("kill").await;
        let page = person.page().await;
        assert!(
            page.contains("Start it now") && page.contains("Let it answer"),
            "{page}"
        );
        charge(&person.app, &token, 700).await;
        person.cause("answer").await;
        person.see("<dt>Deliveries waiting</dt><dd>2</dd>").await;
        person.cause("start").await;
        person.see("<dt>Deliveries waiting</dt><dd>0</dd>").await;
        let page = person.page().await;
        assert!(page.contains("<dt>Events it acted on</dt><dd>2</dd>"), "{page}");
        assert!(page.contains("<dt>Deliveries lost</dt><dd>0</dd>"), "{page}");
        assert!(
            page.contains("Delivery worker killed") && page.contains("The receiver hangs"),
            "{page}"
        );
    };
    working(&app, walk).await;
}

/// X9: the clock is stepped by an hour, and the page shows both times.
#[tokio::test]
async fn break_it_steps_the_clock() {
    let mut person = Person::at(BASE, true).await;
    let before = person.clock.now();
    person.page().await;
    person.cause("step").await;
    let stepped = person.clock.now().duration_since(before).unwrap();
    assert!(stepped >= Duration::from_secs(3_600), "{stepped:?}");
}
