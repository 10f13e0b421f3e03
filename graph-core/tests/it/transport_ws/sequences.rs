//! Invariants after any sequence of messages.

use std::collections::HashSet;
use std::sync::OnceLock;
use std::time::Duration;

use graph_core::error::ErrorCode;
use graph_core::response::GraphResponse;
use graph_core::subscription::transport_ws::{Action, ConnectionLimits, Input, Operation};
use proptest::prelude::*;
use serde_json::Value;

use super::{INIT, Peer, subscribe};

#[derive(Clone, Debug)]
enum Step {
    Text(String),
    Accepted(Option<u16>),
    Respond(usize, bool),
    End(usize),
    Sent,
    Pass(u16),
    Binary,
    Refused,
    Shutdown,
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => Just(INIT.to_owned()),
        8 => "[1-4]".prop_map(|id| subscribe(&id)),
        6 => "[1-4]".prop_map(|id| format!(r#"{{"id":"{id}","type":"complete"}}"#)),
        3 => Just(r#"{"type":"pong"}"#.to_owned()),
        3 => Just(r#"{"type":"ping","payload":{"a":1}}"#.to_owned()),
        1 => "\\PC{0,20}",
        1 => "[{}\\[\\]\":,a-z0-9]{0,30}",
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        16 => text().prop_map(Step::Text),
        3 => proptest::option::weighted(0.2, 0u16..200).prop_map(Step::Accepted),
        8 => (0..8usize, proptest::bool::weighted(0.8)).prop_map(|(at, good)| Step::Respond(at, good)),
        3 => (0..8usize).prop_map(Step::End),
        12 => Just(Step::Sent),
        3 => (0u16..40).prop_map(Step::Pass),
        1 => prop_oneof![Just(Step::Binary), Just(Step::Refused), Just(Step::Shutdown)],
    ]
}

/// Operations of the host: those started and not stopped, and earlier ones whose responses may
/// still arrive.
#[derive(Default)]
struct Host {
    running: Vec<Operation>,
    all: Vec<Operation>,
    /// Ids for which the client may receive messages.
    open: HashSet<String>,
    closed: bool,
}

impl Host {
    fn does(&mut self, actions: Vec<Action>) -> Result<(), TestCaseError> {
        prop_assert!(!self.closed || actions.is_empty());
        for action in actions {
            match action {
                Action::Send(text) => self.sends(&serde_json::from_str(&text).unwrap())?,
                Action::Start { operation, .. } => {
                    prop_assert!(!self.all.contains(&operation), "a number is used once");
                    self.running.push(operation.clone());
                    self.all.push(operation);
                }
                Action::Stop(operation) => {
                    prop_assert!(self.running.contains(&operation));
                    self.running.retain(|running| *running != operation);
                }
                Action::Close(close) => {
                    prop_assert!(close.reason().len() <= 123);
                    self.running.clear();
                    self.closed = true;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn sends(&mut self, message: &Value) -> Result<(), TestCaseError> {
        let id = message["id"].as_str().unwrap_or_default();
        match message["type"].as_str().unwrap() {
            "next" => prop_assert!(self.open.contains(id), "{message}"),
            "error" | "complete" => prop_assert!(self.open.remove(id), "{message}"),
            _ => {}
        }
        Ok(())
    }
}

fn good() -> GraphResponse {
    static GOOD: OnceLock<GraphResponse> = OnceLock::new();
    GOOD.get_or_init(super::answer).clone()
}

fn run(steps: Vec<Step>) -> Result<(), TestCaseError> {
    let limits = ConnectionLimits::default().with_operations(3).with_queue(4);
    let mut peer = Peer::opened(limits);
    let mut host = Host::default();
    for step in steps {
        let picked = |at: usize| host.all.get(at % host.all.len().max(1)).cloned();
        let actions = match step {
            Step::Text(text) => {
                // the client's view precedes the server's messages
                if let Ok(message) = serde_json::from_str::<Value>(&text)
                    && let Some(id) = message["id"].as_str()
                {
                    let _changed = match message["type"].as_str() {
                        Some("subscribe") => host.open.insert(id.to_owned()),
                        Some("complete") => host.open.remove(id),
                        _ => false,
                    };
                }
                peer.handle(Input::Text(&text))
            }
            Step::Accepted(expires_in) => {
                let expires_at = expires_in.map(|seconds| peer.now + Duration::from_secs(seconds.into()));
                peer.handle(Input::Accepted { expires_at })
            }
            Step::Respond(at, fine) => match picked(at) {
                Some(operation) if fine => peer.handle(Input::Response(operation, good())),
                Some(operation) => {
                    let refused = GraphResponse::request_error(ErrorCode::BadUserInput, "no");
                    peer.handle(Input::Response(operation, refused))
                }
                None => Vec::new(),
            },
            Step::End(at) => match picked(at) {
                Some(operation) => {
                    host.running.retain(|running| *running != operation);
                    peer.handle(Input::Ended(operation))
                }
                None => Vec::new(),
            },
            Step::Sent => peer.handle(Input::Sent),
            Step::Pass(seconds) => {
                peer.pass(Duration::from_secs(seconds.into()));
                peer.handle(Input::Timeout)
            }
            Step::Binary => peer.handle(Input::Binary),
            Step::Refused => peer.handle(Input::Refused),
            Step::Shutdown => peer.handle(Input::Shutdown),
        };
        host.does(actions)?;
        prop_assert_eq!(peer.connection.operations(), host.running.len());
        prop_assert!(host.running.len() <= 3);
        prop_assert_eq!(peer.connection.next_timeout().is_none(), host.closed);
    }
    Ok(())
}

proptest! {
    /// G10, G19: no sequence panics or leaks an operation: running operations match the host's and
    /// stay within the limit; a client receives an id only between `subscribe` and its end; nothing
    /// follows the close.
    #[test]
    fn no_sequence_of_messages_panics_or_leaks_an_operation(
        mut steps in proptest::collection::vec(step(), 0..120),
        begun in proptest::bool::weighted(0.9),
    ) {
        if begun {
            let begin = [Step::Text(INIT.to_owned()), Step::Accepted(None)];
            steps.splice(0..0, begin);
        }
        run(steps)?;
    }
}
