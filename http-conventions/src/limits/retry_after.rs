//! The `Retry-After` field of responses.

use std::time::{Duration, SystemTime};

use http::{
    HeaderMap, HeaderValue,
    header::{DATE, RETRY_AFTER},
};

use crate::http_date;

/// Maximum of a parsed wait, about 68 years: the bound of delta-seconds in [RFC 9111 §1.2.2].
/// Longer waits are reduced to it.
///
/// [RFC 9111 §1.2.2]: https://www.rfc-editor.org/rfc/rfc9111#section-1.2.2
const LONGEST: Duration = Duration::from_secs(1 << 31);

/// Wait of a `Retry-After` field in whole seconds, at least 1.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct RetryAfter(u64);

impl RetryAfter {
    /// Creates a wait, rounded up to whole seconds, at least 1.
    #[must_use]
    pub const fn new(wait: Duration) -> Self {
        let up = wait.as_secs().saturating_add((wait.subsec_nanos() > 0) as u64);
        Self(if up == 0 { 1 } else { up })
    }

    /// Seconds of the wait.
    #[must_use]
    pub const fn seconds(self) -> u64 {
        self.0
    }

    /// Value of the `Retry-After` field in seconds.
    #[must_use]
    pub fn header_value(self) -> HeaderValue {
        HeaderValue::from(self.0)
    }

    /// Sets `Retry-After` and replaces an existing value.
    pub fn apply(self, headers: &mut HeaderMap) {
        headers.insert(RETRY_AFTER, self.header_value());
    }

    /// Parses a received field value. Returns the time to wait from `now` on.
    ///
    /// - Accepts delta-seconds and the three forms of an HTTP-date.
    /// - `0` and a date in the past result in no wait.
    /// - The result is at most 2³¹ seconds, so adding it to the current [`SystemTime`] does not
    ///   overflow.
    ///
    /// # Errors
    ///
    /// [`InvalidRetryAfter`] for any other value. Treat the field as absent.
    pub fn parse(value: &[u8], now: SystemTime) -> Result<Duration, InvalidRetryAfter> {
        let value = value.trim_ascii();
        if !value.is_empty() && value.iter().all(u8::is_ascii_digit) {
            return Ok(delta_seconds(value));
        }
        let date = http_date::parse(value, now).ok_or(InvalidRetryAfter)?;
        Ok(date.duration_since(now).unwrap_or(Duration::ZERO).min(LONGEST))
    }

    /// Wait that the response received at `now` asks for; `None` if the response has no valid
    /// `Retry-After`. If there are several fields, returns the longest wait.
    ///
    /// An HTTP-date is compared with the `Date` of the response, if present, so that clock skew
    /// does not matter.
    #[must_use]
    pub fn from_headers(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
        let answered_at = answered_at(headers, now);
        let waits = headers.get_all(RETRY_AFTER).iter();
        waits
            .filter_map(|value| Self::parse(value.as_bytes(), answered_at).ok())
            .max()
    }
}

/// Time of the response according to its `Date`; `now` if it has none.
pub(crate) fn answered_at(headers: &HeaderMap, now: SystemTime) -> SystemTime {
    let date = headers.get(DATE);
    date.and_then(|date| http_date::parse(date.as_bytes(), now))
        .unwrap_or(now)
}

fn delta_seconds(digits: &[u8]) -> Duration {
    let seconds = digits.iter().fold(0_u64, |sum, digit| {
        sum.saturating_mul(10)
            .saturating_add(u64::from(digit.wrapping_sub(b'0')))
    });
    Duration::from_secs(seconds).min(LONGEST)
}

/// Error for a value that is neither a number of seconds nor an HTTP-date.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("invalid Retry-After")]
pub struct InvalidRetryAfter;

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 784_111_777;

    fn parse(value: &str) -> Option<u64> {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(NOW);
        RetryAfter::parse(value.as_bytes(), now)
            .ok()
            .map(|wait| wait.as_secs())
    }

    /// H15: Retry-After is seconds, rounded up, at least one.
    #[test]
    fn a_wait_is_rounded_up_and_never_zero() {
        for (millis, seconds) in [(0, 1), (1, 1), (999, 1), (1_000, 1), (1_001, 2), (60_000, 60)] {
            assert_eq!(RetryAfter::new(Duration::from_millis(millis)).seconds(), seconds);
        }
        assert_eq!(
            RetryAfter::new(Duration::MAX).header_value(),
            u64::MAX.to_string().as_str()
        );
    }

    /// H16: all forms of Retry-After are parsed.
    #[test]
    fn every_form_is_read() {
        for (value, expected) in [
            ("0", Some(0)),
            ("120", Some(120)),
            (" 007 ", Some(7)),
            ("99999999999999999999999999", Some(1 << 31)),
            ("Sun, 06 Nov 1994 08:50:37 GMT", Some(60)),
            ("Sunday, 06-Nov-94 08:50:37 GMT", Some(60)),
            ("Sun Nov  6 08:50:37 1994", Some(60)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(0)),
            ("Sat, 05 Nov 1994 08:49:37 GMT", Some(0)),
            ("Fri, 31 Dec 9999 23:59:59 GMT", Some(1 << 31)),
            ("", None),
            ("-1", None),
            ("+1", None),
            ("1.5", None),
            ("1,2", None),
            ("soon", None),
        ] {
            assert_eq!(parse(value), expected, "{value}");
        }
    }

    proptest::proptest! {
        #[test]
        fn parsing_never_panics(value: Vec<u8>) {
            let _ = RetryAfter::parse(&value, SystemTime::UNIX_EPOCH + Duration::from_secs(NOW));
        }
    }
}
