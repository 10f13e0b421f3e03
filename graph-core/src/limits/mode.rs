//! Modes of the limits.

/// Effect of an exceeded limit.
///
/// The mode applies to depth, cost, aliases and root fields. The other limits and the
/// [fixed limits](super) are enforced in every mode.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "the three steps of a roll-out")]
pub enum LimitMode {
    /// The operation is refused.
    #[default]
    Enforce,
    /// The operation runs, and the [`LimitLog`](super::LimitLog) receives the exceeded limits. For
    /// testing new limits.
    Measure,
    /// Like [`Measure`](Self::Measure). In addition, the response to each query or mutation that
    /// starts contains `extensions.cost`.
    Report,
}
