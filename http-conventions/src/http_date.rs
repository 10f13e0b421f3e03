//! HTTP-date, [RFC 9110 §5.6.7](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.7), on top of
//! `httpdate`.
//!
//! Adds the leap second `:60`, the sliding century of a two-digit year, and the years before 1970.

use std::time::{Duration, SystemTime};

use http::HeaderValue;

const SECOND: Duration = Duration::from_secs(1);
/// First second of the year 10000, which a four-digit year cannot express.
const END_OF_CALENDAR: u64 = 253_402_300_800;
/// Five times the 146,097 days of the calendar's 400-year cycle.
const TWO_MILLENNIA: Duration = Duration::from_secs(5 * 146_097 * 86_400);
const LONG_WEEKDAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];

/// Formats a time as IMF-fixdate; `None` outside the years 1970 to 9999.
pub(crate) fn header_value(time: SystemTime) -> Option<HeaderValue> {
    format(time).and_then(|text| HeaderValue::try_from(text).ok())
}

/// Parses IMF-fixdate, RFC 850 and asctime dates; `now` decides the century of a two-digit year.
pub(crate) fn parse(value: &[u8], now: SystemTime) -> Option<SystemTime> {
    let text = std::str::from_utf8(value).ok()?.trim_matches([' ', '\t']);
    match text.contains('-') {
        true => parse_rfc850(text, now),
        false => parse_four_digit_year(text),
    }
}

/// The time truncated to whole seconds, the resolution of an HTTP-date.
pub(crate) fn whole_seconds(time: SystemTime) -> SystemTime {
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => SystemTime::UNIX_EPOCH + Duration::from_secs(since.as_secs()),
        Err(_) => time,
    }
}

fn format(time: SystemTime) -> Option<String> {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    (since.as_secs() < END_OF_CALENDAR).then(|| httpdate::fmt_http_date(time))
}

fn parse_four_digit_year(text: &str) -> Option<SystemTime> {
    if let Some((head, tail)) = text.split_once(":60 ") {
        return parse_common_second(&format!("{head}:59 {tail}"))?.checked_add(SECOND);
    }
    parse_common_second(text)
}

fn parse_common_second(text: &str) -> Option<SystemTime> {
    httpdate::parse_http_date(text)
        .ok()
        .or_else(|| parse_before_1970(text))
}

/// Parses the date 2,000 years later, where `httpdate` supports it, and subtracts them. Weekdays
/// agree after 2,000 years.
fn parse_before_1970(text: &str) -> Option<SystemTime> {
    let (head, rest) = text.split_at_checked(match text.len() {
        29 => 12,
        24 => 20,
        _ => return None,
    })?;
    let (year, tail) = rest.split_at_checked(4)?;
    let is_number = year.bytes().all(|byte| byte.is_ascii_digit());
    let year: u16 = year.parse().ok().filter(|year| is_number && *year < 1970)?;
    httpdate::parse_http_date(&format!("{head}{}{tail}", year + 2000))
        .ok()?
        .checked_sub(TWO_MILLENNIA)
}

/// Parses a date such as `Sunday, 06-Nov-94 08:49:37 GMT` as the IMF-fixdate of the right century.
fn parse_rfc850(text: &str, now: SystemTime) -> Option<SystemTime> {
    let (weekday, rest) = text.split_once(", ")?;
    if !LONG_WEEKDAYS.contains(&weekday) {
        return None;
    }
    let mut words = rest.splitn(2, ' ');
    let mut date = words.next()?.splitn(3, '-');
    let (day, month, year) = (date.next()?, date.next()?, date.next()?);
    if year.len() != 2 || !year.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let year = full_year(year.parse().ok()?, now)?;
    let (weekday, time) = (weekday.get(..3)?, words.next()?);
    parse_four_digit_year(&format!("{weekday}, {day} {month} {year:04} {time}"))
}

/// The latest year with these last two digits that is at most 50 years after `now`.
fn full_year(two_digits: u16, now: SystemTime) -> Option<u16> {
    let this_year: u16 = format(now)?.get(12..16)?.parse().ok()?;
    let year = this_year - this_year % 100 + two_digits;
    Some(match year {
        year if year > this_year + 50 => year - 100,
        year if year + 50 <= this_year => year + 100,
        year => year,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: u64 = 784_111_777;

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn the_three_forms_of_the_rfc_name_the_same_second() {
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
        ] {
            assert_eq!(parse(text.as_bytes(), at(EXAMPLE)), Some(at(EXAMPLE)), "{text}");
        }
    }

    #[test]
    fn a_two_digit_year_lies_at_most_fifty_years_ahead() {
        let in_2026 = at(1_790_000_000);
        for (two_digits, year) in [(94, 1994), (26, 2026), (0, 2000), (76, 2076), (77, 1977)] {
            assert_eq!(full_year(two_digits, in_2026), Some(year));
        }
        let in_1994 = at(EXAMPLE);
        for (two_digits, year) in [(94, 1994), (0, 2000), (44, 2044), (45, 1945)] {
            assert_eq!(full_year(two_digits, in_1994), Some(year));
        }
    }

    #[test]
    fn a_leap_second_is_the_second_after() {
        let parsed = parse(b"Sat, 31 Dec 2016 23:59:60 GMT", at(EXAMPLE));
        assert_eq!(parsed, parse(b"Sun, 01 Jan 2017 00:00:00 GMT", at(EXAMPLE)));
        assert!(parsed.is_some());
    }

    #[test]
    fn a_date_before_1970_is_a_date() {
        let second = |text: &str| parse(text.as_bytes(), at(0)).unwrap();
        let last = SystemTime::UNIX_EPOCH - SECOND;
        for text in [
            "Wed, 31 Dec 1969 23:59:59 GMT",
            "Wednesday, 31-Dec-69 23:59:59 GMT",
            "Wed Dec 31 23:59:59 1969",
        ] {
            assert_eq!(second(text), last, "{text}");
        }
        assert_eq!(second("Wed, 31 Dec 1969 23:59:60 GMT"), at(0));
        // 270 years with 65 leap days
        let days = 270 * 365 + 65;
        assert_eq!(
            second("Fri, 01 Jan 1700 00:00:00 GMT"),
            SystemTime::UNIX_EPOCH - SECOND * 86_400 * days
        );
    }

    #[test]
    fn refuses_invalid_dates() {
        for text in [
            "",
            "tomorrow",
            "sun, 06 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37",
            "Sun, 06-Nov-94 08:49:37 GMT",
            "Sunday, 06-Nov-1994 08:49:37 GMT",
            "Sunday, 06-Nov-\u{e9}\u{e9} 08:49:37 GMT",
            "Mon, 06 Nov 1994 08:49:37 GMT",
            "Tue, 31 Dec 1969 23:59:59 GMT",
            "Wed, 31 Dec +969 23:59:59 GMT",
            "Sun, 06 Nov \u{e9}\u{e9} 08:49:37 GMT",
        ] {
            assert_eq!(parse(text.as_bytes(), at(EXAMPLE)), None, "{text}");
        }
    }

    #[test]
    fn times_outside_the_calendar_have_no_header() {
        assert_eq!(header_value(SystemTime::UNIX_EPOCH - SECOND), None);
        assert_eq!(header_value(at(END_OF_CALENDAR)), None);
        assert_eq!(
            header_value(at(END_OF_CALENDAR - 1)).unwrap(),
            "Fri, 31 Dec 9999 23:59:59 GMT"
        );
    }

    proptest::proptest! {
        #[test]
        fn parsing_never_panics(value: Vec<u8>, now in 0_u64..END_OF_CALENDAR) {
            let _ = parse(&value, at(now));
        }

        #[test]
        fn a_written_date_reads_back(seconds in 0_u64..END_OF_CALENDAR) {
            let written = header_value(at(seconds)).unwrap();
            proptest::prop_assert_eq!(parse(written.as_bytes(), at(EXAMPLE)), Some(at(seconds)));
        }
    }
}
