//! Output to the terminal.

use std::error::Error;
use std::io::{self, ErrorKind, IsTerminal, Read, Write};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use webhook_core::signature::scheme::TimeUnit;

use crate::{Failure, caused, failed};

/// Size limit of a body that is read; receivers have far smaller limits.
const MAX_BODY: usize = 64 << 20;

/// Colours, for terminals that support them.
#[derive(Clone, Copy)]
pub(crate) enum Colour {
    Red = 31,
    Green = 32,
    Yellow = 33,
    Dim = 2,
}

/// Writes to stdout. If the reader has closed the pipe, as `head` does, the program ends with
/// success.
pub(crate) fn text(text: &str) {
    let mut out = io::stdout().lock();
    if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        std::process::exit(i32::from(error.kind() != ErrorKind::BrokenPipe));
    }
}

pub(crate) fn line(line: &str) {
    text(&format!("{line}\n"));
}

/// Escapes an argument for a message; `…` replaces an argument that may contain a secret.
pub(crate) fn word(word: &str) -> String {
    let is_secret = ["whsec_", "whsk_", "text:"]
        .iter()
        .any(|form| word.contains(form));
    if is_secret {
        "…".to_owned()
    } else {
        foreign(word.as_bytes(), 200)
    }
}

/// Writes a line to stderr; a closed stderr is ignored.
pub(crate) fn complaint(line: &str) {
    io::stderr().lock().write_all(format!("{line}\n").as_bytes()).ok();
}

/// Returns `text` in a colour, if stdout is a terminal that permits it.
pub(crate) fn painted(colour: Colour, text: &str) -> String {
    let refuses = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if is_dumb() || refuses("NO_COLOR") || !is_watched() {
        return text.to_owned();
    }
    format!("\x1b[{}m{text}\x1b[0m", colour as u8)
}

/// Returns `true` if stdout is a terminal.
pub(crate) fn is_watched() -> bool {
    io::stdout().is_terminal()
}

fn is_dumb() -> bool {
    std::env::var_os("TERM").is_none_or(|term| term == "dumb")
}

/// Escapes untrusted text for a terminal: no control characters, at most `width` characters.
pub(crate) fn foreign(text: &[u8], width: usize) -> String {
    let text = String::from_utf8_lossy(text);
    let visible = |c: char| {
        if c.is_control() || is_deceptive(c) {
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

/// Returns `true` for characters that a terminal hides or that move others:
/// `Default_Ignorable_Code_Point` of Unicode 16, line and paragraph separators, and format controls
/// without a glyph.
fn is_deceptive(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{13430}'..='\u{1343f}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Formats an error with its causes, escaped: some contain text of the peer, such as certificate
/// names.
pub(crate) fn chain(error: &(dyn Error + 'static)) -> String {
    foreign(program::in_one_line(error).as_bytes(), 400)
}

/// Reads all of stdin, up to the size limit of a body.
pub(crate) fn stdin() -> Result<Bytes, Failure> {
    let stdin = io::stdin().lock();
    if stdin.is_terminal() {
        complaint("the body is read from the terminal, up to Ctrl-D");
    }
    let mut body = Vec::new();
    let limit = MAX_BODY as u64 + 1;
    stdin.take(limit).read_to_end(&mut body).map_err(caused)?;
    if body.len() > MAX_BODY {
        return Err(failed(format!("the body is larger than {} MiB", MAX_BODY >> 20)));
    }
    Ok(body.into())
}

/// Formats a time as `2026-11-21T09:30:00Z`.
pub(crate) fn time(time: SystemTime) -> String {
    TimeUnit::Rfc3339.write(time)
}

/// Formats a time as `09:30:00`, in UTC.
pub(crate) fn time_of_day(moment: SystemTime) -> String {
    let text = time(moment);
    text.split_once('T')
        .map_or_else(String::new, |(_, time)| time.trim_end_matches('Z').to_owned())
}

/// Line on stderr that is overwritten by the next one; shown only on a terminal.
pub(crate) struct Progress(bool);

impl Progress {
    pub(crate) fn new() -> Self {
        Self(io::stderr().is_terminal() && !is_dumb())
    }

    pub(crate) fn show(&self, text: &str) {
        // line wrapping is off: of a wrapped line only the last row could be overwritten
        self.write(&format!("\r\x1b[?7l{text}\x1b[K\x1b[?7h"));
    }

    pub(crate) fn clear(&self) {
        self.write("\r\x1b[K");
    }

    fn write(&self, text: &str) {
        if self.0 {
            // a closed stderr is ignored
            io::stderr().lock().write_all(text.as_bytes()).ok();
        }
    }
}

/// Formats a duration in milliseconds.
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
        let moment = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        assert_eq!(time(moment), "2023-11-14T22:13:20Z");
        assert_eq!(time_of_day(moment), "22:13:20");
    }

    #[test]
    fn what_others_wrote_cannot_steer_the_terminal() {
        assert_eq!(
            foreign(b"a\x1b[2J\r\n\x07b", 20),
            "a\u{fffd}[2J\u{fffd}\u{fffd}\u{fffd}b"
        );
        for deceptive in [
            "\u{202e}",
            "\u{61c}",
            "\u{200b}",
            "\u{2028}",
            "\u{9b}",
            "\u{e0041}",
            "\u{feff}",
            "\u{34f}",
            "\u{3164}",
            "\u{ffa0}",
            "\u{fe0f}",
            "\u{1d173}",
            "\u{e0100}",
            "\u{13430}",
        ] {
            assert_eq!(foreign(format!("a{deceptive}b").as_bytes(), 20), "a\u{fffd}b");
        }
        assert_eq!(foreign(b"abcdef", 4), "abc…");
        assert_eq!(foreign(b"abcd\xff", 5), "abcd\u{fffd}");
    }
}
