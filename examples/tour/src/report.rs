//! Output of the tour: one aligned line per step, coloured on a terminal.

use std::fmt::{Debug, Display};
use std::io::{IsTerminal, Write};
use std::ops::Range;

use super::record;

/// Result of a passed step: the request, the response, and a value for later steps.
#[derive(Debug)]
pub(super) struct Found<T> {
    sent: String,
    got: String,
    value: T,
}

impl<T> Found<T> {
    /// The value for later steps, if the step is a part of another.
    pub(super) fn into_value(self) -> T {
        self.value
    }
}

/// Result of a failed step.
#[derive(Debug)]
pub(super) struct Mismatch {
    sent: String,
    expected: String,
    got: String,
}

/// Marks the end of the tour after a failed step, which is printed.
#[derive(Debug)]
pub(super) struct Stopped;

pub(super) type Step<T = ()> = Result<Found<T>, Mismatch>;

/// A passed step with a value for later steps.
#[expect(clippy::unnecessary_wraps, reason = "every step returns it as its result")]
pub(super) fn found<T>(sent: impl Display, got: impl Display, value: T) -> Step<T> {
    Ok(Found {
        sent: sent.to_string(),
        got: got.to_string(),
        value,
    })
}

/// A passed step.
pub(super) fn passed(sent: impl Display, got: impl Display) -> Step {
    found(sent, got, ())
}

pub(super) fn mismatch(sent: impl Display, expected: impl Display, got: impl Display) -> Mismatch {
    Mismatch {
        sent: sent.to_string(),
        expected: expected.to_string(),
        got: got.to_string(),
    }
}

/// Fails the step unless `value` is `expected`.
#[expect(clippy::needless_pass_by_value, reason = "most callers pass temporary values")]
pub(super) fn expect<T: PartialEq + Debug>(
    sent: &str,
    what: &str,
    value: T,
    expected: T,
) -> Result<(), Mismatch> {
    if value == expected {
        return Ok(());
    }
    Err(mismatch(
        sent,
        format_args!("{what} {expected:?}"),
        format_args!("{value:?}"),
    ))
}

/// The steps under one title.
pub(super) struct Chapter {
    pub(super) title: String,
    pub(super) steps: Vec<StepLine>,
}

/// A step as it was printed.
pub(super) struct StepLine {
    pub(super) number: usize,
    pub(super) name: String,
    pub(super) sent: String,
    pub(super) got: String,
    /// `None` if the step passed.
    pub(super) expected: Option<String>,
    /// Indices of its exchanges in the recording.
    pub(super) exchanges: Range<usize>,
}

/// Counts and prints the steps.
pub(super) struct Report<W> {
    out: W,
    colour: bool,
    steps: usize,
    passed: usize,
    /// Number of recorded exchanges at the end of the last step.
    exchanges: usize,
    chapters: Vec<Chapter>,
}

impl Report<std::io::Stdout> {
    pub(super) fn on_stdout() -> Self {
        let out = std::io::stdout();
        let colour = out.is_terminal() && std::env::var_os("NO_COLOR").is_none();
        Self::new(out, colour)
    }
}

impl<W: Write> Report<W> {
    pub(super) fn new(out: W, colour: bool) -> Self {
        Self {
            out,
            colour,
            steps: 0,
            passed: 0,
            exchanges: 0,
            chapters: Vec::new(),
        }
    }

    pub(super) fn chapters(&self) -> &[Chapter] {
        &self.chapters
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.colour {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    /// Prints a line. If the reader closed the pipe, the tour continues without output.
    fn line(&mut self, text: &str) {
        let _closed = writeln!(self.out, "{text}");
    }

    pub(super) fn chapter(&mut self, title: &str) {
        self.chapters.push(Chapter {
            title: title.to_owned(),
            steps: Vec::new(),
        });
        let title = self.paint("1", title);
        self.line(&format!("\n{title}"));
    }

    /// Prints the step and returns its value.
    pub(super) fn step<T>(&mut self, name: &str, step: Step<T>) -> Result<T, Stopped> {
        self.steps += 1;
        let number = self.paint("2", &format!("{:>3}", self.steps));
        match step {
            Ok(Found { sent, got, value }) => {
                self.passed += 1;
                let mark = self.paint("32", "✓");
                let painted = self.paint("2", &sent);
                self.line(&format!("{number} {mark} {name:<42} {painted} → {got}"));
                self.keep(name, sent, got, None);
                Ok(value)
            }
            Err(Mismatch { sent, expected, got }) => {
                let mark = self.paint("31", "✗");
                self.line(&format!("{number} {mark} {name:<42} {sent}"));
                self.line(&format!("      expected {expected}"));
                self.line(&format!("      got      {got}"));
                // these texts may quote a response
                let mask = |text: String| record::mask_secrets(text.as_bytes());
                self.keep(name, sent, mask(got), Some(mask(expected)));
                Err(Stopped)
            }
        }
    }

    fn keep(&mut self, name: &str, sent: String, got: String, expected: Option<String>) {
        let begin = std::mem::replace(&mut self.exchanges, record::count());
        let step = StepLine {
            number: self.steps,
            name: name.to_owned(),
            sent,
            got,
            expected,
            exchanges: begin..self.exchanges,
        };
        if let Some(chapter) = self.chapters.last_mut() {
            chapter.steps.push(step);
        }
    }

    /// Prints the summary. Returns `true` if every step passed.
    pub(super) fn end(&mut self) -> bool {
        let all = self.passed == self.steps;
        let line = format!("tour: {} steps, {} passed", self.steps, self.passed);
        let line = self.paint(if all { "1;32" } else { "1;31" }, &line);
        self.line(&format!("\n{line}"));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mismatch_prints_what_was_expected_and_fails_the_tour() {
        let mut out = Vec::new();
        let mut report = Report::new(&mut out, false);
        assert!(report.step("discovery", passed("GET /a", "200")).is_ok());
        let wrong: Step = Err(expect("POST /token", "status", 500, 200).unwrap_err());
        assert!(report.step("token", wrong).is_err());
        assert!(!report.end());
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("  1 ✓ discovery"), "{text}");
        assert!(text.contains("expected status 200\n      got      500"), "{text}");
        assert!(text.ends_with("tour: 2 steps, 1 passed\n"), "{text}");
    }
}
