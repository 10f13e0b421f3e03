//! WebSockets by tungstenite on upgraded hyper connections, for adapters on hyper.

use std::future::ready;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::{SinkExt, StreamExt};
use http::{Request, Response, StatusCode};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::AsyncWrite;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::server::create_response;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message as Frame};

pub use super::spelling::Spelled;
use super::{Message, Received, Upgrade};

/// The pending upgrade of one connection.
///
/// An adapter creates one for each connection, serves HTTP on the stream of
/// [`spelled`](Self::spelled), passes the responses through [`complete`](Self::complete), and calls
/// [`run`](Self::run) when the connection has left HTTP.
#[derive(Clone, Debug, Default)]
pub struct Switch {
    pending: Arc<Mutex<Option<(OnUpgrade, Upgrade)>>>,
    /// True from the handshake until its response is written.
    is_switching: Arc<AtomicBool>,
}

impl Switch {
    /// Wraps the stream of the connection, so that the names of the handshake's response headers
    /// are spelled as in RFC 6455. hyper writes them in lower case, which some clients do not
    /// find.
    pub fn spelled<S: AsyncWrite + Unpin>(&self, stream: S) -> Spelled<S> {
        Spelled::new(stream, Arc::clone(&self.is_switching))
    }

    /// Completes a response that is an upgrade. Any other response passes unchanged.
    ///
    /// # Errors
    ///
    /// 400 if the request of this `head` is not a handshake.
    pub fn complete<B>(
        &self,
        mut response: Response<B>,
        head: &Request<()>,
        upgraded: OnUpgrade,
    ) -> Result<Response<B>, StatusCode> {
        if let Some(upgrade) = Upgrade::take_from(&mut response) {
            let accepted = create_response(head).map_err(|_| StatusCode::BAD_REQUEST)?;
            response.headers_mut().extend(accepted.into_parts().0.headers);
            let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
            *pending = Some((upgraded, upgrade));
            self.is_switching.store(true, Ordering::Relaxed);
        }
        Ok(response)
    }

    /// Serves the WebSocket, if the connection has become one.
    pub async fn run(self) {
        let switched = self.pending.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some((upgraded, upgrade)) = switched else {
            return;
        };
        let Ok(upgraded) = upgraded.await else { return };
        let limit = Some(upgrade.message_limit());
        let config = WebSocketConfig::default()
            .max_message_size(limit)
            .max_frame_size(limit);
        let io = TokioIo::new(upgraded);
        let frames = WebSocketStream::from_raw_socket(io, Role::Server, Some(config)).await;
        let (outgoing, incoming) = frames.split();
        let outgoing = outgoing.with(|message| ready(Ok::<_, Error>(frame(message))));
        let incoming = incoming.filter_map(|frame| ready(received(frame)));
        upgrade.run(incoming, outgoing).await;
    }
}

/// Returns `None` for frames that tungstenite answers, and for a peer that left.
fn received(frame: Result<Frame, Error>) -> Option<Received> {
    Some(match frame {
        Ok(Frame::Text(text)) => Received::Message(Message::Text(text.as_str().to_owned())),
        Ok(Frame::Binary(bytes)) => Received::Message(Message::Binary(bytes)),
        Err(Error::Capacity(_)) => Received::TooLong,
        Err(Error::Protocol(_) | Error::Utf8(_)) => Received::Malformed,
        Ok(Frame::Close(_) | Frame::Ping(_) | Frame::Pong(_) | Frame::Frame(_)) | Err(_) => return None,
    })
}

fn frame(message: Message) -> Frame {
    match message {
        Message::Text(text) => Frame::Text(text.into()),
        Message::Binary(bytes) => Frame::Binary(bytes),
        Message::Close(code, reason) => Frame::Close(Some(CloseFrame {
            code: code.into(),
            reason: reason.into(),
        })),
    }
}
