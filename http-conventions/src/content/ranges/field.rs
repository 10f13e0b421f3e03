//! The fields `Range` and `Content-Range`.

use std::fmt;

use http::HeaderValue;

use super::ByteRange;
use crate::field;

/// Largest number of ranges in one field.
const MOST_RANGES: usize = 32;
/// Bytes that the head of a part takes, about. Ranges with a smaller gap become one.
const OVERHEAD: u64 = 128;
const UNIT: &[u8] = b"bytes";

/// One range of a `Range` field.
///
/// # ABNF
///
/// ```text
/// range-spec   = int-range / suffix-range
/// int-range    = first-pos "-" [ last-pos ]
/// suffix-range = "-" suffix-length
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum RangeSpec {
    From { first: u64, last: u64 },
    Suffix(u64),
}

impl RangeSpec {
    fn parse(text: &[u8]) -> Option<Self> {
        let (first, last) = split(text, b'-')?;
        match (first, last) {
            ([], suffix) => number(suffix).map(Self::Suffix),
            (first, []) => Some(Self::From {
                first: number(first)?,
                last: u64::MAX,
            }),
            (first, last) => {
                let (first, last) = (number(first)?, number(last)?);
                (first <= last).then_some(Self::From { first, last })
            }
        }
    }

    /// Returns the bytes of this range that exist; `None` if there are none.
    pub(super) fn within(self, length: u64) -> Option<ByteRange> {
        let end = length.checked_sub(1)?;
        let (first, last) = match self {
            Self::From { first, last } => (first, last.min(end)),
            Self::Suffix(0) => return None,
            Self::Suffix(suffix) => (length.saturating_sub(suffix), end),
        };
        (first <= last).then_some(ByteRange { first, last })
    }
}

/// Ranges of a field; `None` if the field has another unit, is malformed, or has too many ranges.
pub(super) fn parse(value: &[u8]) -> Option<Vec<RangeSpec>> {
    let (unit, set) = split(value, b'=')?;
    if !unit.eq_ignore_ascii_case(UNIT) {
        return None;
    }
    let mut specs = Vec::new();
    for spec in field::split(set, b',') {
        if specs.len() == MOST_RANGES {
            return None;
        }
        specs.push(RangeSpec::parse(spec)?);
    }
    (!specs.is_empty()).then_some(specs)
}

/// Joins ranges that overlap or nearly touch. A joined range has the position of its first member
/// in the field.
pub(super) fn coalesce(ranges: impl Iterator<Item = ByteRange>) -> Vec<ByteRange> {
    let mut placed: Vec<(usize, ByteRange)> = ranges.enumerate().collect();
    placed.sort_by_key(|(_, range)| range.first);
    let mut joined: Vec<(usize, ByteRange)> = Vec::with_capacity(placed.len());
    for (place, range) in placed {
        match joined.last_mut() {
            Some((first_place, last)) if range.first <= last.last.saturating_add(OVERHEAD) => {
                *first_place = place.min(*first_place);
                last.last = range.last.max(last.last);
            }
            _ => joined.push((place, range)),
        }
    }
    joined.sort_by_key(|(place, _)| *place);
    joined.into_iter().map(|(_, range)| range).collect()
}

/// Value of a `Content-Range` field, [RFC 9110
/// §14.4](https://www.rfc-editor.org/rfc/rfc9110#section-14.4).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct ContentRange {
    /// `None` in a 416.
    pub(crate) range: Option<ByteRange>,
    /// `None` if the length is unknown.
    pub(crate) length: Option<u64>,
}

impl ContentRange {
    pub(crate) fn parse(value: &[u8]) -> Option<Self> {
        let (unit, rest) = split(value, b' ')?;
        let (range, length) = split(rest, b'/')?;
        let length = match length {
            b"*" => None,
            digits => Some(number(digits)?),
        };
        let range = match range {
            b"*" => None,
            range => {
                let (first, last) = split(range, b'-')?;
                let (first, last) = (number(first)?, number(last)?);
                let is_within = first <= last && length.is_none_or(|length| last < length);
                Some(is_within.then_some(ByteRange { first, last })?)
            }
        };
        let is_known = range.is_some() || length.is_some();
        (unit.eq_ignore_ascii_case(UNIT) && is_known).then_some(Self { range, length })
    }

    pub(super) fn header_value(self) -> HeaderValue {
        // digits and punctuation are a valid field value
        HeaderValue::try_from(self.to_string()).unwrap_or(HeaderValue::from_static("bytes */*"))
    }
}

impl fmt::Display for ContentRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.range {
            Some(range) => write!(f, "bytes {}-{}/", range.first, range.last)?,
            None => f.write_str("bytes */")?,
        }
        match self.length {
            Some(length) => write!(f, "{length}"),
            None => f.write_str("*"),
        }
    }
}

/// Parts before and after the first `separator`.
fn split(text: &[u8], separator: u8) -> Option<(&[u8], &[u8])> {
    let (before, after) = text.split_at_checked(text.iter().position(|byte| *byte == separator)?)?;
    Some((before, after.get(1..)?))
}

/// Parses a number of any length. A number above 64 bits becomes `u64::MAX`, which is beyond every
/// content.
fn number(digits: &[u8]) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(digits).ok().filter(|_| is_number)?;
    Some(text.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: &str, expected: Option<&[RangeSpec]>) {
        assert_eq!(parse(value.as_bytes()).as_deref(), expected, "{value}");
    }

    const fn from(first: u64, last: u64) -> RangeSpec {
        RangeSpec::From { first, last }
    }

    /// H32: `Range` has the grammar of the RFC; another field is ignored.
    #[test]
    fn range_has_the_grammar_of_the_rfc() {
        check("bytes=0-499", Some(&[from(0, 499)]));
        check("Bytes=0-0", Some(&[from(0, 0)]));
        check("bytes=-500", Some(&[RangeSpec::Suffix(500)]));
        check("bytes=9500-", Some(&[from(9500, u64::MAX)]));
        check("bytes=0-0,-1", Some(&[from(0, 0), RangeSpec::Suffix(1)]));
        check(
            "bytes= 0-999 ,\t4500-5499,, -1000,",
            Some(&[from(0, 999), from(4500, 5499), RangeSpec::Suffix(1000)]),
        );
        check("bytes=00-007", Some(&[from(0, 7)]));
        let beyond = "9".repeat(40);
        check(
            &format!("bytes={beyond}-{beyond}"),
            Some(&[from(u64::MAX, u64::MAX)]),
        );
        for ignored in [
            "",
            "bytes",
            "bytes=",
            "bytes=,",
            "bytes=-",
            "bytes=1",
            "bytes=2-1",
            "bytes=0-1,2-1",
            "bytes=a-b",
            "bytes=+1-2",
            "bytes=1--2",
            "bytes=--1",
            "bytes=1-2-3",
            "bytes=0 - 1",
            "bytes =0-1",
            " bytes=0-1",
            "bytes:0-1",
            "lines=0-1",
            "none=0-1",
            "bytes=0-1;q=1",
            "bytes=\u{661}-2",
        ] {
            check(ignored, None);
        }
    }

    /// H32: a field with more than 32 ranges is ignored.
    #[test]
    fn number_of_ranges_is_limited() {
        let ranges = |count: usize| format!("bytes={}", vec!["0-"; count].join(","));
        assert_eq!(parse(ranges(32).as_bytes()).map(|specs| specs.len()), Some(32));
        assert_eq!(parse(ranges(33).as_bytes()), None);
    }

    /// H32: `Content-Range` is read by its grammar, and a range beyond the length is invalid.
    #[test]
    fn valid_content_range_round_trips() {
        for value in ["bytes 0-0/1", "bytes 5-9/*", "bytes */0", "bytes 42-1233/1234"] {
            let read = ContentRange::parse(value.as_bytes()).map(|range| range.to_string());
            assert_eq!(read.as_deref(), Some(value));
        }
        for value in [
            "",
            "bytes 0-0",
            "bytes */*",
            "bytes 2-1/9",
            "bytes 0-9/9",
            "bytes=0-0/1",
            "lines 0-0/1",
        ] {
            assert_eq!(ContentRange::parse(value.as_bytes()), None, "{value}");
        }
    }
}
