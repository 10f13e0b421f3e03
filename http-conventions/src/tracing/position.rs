//! Grammar of `traceparent`.

use std::{fmt, str::FromStr};

use bytes::{BufMut as _, BytesMut};
use http::HeaderValue;

use super::{SpanId, TraceId};
use crate::{hex, ports::Entropy};

/// Length of `traceparent` in version 00.
const LENGTH: usize = 55;
const SAMPLED: u8 = 1;
const RANDOM: u8 = 2;

/// Position of a request in a trace: the value of
/// [`traceparent`](https://www.w3.org/TR/trace-context-2/#traceparent-header).
///
/// ```
/// use http_conventions::tracing::{InvalidTracePosition, TracePosition};
///
/// let text = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
/// let position: TracePosition = text.parse()?;
/// assert_eq!(position.span_id().to_string(), "b7ad6b7169203331");
/// assert_eq!(position.to_string(), text);
/// # Ok::<(), InvalidTracePosition>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct TracePosition {
    trace_id: TraceId,
    span_id: SpanId,
    flags: u8,
}

impl TracePosition {
    /// Position of a new trace with an id of 16 random bytes.
    pub(super) const fn new(trace_id: TraceId, span_id: SpanId, is_sampled: bool) -> Self {
        let sampled = if is_sampled { SAMPLED } else { 0 };
        Self {
            trace_id,
            span_id,
            flags: RANDOM | sampled,
        }
    }

    /// Position of another request in the same trace.
    pub(super) const fn at(self, span_id: SpanId) -> Self {
        Self { span_id, ..self }
    }

    /// Position of another request in the same trace, with a new span id.
    #[must_use]
    pub fn next(self, entropy: &dyn Entropy) -> Self {
        self.at(SpanId::generate(entropy))
    }

    /// Parses a field value.
    ///
    /// - Version 00 has exactly four fields.
    /// - A higher version is read as version 00; fields after the flags are ignored.
    /// - Flags other than `sampled` and, in version 00, `random-trace-id` are dropped.
    ///
    /// # Errors
    ///
    /// [`InvalidTracePosition`] for version `ff`, an upper-case digit, an id of zeros, and any
    /// other value that does not match the grammar.
    pub fn parse(value: &[u8]) -> Result<Self, InvalidTracePosition> {
        Self::read(value).ok_or(InvalidTracePosition)
    }

    fn read(value: &[u8]) -> Option<Self> {
        let (fields, rest) = value.split_at_checked(LENGTH)?;
        let mut fields = fields.split(|byte| *byte == b'-');
        let [version] = hex::parse(fields.next()?)?;
        let trace_id = TraceId::parse(fields.next()?)?;
        let span_id = SpanId::parse(fields.next()?)?;
        let [flags] = hex::parse(fields.next()?)?;
        let known = match version {
            0 if rest.is_empty() => SAMPLED | RANDOM,
            1..=254 if rest.is_empty() || rest.starts_with(b"-") => SAMPLED,
            _ => return None,
        };
        Some(Self {
            trace_id,
            span_id,
            flags: flags & known,
        })
    }

    /// Id of the trace.
    #[must_use]
    pub const fn trace_id(&self) -> TraceId {
        self.trace_id
    }

    /// Id of the request, the `parent-id` of the field.
    #[must_use]
    pub const fn span_id(&self) -> SpanId {
        self.span_id
    }

    /// Returns `true` if the caller may have recorded the trace.
    #[must_use]
    pub const fn is_sampled(&self) -> bool {
        self.flags & SAMPLED != 0
    }

    /// Value of the `traceparent` field, in version 00.
    #[must_use]
    pub fn header_value(&self) -> HeaderValue {
        let mut text = BytesMut::with_capacity(LENGTH);
        let ids = [self.trace_id.as_bytes().as_slice(), self.span_id.as_bytes()];
        text.put_slice(b"00-");
        for id in ids {
            id.iter().for_each(|byte| text.put_slice(&hex::digits(*byte)));
            text.put_u8(b'-');
        }
        text.put_slice(&hex::digits(self.flags));
        // digits and hyphens are always valid
        HeaderValue::from_maybe_shared(text.freeze()).unwrap_or_else(|_| HeaderValue::from_static(""))
    }
}

impl fmt::Display for TracePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{}-{}-{:02x}", self.trace_id, self.span_id, self.flags)
    }
}

impl FromStr for TracePosition {
    type Err = InvalidTracePosition;

    fn from_str(text: &str) -> Result<Self, InvalidTracePosition> {
        Self::parse(text.as_bytes())
    }
}

/// Error for a malformed `traceparent`.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("invalid traceparent")]
pub struct InvalidTracePosition;
