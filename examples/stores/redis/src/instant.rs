//! Times as texts of equal length that sort in their order: numbers in a script would be rounded.

use std::time::{Duration, SystemTime};

/// Encodes a time as twenty digits: nanoseconds since 1970 plus an offset, so that none is
/// negative. Exact between the years 1677 and 2262; times beyond become the end of that range.
pub(crate) fn digits(time: SystemTime) -> String {
    let nanoseconds = match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |n| -n),
    };
    digits_of(nanoseconds)
}

/// Encodes nanoseconds since 1970.
pub(crate) fn digits_of(nanoseconds: i64) -> String {
    format!("{:020}", nanoseconds.cast_unsigned() ^ (1 << 63))
}

/// Decodes nanoseconds since 1970.
#[cfg(any(feature = "conventions", feature = "webhooks"))]
pub(crate) fn number_of(digits: &str) -> Option<i64> {
    let moved: u64 = digits.parse().ok()?;
    Some((moved ^ (1 << 63)).cast_signed())
}

/// Decodes a time.
#[cfg(any(feature = "conventions", feature = "webhooks"))]
pub(crate) fn time_of(digits: &str) -> Option<SystemTime> {
    let nanoseconds = number_of(digits)?;
    let distance = Duration::from_nanos(nanoseconds.unsigned_abs());
    match nanoseconds < 0 {
        true => SystemTime::UNIX_EPOCH.checked_sub(distance),
        false => SystemTime::UNIX_EPOCH.checked_add(distance),
    }
}

/// Milliseconds until the server may expire a key that ends at `end`: rounded up, at most a
/// century.
pub(crate) fn keep(end: SystemTime, now: SystemTime) -> u64 {
    keep_for(end.duration_since(now).unwrap_or_default())
}

/// Milliseconds until the server may expire a key that ends after this time.
pub(crate) fn keep_for(rest: Duration) -> u64 {
    const CENTURY: Duration = Duration::from_secs(100 * 365 * 86_400);
    /// Allowance for a machine whose clock is behind.
    const SKEW: Duration = Duration::from_secs(300);
    let rest = rest.min(CENTURY) + SKEW;
    u64::try_from(rest.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(all(test, feature = "conventions"))]
mod tests {
    use super::*;

    #[test]
    fn digits_are_in_the_order_of_their_times() {
        let epoch = SystemTime::UNIX_EPOCH;
        let day = Duration::from_secs(86_400);
        let tick = Duration::from_nanos(1);
        let centuries = Duration::from_secs(400 * 366 * 86_400);
        let times = [
            epoch - centuries,
            epoch - day,
            epoch - tick,
            epoch,
            epoch + tick,
            epoch + day,
        ];
        let texts: Vec<String> = times.into_iter().chain([epoch + centuries]).map(digits).collect();
        assert!(texts.is_sorted_by(|a, b| a < b), "{texts:?}");
        assert!(texts.iter().all(|text| text.len() == 20));
        assert_eq!(texts.last().unwrap(), "18446744073709551615");
        for time in [epoch - day, epoch - tick, epoch, epoch + tick, epoch + day] {
            assert_eq!(time_of(&digits(time)), Some(time));
        }
        assert_eq!((time_of("18446744073709551616"), time_of("soon")), (None, None));
    }

    #[test]
    fn nothing_is_forgotten_before_its_end() {
        let now = SystemTime::UNIX_EPOCH;
        for rest in [
            Duration::ZERO,
            Duration::from_nanos(1),
            Duration::from_secs(3_600),
        ] {
            assert!(Duration::from_millis(keep(now + rest, now)) > rest);
        }
        assert!(keep(now + Duration::from_secs(u32::MAX.into()) * 100, now) < u64::MAX / 1_000);
        assert!(keep(now, now + Duration::from_secs(1)) > 0);
    }
}
