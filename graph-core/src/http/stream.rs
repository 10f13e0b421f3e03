//! Body of a streamed response.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::Stream;

use crate::ports::{Sleep, Timer};

/// Comment of server-sent events, which clients ignore.
pub(crate) const COMMENT: &[u8] = b":\n\n";

/// Body of a streamed response; each item is one event of `text/event-stream`, or about one part of
/// `multipart/mixed`.
///
/// Dropping it stops its operations.
pub struct EventStream {
    events: Pin<Box<dyn Stream<Item = Bytes> + Send>>,
    /// Item without content, in the format of the stream.
    filler: &'static [u8],
    keep_alive: Option<KeepAlive>,
}

struct KeepAlive {
    timer: Box<dyn Timer>,
    interval: Duration,
    /// Runs since the last item; `None` until the stream has to wait.
    silence: Option<Sleep>,
}

impl EventStream {
    /// Creates a stream of server-sent events.
    pub(crate) fn events(events: impl Stream<Item = Bytes> + Send + 'static) -> Self {
        Self::new(events, COMMENT)
    }

    /// Creates a stream of `parts`, with `heartbeat` as the part without content.
    pub(crate) fn parts(parts: impl Stream<Item = Bytes> + Send + 'static, heartbeat: &'static [u8]) -> Self {
        Self::new(parts, heartbeat)
    }

    fn new(events: impl Stream<Item = Bytes> + Send + 'static, filler: &'static [u8]) -> Self {
        Self {
            events: Box::pin(events),
            filler,
            keep_alive: None,
        }
    }

    /// Adds an item without content after each silence of `interval`, so that proxies keep the
    /// connection open: a comment in `text/event-stream`, the part `{}` in a multipart
    /// subscription, the part `{"hasNext":true}` between deferred fragments.
    ///
    /// 5 to 15 seconds are usual. Without this method, a silent stream sends nothing.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use graph_core::http::EventStream;
    /// use graph_core::ports::timer_fn;
    ///
    /// fn keep_alive(events: EventStream) -> EventStream {
    ///     events.with_keep_alive(timer_fn(tokio::time::sleep), Duration::from_secs(5))
    /// }
    /// ```
    #[must_use]
    pub fn with_keep_alive(mut self, timer: impl Timer + 'static, interval: Duration) -> Self {
        self.keep_alive = Some(KeepAlive {
            timer: Box::new(timer),
            interval,
            silence: None,
        });
        self
    }
}

impl KeepAlive {
    /// Completes after a silence of the interval.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let silence = self
            .silence
            .get_or_insert_with(|| self.timer.sleep(self.interval));
        let polled = silence.as_mut().poll(cx);
        if polled.is_ready() {
            self.silence = None;
        }
        polled
    }
}

impl fmt::Debug for EventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventStream").finish_non_exhaustive()
    }
}

impl Stream for EventStream {
    type Item = Bytes;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let stream = &mut *self;
        let polled = stream.events.as_mut().poll_next(cx);
        let Some(keep_alive) = &mut stream.keep_alive else {
            return polled;
        };
        if polled.is_pending() {
            let silent = keep_alive.poll(cx);
            return silent.map(|()| Some(Bytes::from_static(stream.filler)));
        }
        keep_alive.silence = None;
        polled
    }
}
