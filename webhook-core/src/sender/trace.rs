//! Trace context of an event, passed on to its messages.

use std::{fmt, str::FromStr};

use http::HeaderName;
use http_conventions::tracing::{self, TracePosition};

use crate::ports::Entropy;

pub(super) const TRACEPARENT: HeaderName = tracing::TRACEPARENT;
pub(super) const TRACESTATE: HeaderName = tracing::TRACESTATE;

/// Value of the field `traceparent`: a position in a trace ([W3C Trace Context
/// §3.2](https://www.w3.org/TR/trace-context-2/#traceparent-header)).
///
/// An event with a trace parent belongs to the trace of the request that enqueued it. Each of its
/// messages has a `traceparent` with the same trace id and flags, and a new span id. No
/// `tracestate` is sent.
///
/// # Security
///
/// Every receiver of the event sees the trace id and the flags. Tenants that receive the same event
/// can correlate it by the trace id. Store only a trace that your service started; otherwise the
/// trace id and the flags of a caller are sent to the receivers of other tenants.
///
/// ```
/// use webhook_core::{ports::entropy_fn, sender::TraceParent};
///
/// let request: TraceParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".parse()?;
/// let message = request.message(&entropy_fn(|bytes| bytes.fill(7)));
/// assert_eq!(message.to_string(), "00-0af7651916cd43dd8448eb211c80319c-0707070707070707-01");
/// # Ok::<(), webhook_core::sender::InvalidTraceParent>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct TraceParent(TracePosition);

impl TraceParent {
    /// Position of a message of the event: the same trace and a new span id.
    #[must_use]
    pub fn message(&self, entropy: &dyn Entropy) -> Self {
        Self(self.0.next(entropy))
    }

    /// Id of the trace: 32 hexadecimal digits.
    #[must_use]
    pub fn trace_id(&self) -> impl fmt::Display + use<> {
        self.0.trace_id()
    }

    pub(super) fn header_value(&self) -> http::HeaderValue {
        self.0.header_value()
    }
}

impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for TraceParent {
    type Err = InvalidTraceParent;

    /// Parses a field value. A higher version is read as version 00, and unknown flags are dropped.
    fn from_str(text: &str) -> Result<Self, InvalidTraceParent> {
        text.parse().map(Self).map_err(|_| InvalidTraceParent(()))
    }
}

/// Error for a value that is no `traceparent`.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("invalid traceparent")]
pub struct InvalidTraceParent(());
