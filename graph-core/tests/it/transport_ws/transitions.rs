//! Table of every state and every input.

use graph_core::error::ErrorCode;
use graph_core::response::GraphResponse;
use graph_core::subscription::transport_ws::{ConnectionLimits, Input};
use http::HeaderMap;

use super::{INIT, Peer, answer, subscribe};

/// Result of each input in each state: the type of the sent message, the host's action, or the
/// close code. `running` is `ready` with the operation `1`; the inputs named after it belong to it.
const TRANSITIONS: &str = "
    input            | opened       | authenticating | ready | running    | closed | unacceptable
    init             | authenticate | 4429           | 4429  | 4429       | -      | 4406
    ping             | pong         | pong           | pong  | pong       | -      | 4406
    pong             | -            | -              | -     | -          | -      | 4406
    subscribe_1      | 4401         | 4401           | start | 4409       | -      | 4406
    subscribe_2      | 4401         | 4401           | start | start      | -      | 4406
    complete_1       | -            | -              | -     | stop       | -      | 4406
    complete_2       | -            | -              | -     | -          | -      | 4406
    ack              | 4400         | 4400           | 4400  | 4400       | -      | 4406
    next             | 4400         | 4400           | 4400  | 4400       | -      | 4406
    error            | 4400         | 4400           | 4400  | 4400       | -      | 4406
    no_type          | 4400         | 4400           | 4400  | 4400       | -      | 4406
    unknown_type     | 4400         | 4400           | 4400  | 4400       | -      | 4406
    no_json          | 4400         | 4400           | 4400  | 4400       | -      | 4406
    binary           | 4400         | 4400           | 4400  | 4400       | -      | 4406
    too_long         | 1009         | 1009           | 1009  | 1009       | -      | 4406
    accepted         | -            | ack            | -     | -          | -      | 4406
    refused          | 4403         | 4403           | 4403  | 4403       | -      | 4406
    failed           | 4500         | 4500           | 4500  | 4500       | -      | 4406
    response         | -            | -              | -     | next       | -      | 4406
    request_error    | -            | -              | -     | error stop | -      | 4406
    ended            | -            | -              | -     | complete   | -      | 4406
    sent             | -            | -              | -     | -          | -      | 4406
    early_timeout    | -            | -              | -     | -          | -      | 4406
    late_timeout     | 4408         | 4408           | ping  | ping       | -      | 4406
    shutdown         | 1001         | 1001           | 1001  | 1001       | -      | 4406
";

/// G10: every input in every state has the specified result, and nothing follows the close.
#[test]
fn every_input_in_every_state_does_what_the_table_says() {
    let mut rows = TRANSITIONS
        .trim()
        .lines()
        .map(|row| row.split('|').map(str::trim).collect::<Vec<_>>());
    let states = rows.next().unwrap();
    let mut checked = 0;
    for row in rows {
        for (state, expected) in states.iter().zip(&row).skip(1) {
            assert_eq!(told(state, row[0]), *expected, "{} in {state}", row[0]);
            checked += 1;
        }
    }
    assert_eq!(checked, 25 * 6);
}

fn told(state: &str, input: &str) -> String {
    let limits = ConnectionLimits::default().with_message(200);
    let mut other = Peer::ready(limits);
    let operation = other.start("1");
    let mut peer = match state {
        "running" => other,
        "ready" => Peer::ready(limits),
        "unacceptable" => Peer::of(&HeaderMap::new(), limits),
        _ => Peer::opened(limits),
    };
    match state {
        "authenticating" => assert_eq!(peer.told(Input::Text(INIT)), "authenticate"),
        "closed" => assert_eq!(peer.told(Input::Shutdown), "1001"),
        _ => {}
    }
    let too_long = format!(r#"{{"type":"ping","payload":{{"{}":1}}}}"#, "x".repeat(200));
    let messages = [
        ("init", INIT),
        ("ping", r#"{"type":"ping"}"#),
        ("pong", r#"{"type":"pong"}"#),
        ("subscribe_1", &subscribe("1")),
        ("subscribe_2", &subscribe("2")),
        ("complete_1", r#"{"id":"1","type":"complete"}"#),
        ("complete_2", r#"{"id":"2","type":"complete"}"#),
        ("ack", r#"{"type":"connection_ack"}"#),
        ("next", r#"{"id":"1","type":"next","payload":{}}"#),
        ("error", r#"{"id":"1","type":"error","payload":[{"message":""}]}"#),
        ("no_type", r#"{"id":"1"}"#),
        ("unknown_type", r#"{"type":"start"}"#),
        ("no_json", "hello"),
        ("too_long", &too_long),
    ];
    if let Some((_, text)) = messages.iter().find(|(name, _)| *name == input) {
        return peer.told(Input::Text(text));
    }
    let refused = GraphResponse::request_error(ErrorCode::BadUserInput, "no");
    let input = match input {
        "binary" => Input::Binary,
        "accepted" => Input::Accepted { expires_at: None },
        "refused" => Input::Refused,
        "failed" => Input::Failed,
        "response" => Input::Response(operation, answer()),
        "request_error" => Input::Response(operation, refused),
        "ended" => Input::Ended(operation),
        "sent" => Input::Sent,
        "early_timeout" => Input::Timeout,
        "late_timeout" => {
            peer.now = peer.connection.next_timeout().unwrap_or(peer.now);
            Input::Timeout
        }
        "shutdown" => Input::Shutdown,
        other => panic!("no such input: {other}"),
    };
    peer.told(input)
}
