//! State machine of
//! [`graphql-transport-ws`](https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md),
//! without a socket.
//!
//! The host reports each event to a [`Connection`] as an [`Input`] and performs the [`Action`]s
//! that it returns. The host owns the WebSocket, a timer for
//! [`next_timeout`](Connection::next_timeout), and the streams of the operations.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//!
//! use graph_core::subscription::transport_ws::{
//!     Action, AllowedOrigins, ConnectionLimits, Handshake, Input,
//! };
//! use http::{HeaderMap, HeaderValue};
//!
//! let mut headers = HeaderMap::new();
//! headers.insert("origin", HeaderValue::from_static("https://desk.example"));
//! headers.insert("sec-websocket-protocol", HeaderValue::from_static("graphql-transport-ws"));
//! let origins = AllowedOrigins::new(["https://desk.example"]).unwrap();
//! let handshake = Handshake::read(&headers, &origins).unwrap();
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
//! let payload = r#"{"query":"subscription { ticked }"}"#;
//! let subscribe = format!(r#"{{"id":"1","type":"subscribe","payload":{payload}}}"#);
//! let actions = connection.handle(Input::Text(&subscribe), now);
//! assert!(matches!(actions.as_slice(), [Action::Start { .. }]));
//!
//! let actions = connection.handle(Input::Timeout, now + Duration::from_secs(300));
//! let [Action::Close(close)] = actions.as_slice() else { unreachable!() };
//! assert_eq!((close.code(), close.reason()), (4403, "The credentials have expired"));
//! ```
//!
//! # Close codes
//!
//! | code | cause | npm `graphql-ws` then |
//! |---|---|---|
//! | 1001 | the host [shuts down](Input::Shutdown), or may have missed events | reconnects |
//! | 1009 | a message is longer than [allowed](ConnectionLimits::with_message) | gives up |
//! | 1013 | a frame is not accepted, or a ping not answered, [in time][patience] | reconnects |
//! | 4400 | an invalid message | gives up |
//! | 4401 | an operation before the connection is acknowledged | gives up |
//! | 4403 | the host [refuses](Input::Refused) the credentials, or they expired | reconnects |
//! | 4406 | the client did not offer `graphql-transport-ws` | gives up |
//! | 4408 | no `connection_init`, or its credentials not verified, [in time][init] | reconnects |
//! | 4409 | the id of a new operation is in use | gives up |
//! | 4429 | a second `connection_init` | gives up |
//! | 4500 | the host [failed](Input::Failed) to verify the credentials | gives up |
//!
//! Expired credentials close with 4403, not 4401, because the client then reconnects and asks its
//! application for new `connectionParams`. A reason has at most 123 bytes, the limit of a close
//! frame.
//!
//! [init]: ConnectionLimits::with_init_timeout
//! [patience]: ConnectionLimits::with_patience
//!
//! # Security
//!
//! Browsers let any page open a WebSocket to any host and send the host's cookies.
//! [`Handshake::read`] refuses pages of origins that are not [allowed](AllowedOrigins).
//! [`ConnectionLimits`] bounds everything that a peer can allocate.

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
