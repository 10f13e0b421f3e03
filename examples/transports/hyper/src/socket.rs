//! A TCP stream that checks a reused connection in the moment before its request is written.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, ready};

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// The first exchange of a connection.
const FIRST: u8 = 0;
/// A further exchange, of whose request no byte is written.
const UNWRITTEN: u8 = 1;
/// Bytes of the request are written, and none came back.
const UNANSWERED: u8 = 2;
/// Bytes came back.
const ANSWERED: u8 = 3;
/// The server had closed the connection, or sent bytes without a request. None is written.
const STALE: u8 = 4;

/// Progress of the exchange on a reused HTTP/1.1 connection.
#[derive(Debug)]
pub(crate) struct Progress(AtomicU8);

impl Default for Progress {
    fn default() -> Self {
        Self(AtomicU8::new(FIRST))
    }
}

impl Progress {
    /// Begins a further exchange on the connection.
    pub(crate) fn reuse(&self) {
        self.0.store(UNWRITTEN, Ordering::Release);
    }

    /// Returns `true` if no byte of the request was written.
    pub(crate) fn is_unwritten(&self) -> bool {
        matches!(self.0.load(Ordering::Acquire), UNWRITTEN | STALE)
    }

    /// Returns `true` if the request was written, at least in part, and no byte came back.
    pub(crate) fn is_unanswered(&self) -> bool {
        self.0.load(Ordering::Acquire) == UNANSWERED
    }

    fn advance(&self, from: u8, to: u8) {
        // a failure means that another stage is reached
        let _ = self
            .0
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire);
    }
}

/// A TCP stream with the progress of its exchange.
#[derive(Debug)]
pub(crate) struct Socket {
    tcp: TcpStream,
    progress: Arc<Progress>,
}

impl Socket {
    pub(crate) fn new(tcp: TcpStream) -> Self {
        Self {
            tcp,
            progress: Arc::default(),
        }
    }

    pub(crate) fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }

    /// Refuses to write a request to a connection that is closed, or whose next response is
    /// already there. It asks the kernel, because the runtime may not have seen the event yet.
    fn check(&self) -> io::Result<()> {
        let stage = self.progress.0.load(Ordering::Acquire);
        if stage == UNWRITTEN {
            let peeked = SockRef::from(&self.tcp).peek(&mut [MaybeUninit::uninit()]);
            if peeked.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock) {
                self.progress.advance(UNWRITTEN, UNANSWERED);
                return Ok(());
            }
            self.progress.advance(UNWRITTEN, STALE);
        }
        match stage {
            UNWRITTEN | STALE => Err(io::ErrorKind::ConnectionReset.into()),
            _ => Ok(()),
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.tcp).poll_read(context, buffer))?;
        if buffer.filled().len() > before {
            self.progress.advance(UNANSWERED, ANSWERED);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check()?;
        Pin::new(&mut self.tcp).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.check()?;
        Pin::new(&mut self.tcp).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.tcp.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_shutdown(context)
    }
}
