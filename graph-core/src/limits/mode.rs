//! What becomes of an operation above a limit.

/// What becomes of an operation that exceeds a limit.
///
/// The limit of tokens, and what the parser refuses by itself, holds in every mode.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "the three steps of a roll-out")]
pub enum LimitMode {
    /// It is refused.
    #[default]
    Enforce,
    /// It runs, and the [`LimitLog`](super::LimitLog) is told of it: what would a limit refuse?
    Measure,
    /// It runs, the log is told of it, and so is the client, in `extensions.cost` of every answer.
    Report,
}
