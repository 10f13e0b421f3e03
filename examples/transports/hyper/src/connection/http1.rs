//! An HTTP/1.1 connection.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::{Either, select};
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1::{Builder, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use tokio::time::timeout;

use super::{Failure, Fate, LINGER};
use crate::head::MAX_FIELD_BYTES;
use crate::socket::Progress;

/// hyper's buffer for a head: the fields and a status line.
const MAX_HEAD: usize = MAX_FIELD_BYTES + 8 * 1024;

/// An HTTP/1.1 connection in a task of its own. Dropping it closes the socket at once.
pub(crate) struct Http1 {
    sender: SendRequest<Full<Bytes>>,
    progress: Arc<Progress>,
    task: Task,
}

impl Http1 {
    /// Starts HTTP/1.1 on a new stream.
    pub(crate) async fn handshake<S>(stream: S, progress: Arc<Progress>) -> Result<Self, hyper::Error>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let mut builder = Builder::new();
        builder.max_buf_size(MAX_HEAD);
        let (sender, connection) = builder.handshake(TokioIo::new(stream)).await?;
        let (closing, closed) = oneshot::channel::<Infallible>();
        let running = tokio::spawn(async move {
            if let Either::Right((_, connection)) = select(pin!(connection), closed).await {
                timeout(LINGER, connection).await.ok();
            }
        });
        let task = Task {
            abort: Some(running.abort_handle()),
            _closing: closing,
        };
        Ok(Self {
            sender,
            progress,
            task,
        })
    }

    /// Sends a request and waits for the head of its response.
    pub(crate) async fn send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, Failure> {
        let failed = match self.sender.try_send_request(request).await {
            Ok(response) => return Ok(response),
            Err(failed) => failed,
        };
        let fate = if failed.message().is_some() || self.progress.is_unwritten() {
            Fate::Unprocessed
        } else if self.progress.is_unanswered() {
            Fate::Unanswered
        } else {
            Fate::Unknown
        };
        Err(Failure::new(failed.into_error(), fate))
    }

    /// Prepares an idle connection for its next exchange. Returns `false` if it is closed.
    pub(crate) fn reuse(&self) -> bool {
        self.progress.reuse();
        self.sender.is_ready()
    }

    /// Waits for the end of the exchange. Returns `false` if the connection is closed then.
    pub(crate) async fn is_reusable(&mut self) -> bool {
        self.sender.ready().await.is_ok()
    }

    /// [`is_reusable`](Self::is_reusable) without waiting.
    pub(crate) fn is_reusable_now(&mut self) -> Option<bool> {
        self.is_reusable().now_or_never()
    }

    /// Closes an idle connection in the order of its protocols.
    pub(crate) fn close(mut self) {
        self.task.abort = None;
    }
}

/// The task of a connection, aborted on drop.
struct Task {
    abort: Option<AbortHandle>,
    /// Ends the task a little later, if it is not aborted.
    _closing: oneshot::Sender<Infallible>,
}

impl Drop for Task {
    fn drop(&mut self) {
        if let Some(task) = self.abort.take() {
            task.abort();
        }
    }
}
