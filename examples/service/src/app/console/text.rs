//! Amounts and times as text for people.

use std::time::{Duration, SystemTime};

use super::calendar::civil;

/// Number of decimal places of a currency.
pub(super) fn places(currency: &str) -> u32 {
    match currency {
        "bif" | "clp" | "djf" | "gnf" | "isk" | "jpy" | "kmf" | "krw" | "pyg" | "rwf" | "ugx" | "vnd"
        | "vuv" | "xaf" | "xof" | "xpf" => 0,
        "bhd" | "iqd" | "jod" | "kwd" | "lyd" | "omr" | "tnd" => 3,
        _ => 2,
    }
}

/// An amount in the smallest unit as text: `€1,284.40`.
pub(super) fn money(units: u64, currency: &str) -> String {
    let number = grouped(units, places(currency));
    match currency {
        "eur" => format!("€{number}"),
        "usd" => format!("${number}"),
        "gbp" => format!("£{number}"),
        "jpy" => format!("¥{number}"),
        other => format!("{} {number}", other.to_uppercase()),
    }
}

/// An amount without its currency and without grouping, for a field: `1284.40`.
pub(super) fn plain(units: u64, currency: &str) -> String {
    grouped(units, places(currency)).replace(',', "")
}

/// Reads what a person typed as an amount, in the smallest unit. Returns `None` for another text,
/// and for more decimal places than the currency has.
pub(super) fn typed(text: &str, currency: &str) -> Option<i64> {
    let places = usize::try_from(places(currency)).ok()?;
    let (whole, rest) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
    let is_number = !whole.is_empty()
        && whole
            .bytes()
            .chain(rest.bytes())
            .all(|byte| byte.is_ascii_digit());
    if !is_number || rest.len() > places {
        return None;
    }
    format!("{whole}{rest:0<places$}").parse().ok()
}

/// Number with a comma between thousands, and with decimal places.
pub(super) fn grouped(units: u64, places: u32) -> String {
    let unit = 10_u64.pow(places);
    let mut whole = String::new();
    let digits = (units / unit).to_string();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            whole.push(',');
        }
        whole.push(digit);
    }
    match usize::try_from(places) {
        Ok(width) if width > 0 => format!("{whole}.{:0width$}", units % unit),
        _ => whole,
    }
}

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

fn since_1970(time: SystemTime) -> Duration {
    time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

/// Midnight before `time`.
pub(super) fn midnight(time: SystemTime) -> SystemTime {
    let since = since_1970(time);
    SystemTime::UNIX_EPOCH + Duration::from_secs(since.as_secs() / 86_400 * 86_400)
}

/// Date and time: `22 Nov 2026, 14:02:11`.
pub(super) fn moment(time: SystemTime) -> String {
    format!("{}, {}", date(time), clock(time))
}

/// Date: `22 Nov 2026`.
pub(super) fn date(time: SystemTime) -> String {
    let (year, month, day) = civil(since_1970(time).as_secs() / 86_400);
    let month = usize::try_from(month - 1)
        .ok()
        .and_then(|month| MONTHS.get(month));
    format!("{day} {} {year}", month.unwrap_or(&""))
}

/// Time of the day: `14:02:11`.
pub(super) fn clock(time: SystemTime) -> String {
    let seconds = since_1970(time).as_secs() % 86_400;
    format!(
        "{:02}:{:02}:{:02}",
        seconds / 3_600,
        seconds / 60 % 60,
        seconds % 60
    )
}

/// Time of the day if it is today, and the date with the time otherwise.
pub(super) fn lately(time: SystemTime, now: SystemTime) -> String {
    if midnight(time) == midnight(now) {
        clock(time)
    } else {
        moment(time)
    }
}

/// Duration in two units: `14 min 20 s`.
pub(super) fn lasting(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match (
        seconds / 86_400,
        seconds / 3_600 % 24,
        seconds / 60 % 60,
        seconds % 60,
    ) {
        (0, 0, 0, seconds) => format!("{seconds} s"),
        (0, 0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (0, hours, minutes, _) => format!("{hours} h {minutes} min"),
        (days, hours, _, _) => format!("{days} d {hours} h"),
    }
}

/// Duration of an exchange: `84 ms` or `1.2 s`.
pub(super) fn took(duration: Duration) -> String {
    match duration.as_millis() {
        0 => "under 1 ms".to_owned(),
        millis @ 1..=9_999 => format!("{millis} ms"),
        _ => lasting(duration),
    }
}

/// Duration of a stage: `0.31 ms`.
pub(super) fn briefly(duration: Duration) -> String {
    let micros = duration.as_micros();
    format!("{}.{:02} ms", micros / 1_000, micros / 10 % 100)
}

/// The beginning of an identifier, for lists.
pub(super) fn short(id: &str) -> String {
    let end = id.char_indices().nth(12).map_or(id.len(), |(end, _)| end);
    match id.get(..end) {
        Some(start) if end < id.len() => format!("{start}…"),
        _ => id.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    /// X9: an amount is shown in the form of its currency.
    #[test]
    fn amounts_have_the_places_of_their_currency() {
        for (units, currency, expected) in [
            (128_440, "eur", "€1,284.40"),
            (5, "usd", "$0.05"),
            (1_000, "jpy", "¥1,000"),
            (1_234, "kwd", "KWD 1.234"),
            (99_999_999, "chf", "CHF 999,999.99"),
        ] {
            assert_eq!(money(units, currency), expected);
        }
    }

    #[test]
    fn typed_amounts_are_read_or_refused() {
        for (text, currency, expected) in [
            ("12.00", "eur", Some(1200)),
            (" 12 ", "eur", Some(1200)),
            ("12.5", "eur", Some(1250)),
            ("0.00", "eur", Some(0)),
            ("12.345", "eur", None),
            ("12", "jpy", Some(12)),
            ("12.0", "jpy", None),
            ("-1", "eur", None),
            ("1e3", "eur", None),
            (".5", "eur", None),
            ("", "eur", None),
            ("99999999999999999999", "eur", None),
        ] {
            assert_eq!(typed(text, currency), expected, "{text} {currency}");
        }
        assert_eq!(typed(&plain(128_440, "eur"), "eur"), Some(128_440));
    }

    #[test]
    fn moments_are_dates_and_times_of_utc() {
        for (seconds, expected) in [
            (0, "1 Jan 1970, 00:00:00"),
            (951_782_400, "29 Feb 2000, 00:00:00"),
            (1_795_356_131, "22 Nov 2026, 14:02:11"),
            (4_107_542_399, "28 Feb 2100, 23:59:59"),
        ] {
            assert_eq!(moment(at(seconds)), expected);
        }
        assert_eq!(lately(at(1_795_356_131), at(1_795_356_132)), "14:02:11");
    }

    #[test]
    fn durations_have_two_units() {
        for (seconds, expected) in [
            (0, "0 s"),
            (860, "14 min 20 s"),
            (3_720, "1 h 2 min"),
            (90_000, "1 d 1 h"),
        ] {
            assert_eq!(lasting(Duration::from_secs(seconds)), expected);
        }
    }
}
