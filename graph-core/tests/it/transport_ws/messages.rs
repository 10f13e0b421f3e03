//! Exact messages.

use std::time::Duration;

use futures_util::StreamExt as _;
use graph_core::error::ErrorCode;
use graph_core::http::GraphRequest;
use graph_core::response::GraphResponse;
use graph_core::subscription::transport_ws::{Action, ConnectionLimits, Input};

use super::{Peer, subscribe};
use crate::fixture::fixture;

fn sent(actions: &[Action]) -> &str {
    let [Action::Send(text), ..] = actions else {
        panic!("{actions:?}")
    };
    text
}

/// G10: an operation of the engine from `subscribe` to `complete`.
#[tokio::test]
async fn the_events_of_an_operation_are_next_until_complete() {
    let shop = fixture();
    let mut peer = Peer::ready(ConnectionLimits::default());
    let text = r#"{"id":"a\"1","type":"subscribe","payload":
        {"query":"subscription S($n: Int!) { added(count: $n) { id } } query Q { ping }","operationName":"S","variables":{"n":2}}}"#;
    let actions = peer.handle(Input::Text(text));
    let [Action::Start { operation, request }] = actions.as_slice() else {
        panic!("{actions:?}")
    };
    let mut responses = Box::pin(shop.engine.subscribe((**request).clone(), shop.ada()));
    let mut told = Vec::new();
    while let Some(response) = responses.next().await {
        let actions = peer.handle(Input::Response(operation.clone(), response));
        told.push(sent(&actions).to_owned());
    }
    told.push(sent(&peer.handle(Input::Ended(operation.clone()))).to_owned());
    assert_eq!(
        told,
        [
            r#"{"id":"a\"1","type":"next","payload":{"data":{"added":{"id":1}}}}"#,
            r#"{"id":"a\"1","type":"next","payload":{"data":{"added":{"id":2}}}}"#,
            r#"{"id":"a\"1","type":"complete"}"#,
        ]
    );
    assert_eq!(peer.connection.operations(), 0);
}

/// G10: an operation refused before execution is an `error` with its codes, without a `complete`.
#[tokio::test]
async fn a_refused_operation_is_an_error_and_nothing_after_it() {
    let shop = fixture();
    let mut peer = Peer::ready(ConnectionLimits::default());
    for (query, code) in [
        ("subscription { nothing }", "GRAPHQL_VALIDATION_FAILED"),
        ("{", "GRAPHQL_PARSE_FAILED"),
        ("subscription { added { id } }", "UNAUTHENTICATED"),
    ] {
        let operation = peer.start("1");
        let responses = shop.engine.subscribe(GraphRequest::new(query), shop.anonymous());
        let responses: Vec<GraphResponse> = responses.collect().await;
        assert_eq!(responses.len(), 1);
        let actions = peer.handle(Input::Response(operation.clone(), responses[0].clone()));
        let error: serde_json::Value = serde_json::from_str(sent(&actions)).unwrap();
        assert_eq!(error["id"], "1");
        assert_eq!(error["type"], "error");
        assert_eq!(error["payload"][0]["extensions"]["code"], code);
        assert_eq!(actions[1], Action::Stop(operation.clone()));
        assert_eq!(peer.told(Input::Ended(operation)), "-");
        assert_eq!(peer.told(Input::Sent), "-");
    }
}

/// G10: a pong repeats the payload of its ping byte for byte, or has none.
#[test]
fn a_pong_answers_with_the_payload_of_its_ping() {
    let mut peer = Peer::opened(ConnectionLimits::default());
    for (ping, pong) in [
        (r#"{"type":"ping"}"#, r#"{"type":"pong"}"#),
        (r#"{"type":"ping","payload":null}"#, r#"{"type":"pong"}"#),
        (
            r#"{"payload": {"a" : [1.0e3, "ß"]}, "type":"ping"}"#,
            r#"{"type":"pong","payload":{"a" : [1.0e3, "ß"]}}"#,
        ),
    ] {
        assert_eq!(sent(&peer.handle(Input::Text(ping))), pong);
    }
}

/// Invalid messages, and the start of the close reason.
const INVALID: &[(&str, &str)] = &[
    (
        r#"{"type":"ping","payload":1}"#,
        "Invalid message: `payload` is not an object",
    ),
    (
        r#"{"type":"pong","payload":[]}"#,
        "Invalid message: `payload` is not an object",
    ),
    (
        r#"{"type":"connection_init","payload":"t"}"#,
        "Invalid message: `payload` is not an object",
    ),
    (
        r#"{"type":"connection_ack"}"#,
        "Invalid message: unknown `type` of a client message",
    ),
    (
        r#"{"id":"","type":"complete"}"#,
        "Invalid message: `id` is missing",
    ),
    (
        r#"{"type":"subscribe","payload":{"query":"{a}"}}"#,
        "Invalid message: `id` is missing",
    ),
    (
        r#"{"id":"1","type":"subscribe"}"#,
        "Invalid message: `payload` is missing",
    ),
    (
        r#"{"id":"1","type":"subscribe","payload":{}}"#,
        "Invalid message: `query` is missing",
    ),
    (
        r#"{"id":1,"type":"complete"}"#,
        "Invalid message: the message is not a client message at line 1, column 7",
    ),
    (
        r#"{"id":"1","type":"subscribe","payload":{"query":7}}"#,
        "Invalid message: `query` has a value of a wrong type at line 1, column 1",
    ),
    (
        r#"{"id":"1","type":"subscribe","payload":{"query":"{a}","variables":[]}}"#,
        "Invalid message: ",
    ),
    (
        r#"{"type":"ping","type":"pong"}"#,
        "Invalid message: the message is not a client message at line 1, column 21",
    ),
    (
        "",
        "Invalid message: the message is not valid JSON at line 1, column 0",
    ),
    (
        r#"["ping"]"#,
        "Invalid message: the message is not a client message at line 1, column 0",
    ),
    (
        r#"{"id":"1","type":"subscribe","payload":{"query":"{a}","extensions":[]}}"#,
        "Invalid message: the request has a value of a wrong type",
    ),
    ("null", "Invalid message: "),
];

/// G10, G19: an invalid message closes with 4400 and a reason that fits a close frame.
#[test]
fn what_is_no_message_is_4400_with_its_reason() {
    let long = format!(
        r#"{{"id":"{}","type":"subscribe","payload":{{"query":"{{a}}"}}}}"#,
        "x".repeat(257)
    );
    let deep = format!(
        r#"{{"id":"1","type":"subscribe","payload":{{"query":"{{a}}","variables":{{"v":{}{}}}}}}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let own = [
        (long.as_str(), "Invalid message: `id` is too long"),
        (deep.as_str(), "Invalid message: "),
    ];
    for (text, reason) in INVALID.iter().chain(&own) {
        let mut peer = Peer::ready(ConnectionLimits::default());
        let actions = peer.handle(Input::Text(text));
        let [Action::Close(close)] = actions.as_slice() else {
            panic!("{text}: {actions:?}")
        };
        assert_eq!(close.code(), 4400, "{text}");
        assert!(close.reason().starts_with(reason), "{text}: {}", close.reason());
        assert!(close.reason().len() <= 123);
    }
}

/// G10: the id of a running operation is refused, with a reason that fits for any length; an ended
/// one can be reused.
#[test]
fn an_id_is_taken_while_its_operation_runs() {
    let mut peer = Peer::ready(ConnectionLimits::default());
    let id = "ß".repeat(128);
    let first = peer.start(&id);
    assert_eq!(
        peer.told(Input::Text(&format!(r#"{{"id":"{id}","type":"complete"}}"#))),
        "stop"
    );
    // a late event of the first run
    let late = GraphResponse::request_error(ErrorCode::NotFound, "late");
    let second = peer.start(&id);
    assert_eq!(peer.told(Input::Response(first.clone(), late)), "-");
    assert_eq!(peer.told(Input::Ended(first)), "-");
    assert_eq!(peer.connection.operations(), 1);
    let actions = peer.handle(Input::Text(&subscribe(&id)));
    let [Action::Close(close)] = actions.as_slice() else {
        panic!("{actions:?}")
    };
    assert_eq!(close.code(), 4409);
    assert!((120..=123).contains(&close.reason().len()), "{}", close.reason());
    assert_eq!(peer.connection.operations(), 0);
    assert_eq!(peer.told(Input::Ended(second)), "-");
}

/// G10, G16: the payload of `connection_init` reaches the host, and no `Debug` output contains it.
#[test]
fn credentials_reach_the_host_and_no_debug() {
    let text = r#"{"type":"connection_init","payload":{"Authorization":"Bearer s3cret","n":1}}"#;
    let mut peer = Peer::opened(ConnectionLimits::default());
    let input = Input::Text(text);
    assert!(!format!("{input:?}").contains("s3cret"));
    let actions = peer.handle(input);
    assert!(!format!("{actions:?}{:?}", peer.connection).contains("s3cret"));
    let [Action::Authenticate(init)] = actions.as_slice() else {
        panic!("{actions:?}")
    };
    assert_eq!(
        init.text("authorization").unwrap().as_deref(),
        Some("Bearer s3cret")
    );
    assert_eq!(init.text("absent"), Ok(None));
    assert!(init.json().unwrap().starts_with(r#"{"Authorization""#));

    for none in [
        r#"{"type":"connection_init"}"#,
        r#"{"type":"connection_init","payload":null}"#,
    ] {
        let actions = Peer::opened(ConnectionLimits::default()).handle(Input::Text(none));
        let [Action::Authenticate(init)] = actions.as_slice() else {
            panic!("{actions:?}")
        };
        assert_eq!((init.json(), init.text("authorization")), (None, Ok(None)));
    }
}

/// G16: `Debug` output of actions contains neither the text of an operation nor its response.
#[test]
fn debug_of_actions_shows_no_operation_and_no_response() {
    let mut peer = Peer::ready(ConnectionLimits::default());
    let subscribe = r#"{"type":"subscribe","id":"1","payload":{"query":"subscription { a(p: \"s3cret\") }","operationName":"A","variables":{"password":"s3cret"}}}"#;
    let started = peer.handle(Input::Text(subscribe));
    let [Action::Start { request, operation }] = started.as_slice() else {
        panic!("{started:?}")
    };
    let printed = format!("{started:?}");
    assert!(!printed.contains("s3cret"), "{printed}");
    assert!(
        printed.contains(r#""A""#) && printed.contains(r#"["password"]"#),
        "{printed}"
    );
    assert!(request.query().unwrap().contains("s3cret"));
    let answer = GraphResponse::request_error(ErrorCode::NotFound, "s3cret");
    let told = peer.handle(Input::Response(operation.clone(), answer));
    assert!(matches!(told.as_slice(), [Action::Send(message), ..] if message.contains("s3cret")));
    assert!(!format!("{told:?}").contains("s3cret"), "{told:?}");
}

/// G10, G16: ambiguous credentials are an error, not anonymous.
#[test]
fn ambiguous_credentials_are_an_error() {
    for ambiguous in [
        r#"{"Authorization":7}"#,
        r#"{"Authorization":null}"#,
        r#"{"authorization":["Bearer good"]}"#,
        r#"{"authorization":"\ud800"}"#,
        r#"{"Authorization":"Bearer good","authorization":"x"}"#,
        r#"{"authorization":"a","authorization":"b"}"#,
        r#"{"authorization":"a","n":1,"\u0061uthorization":"a"}"#,
    ] {
        let text = format!(r#"{{"type":"connection_init","payload":{ambiguous}}}"#);
        let actions = Peer::opened(ConnectionLimits::default()).handle(Input::Text(&text));
        let [Action::Authenticate(init)] = actions.as_slice() else {
            panic!("{actions:?}")
        };
        let refused = init.text("authorization").unwrap_err();
        assert!(!format!("{refused} {refused:?}").contains("good"), "{ambiguous}");
        assert_eq!(init.text("absent"), Ok(None), "{ambiguous}");
    }
}

/// G10: an operation can be started by its hash, as over HTTP.
#[test]
fn an_operation_may_be_named_by_its_hash() {
    let hash = "5b8a1b3ce4cb7e0f0f0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b";
    let text = format!(
        r#"{{"id":"1","type":"subscribe","payload":{{"extensions":{{"persistedQuery":{{"version":1,"sha256Hash":"{hash}"}}}}}}}}"#
    );
    let mut peer = Peer::ready(ConnectionLimits::default());
    peer.pass(Duration::from_secs(1));
    let actions = peer.handle(Input::Text(&text));
    let [Action::Start { request, .. }] = actions.as_slice() else {
        panic!("{actions:?}")
    };
    assert!(request.query().is_none() && request.document_id().is_some());
}
