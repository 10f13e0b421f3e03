//! WebSockets between a server adapter and a framework-free handler.
//!
//! - A handler answers a WebSocket request with [`Upgrade::into_response`].
//! - The adapter takes the [`Upgrade`] from the response, does the handshake with its framework,
//!   and [`runs`](Upgrade::run) it over the messages of that framework.
//! - With feature `graph`, [`graph::serve`] runs `graphql-transport-ws` on the socket.
//!
//! ```
//! use http::Response;
//! use host_websocket::{Message, Socket, Upgrade};
//!
//! let echo = Upgrade::new(1 << 16, async |mut socket: Socket| {
//!     while let Some(message) = socket.incoming.recv().await {
//!         let Ok(()) = socket.outgoing.send(message).await else { break };
//!     }
//! });
//! let mut response: Response<String> = echo.into_response(Some("echo"));
//! assert_eq!(response.status(), 101);
//! assert!(Upgrade::take_from(&mut response).is_some());
//! ```

#[cfg(feature = "graph")]
pub mod graph;
#[cfg(feature = "hyper")]
pub mod hyper;
mod run;
#[cfg(feature = "hyper")]
mod spelling;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::header::{SEC_WEBSOCKET_PROTOCOL, UPGRADE};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use tokio::sync::mpsc;

pub use self::run::Received;

/// A message of a WebSocket. The framework handles pings and pongs.
#[derive(Clone, Debug, Eq, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "RFC 6455 has no other message")]
pub enum Message {
    /// A text message.
    Text(String),
    /// A binary message.
    Binary(Bytes),
    /// A close frame with its code and reason, the last message of each side.
    Close(u16, String),
}

/// The handler's end of a WebSocket. Each direction buffers one message: the side that sends waits
/// for the side that reads.
#[derive(Debug)]
#[non_exhaustive]
pub struct Socket {
    /// Messages of the peer. The channel ends when the peer closes the WebSocket or disconnects.
    pub incoming: mpsc::Receiver<Message>,
    /// Messages to the peer. Dropping this sender closes the WebSocket.
    pub outgoing: mpsc::Sender<Message>,
}

type Session = Box<dyn FnOnce(Socket) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send>;

/// A session to run on a connection after the handshake.
#[derive(Clone)]
pub struct Upgrade {
    message: usize,
    // the extensions of a response must be cloneable and shared
    session: Arc<Mutex<Option<Session>>>,
}

impl fmt::Debug for Upgrade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upgrade").finish_non_exhaustive()
    }
}

impl Upgrade {
    /// Returns `true` if these request headers ask for a WebSocket (`Upgrade: websocket`).
    #[must_use]
    pub fn is_requested(headers: &HeaderMap) -> bool {
        let mut upgrades = headers.get_all(UPGRADE).iter();
        upgrades.any(|upgrade| upgrade.as_bytes().eq_ignore_ascii_case(b"websocket"))
    }

    /// Creates an upgrade that runs `session`. An incoming message has at most `limit` bytes.
    pub fn new<F>(limit: usize, session: impl FnOnce(Socket) -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Self {
            message: limit,
            session: Arc::new(Mutex::new(Some(Box::new(move |socket| {
                Box::pin(session(socket))
            })))),
        }
    }

    /// Returns a 101 response that the adapter completes. The adapter answers 400 instead if the
    /// request is not a handshake.
    #[must_use]
    pub fn into_response<B: Default>(self, subprotocol: Option<&'static str>) -> Response<B> {
        let mut response = Response::new(B::default());
        *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        if let Some(subprotocol) = subprotocol {
            let agreed = HeaderValue::from_static(subprotocol);
            response.headers_mut().insert(SEC_WEBSOCKET_PROTOCOL, agreed);
        }
        response.extensions_mut().insert(self);
        response
    }

    /// Takes the upgrade from a handler's response; `None` if the response is not an upgrade.
    pub fn take_from<B>(response: &mut Response<B>) -> Option<Self> {
        response.extensions_mut().remove()
    }

    /// Size limit of an incoming message, in bytes.
    #[must_use]
    pub fn message_limit(&self) -> usize {
        self.message
    }

    fn take(&self) -> Option<Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
