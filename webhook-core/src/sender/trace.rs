//! Trace context of an event, passed on to its messages.

use std::{fmt, str::FromStr};

use http::HeaderName;

use crate::ports::Entropy;

pub(super) const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// Length of `traceparent` in version 00.
const LENGTH: usize = 55;
const SAMPLED: u8 = 1;
const RANDOM: u8 = 2;

/// Value of the field `traceparent`: a position in a trace ([W3C Trace Context
/// §3.2](https://www.w3.org/TR/trace-context-2/#traceparent-header)).
///
/// An event with a trace parent belongs to the trace of the request that enqueued it. Each of its
/// messages has a `traceparent` with the same trace id and a new span id.
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
pub struct TraceParent {
    trace_id: u128,
    span_id: u64,
    flags: u8,
}

impl TraceParent {
    /// Position of a message of the event: the same trace and a new span id.
    #[must_use]
    pub fn message(&self, entropy: &(impl Entropy + ?Sized)) -> Self {
        let mut bytes = [0; 8];
        entropy.fill(&mut bytes);
        // a span id of zeros is invalid
        let span_id = u64::from_be_bytes(bytes).max(1);
        Self { span_id, ..*self }
    }

    /// Id of the trace. Its text is `{:032x}`.
    #[must_use]
    pub const fn trace_id(&self) -> u128 {
        self.trace_id
    }

    fn read(text: &str) -> Option<Self> {
        let (fields, rest) = text.split_at_checked(LENGTH)?;
        let mut fields = fields.split('-');
        let version = hexadecimal(fields.next()?, 2)?;
        let trace_id = hexadecimal(fields.next()?, 32).filter(|id| *id != 0)?;
        let span_id = hexadecimal(fields.next()?, 16).filter(|id| *id != 0)?;
        let flags = hexadecimal(fields.next()?, 2)?;
        let known = match version {
            0 if rest.is_empty() => SAMPLED | RANDOM,
            1..=254 if rest.is_empty() || rest.starts_with('-') => SAMPLED,
            _ => return None,
        };
        Some(Self {
            trace_id,
            span_id: u64::try_from(span_id).ok()?,
            flags: u8::try_from(flags).ok()? & known,
        })
    }
}

/// Value of `length` lower-case digits.
fn hexadecimal(text: &str, length: usize) -> Option<u128> {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let is_valid = text.len() == length && text.bytes().all(is_digit);
    u128::from_str_radix(text, 16).ok().filter(|_| is_valid)
}

impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            trace_id,
            span_id,
            flags,
        } = self;
        write!(f, "00-{trace_id:032x}-{span_id:016x}-{flags:02x}")
    }
}

impl FromStr for TraceParent {
    type Err = InvalidTraceParent;

    /// Parses a field value.
    ///
    /// - Version 00 has exactly four fields.
    /// - A higher version is read as version 00; fields after the flags are ignored.
    /// - Flags other than `sampled` and, in version 00, `random-trace-id` are dropped.
    fn from_str(text: &str) -> Result<Self, InvalidTraceParent> {
        Self::read(text).ok_or(InvalidTraceParent(()))
    }
}

/// Error for a value that is no `traceparent`.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("invalid traceparent")]
pub struct InvalidTraceParent(());
