//! Spelling of the header names of a handshake.
//!
//! Names are case-insensitive, and hyper writes them in lower case. Some clients look for the
//! spelling of RFC 6455, for example the WebSocket transport of Python's gql.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

const SWITCHING: &[u8] = b"HTTP/1.1 101 ";

/// A connection that spells the header names of its 101 response as RFC 6455 does:
/// `Sec-WebSocket-Accept`.
///
/// # Performance
///
/// Before the handshake each write costs the load of a flag. All bytes but the head of the 101
/// response pass unchanged and are not copied.
#[derive(Debug)]
pub struct Spelled<S> {
    stream: S,
    /// True from the handshake until its response is written.
    is_switching: Arc<AtomicBool>,
}

impl<S: AsyncWrite + Unpin> Spelled<S> {
    pub(super) fn new(stream: S, is_switching: Arc<AtomicBool>) -> Self {
        Self { stream, is_switching }
    }

    fn is_head(&self, buf: &[u8]) -> bool {
        self.is_switching.load(Ordering::Relaxed) && buf.starts_with(SWITCHING)
    }

    /// Writes the head of the 101 response. If the stream takes a part of it only, the rest is
    /// written as it is.
    fn poll_write_head(&mut self, cx: &mut Context<'_>, head: &[u8]) -> Poll<io::Result<usize>> {
        let mut spelled = head.to_vec();
        spell(&mut spelled);
        let written = Pin::new(&mut self.stream).poll_write(cx, &spelled);
        if written.is_ready() {
            self.is_switching.store(false, Ordering::Relaxed);
        }
        written
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Spelled<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Spelled<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match self.is_head(buf) {
            true => self.poll_write_head(cx, buf),
            false => Pin::new(&mut self.stream).poll_write(cx, buf),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match bufs.iter().find(|buf| !buf.is_empty()) {
            Some(first) if self.is_head(first) => self.poll_write_head(cx, first),
            _ => Pin::new(&mut self.stream).poll_write_vectored(cx, bufs),
        }
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// Writes the letters at the start of each word of a header name in upper case, and `WebSocket`.
fn spell(head: &mut [u8]) {
    for line in head.split_mut(|&byte| byte == b'\n').skip(1) {
        let name = line.split_mut(|&byte| byte == b':').next().unwrap_or_default();
        for word in name.split_mut(|&byte| byte == b'-') {
            if word == b"websocket" {
                word.copy_from_slice(b"WebSocket");
            } else if let Some(first) = word.first_mut() {
                first.make_ascii_uppercase();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    const HEAD: &str = "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\
        sec-websocket-protocol: graphql-transport-ws\r\nx-a: sec-websocket-a\r\n\r\n";

    async fn written(is_switching: bool, texts: &[&str]) -> String {
        let (mut client, server) = tokio::io::duplex(1000);
        let mut spelled = Spelled::new(server, Arc::new(AtomicBool::new(is_switching)));
        for text in texts {
            spelled.write_all(text.as_bytes()).await.unwrap();
        }
        drop(spelled);
        let mut received = String::new();
        client.read_to_string(&mut received).await.unwrap();
        received
    }

    /// X3, G10: the head of the handshake alone is changed, and only its names.
    #[tokio::test]
    async fn names_of_the_handshake_are_spelled_as_in_rfc_6455() {
        let spelled = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\
            Sec-WebSocket-Protocol: graphql-transport-ws\r\nX-A: sec-websocket-a\r\n\r\n";
        let earlier = "HTTP/1.1 200 OK\r\ndate: x\r\n\r\n";
        assert_eq!(
            written(true, &[earlier, HEAD, HEAD]).await,
            [earlier, spelled, HEAD].concat()
        );
        assert_eq!(written(false, &[HEAD]).await, HEAD);
    }
}
