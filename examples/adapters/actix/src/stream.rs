//! Stream of a connection, with the data that each of its requests needs.

use std::{
    cell::Cell,
    io,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll},
    time::Duration,
};

use actix_web::rt::time::sleep;
use host_server::Work;
use http::Extensions;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;

use crate::gate::{Gate, Gated};

/// Data of a connection that each of its requests needs.
#[derive(Clone)]
pub(crate) struct ConnectionData {
    /// Extensions to add to each request.
    pub(crate) extensions: Extensions,
    /// Held by the handler of an unsafe method.
    pub(crate) work: Work,
    pub(crate) ending: Rc<Ending>,
    pub(crate) gate: Rc<Gate>,
}

/// Ends a connection in the cases in which actix-http would keep it open.
#[derive(Default)]
pub(crate) struct Ending {
    /// True after a request that is the last one, by its `Connection` field or its version of HTTP.
    pub(crate) has_last_request: Cell<bool>,
    pub(crate) begun: Notify,
    /// True while bytes wait for the client.
    is_writing: Cell<bool>,
}

impl Ending {
    /// Completes when the end has begun, all bytes are written, and the client has had the time
    /// `linger` to read them.
    pub(crate) async fn complete(&self, linger: Duration) {
        self.begun.notified().await;
        sleep(linger).await;
        while self.is_writing.get() {
            sleep(linger).await;
        }
    }
}

/// Stream whose data actix-http passes to the requests.
pub(crate) struct ConnectionStream<S> {
    stream: S,
    data: ConnectionData,
    gated: Gated,
}

impl<S> ConnectionStream<S> {
    /// `read_timeout` limits the wait for each request after the first one.
    pub(crate) fn new(stream: S, data: ConnectionData, read_timeout: Duration) -> Self {
        Self {
            stream,
            data,
            gated: Gated::new(read_timeout),
        }
    }

    pub(crate) const fn data(&self) -> &ConnectionData {
        &self.data
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for ConnectionStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Self { stream, data, gated } = &mut *self;
        gated.poll_read(&data.gate, stream, cx, buf)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for ConnectionStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.data.ending.is_writing.set(written.is_pending());
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
