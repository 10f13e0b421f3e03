//! Byte ranges of a content, [RFC 9110 §14](https://www.rfc-editor.org/rfc/rfc9110#section-14).

mod field;
mod response;

use std::ops::RangeInclusive;

use bytes::Bytes;

pub(crate) use self::field::ContentRange;
pub use self::response::ContentPiece;

/// Range of bytes of a content. It has at least one byte and ends within the content.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ByteRange {
    first: u64,
    last: u64,
}

impl ByteRange {
    /// Position of the first byte.
    #[must_use]
    pub const fn first(self) -> u64 {
        self.first
    }

    /// Position of the last byte.
    #[must_use]
    pub const fn last(self) -> u64 {
        self.last
    }

    /// Number of bytes.
    #[must_use]
    pub const fn length(self) -> u64 {
        (self.last - self.first).saturating_add(1)
    }

    /// Returns these bytes of `content` without a copy; `None` if the content is too short.
    #[must_use]
    pub fn slice(self, content: &Bytes) -> Option<Bytes> {
        let positions: RangeInclusive<usize> = self.first.try_into().ok()?..=self.last.try_into().ok()?;
        content.get(positions).map(|part| content.slice_ref(part))
    }
}

/// Decision on a `Range` field.
///
/// ```
/// use http_conventions::content::RangeDecision;
///
/// let decide = |range: &str| RangeDecision::of(range.as_bytes(), 10_000);
/// let RangeDecision::Partial(ranges) = decide("bytes=0-499, 9500-, 200-699") else { panic!() };
/// let ranges: Vec<_> = ranges.iter().map(|range| (range.first(), range.last())).collect();
/// assert_eq!(ranges, [(0, 699), (9500, 9999)]);
/// assert_eq!(decide("bytes=10000-"), RangeDecision::Unsatisfiable);
/// assert_eq!(decide("lines=1-2"), RangeDecision::Whole);
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "the field is ignored, satisfiable, or unsatisfiable"
)]
pub enum RangeDecision {
    /// Ignore the field and send the whole content: 200.
    Whole,
    /// Send these ranges: 206. There is at least one. They do not overlap.
    Partial(Vec<ByteRange>),
    /// No requested byte exists: 416.
    Unsatisfiable,
}

impl RangeDecision {
    /// Decides on the value of a `Range` field for a content of `length` bytes.
    ///
    /// - The field is ignored if its unit is not `bytes`, if it is malformed, or if it has more
    ///   than 32 ranges.
    /// - Ranges beyond the content are left out.
    /// - Ranges that overlap, or are less than 128 bytes apart, become one range, because the head
    ///   of a part takes about 128 bytes. The others keep the order of the field.
    /// - Empty content has no ranges, so the field is ignored.
    ///
    /// # Security
    ///
    /// Many small or overlapping ranges of one content could make a response much larger than the
    /// content ([RFC 9110 §17.15](https://www.rfc-editor.org/rfc/rfc9110#section-17.15)). A
    /// decision has at most 32 ranges, and together they never have more bytes than the content.
    #[must_use]
    pub fn of(range: &[u8], length: u64) -> Self {
        let Some(specs) = field::parse(range).filter(|_| length > 0) else {
            return Self::Whole;
        };
        let ranges = specs.iter().filter_map(|spec| spec.within(length));
        let ranges = field::coalesce(ranges);
        match ranges.is_empty() {
            true => Self::Unsatisfiable,
            false => Self::Partial(ranges),
        }
    }
}
