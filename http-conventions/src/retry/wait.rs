//! The wait that a server asks for, in `Retry-After` and in rate-limit headers.

use std::time::{Duration, SystemTime};

use http::{HeaderMap, HeaderName};

use crate::{
    field,
    limits::{
        RATE_LIMIT, RetryAfter,
        rate_limit::{PLAIN, PREFIXED},
        retry_after::answered_at,
    },
    single_value,
};

/// First value that counts as a Unix time: a wait of 30 years is implausible.
const FIRST_UNIX_TIME: Duration = Duration::from_secs(1_000_000_000);

/// Parses the wait that a response asks for, relative to `now`; `None` if it asks for none.
///
/// The first of these fields that can be parsed counts:
///
/// 1. `Retry-After`.
/// 2. `RateLimit` of draft-ietf-httpapi-ratelimit-headers: the longest `t` among the exhausted
///    quotas (`r=0`).
/// 3. `RateLimit-Reset`, then `X-RateLimit-Reset`: seconds, or a Unix time if the value is
///    1,000,000,000 or more.
///
/// Times are relative to the `Date` of the response, if it has one. Malformed fields and a repeated
/// `…-Reset` are ignored. The wait is capped at 2³¹ seconds.
///
/// ```
/// use std::time::{Duration, SystemTime};
///
/// use http::{HeaderMap, HeaderName, HeaderValue};
/// use http_conventions::retry::parse_wait;
///
/// let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
/// let field = |name, value| {
///     HeaderMap::from_iter([(
///         HeaderName::from_static(name),
///         HeaderValue::from_static(value),
///     )])
/// };
/// for same in [
///     field("retry-after", "30"),
///     field("ratelimit", r#""burst";r=0;t=30, "daily";r=7;t=8000"#),
///     field("ratelimit-reset", "30"),
///     field("x-ratelimit-reset", "1800000030"),
/// ] {
///     assert_eq!(parse_wait(&same, now), Some(Duration::from_secs(30)));
/// }
/// ```
#[must_use]
pub fn parse_wait(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let [_, _, plain_reset] = PLAIN;
    let [_, _, prefixed_reset] = PREFIXED;
    let mut resets = [plain_reset, prefixed_reset].into_iter();
    RetryAfter::from_headers(headers, now)
        .or_else(|| field::members(headers, &RATE_LIMIT).filter_map(used_up).max())
        .or_else(|| resets.find_map(|name| reset(headers, &name, answered_at(headers, now))))
}

/// The `t` of an exhausted quota.
fn used_up(member: &[u8]) -> Option<Duration> {
    let (_, parameters) = field::split_once(member, b';');
    let (mut left, mut time) = (None, None);
    for part in field::split(parameters.unwrap_or_default(), b';') {
        match field::parameter(part) {
            Some((b"r", raw)) => left = seconds(raw),
            Some((b"t", raw)) => time = seconds(raw),
            _ => {}
        }
    }
    time.filter(|_| left == Some(Duration::ZERO))
}

fn reset(headers: &HeaderMap, name: &HeaderName, answered_at: SystemTime) -> Option<Duration> {
    let value = seconds(single_value(headers, name)?.as_bytes())?;
    if value < FIRST_UNIX_TIME {
        return Some(value);
    }
    let at = SystemTime::UNIX_EPOCH.checked_add(value)?;
    Some(at.duration_since(answered_at).unwrap_or(Duration::ZERO))
}

/// Parses digits with the rules of `Retry-After`.
fn seconds(digits: &[u8]) -> Option<Duration> {
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    is_number
        .then(|| RetryAfter::parse(digits, SystemTime::UNIX_EPOCH).ok())
        .flatten()
}
