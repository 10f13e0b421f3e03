//! Units of timestamps.

use std::time::SystemTime;

use super::TimeUnit;
use crate::event::Timestamp;

const SECONDS_PER_DAY: i64 = 86_400;

impl TimeUnit {
    /// Parses a timestamp; fractions of a second are dropped.
    pub(crate) fn parse(self, text: &str) -> Option<Timestamp> {
        match self {
            Self::Seconds => text.parse().ok(),
            Self::Milliseconds => {
                let is_canonical = !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit());
                let milliseconds: u64 = text.parse().ok().filter(|_| is_canonical)?;
                Timestamp::from_seconds(milliseconds / 1000)
            }
            Self::Rfc3339 => rfc3339(text),
        }
    }
}

impl TimeUnit {
    /// Writes a time in this unit, in UTC. Fractions of a second are dropped.
    #[must_use]
    pub fn write(self, time: SystemTime) -> String {
        let seconds = Timestamp::from(time).as_seconds();
        match self {
            Self::Seconds => seconds.to_string(),
            Self::Milliseconds => format!("{seconds}000"),
            Self::Rfc3339 => {
                let (year, month, day) = date(seconds / 86_400);
                let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
                format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
            }
        }
    }
}

/// Year, month and day of the date `days_from_1970` days after 1970-01-01.
fn date(days_from_1970: u64) -> (u64, u64, u64) {
    // days since 0000-03-01, in eras of 400 years
    let days = days_from_1970 + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_based = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_based + 2) / 5 + 1;
    let month = if march_based < 10 {
        march_based + 3
    } else {
        march_based - 9
    };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

/// Parses `1985-04-12T23:20:50.52Z` or a time with an offset (RFC 3339 §5.6).
fn rfc3339(text: &str) -> Option<Timestamp> {
    let (date, rest) = text.split_at_checked(10)?;
    let rest = rest.strip_prefix(['T', 't'])?;
    let (time, rest) = rest.split_at_checked(8)?;
    let digits = |text: &str| -> Option<i64> {
        let are_digits = text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|_| are_digits)
    };
    let [year, month, day] = split(date, '-', [4, 2, 2])?.map(digits);
    let [hour, minute, second] = split(time, ':', [2, 2, 2])?.map(digits);
    let (month, day) = (month?, day?);
    let (hour, minute, second) = (hour?, minute?, second?);
    let is_valid = (1..=12).contains(&month)
        && (1..=days_in(year?, month)).contains(&day)
        && (0..24).contains(&hour)
        && (0..60).contains(&minute)
        // 60 is a leap second
        && (0..=60).contains(&second);
    let local = (days_from_1970(year?, month, day) * SECONDS_PER_DAY) + hour * 3600 + minute * 60 + second;
    let offset = offset(fraction(rest)?)?;
    let seconds = u64::try_from(local - offset).ok()?;
    Timestamp::from_seconds(seconds).filter(|_| is_valid)
}

/// The three numbers of a date or a time, with these lengths.
fn split(text: &str, separator: char, lengths: [usize; 3]) -> Option<[&str; 3]> {
    let mut parts = text.split(separator);
    let found = [parts.next()?, parts.next()?, parts.next()?];
    let fits = parts.next().is_none() && found.map(str::len) == lengths;
    fits.then_some(found)
}

/// Text after the optional fraction of a second; `None` if the fraction has no digit.
fn fraction(text: &str) -> Option<&str> {
    let Some(digits) = text.strip_prefix('.') else {
        return Some(text);
    };
    let rest = digits.trim_start_matches(|c: char| c.is_ascii_digit());
    (rest.len() < digits.len()).then_some(rest)
}

/// Offset to UTC in seconds.
fn offset(text: &str) -> Option<i64> {
    if matches!(text, "Z" | "z") {
        return Some(0);
    }
    let (sign, rest) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = rest.split_once(':')?;
    let number = |text: &str, below: i64| -> Option<i64> {
        let is_valid = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|number| is_valid && *number < below)
    };
    Some(sign * (number(hours, 24)? * 3600 + number(minutes, 60)? * 60))
}

fn days_in(year: i64, month: i64) -> i64 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 in the Gregorian calendar. Years begin in March, so that the leap day is
/// their last.
fn days_from_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let month = (month + 9) % 12;
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    365 * year + leap_days + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    /// W19: times with fractions and offsets are read; other spellings are refused.
    #[test]
    fn rfc3339_times_are_read() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("2023-11-14T22:13:20Z", Some(1_700_000_000)),
            ("2023-11-14T22:13:20.999999999Z", Some(1_700_000_000)),
            ("2023-11-14T15:13:20-07:00", Some(1_700_000_000)),
            ("2023-11-15T03:43:20+05:30", Some(1_700_000_000)),
            ("2024-02-29T00:00:00Z", Some(1_709_164_800)),
            ("2000-03-01T00:00:00Z", Some(951_868_800)),
            ("2023-02-29T00:00:00Z", None),
            ("2023-13-01T00:00:00Z", None),
            ("2023-11-14T24:00:00Z", None),
            ("2023-11-14 22:13:20Z", None),
            ("2023-11-14T22:13:20", None),
            ("2023-11-14T22:13:20.Z", None),
            ("2023-11-14T22:13:20+5:30", None),
            ("2023-11-14T22:13:+0Z", None),
            ("1969-12-31T23:59:59Z", None),
            ("", None),
        ] {
            let parsed = TimeUnit::Rfc3339.parse(text).map(Timestamp::as_seconds);
            assert_eq!(parsed, expected, "{text}");
        }
    }

    /// W19: a written time is read again.
    #[test]
    fn written_time_is_read_again() {
        for seconds in [
            0,
            951_782_400,
            1_700_000_000,
            1_709_164_799,
            4_107_542_399,
            4_107_542_400,
        ] {
            let timestamp = Timestamp::from_seconds(seconds).unwrap();
            for unit in [TimeUnit::Seconds, TimeUnit::Milliseconds, TimeUnit::Rfc3339] {
                let text = unit.write(timestamp.into());
                // the start of 1970 is written `0000`, which does not parse because of its leading
                // zero
                let is_zero = text.starts_with('0') && unit == TimeUnit::Milliseconds;
                assert_eq!(unit.parse(&text), (!is_zero).then_some(timestamp), "{text}");
            }
        }
        let time = Timestamp::from_seconds(951_782_400).unwrap();
        assert_eq!(TimeUnit::Rfc3339.write(time.into()), "2000-02-29T00:00:00Z");
    }

    /// W19: milliseconds are read in one spelling.
    #[test]
    fn milliseconds_are_read() {
        for (text, expected) in [
            ("1700000000999", Some(1_700_000_000)),
            ("01700000000999", None),
            ("+1700000000999", None),
            ("1700000000.9", None),
            ("", None),
        ] {
            let parsed = TimeUnit::Milliseconds.parse(text).map(Timestamp::as_seconds);
            assert_eq!(parsed, expected, "{text}");
        }
    }
}
