//! `graphql-transport-ws` over a [`Socket`]: messages, timers and streams of a [`Connection`].

use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, pending, ready};
use std::pin::pin;
use std::time::{Duration, SystemTime};

use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream, StreamExt};
use graph_core::http::GraphRequest;
use graph_core::response::GraphResponse;
use graph_core::subscription::transport_ws::{Action, Close, Connection, ConnectionInit, Input, Operation};
use tokio::time::timeout;
use tokio_stream::StreamMap;

use super::{Message, Socket};

/// Time limit for sending the remaining messages and the close frame.
const LINGER: Duration = Duration::from_secs(1);

/// Functions of the host that a connection uses.
pub trait Host: Send + Sync {
    /// The current time.
    fn now(&self) -> SystemTime;

    /// Completes at `time`.
    fn sleep_until(&self, time: SystemTime) -> impl Future<Output = ()> + Send;

    /// Checks the credentials of a client.
    fn authenticate(&self, init: ConnectionInit) -> impl Future<Output = Admission> + Send;
}

/// Function that starts an operation of an authenticated client and returns its responses.
pub type Operations = Box<dyn Fn(GraphRequest) -> BoxStream<'static, GraphResponse> + Send + Sync>;

/// Result of the check of a client's credentials.
#[non_exhaustive]
pub enum Admission {
    /// The credentials are valid.
    Accepted {
        /// Expiry of the credentials: the connection is then closed with 4403. `None` if they do
        /// not expire.
        expires_at: Option<SystemTime>,
        /// Starts the operations of the client.
        operations: Operations,
    },
    /// The credentials are invalid. The connection is closed with 4403.
    Refused,
    /// The credentials could not be checked. The connection is closed with 4500.
    Failed,
}

impl fmt::Debug for Admission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Accepted { .. } => "Accepted",
            Self::Refused => "Refused",
            Self::Failed => "Failed",
        })
    }
}

/// Serves one connection until the client disconnects or `connection` demands a close, for example
/// after a protocol error. When `shutdown` completes, the connection is closed with 1001, and the
/// client reconnects.
pub async fn serve(
    mut socket: Socket,
    mut connection: Connection,
    host: &impl Host,
    shutdown: impl Future<Output = ()> + Send,
) {
    let mut state = State::default();
    let mut shutdown = pin!(shutdown);
    loop {
        let Some(happened) = happens(&mut socket, &connection, &mut state, host, &mut shutdown).await else {
            return;
        };
        let now = host.now();
        let actions = match happened {
            Happened::Text(text) => connection.handle(Input::Text(&text), now),
            Happened::Other(input) => connection.handle(input, now),
        };
        for action in actions {
            match action {
                Action::Send(text) => state.outbox.push_back(text),
                Action::Authenticate(init) => state.authenticating = Some(Box::pin(host.authenticate(init))),
                Action::Start { operation, request } => state.start(operation, *request),
                Action::Stop(operation) => drop(state.running.remove(&operation)),
                Action::Close(close) => return closed(socket, state, &close).await,
                // an action of a newer graph-core
                _ => return,
            }
        }
    }
}

#[derive(Default)]
struct State<'h> {
    outbox: VecDeque<String>,
    authenticating: Option<BoxFuture<'h, Admission>>,
    operations: Option<Operations>,
    running: StreamMap<Operation, BoxStream<'static, Option<GraphResponse>>>,
}

impl State<'_> {
    fn start(&mut self, operation: Operation, request: GraphRequest) {
        let responses = match &self.operations {
            Some(operations) => operations(request),
            None => stream::empty().boxed(),
        };
        // `None` marks the end of a stream, which `StreamMap` does not report
        let until_end = responses.map(Some).chain(stream::once(ready(None)));
        self.running.insert(operation, until_end.boxed());
    }

    fn admitted(&mut self, admission: Admission) -> Input<'static> {
        self.authenticating = None;
        match admission {
            Admission::Accepted {
                expires_at,
                operations,
            } => {
                self.operations = Some(operations);
                Input::Accepted { expires_at }
            }
            Admission::Refused => Input::Refused,
            Admission::Failed => Input::Failed,
        }
    }
}

enum Happened {
    Text(String),
    Other(Input<'static>),
}

/// Waits for the next event; `None` if the client disconnected.
async fn happens(
    socket: &mut Socket,
    connection: &Connection,
    state: &mut State<'_>,
    host: &impl Host,
    shutdown: &mut (impl Future<Output = ()> + Unpin),
) -> Option<Happened> {
    let room = connection.has_room();
    let due = async {
        match connection.next_timeout() {
            Some(due) => host.sleep_until(due).await,
            None => pending().await,
        }
    };
    let admission = async {
        match &mut state.authenticating {
            Some(authenticating) => authenticating.await,
            None => pending().await,
        }
    };
    let input = tokio::select! {
        permit = socket.outgoing.reserve(), if !state.outbox.is_empty() => {
            let permit = permit.ok()?;
            permit.send(Message::Text(state.outbox.pop_front()?));
            Input::Sent
        }
        message = socket.incoming.recv(), if room => match message? {
            Message::Text(text) => return Some(Happened::Text(text)),
            Message::Binary(_) => Input::Binary,
            Message::Close(..) => return None,
        },
        Some((operation, response)) = state.running.next(), if room && !state.running.is_empty() => match response {
            Some(response) => Input::Response(operation, response),
            None => Input::Ended(operation),
        },
        admission = admission => state.admitted(admission),
        () = due => Input::Timeout,
        () = shutdown => Input::Shutdown,
    };
    Some(Happened::Other(input))
}

/// Ends every operation and sends the close frame.
async fn closed(socket: Socket, state: State<'_>, close: &Close) {
    let outbox = state.outbox;
    drop(state.running);
    let last = Message::Close(close.code(), close.reason().to_owned());
    let said = async {
        for message in outbox.into_iter().map(Message::Text).chain([last]) {
            let Ok(()) = socket.outgoing.send(message).await else {
                return;
            };
        }
    };
    let _late = timeout(LINGER, said).await;
}
