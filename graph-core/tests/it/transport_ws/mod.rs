//! State machine of graphql-transport-ws: transitions, close codes, and invariants of random
//! sequences.

mod bounds;
mod handshake;
mod messages;
mod sequences;
mod transitions;

use std::time::{Duration, SystemTime};

use graph_core::http::GraphRequest;
use graph_core::response::GraphResponse;
use graph_core::subscription::transport_ws::{
    Action, AllowedOrigins, Connection, ConnectionLimits, Handshake, Input, Operation,
};
use http::{HeaderMap, HeaderValue};

use crate::fixture::fixture;

const INIT: &str = r#"{"type":"connection_init"}"#;

/// Connection with a virtual clock.
struct Peer {
    connection: Connection,
    now: SystemTime,
}

impl Peer {
    fn opened(limits: ConnectionLimits) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(
            "sec-websocket-protocol",
            HeaderValue::from_static("graphql-transport-ws"),
        );
        Self::of(&headers, limits)
    }

    fn of(headers: &HeaderMap, limits: ConnectionLimits) -> Self {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let handshake = Handshake::read(headers, &AllowedOrigins::default()).unwrap();
        Self {
            connection: handshake.open(limits, now),
            now,
        }
    }

    /// Acknowledged connection without unsent frames.
    fn ready(limits: ConnectionLimits) -> Self {
        let mut peer = Self::opened(limits);
        assert_eq!(peer.told(Input::Text(INIT)), "authenticate");
        assert_eq!(peer.told(Input::Accepted { expires_at: None }), "ack");
        assert_eq!(peer.told(Input::Sent), "-");
        peer
    }

    fn handle(&mut self, input: Input<'_>) -> Vec<Action> {
        self.connection.handle(input, self.now)
    }

    /// Actions, one word each.
    fn told(&mut self, input: Input<'_>) -> String {
        let told: Vec<String> = self.handle(input).iter().map(word).collect();
        if told.is_empty() {
            return "-".to_owned();
        }
        told.join(" ")
    }

    fn start(&mut self, id: &str) -> Operation {
        let mut actions = self.handle(Input::Text(&subscribe(id)));
        let Some(Action::Start { operation, .. }) = actions.pop() else {
            panic!("{id} did not start");
        };
        operation
    }

    fn pass(&mut self, time: Duration) {
        self.now += time;
    }
}

fn word(action: &Action) -> String {
    match action {
        Action::Send(text) => {
            let message: serde_json::Value = serde_json::from_str(text).unwrap();
            message["type"].as_str().unwrap().replace("connection_", "")
        }
        Action::Authenticate(_) => "authenticate".to_owned(),
        Action::Start { .. } => "start".to_owned(),
        Action::Stop(_) => "stop".to_owned(),
        Action::Close(close) => close.code().to_string(),
        _ => panic!("an action that the tests do not know"),
    }
}

fn subscribe(id: &str) -> String {
    format!(r#"{{"id":"{id}","type":"subscribe","payload":{{"query":"{{ ping }}"}}}}"#)
}

/// Response with data.
fn answer() -> GraphResponse {
    let shop = fixture();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(
        shop.engine
            .execute(&GraphRequest::new("{ ping }"), &shop.anonymous()),
    )
}
