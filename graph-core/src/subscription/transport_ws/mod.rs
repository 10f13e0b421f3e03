//! One connection of [`graphql-transport-ws`](https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md), without the socket.
//!
//! A [`Connection`] is told what happens, one [`Input`] at a time, and says what is to be done about it. The host owns the rest: the
//! WebSocket, a timer for [`next_timeout`](Connection::next_timeout), and the streams of the operations.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//!
//! use graph_core::subscription::transport_ws::{Action, AllowedOrigins, ConnectionLimits, Handshake, Input};
//! use http::{HeaderMap, HeaderValue};
//!
//! let mut headers = HeaderMap::new();
//! headers.insert("origin", HeaderValue::from_static("https://desk.example"));
//! headers.insert("sec-websocket-protocol", HeaderValue::from_static("graphql-transport-ws"));
//! let handshake = Handshake::read(&headers, &AllowedOrigins::new(["https://desk.example"]).unwrap()).unwrap();
//! assert_eq!(handshake.subprotocol(), Some("graphql-transport-ws"));
//!
//! let now = SystemTime::UNIX_EPOCH;
//! let mut connection = handshake.open(ConnectionLimits::default(), now);
//! assert_eq!(connection.next_timeout(), Some(now + Duration::from_secs(10)));
//!
//! let init = r#"{"type":"connection_init","payload":{"Authorization":"Bearer t"}}"#;
//! let actions = connection.handle(Input::Text(init), now);
//! let [Action::Authenticate(init)] = actions.as_slice() else { unreachable!() };
//! assert_eq!(init.text("authorization").unwrap().as_deref(), Some("Bearer t"));
//!
//! let expires_at = Some(now + Duration::from_secs(300));
//! let actions = connection.handle(Input::Accepted { expires_at }, now);
//! assert_eq!(actions, [Action::Send(r#"{"type":"connection_ack"}"#.to_owned())]);
//!
//! let subscribe = r#"{"id":"1","type":"subscribe","payload":{"query":"subscription { ticked }"}}"#;
//! let actions = connection.handle(Input::Text(subscribe), now);
//! assert!(matches!(actions.as_slice(), [Action::Start { .. }]));
//!
//! let actions = connection.handle(Input::Timeout, now + Duration::from_secs(300));
//! let [Action::Close(close)] = actions.as_slice() else { unreachable!() };
//! assert_eq!((close.code(), close.reason()), (4403, "The credentials have expired"));
//! ```
//!
//! # How a connection is closed
//!
//! | code | when | npm `graphql-ws` then |
//! |---|---|---|
//! | 1001 | the host [shuts down](Input::Shutdown) | connects again |
//! | 1009 | a message is longer than [allowed](ConnectionLimits::with_message) | gives up |
//! | 1013 | the peer takes nothing of what is sent, or leaves a ping unanswered | connects again |
//! | 4400 | what comes is no message of the protocol | gives up |
//! | 4401 | an operation before the connection is acknowledged | gives up |
//! | 4403 | the host [refuses](Input::Refused) the credentials, or they have expired | connects again |
//! | 4406 | the handshake did not offer `graphql-transport-ws` | gives up |
//! | 4408 | no `connection_init` in time, or nobody could say in time what it is worth | connects again |
//! | 4409 | an operation has the id of one that runs | gives up |
//! | 4429 | a second `connection_init` | gives up |
//! | 4500 | the host [could not tell](Input::Failed) what the credentials are worth | gives up |
//!
//! Expired credentials are 4403 and not 4401 for that last column: a client that connects again asks its application for
//! `connectionParams` again, and so comes back with fresh credentials. A reason has 123 bytes at most, as a frame has no room for more.
//!
//! # Security
//!
//! A browser lets every page open a WebSocket to every host, and sends the cookies of that host along. [`Handshake::read`] refuses
//! pages that are not [allowed](AllowedOrigins). Everything that a peer can make grow has a bound: [`ConnectionLimits`].

mod close;
mod connection;
mod handshake;
mod limits;
mod message;

pub use self::close::Close;
pub use self::connection::{Action, Connection, Input, Operation};
pub use self::handshake::{AllowedOrigins, ForeignOrigin, Handshake, InvalidOrigin, SUBPROTOCOL};
pub use self::limits::ConnectionLimits;
pub use self::message::{Ambiguous, ConnectionInit};
