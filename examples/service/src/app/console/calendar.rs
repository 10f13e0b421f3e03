//! Days and instants of the Gregorian calendar, in UTC.

use std::time::{Duration, SystemTime};

/// Seconds of a day.
const DAY: u64 = 86_400;

/// Year, month and day of a number of days since 1970, by the algorithm of Howard Hinnant
/// (<https://howardhinnant.github.io/date_algorithms.html#civil_from_days>).
pub(super) const fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 {
        march_month + 3
    } else {
        march_month - 9
    };
    (year_of_era + era * 400 + (month <= 2) as u64, month, day)
}

/// Number of days from 1970 to a date, by the inverse algorithm. Returns `None` for a date that
/// does not exist or is not in the years 1970 to 2199, which every store can hold.
fn days(year: u64, month: u64, day: u64) -> Option<u64> {
    if !(1970..2200).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let shifted = year - u64::from(month <= 2);
    let (era, of_era) = (shifted / 400, shifted % 400);
    let march_month = if month > 2 { month - 3 } else { month + 9 };
    let of_year = (153 * march_month + 2) / 5 + day - 1;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468;
    (civil(days) == (year, month, day)).then_some(days)
}

/// Reads the value of a field for date and time: `2026-11-22T14:02`, with or without seconds.
pub(super) fn read_field(text: &str) -> Option<SystemTime> {
    let (date, clock) = text.trim().split_once('T')?;
    let [year, month, day] = numbers(date, '-')?;
    let clock = match clock.matches(':').count() {
        1 => format!("{clock}:00"),
        _ => clock.to_owned(),
    };
    let [hour, minute, second] = numbers(&clock, ':')?;
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let seconds = days(year, month, day)? * DAY + hour * 3_600 + minute * 60 + second;
    Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
}

/// Three numbers of at most four digits.
fn numbers(text: &str, separator: char) -> Option<[u64; 3]> {
    let mut parts = text.split(separator).map(|part| {
        let is_number = (2..=4).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse().ok().filter(|_| is_number)
    });
    let numbers = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(numbers)
}

/// Value of a field for date and time, with seconds.
pub(super) fn field(time: SystemTime) -> String {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let (day, second) = (since.as_secs() / DAY, since.as_secs() % DAY);
    let (year, month, day) = civil(day);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}",
        second / 3_600,
        second / 60 % 60,
        second % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_date_and_time_are_read_or_refused() {
        for (text, seconds) in [
            ("1970-01-01T00:00", Some(0)),
            ("2000-02-29T00:00:00", Some(951_782_400)),
            ("2026-11-22T14:02:11", Some(1_795_356_131)),
            (" 2026-11-22T14:02 ", Some(1_795_356_120)),
            ("2025-02-29T00:00", None),
            ("2026-13-01T00:00", None),
            ("2026-00-01T00:00", None),
            ("2026-11-22T24:00", None),
            ("2026-11-22T14:02:11:00", None),
            ("2026-11-22T14", None),
            ("2026-11-22", None),
            ("2026-11-22T+1:02", None),
            ("9999-11-22T14:02", None),
            ("", None),
            ("T", None),
        ] {
            let expected = seconds.map(|seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
            assert_eq!(read_field(text), expected, "{text}");
        }
    }

    #[test]
    fn written_field_is_read_again() {
        for days in 0..80_000 {
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(days * DAY + days);
            assert_eq!(read_field(&field(time)), Some(time), "{}", field(time));
        }
    }
}
