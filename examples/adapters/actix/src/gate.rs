//! Gate in front of actix-http that passes one request at a time.

use std::{
    cell::{Cell, RefCell},
    io,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll, Waker, ready},
    time::Duration,
};

use actix_web::body::{BodySize, BoxBody, MessageBody};
use bytes::{Buf, Bytes, BytesMut};
use http::{HeaderMap, header};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::time::Instant;

use crate::patience::Patience;

/// Limit of the bytes of a chunked body that pass in one read. It is small, because actix-http also
/// decodes the bytes after the body that pass in the same read.
const PIECE: usize = 512;

/// Decides which bytes of a connection actix-http sees, so that it handles one request at a time.
///
/// Without the gate, actix-http decodes up to 16 pipelined requests ahead, of 35 kB each, even if
/// the client reads no response.
#[derive(Default)]
pub(crate) struct Gate {
    passing: Cell<Passing>,
    /// Time since which the gate lets the head of a further request pass.
    head_since: Cell<Option<Instant>>,
    waiting: RefCell<Option<Waker>>,
}

/// Bytes that the gate lets pass.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Passing {
    /// The head of the next request.
    #[default]
    Head,
    /// No bytes, while a request is handled.
    Nothing,
    /// This number of bytes of a body.
    Body(usize),
    /// A chunked body.
    Chunks,
    /// All bytes, after an upgrade.
    All,
}

impl Passing {
    /// Bytes that pass for the body of a request with these headers.
    pub(crate) fn of_body(headers: &HeaderMap) -> Self {
        let length = headers.get(header::CONTENT_LENGTH);
        let length = length.and_then(|length| length.to_str().ok()?.parse().ok());
        match headers.contains_key(header::TRANSFER_ENCODING) {
            true => Self::Chunks,
            false => Self::Body(length.unwrap_or(0)),
        }
    }
}

impl Gate {
    /// Sets the bytes that pass.
    pub(crate) fn let_pass(&self, passing: Passing) {
        self.passing.set(passing);
        if passing == Passing::Head {
            self.head_since.set(Some(Instant::now()));
        }
        if let Some(waker) = self.waiting.take() {
            waker.wake();
        }
    }
}

/// Body of a response. Its end opens the gate for the next request.
pub(crate) struct GatedBody {
    pub(crate) body: BoxBody,
    pub(crate) gate: Option<Rc<Gate>>,
}

impl MessageBody for GatedBody {
    type Error = Box<dyn std::error::Error>;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        Pin::new(&mut self.body).poll_next(cx)
    }
}

impl Drop for GatedBody {
    fn drop(&mut self) {
        if let Some(gate) = &self.gate {
            gate.let_pass(Passing::Head);
        }
    }
}

/// Reader of a connection through its gate.
pub(crate) struct Gated {
    patience: Patience,
    /// Bytes that the gate holds back.
    held: BytesMut,
    end: HeadEnd,
    /// True after the end of a head: the next read returns `Pending`, so that actix-http decodes
    /// the head before it reads on.
    must_yield: bool,
}

impl Gated {
    /// `limit` is the time limit for a further request with its head, after which the connection
    /// reads as ended. actix-http limits the time of the first head alone.
    pub(crate) fn new(limit: Duration) -> Self {
        Self {
            patience: Patience::new(limit),
            held: BytesMut::new(),
            end: HeadEnd::default(),
            must_yield: false,
        }
    }

    pub(crate) fn poll_read<S: AsyncRead + Unpin>(
        &mut self,
        gate: &Gate,
        stream: &mut S,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let passing = gate.passing.get();
        if passing == Passing::Nothing || passing == Passing::Body(0) {
            *gate.waiting.borrow_mut() = Some(cx.waker().clone());
            return Poll::Pending;
        }
        if std::mem::take(&mut self.must_yield) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let limit = match passing {
            Passing::Body(length) => length,
            Passing::Chunks => PIECE,
            _ => usize::MAX,
        };
        let before = buf.filled().len();
        if self.poll_some(stream, cx, buf, limit)?.is_pending() {
            return match gate.head_since.get() {
                Some(since) if passing == Passing::Head => self.patience.poll_end(since, cx).map(Ok),
                _ => Poll::Pending,
            };
        }
        let passed = buf.filled().get(before..).unwrap_or_default();
        match passing {
            Passing::Body(length) => gate.passing.set(Passing::Body(length - passed.len())),
            Passing::Head => {
                if let Some(end) = self.end.find(passed) {
                    self.hold_back(buf, before + end);
                }
            }
            _ => {}
        }
        Poll::Ready(Ok(()))
    }

    /// Reads at most `limit` bytes: the bytes that were held back come first.
    fn poll_some<S: AsyncRead + Unpin>(
        &mut self,
        stream: &mut S,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
        limit: usize,
    ) -> Poll<io::Result<()>> {
        if !self.held.is_empty() {
            let length = self.held.len().min(buf.remaining()).min(limit);
            buf.put_slice(self.held.get(..length).unwrap_or_default());
            self.held.advance(length);
            return Poll::Ready(Ok(()));
        }
        if limit >= buf.remaining() {
            return Pin::new(stream).poll_read(cx, buf);
        }
        let mut part = ReadBuf::new(buf.initialize_unfilled_to(limit));
        ready!(Pin::new(stream).poll_read(cx, &mut part))?;
        let length = part.filled().len();
        buf.advance(length);
        Poll::Ready(Ok(()))
    }

    /// Removes the bytes from `end` on, and holds them back. actix-http decodes the head before
    /// them.
    fn hold_back(&mut self, buf: &mut ReadBuf<'_>, end: usize) {
        self.must_yield = true;
        let rest = buf.filled().get(end..).unwrap_or_default();
        if rest.is_empty() {
            return;
        }
        let mut held = BytesMut::from(rest);
        held.extend_from_slice(&self.held);
        self.held = held;
        buf.set_filled(end);
    }
}

/// Finds the empty line after a head, even if it arrives in several reads.
#[derive(Clone, Copy, Debug, Default)]
struct HeadEnd {
    /// True after a line end, and after a CR that follows it.
    is_line_empty: bool,
}

impl HeadEnd {
    /// Returns the index after the empty line.
    fn find(&mut self, bytes: &[u8]) -> Option<usize> {
        for (index, byte) in bytes.iter().enumerate() {
            match (byte, self.is_line_empty) {
                (b'\n', true) => {
                    self.is_line_empty = false;
                    return Some(index + 1);
                }
                (b'\n', false) => self.is_line_empty = true,
                (b'\r', _) => {}
                _ => self.is_line_empty = false,
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(gated: &mut Gated, gate: &Gate, mut stream: &[u8], room: usize) -> (String, usize) {
        let mut bytes = vec![0; room];
        let mut buf = ReadBuf::new(&mut bytes);
        let mut cx = Context::from_waker(Waker::noop());
        while gated.poll_read(gate, &mut stream, &mut cx, &mut buf).is_ready() {
            if stream.is_empty() && gated.held.is_empty() {
                break;
            }
        }
        (String::from_utf8(buf.filled().to_vec()).unwrap(), stream.len())
    }

    /// X10: requests behind the first one are not decoded ahead.
    #[test]
    fn one_head_passes_at_a_time() {
        let (mut gated, gate) = (Gated::new(Duration::MAX), Gate::default());
        let two = b"GET /1\r\n\r\nGET /2\r\n\r\n";
        assert_eq!(read(&mut gated, &gate, two, 100).0, "GET /1\r\n\r\n");
        gate.let_pass(Passing::Nothing);
        assert_eq!(read(&mut gated, &gate, b"", 100).0, "");
        gate.let_pass(Passing::Head);
        assert_eq!(read(&mut gated, &gate, b"", 100).0, "GET /2\r\n\r\n");
    }

    /// X10: the client decides where a read ends.
    #[test]
    fn head_at_the_end_of_a_read_is_one_head() {
        let (mut gated, gate) = (Gated::new(Duration::MAX), Gate::default());
        let mut cx = Context::from_waker(Waker::noop());
        let mut read = |room: usize, mut stream: &[u8]| {
            let mut bytes = vec![0; room];
            let mut buf = ReadBuf::new(&mut bytes);
            let read = gated.poll_read(&gate, &mut stream, &mut cx, &mut buf);
            read.is_ready().then(|| buf.filled().to_vec())
        };
        let first = b"GET /1\r\n\r\n";
        assert_eq!(read(first.len(), first).as_deref(), Some(&first[..]));
        assert_eq!(read(100, b"GET /2\r\n\r\n"), None);
    }

    #[test]
    fn body_passes_up_to_its_length() {
        let (mut gated, gate) = (Gated::new(Duration::MAX), Gate::default());
        assert_eq!(read(&mut gated, &gate, b"POST /\n\nhiGET /", 100).0, "POST /\n\n");
        gate.let_pass(Passing::Body(2));
        assert_eq!(read(&mut gated, &gate, b"", 100).0, "hi");
        assert_eq!(gate.passing.get(), Passing::Body(0));
        // also if the bytes come from the connection instead of `held`
        let (mut gated, gate) = (Gated::new(Duration::MAX), Gate::default());
        gate.let_pass(Passing::Body(2));
        assert_eq!(read(&mut gated, &gate, b"hiGET /", 100), ("hi".to_owned(), 5));
    }

    #[test]
    fn end_of_head_is_found_across_reads() {
        let mut end = HeadEnd::default();
        assert_eq!(end.find(b"GET /\r\n"), None);
        assert_eq!(end.find(b"\r"), None);
        assert_eq!(end.find(b"\nGET"), Some(1));
        assert_eq!(end.find(b" /\r\na: b\r\n\r\n"), Some(12));
    }
}
