//! The socket of one connection.

use std::{
    io::{self, IoSlice},
    net::Shutdown,
    pin::Pin,
    sync::Arc,
    sync::atomic::{AtomicU64, Ordering},
    task::{Context, Poll, Waker, ready},
    time::Duration,
};

use rustix::{io::Errno, net::SendFlags};
use socket2::SockRef;
use tokio::{
    io::{AsyncRead, AsyncWrite, Interest, ReadBuf},
    net::TcpStream,
    time::{Sleep, interval, sleep},
};

use crate::connections::Place;

/// Shortest time of [`PeerWatch::gone`].
const SHORTEST: Duration = Duration::from_millis(1);

/// A connection that withstands a client that reads nothing.
///
/// - A write during which the client accepts no byte for [`Limits::write_timeout`] fails with
///   [`io::ErrorKind::TimedOut`].
/// - Nothing is read while a write waits for the client. The server therefore buffers no further
///   requests of a client that does not read its responses.
///
/// [`Limits::write_timeout`]: crate::Limits::write_timeout
#[derive(Debug)]
pub struct Socket {
    shared: Arc<Shared>,
    write_timeout: Duration,
    /// Timer of the write that waits for the client.
    waiting: Option<Pin<Box<Sleep>>>,
    /// Waker of a read that waits for the end of this write.
    held_back: Option<Waker>,
    _place: Place,
}

#[derive(Debug)]
struct Shared {
    stream: TcpStream,
    /// Count of the writes, for [`PeerWatch`].
    writes: AtomicU64,
}

/// Detects that the client of a connection has disconnected.
#[derive(Debug)]
pub struct PeerWatch(Arc<Shared>);

impl Socket {
    pub(crate) fn new(stream: TcpStream, write_timeout: Duration, place: Place) -> Self {
        Self {
            shared: Arc::new(Shared {
                stream,
                writes: AtomicU64::new(0),
            }),
            write_timeout,
            waiting: None,
            held_back: None,
            _place: place,
        }
    }

    /// Returns an observer of this connection.
    #[must_use]
    pub fn watch(&self) -> PeerWatch {
        PeerWatch(Arc::clone(&self.shared))
    }

    /// Calls `write`, which must not block, when the stream is writable. `first` is the begin of
    /// the same bytes.
    fn poll_write_with(
        &mut self,
        cx: &mut Context<'_>,
        first: &[u8],
        mut write: impl FnMut(&TcpStream) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        while let Poll::Ready(is_writable) = self.shared.stream.poll_write_ready(cx) {
            is_writable?;
            match write(&self.shared.stream) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                written => return Poll::Ready(self.written(written)),
            }
        }
        // The kernel reports room only after half of the unsent bytes are sent. The wait begins
        // when there is no room at all, so that room at its end is progress of the client.
        if self.waiting.is_none()
            && let Some(written) = self.send_now(first)
        {
            return Poll::Ready(self.written(written));
        }
        let limit = self.write_timeout;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(limit)));
        ready!(waiting.as_mut().poll(cx));
        Poll::Ready(match self.send_now(first) {
            Some(written) => self.written(written),
            None => Err(io::ErrorKind::TimedOut.into()),
        })
    }

    /// Sends without asking whether the stream is writable. `None` if there is no room.
    fn send_now(&self, bytes: &[u8]) -> Option<io::Result<usize>> {
        match rustix::net::send(&self.shared.stream, bytes, SendFlags::NOSIGNAL) {
            Err(Errno::AGAIN) => None,
            written => Some(written.map_err(io::Error::from)),
        }
    }

    /// Ends the wait of a write.
    fn written(&mut self, written: io::Result<usize>) -> io::Result<usize> {
        self.waiting = None;
        if let Some(reader) = self.held_back.take() {
            reader.wake();
        }
        self.shared.writes.fetch_add(1, Ordering::Relaxed);
        written
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.waiting.is_some() {
            self.held_back = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let stream = &self.shared.stream;
        loop {
            ready!(stream.poll_read_ready(cx))?;
            let (before, room) = (buf.filled().len(), buf.remaining());
            let mut outcome = Ok(0);
            let read = stream.try_io(Interest::READABLE, || {
                outcome = stream.try_read_buf(buf);
                match &outcome {
                    // the socket is empty: the next read waits for an event, without a system call
                    Ok(read) if (1..room).contains(read) => Err(io::ErrorKind::WouldBlock.into()),
                    _ => Ok(()),
                }
            });
            match (read, outcome) {
                (_, Err(error)) if error.kind() == io::ErrorKind::WouldBlock => {}
                // the stream is no longer ready, and nothing was read
                (Err(_), Ok(0)) if buf.filled().len() == before && room > 0 => {}
                (_, outcome) => return Poll::Ready(outcome.map(drop)),
            }
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_with(cx, buf, |stream| stream.try_write(buf))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let first = bufs.iter().find(|buf| !buf.is_empty());
        let first = first.map_or(&[][..], |first| first);
        self.poll_write_with(cx, first, |stream| stream.try_write_vectored(bufs))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(SockRef::from(&self.shared.stream).shutdown(Shutdown::Write))
    }
}

impl PeerWatch {
    /// Completes after the client has closed its sending half and the server has then written
    /// nothing for `timeout`. It checks once per `timeout`, so it may complete up to `timeout`
    /// later.
    pub async fn wait_until_gone(self, timeout: Duration) {
        let (mut ticks, mut last) = (interval(timeout.max(SHORTEST)), None);
        loop {
            ticks.tick().await;
            let writes = self
                .is_half_closed()
                .then(|| self.0.writes.load(Ordering::Relaxed));
            if writes.is_some() && writes == last {
                return;
            }
            last = writes;
        }
    }

    fn is_half_closed(&self) -> bool {
        let mut ready = Box::pin(self.0.stream.ready(Interest::READABLE));
        let polled = ready.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        matches!(polled, Poll::Ready(Ok(ready)) if ready.is_read_closed())
    }
}

#[cfg(test)]
mod tests {
    use tokio::{io::AsyncWriteExt as _, time::timeout};

    use crate::{Limits, connections::Connections};

    use super::*;

    /// X10: without patience, a client that has closed its sending half is gone.
    #[tokio::test]
    async fn half_closed_client_without_time_is_gone() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Connections::listen(listener, Limits::default()).unwrap();
        let mut peer = TcpStream::connect(address).await.unwrap();
        let (socket, _) = connections.accept().await;
        peer.shutdown().await.unwrap();
        let gone = socket.watch().wait_until_gone(Duration::ZERO);
        timeout(Duration::from_secs(20), gone).await.unwrap();
    }
}
