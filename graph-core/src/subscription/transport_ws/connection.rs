//! State machine of one WebSocket connection.

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

/// Event that the host reports to a [`Connection`].
#[non_exhaustive]
pub enum Input<'i> {
    /// The client sent a text message.
    Text(&'i str),
    /// The client sent a binary message, which the protocol does not allow.
    Binary,
    /// The credentials of [`Action::Authenticate`] are valid until `expires_at`.
    Accepted {
        /// Expiry of the credentials; `None` if they do not expire. At that time the connection
        /// closes with 4403, so that the client reconnects with fresh credentials.
        expires_at: Option<SystemTime>,
    },
    /// The credentials are invalid, or accepted credentials were revoked.
    Refused,
    /// The credentials could not be verified, for example because a service is unavailable.
    Failed,
    /// An operation yielded a response.
    Response(Operation, GraphResponse),
    /// The response stream of an operation ended.
    Ended(Operation),
    /// The transport accepted the oldest unsent frame.
    Sent,
    /// The time returned by [`Connection::next_timeout`] is reached.
    Timeout,
    /// The host ends the connection, because its process is shutting down or because it may have
    /// missed events of a subscription.
    Shutdown,
}

/// Omits the content, because a text can contain credentials.
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

/// Action that the host must perform.
#[derive(PartialEq)]
#[non_exhaustive]
pub enum Action {
    /// Send this text message. Report [`Input::Sent`] when the transport has accepted it.
    Send(String),
    /// Verify these credentials. Report [`Input::Accepted`], [`Input::Refused`] or
    /// [`Input::Failed`].
    Authenticate(ConnectionInit),
    /// Start this operation. Report [`Input::Response`] for each response and [`Input::Ended`] at
    /// the end.
    Start {
        /// Identifies this run in each report.
        operation: Operation,
        /// GraphQL request of the operation.
        request: Box<GraphRequest>,
    },
    /// Drop the response stream of this operation.
    Stop(Operation),
    /// Drop the response streams of all operations, close the WebSocket, and drop the
    /// [`Connection`].
    Close(Close),
}

/// Omits the text of messages, because it contains response data.
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
/// A client may reuse the id of an ended operation. Each run is a distinct value, so a late
/// response of an earlier run is not sent as a response of the new run.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Operation {
    id: OperationId,
    number: u64,
}

/// Connection state machine of `graphql-transport-ws`, without I/O; see the [module](super).
///
/// # Contract
///
/// The host must:
///
/// - perform each [`Action`] in order;
/// - read no messages and poll no operations while [`has_room`](Self::has_room) is false. Otherwise
///   the queue overflows and the connection closes with 1013;
/// - report [`Input::Timeout`] at [`next_timeout`](Self::next_timeout), which changes with each
///   input.
///
/// A slow client then delays only its own operations. While an operation waits, its event source
/// decides which events to drop.
#[derive(Debug)]
pub struct Connection {
    limits: ConnectionLimits,
    phase: Phase,
    /// Number of each running operation, by the client's id.
    operations: HashMap<OperationId, u64>,
    started: u64,
    /// Number of frames that the transport has not accepted yet.
    unsent: usize,
    /// Time at which the oldest unsent frame started to wait.
    waiting_since: SystemTime,
    /// Time of the last message from the client, or of the last ping to the client.
    quiet_since: SystemTime,
    pinged: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Phase {
    /// The client did not offer the subprotocol.
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

/// Actions to perform, or the reason to close the connection.
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

    /// Processes `input` and returns the actions to perform; none after [`Action::Close`].
    #[must_use = "the host must perform the actions"]
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

    /// Returns the time at which [`Input::Timeout`] is due; `None` if no deadline is pending.
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

    /// Returns `true` if the host may read messages and poll operations.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.unsent < self.limits.queue
    }

    /// Returns the number of running operations.
    #[must_use]
    pub fn operations(&self) -> usize {
        self.operations.len()
    }

    /// Closes the connection if a deadline has passed, even if the host's timer is late.
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
            // the operation may have ended already
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
            let message = format!("at most {} operations may run at once", self.limits.operations);
            let refused = GraphResponse::request_error(ErrorCode::RateLimited, message);
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
        // an `error` message ends the operation; no `complete` follows
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
            // the queue was full, so the host did not read messages
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

    /// Deadline for the transport to accept the oldest unsent frame.
    fn taken_until(&self) -> Option<SystemTime> {
        let waits = self.unsent > 0;
        waits.then(|| self.waiting_since.checked_add(self.limits.patience))?
    }

    /// Time at which the next ping is due, or deadline for the response to the last ping.
    fn quiet_until(&self) -> Option<SystemTime> {
        let wait: Duration = match self.pinged {
            true => self.limits.patience,
            false => self.limits.silence,
        };
        let listening = matches!(self.phase, Phase::Ready { .. }) && self.has_room();
        listening.then(|| self.quiet_since.checked_add(wait))?
    }
}
