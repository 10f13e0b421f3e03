//! The state of one connection.

use std::collections::HashMap;
use std::fmt;
use std::time::{Duration, SystemTime};

use super::close::Close;
use super::limits::ConnectionLimits;
use super::message::{self, ClientMessage, ConnectionInit};
use crate::error::ErrorCode;
use crate::http::GraphRequest;
use crate::response::GraphResponse;
use crate::subscription::OperationId;

/// What happened.
#[non_exhaustive]
pub enum Input<'i> {
    /// The peer sent a text message.
    Text(&'i str),
    /// The peer sent a binary message, which the protocol has no use for.
    Binary,
    /// The host accepts the credentials of [`Action::Authenticate`], until `expires_at`.
    Accepted {
        /// When the connection ends; the client then comes back with fresh credentials.
        expires_at: Option<SystemTime>,
    },
    /// The host refuses the credentials, or takes back that it accepted them.
    Refused,
    /// The host cannot tell what the credentials are worth.
    Failed,
    /// An operation gave a response.
    Response(Operation, GraphResponse),
    /// The stream of an operation has ended.
    Ended(Operation),
    /// The peer took the oldest frame that waited for it.
    Sent,
    /// It is [`Connection::next_timeout`].
    Timeout,
    /// The host shuts down.
    Shutdown,
}

/// Without what it holds: a text may be credentials.
impl fmt::Debug for Input<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text(_) => "Text",
            Self::Binary => "Binary",
            Self::Accepted { .. } => "Accepted",
            Self::Refused => "Refused",
            Self::Failed => "Failed",
            Self::Response(..) => "Response",
            Self::Ended(_) => "Ended",
            Self::Sent => "Sent",
            Self::Timeout => "Timeout",
            Self::Shutdown => "Shutdown",
        })
    }
}

/// What is to be done.
#[derive(PartialEq)]
#[non_exhaustive]
pub enum Action {
    /// Send this text message; say [`Input::Sent`] when the peer took it.
    Send(String),
    /// Find out what these credentials are worth: [`Input::Accepted`], [`Input::Refused`] or [`Input::Failed`].
    Authenticate(ConnectionInit),
    /// Start this operation: [`Input::Response`] for each response, [`Input::Ended`] after the last.
    Start {
        /// What its responses are known by.
        operation: Operation,
        /// What it asks for.
        request: Box<GraphRequest>,
    },
    /// Drop the stream of this operation.
    Stop(Operation),
    /// Drop the streams of all operations, close the WebSocket, and drop the connection.
    Close(Close),
}

/// Without the messages, which have what the operations answer.
impl fmt::Debug for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Send(message) => f.debug_struct("Send").field("bytes", &message.len()).finish(),
            Self::Authenticate(init) => f.debug_tuple("Authenticate").field(init).finish(),
            Self::Start { operation, request } => f
                .debug_struct("Start")
                .field("operation", operation)
                .field("request", request)
                .finish(),
            Self::Stop(operation) => f.debug_tuple("Stop").field(operation).finish(),
            Self::Close(close) => f.debug_tuple("Close").field(close).finish(),
        }
    }
}

/// One run of an operation.
///
/// A client may use an id again; what is left of the run before it is not taken for the new one's.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Operation {
    id: OperationId,
    number: u64,
}

/// One connection; see the [module](super).
///
/// # What a host must do
///
/// - Do each [`Action`], in order.
/// - While there is no [`room`](Self::has_room), neither read messages nor ask the operations for responses. A slow peer then holds
///   up its own operations and nothing else, and what they miss is for their source to decide. A host that cannot wait finds
///   the connection closed with 1013 when the queue overflows.
/// - Say [`Input::Timeout`] at [`next_timeout`](Self::next_timeout), which changes with each input.
#[derive(Debug)]
pub struct Connection {
    limits: ConnectionLimits,
    phase: Phase,
    /// The number of each operation that runs, by the client's id.
    operations: HashMap<OperationId, u64>,
    started: u64,
    /// Frames that the peer did not take yet.
    unsent: usize,
    /// Since when the first of them waits.
    waiting_since: SystemTime,
    /// When the peer was heard, or else sent a ping.
    quiet_since: SystemTime,
    pinged: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Phase {
    /// The subprotocol was not offered.
    Unacceptable,
    Opened {
        until: Option<SystemTime>,
    },
    Authenticating {
        until: Option<SystemTime>,
    },
    Ready {
        expires_at: Option<SystemTime>,
    },
    Closed,
}

/// What is to be done, or why the connection ends.
type Step = Result<Vec<Action>, Close>;

impl Connection {
    pub(super) fn new(agreed: bool, limits: ConnectionLimits, now: SystemTime) -> Self {
        Self {
            limits,
            phase: match agreed {
                true => Phase::Opened {
                    until: now.checked_add(limits.init),
                },
                false => Phase::Unacceptable,
            },
            operations: HashMap::new(),
            started: 0,
            unsent: 0,
            waiting_since: now,
            quiet_since: now,
            pinged: false,
        }
    }

    /// Takes note of `input`. After [`Action::Close`] there is nothing more to do.
    #[must_use = "the actions are what the protocol consists of"]
    pub fn handle(&mut self, input: Input<'_>, now: SystemTime) -> Vec<Action> {
        if self.phase == Phase::Closed {
            return Vec::new();
        }
        let step = self.in_time(now).and_then(|()| self.step(input, now));
        step.unwrap_or_else(|close| {
            self.phase = Phase::Closed;
            self.operations.clear();
            vec![Action::Close(close)]
        })
    }

    /// When [`Input::Timeout`] is due.
    #[must_use]
    pub fn next_timeout(&self) -> Option<SystemTime> {
        let phase = match self.phase {
            Phase::Unacceptable => Some(self.quiet_since),
            Phase::Opened { until } | Phase::Authenticating { until } => until,
            Phase::Ready { expires_at } => expires_at,
            Phase::Closed => return None,
        };
        let timeouts = [phase, self.taken_until(), self.quiet_until()];
        timeouts.into_iter().flatten().min()
    }

    /// Whether messages may be read, and operations asked for responses.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.unsent < self.limits.queue
    }

    /// How many operations run.
    #[must_use]
    pub fn operations(&self) -> usize {
        self.operations.len()
    }

    /// Nothing happens on a connection whose time is over, however late the timer is.
    fn in_time(&self, now: SystemTime) -> Result<(), Close> {
        let passed = |time: Option<SystemTime>| time.is_some_and(|time| time <= now);
        match self.phase {
            Phase::Unacceptable => Err(Close::NOT_ACCEPTABLE),
            Phase::Opened { until } | Phase::Authenticating { until } if passed(until) => {
                Err(Close::INIT_TIMEOUT)
            }
            Phase::Ready { expires_at } if passed(expires_at) => Err(Close::EXPIRED),
            _ => Ok(()),
        }
    }

    fn step(&mut self, input: Input<'_>, now: SystemTime) -> Step {
        match input {
            Input::Text(text) if text.len() > self.limits.message => Err(Close::TOO_LONG),
            Input::Text(text) => {
                let message = ClientMessage::parse(text).map_err(|what| Close::invalid(&what))?;
                self.quiet_since = now;
                self.pinged = false;
                self.message(message, now)
            }
            Input::Binary => Err(Close::invalid("binary")),
            Input::Accepted { expires_at } => self.accepted(expires_at, now),
            Input::Refused => Err(Close::FORBIDDEN),
            Input::Failed => Err(Close::INTERNAL),
            Input::Response(operation, response) => self.response(operation, response, now),
            Input::Ended(operation) if self.runs(&operation) => {
                self.operations.remove(&operation.id);
                self.send(message::complete(&operation.id), now)
            }
            Input::Ended(_) => Ok(Vec::new()),
            Input::Sent => {
                self.sent(now);
                Ok(Vec::new())
            }
            Input::Timeout => self.timeout(now),
            Input::Shutdown => Err(Close::GOING_AWAY),
        }
    }

    fn message(&mut self, message: ClientMessage, now: SystemTime) -> Step {
        match (message, self.phase) {
            (ClientMessage::Init(init), Phase::Opened { until }) => {
                self.phase = Phase::Authenticating { until };
                Ok(vec![Action::Authenticate(init)])
            }
            (ClientMessage::Init(_), _) => Err(Close::TOO_MANY_INITS),
            (ClientMessage::Ping { payload }, _) => self.send(message::pong(payload.as_deref()), now),
            (ClientMessage::Pong, _) => Ok(Vec::new()),
            (ClientMessage::Subscribe { id, request }, Phase::Ready { .. }) => {
                self.subscribe(id, request, now)
            }
            (ClientMessage::Subscribe { .. }, _) => Err(Close::UNAUTHORIZED),
            // the operation may have ended meanwhile
            (ClientMessage::Complete { id }, _) => Ok(match self.operations.remove(&id) {
                Some(number) => vec![Action::Stop(Operation { id, number })],
                None => Vec::new(),
            }),
        }
    }

    fn subscribe(&mut self, id: OperationId, request: Box<GraphRequest>, now: SystemTime) -> Step {
        if self.operations.contains_key(&id) {
            return Err(Close::subscriber_exists(id.as_str()));
        }
        if self.operations.len() >= self.limits.operations {
            let told = format!("at most {} operations run at once", self.limits.operations);
            let refused = GraphResponse::refused(ErrorCode::RateLimited, told);
            return self.send(message::error(&id, refused.errors()), now);
        }
        self.started += 1;
        let number = self.started;
        self.operations.insert(id.clone(), number);
        let operation = Operation { id, number };
        Ok(vec![Action::Start { operation, request }])
    }

    fn accepted(&mut self, expires_at: Option<SystemTime>, now: SystemTime) -> Step {
        let Phase::Authenticating { .. } = self.phase else {
            return Ok(Vec::new());
        };
        self.phase = Phase::Ready { expires_at };
        self.in_time(now)?;
        self.quiet_since = now;
        self.send(message::ACK.to_owned(), now)
    }

    fn response(&mut self, operation: Operation, response: GraphResponse, now: SystemTime) -> Step {
        if !self.runs(&operation) {
            return Ok(Vec::new());
        }
        if !response.is_request_error() {
            return self.send(message::next(&operation.id, response), now);
        }
        // an `error` ends the operation, and no `complete` comes after it
        self.operations.remove(&operation.id);
        let mut actions = self.send(message::error(&operation.id, response.errors()), now)?;
        actions.push(Action::Stop(operation));
        Ok(actions)
    }

    fn runs(&self, operation: &Operation) -> bool {
        self.operations.get(&operation.id) == Some(&operation.number)
    }

    fn send(&mut self, text: String, now: SystemTime) -> Step {
        if !self.has_room() {
            return Err(Close::SLOW);
        }
        if self.unsent == 0 {
            self.waiting_since = now;
        }
        self.unsent += 1;
        Ok(vec![Action::Send(text)])
    }

    fn sent(&mut self, now: SystemTime) {
        if !self.has_room() {
            // the peer could not be heard
            self.quiet_since = now;
        }
        self.unsent = self.unsent.saturating_sub(1);
        self.waiting_since = now;
    }

    fn timeout(&mut self, now: SystemTime) -> Step {
        let passed = |time: Option<SystemTime>| time.is_some_and(|time| time <= now);
        if passed(self.taken_until()) {
            return Err(Close::SLOW);
        }
        if !passed(self.quiet_until()) {
            return Ok(Vec::new());
        }
        if self.pinged {
            return Err(Close::SILENT);
        }
        self.pinged = true;
        self.quiet_since = now;
        self.send(message::PING.to_owned(), now)
    }

    /// Until when the peer must take the frame that waits.
    fn taken_until(&self) -> Option<SystemTime> {
        let waits = self.unsent > 0;
        waits.then(|| self.waiting_since.checked_add(self.limits.patience))?
    }

    /// Until when the peer must be heard, before the ping and after it.
    fn quiet_until(&self) -> Option<SystemTime> {
        let wait: Duration = match self.pinged {
            true => self.limits.patience,
            false => self.limits.silence,
        };
        let listening = matches!(self.phase, Phase::Ready { .. }) && self.has_room();
        listening.then(|| self.quiet_since.checked_add(wait))?
    }
}
