//! An HTTP/2 connection.

use std::error::Error as _;
use std::io;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use futures_util::future::{Either, select};
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper::rt::Executor;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use super::{Failure, Fate, LINGER};

/// Size of a head that ends the connection's patience: 10,000 short fields, with the 32 bytes that
/// HTTP/2 adds to each. A head between the limit of the transport and this one is read and refused.
const MAX_HEADER_LIST: u32 = 384 * 1024;
/// Bytes of a body that the server may send ahead.
const STREAM_WINDOW: u32 = 128 * 1024;
/// Bytes of all bodies of a connection that the server may send ahead.
const CONNECTION_WINDOW: u32 = 2 * 1024 * 1024;

/// An HTTP/2 connection in tasks of its own. It ends when its last owner drops it.
pub(crate) struct Http2 {
    sender: SendRequest<Full<Bytes>>,
    /// A request got no response in time.
    is_suspect: AtomicBool,
    used: Mutex<Instant>,
    /// Ends the tasks.
    _closing: watch::Sender<()>,
}

impl Http2 {
    /// Starts HTTP/2 on a new stream.
    pub(crate) async fn handshake<S>(stream: S) -> Result<Self, hyper::Error>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let (closing, closed) = watch::channel(());
        let tasks = Tasks(closed);
        let mut builder = Builder::new(tasks.clone());
        builder
            .max_header_list_size(MAX_HEADER_LIST)
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW);
        let (sender, connection) = builder.handshake(TokioIo::new(stream)).await?;
        tasks.execute(async move {
            connection.await.ok();
        });
        Ok(Self {
            sender,
            is_suspect: AtomicBool::new(false),
            used: Mutex::new(Instant::now()),
            _closing: closing,
        })
    }

    /// Sends a request, as soon as the server allows another stream, and waits for the head of its
    /// response. A caller that gives up before ends the reuse of the connection.
    pub(crate) async fn send(&self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, Failure> {
        let mut given_up = GivenUp(Some(self));
        let sent = self.sender.clone().try_send_request(request).await;
        given_up.0 = None;
        self.touch();
        sent.map_err(|failed| {
            let was_sent = failed.message().is_none();
            let error = failed.into_error();
            let fate = if was_sent { fate(&error) } else { Fate::Unprocessed };
            Failure::new(error, fate)
        })
    }

    /// Returns `true` if the connection accepts further requests.
    pub(crate) fn is_usable(&self) -> bool {
        !self.sender.is_closed() && !self.is_suspect.load(Ordering::Acquire)
    }

    /// Ends the reuse of the connection, whose server may be gone. Pending exchanges go on.
    pub(crate) fn suspect(&self) {
        self.is_suspect.store(true, Ordering::Release);
    }

    /// Last time that an exchange ended.
    pub(crate) fn used(&self) -> Instant {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the end of an exchange.
    pub(crate) fn touch(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }
}

/// Marks a connection as suspect when it is dropped, unless it is emptied before.
struct GivenUp<'a>(Option<&'a Http2>);

impl Drop for GivenUp<'_> {
    fn drop(&mut self) {
        if let Some(connection) = self.0 {
            connection.suspect();
        }
    }
}

/// Fate of a request that was given to the connection ([RFC 9113
/// §8.7](https://www.rfc-editor.org/rfc/rfc9113#section-8.7)).
fn fate(error: &hyper::Error) -> Fate {
    let Some(cause) = error.source() else {
        return Fate::Unknown;
    };
    if cause.is::<io::Error>() {
        return Fate::Unanswered;
    }
    match cause.downcast_ref::<h2::Error>() {
        // h2 reports a GOAWAY to the streams after the last one that the server processes
        Some(refused) if refused.is_remote() => match refused.reason() {
            Some(h2::Reason::NO_ERROR) if refused.is_go_away() => Fate::Unprocessed,
            Some(h2::Reason::REFUSED_STREAM) if refused.is_reset() => Fate::Unprocessed,
            _ => Fate::Unknown,
        },
        _ => Fate::Unknown,
    }
}

/// Spawns the tasks of a connection, and ends them after the connection is dropped.
#[derive(Clone)]
struct Tasks(watch::Receiver<()>);

impl<F> Executor<F> for Tasks
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, task: F) {
        let mut closed = self.0.clone();
        tokio::spawn(async move {
            let mut task = pin!(task);
            let closed = pin!(async move { while closed.changed().await.is_ok() {} });
            if let Either::Right(_) = select(&mut task, closed).await {
                timeout(LINGER, task).await.ok();
            }
        });
    }
}
