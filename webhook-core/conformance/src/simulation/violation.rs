//! Invariants and their violations.

use std::fmt;

/// Invariant of every run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Invariant {
    /// Each delivery of a confirmed event ends acknowledged and in its receiver's queue, or visibly
    /// failed.
    NothingIsLost,
    /// Each lease sends at most one request, while it is valid. The counted attempts do not exceed
    /// the schedule, which a replay restarts, and no lease is lost without a fault.
    AttemptsAreBounded,
    /// No delivery is leased before it is due, or before the end of its receiver's `Retry-After`.
    NeverTooEarly,
    /// Only the latest lease can be settled, and only once, except late acknowledgements of a live
    /// delivery.
    OneFenceSettles,
    /// A receiver queues an event once within its memory.
    ProcessedOnce,
    /// Signatures verify throughout every rotation.
    SecretsOverlap,
    /// A healthy endpoint gets its events within the bound, also while another endpoint hangs.
    HealthyIsServed,
    /// A delivery that crashes its dispatchers is quarantined after five lost leases. At most one
    /// other delivery is quarantined per three faults that no delivery caused.
    OnlyCrashersAreQuarantined,
    /// After the end of all faults the run comes to an end.
    EverythingEnds,
    /// An endpoint gets events from before its registration only on request.
    NoUnrequestedDeliveries,
    /// No receiver gets an event of another tenant.
    TenantsAreSeparate,
    /// A dispatcher that stopped on request has no running exchanges and does no further work.
    StoppedDispatcherIsIdle,
}

/// Run that violated an invariant.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Violation {
    /// Seed of the run.
    pub seed: u64,
    /// Violated invariant.
    pub invariant: Invariant,
    /// Description of the violation, for people to read.
    pub details: String,
    /// Trace of the run, one line per event.
    pub trace: Vec<String>,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.trace {
            writeln!(f, "{line}")?;
        }
        write!(f, "seed {}: {:?}: {}", self.seed, self.invariant, self.details)
    }
}

impl std::error::Error for Violation {}

/// Violation, as the monitor reports it.
#[derive(Debug)]
pub(super) struct Broken(pub(super) Invariant, pub(super) String);

pub(super) type Checked = Result<(), Broken>;

/// Returns an error unless `holds`.
pub(super) fn check(holds: bool, invariant: Invariant, what: impl FnOnce() -> String) -> Checked {
    if holds {
        Ok(())
    } else {
        Err(Broken(invariant, what()))
    }
}
