//! Modes of the limits.

/// Effect of exceeding a limit.
///
/// The token limit and the parser's own limits are enforced in every mode.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "the three steps of a roll-out")]
pub enum LimitMode {
    /// The operation is refused.
    #[default]
    Enforce,
    /// The operation runs, and the [`LimitLog`](super::LimitLog) receives the exceeded limits. For
    /// testing new limits.
    Measure,
    /// As [`Measure`](Self::Measure), and every response contains `extensions.cost`.
    Report,
}
