//! Subscriptions over server-sent events and WebSocket, and the end of their streams.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{sink, stream};
use host_store_sqlite::Database;
use host_websocket::{Message, Received, Upgrade};
use http_body_util::BodyExt;
use service::app::{App, Body, Config};
use service::clock::DemoClock;
use tokio::sync::mpsc;

use crate::desk::{ALL_SCOPES, BASE, bearer, charge, request};

async fn open_with(clock: &DemoClock) -> Arc<App> {
    let mut config = Config::new(BASE, Database::open_in_memory().unwrap());
    config.clock = clock.clone();
    Arc::new(App::open(config).await.unwrap())
}

pub(crate) async fn subscribe(app: &Arc<App>, token: &str) -> Body {
    subscribe_as(app, token, "text/event-stream").await
}

pub(crate) async fn subscribe_as(app: &Arc<App>, token: &str, accept: &str) -> Body {
    let headers = [
        ("authorization", token),
        ("content-type", "application/json"),
        ("accept", accept),
    ];
    let query = r#"{"query":"subscription { chargeUpdated { id } }"}"#;
    let response = app.handle(request("POST", "/graphql", &headers, query)).await;
    assert_eq!(response.status(), 200);
    response.into_body()
}

/// Reads a body to its end.
pub(crate) async fn rest(body: Body) -> String {
    let read = tokio::time::timeout(Duration::from_secs(20), body.collect()).await;
    String::from_utf8_lossy(&read.unwrap().unwrap().to_bytes()).into_owned()
}

/// G10: a subscription ends at the expiry of the token that opened it.
#[tokio::test]
async fn a_stream_ends_with_its_token() {
    let clock = DemoClock::new();
    let app = open_with(&clock).await;
    let token = bearer(&app, ALL_SCOPES).await;
    let reading = tokio::spawn(rest(subscribe(&app, &token).await));
    // the stream starts when it is first polled
    tokio::task::yield_now().await;
    let path = charge(&app, &token, 500).await;
    clock.advance(Duration::from_secs(590));
    tokio::task::yield_now().await;
    assert!(!reading.is_finished());
    clock.advance(Duration::from_secs(10));
    let read = reading.await.unwrap();
    assert!(read.contains(path.trim_start_matches("/v1/charges/")), "{read}");
}

/// G25: a subscription over parts ends at the expiry of its token, without the closing delimiter.
/// Silence is filled with heartbeats.
#[tokio::test]
async fn multipart_subscription_ends_with_its_token() {
    let clock = DemoClock::new();
    let app = open_with(&clock).await;
    let token = bearer(&app, ALL_SCOPES).await;
    let body = subscribe_as(&app, &token, "multipart/mixed;subscriptionSpec=1.0").await;
    let path = charge(&app, &token, 500).await;
    let reading = tokio::spawn(rest(body));
    // longer than the interval of heartbeats
    tokio::time::sleep(Duration::from_secs(6)).await;
    assert!(!reading.is_finished());
    clock.advance(Duration::from_secs(600));
    let id = path.trim_start_matches("/v1/charges/");
    let payload = format!(r#"{{"payload":{{"data":{{"chargeUpdated":{{"id":"{id}"}}}}}}}}"#);
    let part = |body: &str| {
        let length = body.len();
        format!("content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}\r\n--graphql\r\n")
    };
    let parts: String = ["{}", payload.as_str(), "{}"].map(part).concat();
    assert_eq!(reading.await.unwrap(), format!("\r\n--graphql\r\n{parts}"));
}

/// G10: a service that shuts down ends its streams.
#[tokio::test]
async fn a_stream_ends_with_the_service() {
    let app = open_with(&DemoClock::new()).await;
    let token = bearer(&app, ALL_SCOPES).await;
    let before = subscribe(&app, &token).await;
    app.close();
    rest(before).await;
    // a request in flight during the shutdown
    rest(subscribe(&app, &token).await).await;
}

/// A client of `graphql-transport-ws`, without the socket.
pub(crate) struct Client {
    says: mpsc::UnboundedSender<Received>,
    hears: mpsc::Receiver<Message>,
}

impl Client {
    async fn connect(app: &Arc<App>) -> Self {
        Self::connect_from(app, None).await
    }

    async fn connect_from(app: &Arc<App>, peer: Option<SocketAddr>) -> Self {
        let headers = [
            ("connection", "upgrade"),
            ("upgrade", "websocket"),
            ("origin", BASE),
            ("sec-websocket-protocol", "graphql-transport-ws"),
        ];
        let mut asked = request("GET", "/graphql", &headers, "");
        if let Some(peer) = peer {
            asked.extensions_mut().insert(peer);
        }
        let mut response = app.handle(asked).await;
        assert_eq!(response.status(), 101);
        assert_eq!(
            response.headers()["sec-websocket-protocol"],
            "graphql-transport-ws"
        );
        let upgrade = Upgrade::take_from(&mut response).unwrap();
        let (says, said) = mpsc::unbounded_channel();
        let (hear, hears) = mpsc::channel(1);
        let incoming = stream::unfold(said, async |mut said| Some((said.recv().await?, said)));
        let outgoing = sink::unfold(hear, async |hear, message| {
            hear.send(message).await.map_err(drop)?;
            Ok::<_, ()>(hear)
        });
        tokio::spawn(upgrade.run(incoming, outgoing));
        Self { says, hears }
    }

    pub(crate) async fn ready(app: &Arc<App>, token: &str) -> Self {
        let mut client = Self::connect(app).await;
        client.say(&format!(
            r#"{{"type":"connection_init","payload":{{"Authorization":"{token}"}}}}"#
        ));
        assert_eq!(client.hear().await, r#"{"type":"connection_ack"}"#);
        client
    }

    fn say(&self, text: &str) {
        let message = Message::Text(text.to_owned());
        self.says.send(Received::Message(message)).unwrap();
    }

    pub(crate) fn subscribe(&self) {
        self.say(r#"{"id":"1","type":"subscribe","payload":{"query":"subscription { chargeUpdated { amount } }"}}"#);
    }

    /// Next text message, or the close code.
    pub(crate) async fn hear(&mut self) -> String {
        let heard = tokio::time::timeout(Duration::from_secs(20), self.hears.recv()).await;
        match heard.unwrap().unwrap() {
            Message::Text(text) => text,
            Message::Close(code, _) => code.to_string(),
            Message::Binary(_) => panic!("bytes"),
        }
    }
}

/// Waits until the subscription is active.
async fn listening(app: &Arc<App>, token: &str, client: &mut Client) {
    client.subscribe();
    // operations are answered in order
    client.say(r#"{"id":"2","type":"subscribe","payload":{"query":"{ viewer { subject } }"}}"#);
    let expected = r#"{"id":"2","type":"next","payload":{"data":{"viewer":{"subject":"demo-service"}}}}"#;
    assert_eq!(client.hear().await, expected);
    assert_eq!(client.hear().await, r#"{"id":"2","type":"complete"}"#);
    charge(app, token, 500).await;
    let expected = r#"{"id":"1","type":"next","payload":{"data":{"chargeUpdated":{"amount":500}}}}"#;
    assert_eq!(client.hear().await, expected);
}

/// G10, G16: over WebSocket a payload is pushed when the event fires. The connection ends at the
/// expiry of its token with 4403, after which npm `graphql-ws` reconnects.
#[tokio::test]
async fn a_websocket_ends_with_its_token() {
    let clock = DemoClock::new();
    let app = open_with(&clock).await;
    let token = bearer(&app, ALL_SCOPES).await;
    let mut client = Client::ready(&app, &token).await;
    listening(&app, &token, &mut client).await;
    clock.advance(Duration::from_secs(590));
    assert_eq!(client.hear().await, r#"{"type":"ping"}"#);
    client.say(r#"{"type":"pong"}"#);
    client.say(r#"{"type":"ping"}"#);
    assert_eq!(client.hear().await, r#"{"type":"pong"}"#);
    clock.advance(Duration::from_secs(10));
    assert_eq!(client.hear().await, "4403");
}

/// G10: a service that shuts down closes its WebSockets with a code.
#[tokio::test]
async fn a_websocket_ends_with_the_service() {
    let app = open_with(&DemoClock::new()).await;
    let token = bearer(&app, ALL_SCOPES).await;
    let mut client = Client::ready(&app, &token).await;
    app.close();
    assert_eq!(client.hear().await, "1001");
}

/// G10, G16: an invalid token opens no WebSocket; without a token the client sees public fields
/// only.
#[tokio::test]
async fn websocket_requires_a_valid_token() {
    let app = open_with(&DemoClock::new()).await;
    for worthless in [
        "Bearer nonsense",
        "Basic dXNlcg==",
        "Bearer \\u00e9",
        "",
        "Bearer a\\nb",
    ] {
        let mut client = Client::connect(&app).await;
        client.say(&format!(
            r#"{{"type":"connection_init","payload":{{"Authorization":"{worthless}"}}}}"#
        ));
        assert_eq!(client.hear().await, "4403", "{worthless}");
    }
    let good = bearer(&app, ALL_SCOPES).await;
    for ambiguous in [
        r#"{"Authorization":7}"#.to_owned(),
        format!(r#"{{"Authorization":"{good}","authorization":"x"}}"#),
        format!(r#"{{"authorization":"{good}","authorization":"{good}"}}"#),
    ] {
        let mut client = Client::connect(&app).await;
        client.say(&format!(r#"{{"type":"connection_init","payload":{ambiguous}}}"#));
        assert_eq!(client.hear().await, "4403", "{ambiguous}");
    }
    let mut anonymous = Client::connect(&app).await;
    anonymous.say(r#"{"type":"connection_init"}"#);
    assert_eq!(anonymous.hear().await, r#"{"type":"connection_ack"}"#);
    anonymous.subscribe();
    let refused = anonymous.hear().await;
    assert!(
        refused.starts_with(r#"{"id":"1","type":"error""#) && refused.contains("UNAUTHENTICATED"),
        "{refused}"
    );
}

/// G10, H15: an anonymous operation over a WebSocket counts against its address, as over HTTP; so
/// does the upgrade.
#[tokio::test]
async fn an_anonymous_operation_over_a_websocket_counts_as_a_request() {
    let mut config = Config::new(BASE, Database::open_in_memory().unwrap());
    config.clock = DemoClock::new();
    config.limits.of_address = 3;
    let app = Arc::new(App::open(config).await.unwrap());
    let peer = "203.0.113.7:1000".parse().unwrap();
    let mut client = Client::connect_from(&app, Some(peer)).await;
    client.say(r#"{"type":"connection_init"}"#);
    assert_eq!(client.hear().await, r#"{"type":"connection_ack"}"#);
    for answered in ["next", "next", "error"] {
        client.say(r#"{"id":"1","type":"subscribe","payload":{"query":"{ __typename }"}}"#);
        let heard = client.hear().await;
        let expected = format!(r#"{{"id":"1","type":"{answered}""#);
        assert!(heard.starts_with(&expected), "{heard}");
        assert_eq!(heard.contains("RATE_LIMITED"), answered == "error", "{heard}");
        if answered == "next" {
            assert_eq!(client.hear().await, r#"{"id":"1","type":"complete"}"#);
        }
    }
}

/// G10: an anonymous client cannot reserve a stream of the single-connection mode, since it could
/// take over the streams of others.
#[tokio::test]
async fn an_anonymous_client_has_no_single_stream() {
    let app = open_with(&DemoClock::new()).await;
    for method in ["PUT", "GET", "POST", "DELETE"] {
        let refused = app.handle(request(method, "/graphql/stream", &[], "")).await;
        assert_eq!(refused.status(), 401, "{method}");
        assert!(refused.headers().contains_key("www-authenticate"));
    }
}

/// G10, G20: a cross-site page opens no WebSocket.
#[tokio::test]
async fn a_foreign_page_opens_no_websocket() {
    let app = open_with(&DemoClock::new()).await;
    for origin in ["https://evil.example", "null", "http://desk.example.evil.example"] {
        let headers = [
            ("connection", "upgrade"),
            ("upgrade", "websocket"),
            ("origin", origin),
            ("sec-websocket-protocol", "graphql-transport-ws"),
        ];
        let mut response = app.handle(request("GET", "/graphql", &headers, "")).await;
        assert_eq!(response.status(), 403, "{origin}");
        assert!(Upgrade::take_from(&mut response).is_none());
    }
}

/// Reserves and opens a stream of the single-connection mode, and subscribes on it. Returns the
/// stream and its token.
pub(crate) async fn subscribe_single(app: &Arc<App>, token: &str) -> (Body, String) {
    let put = request("PUT", "/graphql/stream", &[("authorization", token)], "");
    let reserved = app.handle(put).await;
    assert_eq!(reserved.status(), 201);
    let stream = reserved.into_body().collect().await.unwrap().to_bytes();
    let stream = String::from_utf8(stream.to_vec()).unwrap();
    let headers = [
        ("authorization", token),
        ("x-graphql-event-stream-token", &stream),
        ("accept", "text/event-stream"),
    ];
    let opened = app.handle(request("GET", "/graphql/stream", &headers, "")).await;
    assert_eq!(opened.status(), 200);
    let accepted = post_single(app, token, &stream).await;
    assert_eq!(accepted, 202);
    (opened.into_body(), stream)
}

/// Posts a subscription to a stream; returns the status.
async fn post_single(app: &Arc<App>, token: &str, stream: &str) -> u16 {
    let query = r#"{"query":"subscription { chargeUpdated { amount } }","extensions":{"operationId":"1"}}"#;
    let headers = [
        ("authorization", token),
        ("x-graphql-event-stream-token", stream),
        ("content-type", "application/json"),
    ];
    let post = request("POST", "/graphql/stream", &headers, query);
    app.handle(post).await.status().as_u16()
}

/// G10: one stream carries several subscriptions and ends with the first of their tokens.
#[tokio::test]
async fn a_single_stream_ends_with_its_token() {
    let clock = DemoClock::new();
    let app = open_with(&clock).await;
    let token = bearer(&app, ALL_SCOPES).await;
    let (body, stream) = subscribe_single(&app, &token).await;
    let reading = tokio::spawn(rest(body));
    tokio::task::yield_now().await;
    charge(&app, &token, 500).await;
    tokio::task::yield_now().await;
    clock.advance(Duration::from_secs(600));
    let read = reading.await.unwrap();
    let event = r#"data: {"id":"1","payload":{"data":{"chargeUpdated":{"amount":500}}}}"#;
    assert!(read.contains(event), "{read}");
    assert_eq!(post_single(&app, &token, &stream).await, 401);
}
