//! Conversion of column values: times, durations, numbers and terms.

#[cfg(any(feature = "oauth", feature = "webhooks"))]
use std::any::type_name;
#[cfg(any(feature = "conventions", feature = "oauth", feature = "webhooks"))]
use std::error::Error;
#[cfg(any(feature = "oauth", feature = "webhooks"))]
use std::str::FromStr;
use std::time::{Duration, SystemTime};

#[cfg(feature = "webhooks")]
use webhook_core::sender::Period;

use crate::database::DatabaseError;

/// Converts a time to nanoseconds since 1970: exact between the years 1677 and 2262. Times beyond
/// become the end of that range.
pub(crate) fn nanoseconds(time: SystemTime) -> i64 {
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => span(since),
        Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |n| -n),
    }
}

/// First and last instant of a period, both included, as columns.
#[cfg(feature = "webhooks")]
pub(crate) fn instants(period: &Period) -> (i64, i64) {
    (
        period.from.map_or(i64::MIN, nanoseconds),
        period
            .before
            .map_or(i64::MAX, |before| nanoseconds(before).saturating_sub(1)),
    )
}

/// Reverses [`nanoseconds`].
pub(crate) fn time(nanoseconds: i64) -> Result<SystemTime, DatabaseError> {
    let distance = Duration::from_nanos(nanoseconds.unsigned_abs());
    let time = if nanoseconds < 0 {
        SystemTime::UNIX_EPOCH.checked_sub(distance)
    } else {
        SystemTime::UNIX_EPOCH.checked_add(distance)
    };
    time.ok_or_else(|| DatabaseError::corrupt("a time out of range"))
}

/// Converts a duration to nanoseconds, at most 292 years.
pub(crate) fn span(length: Duration) -> i64 {
    i64::try_from(length.as_nanos()).unwrap_or(i64::MAX)
}

/// Reverses [`span`].
#[cfg(feature = "webhooks")]
pub(crate) fn length(nanoseconds: i64) -> Result<Duration, DatabaseError> {
    Ok(Duration::from_nanos(number(nanoseconds)?))
}

/// Converts a column to an unsigned number.
#[cfg(any(feature = "conventions", feature = "oauth", feature = "webhooks"))]
pub(crate) fn number<N>(stored: i64) -> Result<N, DatabaseError>
where
    N: TryFrom<i64, Error: Error + Send + Sync + 'static>,
{
    stored.try_into().map_err(DatabaseError::corrupt)
}

/// Converts a maximum number of rows to a `LIMIT`.
pub(crate) fn limit(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}

/// Parses a term of the suite's vocabulary.
///
/// The parser's error may quote the stored value, so it is not passed on.
#[cfg(any(feature = "oauth", feature = "webhooks"))]
pub(crate) fn term<T: FromStr>(stored: &str) -> Result<T, DatabaseError> {
    let no_term = |_| DatabaseError::corrupt(format!("no {}", type_name::<T>()));
    stored.parse().map_err(no_term)
}

/// Converts bytes to text. The error of `String` contains all bytes, so it is not passed on.
#[cfg(feature = "webhooks")]
pub(crate) fn text(stored: Vec<u8>) -> Result<String, DatabaseError> {
    String::from_utf8(stored).map_err(|error| DatabaseError::corrupt(error.utf8_error()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_keep_their_nanoseconds_on_both_sides_of_1970() {
        let epoch = SystemTime::UNIX_EPOCH;
        let day = Duration::new(86_400, 1);
        for at in [
            epoch,
            epoch + day,
            epoch - day,
            epoch + Duration::from_nanos(i64::MAX.unsigned_abs()),
        ] {
            assert_eq!(time(nanoseconds(at)).unwrap(), at);
        }
    }

    #[test]
    fn times_out_of_range_stand_at_its_end() {
        let centuries = Duration::from_secs(400 * 366 * 86_400);
        assert_eq!(nanoseconds(SystemTime::UNIX_EPOCH + centuries), i64::MAX);
        assert_eq!(nanoseconds(SystemTime::UNIX_EPOCH - centuries), i64::MIN);
    }

    #[cfg(feature = "webhooks")]
    #[test]
    fn a_number_that_nobody_wrote_is_corrupt() {
        assert!(number::<u64>(-1).is_err());
        assert!(number::<u32>(1 << 32).is_err());
        assert!(length(-1).is_err());
        assert_eq!(number::<u64>(i64::MAX).unwrap(), i64::MAX.unsigned_abs());
    }
}
