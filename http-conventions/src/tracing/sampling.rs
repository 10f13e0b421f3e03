//! Sampling of new traces.

use std::num::NonZeroU32;

use super::TraceId;

/// Number of values of the random part of a trace id, its last 7 bytes.
const VALUES: u64 = 1 << 56;

/// Share of the new traces that are recorded.
///
/// The decision depends on the trace id alone: a trace is recorded if the number in its last 7
/// bytes is at or above a threshold. Services with the same share therefore record the same traces.
///
/// ```
/// use std::num::NonZeroU32;
///
/// use http_conventions::{ports::OsEntropy, tracing::{Sampling, TraceContext}};
///
/// const HUNDRED: NonZeroU32 = NonZeroU32::new(100).unwrap();
/// let _one_percent = TraceContext::begin(&OsEntropy, Sampling::one_in(HUNDRED));
/// assert!(TraceContext::begin(&OsEntropy, Sampling::ALWAYS).is_sampled());
/// assert!(!TraceContext::begin(&OsEntropy, Sampling::NEVER).is_sampled());
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Sampling {
    threshold: u64,
}

impl Sampling {
    /// No new trace is recorded.
    pub const NEVER: Self = Self { threshold: VALUES };
    /// Each new trace is recorded.
    pub const ALWAYS: Self = Self { threshold: 0 };

    /// On average one of `count` new traces is recorded.
    #[must_use]
    pub const fn one_in(count: NonZeroU32) -> Self {
        Self {
            threshold: VALUES - VALUES / count.get() as u64,
        }
    }

    pub(super) fn records(self, id: TraceId) -> bool {
        let [.., a, b, c, d, e, f, g] = *id.as_bytes();
        u64::from_be_bytes([0, a, b, c, d, e, f, g]) >= self.threshold
    }
}
