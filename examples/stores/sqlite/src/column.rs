//! Column types: times, durations, numbers and terms.

#[cfg(any(feature = "oauth", feature = "webhooks"))]
use std::any::type_name;
#[cfg(any(feature = "oauth", feature = "webhooks"))]
use std::error::Error;
#[cfg(any(feature = "oauth", feature = "webhooks"))]
use std::fmt;
#[cfg(any(feature = "oauth", feature = "webhooks"))]
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use rusqlite::ToSql;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};
#[cfg(feature = "webhooks")]
use webhook_core::sender::Period;

/// A time as INTEGER nanoseconds since 1970-01-01T00:00:00Z.
///
/// Exact between the years 1677 and 2262; times beyond become the end of that range. In SQL:
/// `datetime(column / 1000000000, 'unixepoch')`.
///
/// # Examples
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use host_store_sqlite::column::Time;
/// use host_store_sqlite::rusqlite::Connection;
///
/// let at = SystemTime::UNIX_EPOCH + Duration::new(1_700_000_000, 123_456_789);
/// let connection = Connection::open_in_memory()?;
/// let Time(back) = connection.query_row("SELECT ?1", [Time(at)], |row| row.get(0))?;
/// assert_eq!(back, at);
/// # Ok::<(), host_store_sqlite::rusqlite::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Time(pub SystemTime);

impl ToSql for Time {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(nanoseconds(self.0)))
    }
}

fn nanoseconds(time: SystemTime) -> i64 {
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_nanos()).unwrap_or(i64::MAX),
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

impl FromSql for Time {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let nanoseconds = i64::column_result(value)?;
        let distance = Duration::from_nanos(nanoseconds.unsigned_abs());
        let time = if nanoseconds < 0 {
            SystemTime::UNIX_EPOCH.checked_sub(distance)
        } else {
            SystemTime::UNIX_EPOCH.checked_add(distance)
        };
        time.map(Self).ok_or(FromSqlError::OutOfRange(nanoseconds))
    }
}

/// A duration as INTEGER nanoseconds, at most 292 years.
#[cfg(any(feature = "conventions", feature = "webhooks"))]
pub(crate) struct Span(pub(crate) Duration);

#[cfg(any(feature = "conventions", feature = "webhooks"))]
impl ToSql for Span {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(
            i64::try_from(self.0.as_nanos()).unwrap_or(i64::MAX),
        ))
    }
}

#[cfg(any(feature = "conventions", feature = "webhooks"))]
impl FromSql for Span {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let nanoseconds = i64::column_result(value)?;
        let length = u64::try_from(nanoseconds).map_err(|_| FromSqlError::OutOfRange(nanoseconds))?;
        Ok(Self(Duration::from_nanos(length)))
    }
}

/// A 64-bit count as INTEGER. Counts from 2^63 on, which the suite never reaches, become negative.
#[cfg(any(feature = "oauth", feature = "webhooks"))]
pub(crate) struct Number(pub(crate) u64);

#[cfg(any(feature = "oauth", feature = "webhooks"))]
impl ToSql for Number {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.0.cast_signed()))
    }
}

#[cfg(any(feature = "oauth", feature = "webhooks"))]
impl FromSql for Number {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        i64::column_result(value).map(|number| Self(number.cast_unsigned()))
    }
}

/// Converts a maximum number of rows to a `LIMIT`.
pub(crate) fn limit(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}

/// A term of the suite's vocabulary as TEXT.
#[cfg(any(feature = "oauth", feature = "webhooks"))]
pub(crate) struct Term<T>(pub(crate) T);

#[cfg(any(feature = "oauth", feature = "webhooks"))]
impl<T: FromStr> FromSql for Term<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let term = value.as_str()?.parse();
        term.map(Self)
            .map_err(|_| FromSqlError::other(NoTerm(type_name::<T>())))
    }
}

/// Error for a stored text that is no value of this type. The text may be a secret, so the parser's
/// message is not passed on.
#[cfg(any(feature = "oauth", feature = "webhooks"))]
#[derive(Clone, Copy, Debug)]
struct NoTerm(&'static str);

#[cfg(any(feature = "oauth", feature = "webhooks"))]
impl fmt::Display for NoTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no {}", self.0)
    }
}

#[cfg(any(feature = "oauth", feature = "webhooks"))]
impl Error for NoTerm {}

#[cfg(test)]
mod tests {
    use rusqlite::types::Value;

    use super::*;

    fn stored(time: SystemTime) -> i64 {
        match Time(time).to_sql().unwrap() {
            ToSqlOutput::Owned(Value::Integer(nanoseconds)) => nanoseconds,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn times_keep_their_nanoseconds_on_both_sides_of_1970() {
        let epoch = SystemTime::UNIX_EPOCH;
        let day = Duration::new(86_400, 1);
        for time in [
            epoch,
            epoch + day,
            epoch - day,
            epoch + Duration::from_nanos(i64::MAX.unsigned_abs()),
        ] {
            let back = Time::column_result(ValueRef::Integer(stored(time))).unwrap();
            assert_eq!(back, Time(time));
        }
    }

    #[test]
    fn times_out_of_range_stand_at_its_end() {
        let centuries = Duration::from_secs(400 * 366 * 86_400);
        assert_eq!(stored(SystemTime::UNIX_EPOCH + centuries), i64::MAX);
        assert_eq!(stored(SystemTime::UNIX_EPOCH - centuries), i64::MIN);
    }
}
