//! What the terminal gets to see.

use std::io::{self, ErrorKind, IsTerminal, Read, Write};
use std::time::{Duration, SystemTime};

use bytes::Bytes;

use crate::{Failure, failed};

/// Colours, where the terminal has them.
#[derive(Clone, Copy)]
pub(crate) enum Colour {
    Red = 31,
    Green = 32,
    Yellow = 33,
    Dim = 2,
}

/// Writes to stdout; a reader that has left, as `head` does, ends the program in peace.
pub(crate) fn text(text: &str) {
    let mut out = io::stdout().lock();
    if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        std::process::exit(i32::from(error.kind() != ErrorKind::BrokenPipe));
    }
}

pub(crate) fn line(line: &str) {
    text(&format!("{line}\n"));
}

/// `text` in a colour, if stdout shows it to somebody who wants it.
pub(crate) fn painted(colour: Colour, text: &str) -> String {
    let refuses = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    if is_dumb || refuses("NO_COLOR") || !io::stdout().is_terminal() {
        return text.to_owned();
    }
    format!("\x1b[{}m{text}\x1b[0m", colour as u8)
}

/// What somebody else wrote, fit for a terminal: no controls, and at most `width` characters.
pub(crate) fn foreign(text: &[u8], width: usize) -> String {
    let text = String::from_utf8_lossy(text);
    let visible = |c: char| {
        if c.is_control() || is_reordering(c) {
            '\u{fffd}'
        } else {
            c
        }
    };
    let mut shown: String = text.chars().take(width).map(visible).collect();
    if text.chars().nth(width).is_some() {
        shown.pop();
        shown.push('…');
    }
    shown
}

/// Characters that make a terminal show others in another order.
fn is_reordering(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// All of stdin.
pub(crate) fn stdin() -> Result<Bytes, Failure> {
    let mut body = Vec::new();
    io::stdin().lock().read_to_end(&mut body).map_err(failed)?;
    Ok(body.into())
}

/// A time as `2026-11-21T09:30:00Z`.
pub(crate) fn time(time: SystemTime) -> String {
    let seconds = time
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs();
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // days since 0000-03-01, in eras of 400 years
    let days = days + 719_468;
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
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// A line on stderr that overwrites itself; silent unless somebody watches.
pub(crate) struct Progress(bool);

impl Progress {
    pub(crate) fn new() -> Self {
        Self(io::stderr().is_terminal())
    }

    pub(crate) fn show(&self, text: &str) {
        self.write(&format!("\r\x1b[K{text}"));
    }

    pub(crate) fn clear(&self) {
        self.write("\r\x1b[K");
    }

    fn write(&self, text: &str) {
        if self.0 {
            // progress that cannot be shown is no failure
            io::stderr().lock().write_all(text.as_bytes()).ok();
        }
    }
}

/// A duration to the millisecond.
pub(crate) fn duration(duration: Duration) -> String {
    if duration < Duration::from_secs(1) {
        format!("{} ms", duration.as_millis())
    } else {
        format!("{:.1} s", duration.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_utc() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_700_000_000, "2023-11-14T22:13:20Z"),
            (4_107_542_399, "2100-02-28T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(
                time(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)),
                expected
            );
        }
    }

    #[test]
    fn what_others_wrote_cannot_steer_the_terminal() {
        assert_eq!(
            foreign(b"a\x1b[2J\r\n\x07b", 20),
            "a\u{fffd}[2J\u{fffd}\u{fffd}\u{fffd}b"
        );
        assert_eq!(foreign("a\u{202e}b".as_bytes(), 20), "a\u{fffd}b");
        assert_eq!(foreign(b"abcdef", 4), "abc…");
        assert_eq!(foreign(b"abcd\xff", 5), "abcd\u{fffd}");
    }
}
