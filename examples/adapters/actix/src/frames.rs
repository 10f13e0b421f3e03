//! WebSockets by actix-ws.

use std::{cell::Cell, io::ErrorKind, rc::Rc};

use actix_web::{
    FromRequest, HttpRequest, HttpResponse, dev, error::PayloadError, http as http02, web::Payload,
};
use actix_ws::{AggregatedMessage, CloseReason, Closed, ProtocolError};
use bytes::Bytes;
use futures_util::{StreamExt, sink};
use host_websocket::{Message, Received, Upgrade};
use http::{Method, Request, Response, StatusCode};
use http_body::Body;

use crate::{BoxError, convert::answer};

/// Bytes that a connection may buffer beyond one message: its socket buffers hold as much anyway.
const UNREAD: usize = 256 << 10;

/// Returns `true` if frames, not a body, follow the head of a request.
pub(crate) fn is_requested(head: &Request<()>) -> bool {
    head.method() == Method::GET && Upgrade::is_requested(head.headers())
}

/// Completes a response that is an upgrade. Any other response is passed on.
pub(crate) async fn complete<B: Body<Data = Bytes, Error: Into<BoxError>> + 'static>(
    request: &HttpRequest,
    frames: Option<Payload>,
    mut response: Response<B>,
) -> Result<HttpResponse, StatusCode> {
    match Upgrade::take_from(&mut response) {
        Some(upgrade) => switch(request, frames, upgrade, &response).await,
        None => Ok(answer(response)),
    }
}

/// Completes the handshake, and serves the WebSocket in a task of its own.
async fn switch<B>(
    request: &HttpRequest,
    frames: Option<Payload>,
    upgrade: Upgrade,
    response: &Response<B>,
) -> Result<HttpResponse, StatusCode> {
    let (limit, unread) = (upgrade.message_limit(), Rc::new(Cell::new(0)));
    let frames = frames.ok_or(StatusCode::BAD_REQUEST)?;
    let mut bounded = bounded(frames, limit, Rc::clone(&unread));
    let frames = Payload::from_request(request, &mut bounded).await;
    let frames = frames.map_err(|_| StatusCode::BAD_REQUEST)?;
    let switched = actix_ws::handle(request, frames);
    let (mut answer, session, frames) = switched.map_err(|_| StatusCode::BAD_REQUEST)?;
    for (name, value) in response.headers() {
        let name = http02::header::HeaderName::from_bytes(name.as_str().as_bytes());
        let value = http02::header::HeaderValue::from_bytes(value.as_bytes());
        if let (Ok(name), Ok(value)) = (name, value) {
            answer.headers_mut().append(name, value);
        }
    }
    let frames = frames.max_frame_size(limit).aggregate_continuations();
    let (session, says) = (session.clone(), session);
    let incoming = frames.max_continuation_size(limit).filter_map(move |frame| {
        let mut answers = session.clone();
        unread.set(0);
        async move {
            let _closed = match &frame {
                Ok(AggregatedMessage::Ping(payload)) => answers.pong(payload).await,
                // a close frame is answered by a close frame
                Ok(AggregatedMessage::Close(reason)) => answers.close(reason.clone()).await,
                _ => Ok(()),
            };
            received(frame)
        }
    });
    let outgoing = sink::unfold(says, |mut session, message| async {
        match message {
            Message::Text(text) => session.text(text).await?,
            Message::Binary(bytes) => session.binary(bytes).await?,
            Message::Close(code, reason) => {
                let reason = CloseReason::from((code.into(), reason));
                session.clone().close(Some(reason)).await?;
            }
        }
        Ok::<_, Closed>(session)
    });
    actix_web::rt::spawn(upgrade.run(incoming, outgoing));
    Ok(answer)
}

/// Passes the frames of a connection on within a limit of unread bytes. actix-http buffers a whole
/// frame before it checks its length.
fn bounded(frames: Payload, limit: usize, unread: Rc<Cell<usize>>) -> dev::Payload {
    let counted = frames.map(move |chunk| {
        let chunk = chunk?;
        unread.set(unread.get().saturating_add(chunk.len()));
        match unread.get() > limit.saturating_add(UNREAD) {
            true => Err(PayloadError::Overflow),
            false => Ok(chunk),
        }
    });
    dev::Payload::Stream {
        payload: Box::pin(counted),
    }
}

/// Returns `None` for control frames and for a peer that left.
fn received(frame: Result<AggregatedMessage, ProtocolError>) -> Option<Received> {
    match frame {
        Ok(AggregatedMessage::Text(text)) => Some(Received::Message(Message::Text(text.into()))),
        Ok(AggregatedMessage::Binary(bytes)) => Some(Received::Message(Message::Binary(bytes))),
        Ok(AggregatedMessage::Close(_)) => Some(Received::Message(Message::Close(1000, String::new()))),
        Ok(AggregatedMessage::Ping(_) | AggregatedMessage::Pong(_)) => None,
        Err(ProtocolError::Overflow) => Some(Received::TooLong),
        Err(ProtocolError::Io(error)) => match error.kind() {
            // the fragments of a message are too long together
            ErrorKind::Other => Some(Received::TooLong),
            // a text message that is not UTF-8
            ErrorKind::InvalidData => Some(Received::Malformed),
            _ => None,
        },
        Err(_) => Some(Received::Malformed),
    }
}
