//! The stream of a connection with what its requests know of it.

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

/// Parts of a connection that each of its requests needs.
#[derive(Clone)]
pub(crate) struct Known {
    /// Extensions of the request.
    pub(crate) known: Extensions,
    /// Held by the handler of an unsafe method.
    pub(crate) work: Work,
    pub(crate) ending: Rc<Ending>,
    pub(crate) gate: Rc<Gate>,
}

/// The end of a connection, which actix-http does not always bring about.
#[derive(Default)]
pub(crate) struct Ending {
    /// True if the client, or its version of HTTP, does not keep the connection.
    pub(crate) has_last_request: Cell<bool>,
    pub(crate) begun: Notify,
    /// True while bytes wait for the client.
    is_writing: Cell<bool>,
}

impl Ending {
    /// Completes when the end has begun, all bytes are written, and the client had `linger` to read
    /// them.
    pub(crate) async fn complete(&self, linger: Duration) {
        self.begun.notified().await;
        sleep(linger).await;
        while self.is_writing.get() {
            sleep(linger).await;
        }
    }
}

/// A stream with the knowledge that actix-http passes to its requests.
pub(crate) struct KnownStream<S> {
    stream: S,
    known: Known,
    gated: Gated,
}

impl<S> KnownStream<S> {
    /// `read_timeout` limits the wait for each request after the first one.
    pub(crate) fn new(stream: S, known: Known, read_timeout: Duration) -> Self {
        Self {
            stream,
            known,
            gated: Gated::new(read_timeout),
        }
    }

    pub(crate) const fn known(&self) -> &Known {
        &self.known
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for KnownStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Self { stream, known, gated } = &mut *self;
        gated.poll_read(&known.gate, stream, cx, buf)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for KnownStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.known.ending.is_writing.set(written.is_pending());
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
