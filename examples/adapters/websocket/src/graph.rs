//! `graphql-transport-ws` over a [`Socket`]: the messages, the timers and the streams around a [`Connection`].

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

/// How long a close may wait for what was sent before it.
const LINGER: Duration = Duration::from_secs(1);

/// What a connection needs of its host.
pub trait Host: Send + Sync {
    /// The current time.
    fn now(&self) -> SystemTime;

    /// Completes at `time`.
    fn sleep_until(&self, time: SystemTime) -> impl Future<Output = ()> + Send;

    /// Finds out what the credentials of a client are worth.
    fn authenticate(&self, init: ConnectionInit) -> impl Future<Output = Admission> + Send;
}

/// Starts operations on behalf of who was let in.
pub type Operations = Box<dyn Fn(GraphRequest) -> BoxStream<'static, GraphResponse> + Send + Sync>;

/// What the credentials of a client are worth.
#[non_exhaustive]
pub enum Admission {
    /// They are good.
    Accepted {
        /// When they no longer are.
        expires_at: Option<SystemTime>,
        /// What starts the operations.
        operations: Operations,
    },
    /// They are worth nothing.
    Refused,
    /// Nobody can say.
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

/// Serves one connection until it is closed, by the peer, by the protocol or by `shutdown`.
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
                // a version of the protocol's machine that this host does not know
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
        // `None`: it has ended, which the map would not tell
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

/// The next thing that happens; `None`: the peer is gone.
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

/// Ends every operation, and says why to a peer that still listens.
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
