//! A promise that was broken.

use std::fmt;

/// What must hold in every run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Invariant {
    /// An event whose storing was confirmed ends acknowledged and in its receiver's queue, or visibly failed.
    NothingIsLost,
    /// One request a lease and while it lasts, no more leases that spend an attempt than the schedule and its replays have, and no lease is lost
    /// without a fault.
    AttemptsAreBounded,
    /// Nothing is leased before it is due, or before the moment that its receiver asked for.
    NeverTooEarly,
    /// Only the latest lease can settle, and only once; late acknowledgements of a live delivery excepted.
    OneFenceSettles,
    /// A receiver queues an event once within its memory.
    ProcessedOnce,
    /// What we sign verifies, through every rotation.
    SecretsOverlap,
    /// A healthy endpoint is served within the bound beside one that hangs.
    HealthyIsServed,
    /// A delivery that kills its dispatchers is set aside after five, and no bystander for each three faults of others.
    TheGuiltyAreSetAside,
    /// Given fair time, everything comes to an end.
    EverythingEnds,
    /// An endpoint gets no event from before it came until what it missed is asked for.
    NothingIsUnasked,
    /// Whoever was told to stop leaves nothing under way and does nothing more.
    DrainedIsOver,
}

/// A run that broke an invariant.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Violation {
    /// Which run.
    pub seed: u64,
    /// What did not hold.
    pub invariant: Invariant,
    /// Where, for a person to read.
    pub what: String,
    /// What happened until then, a line each.
    pub trace: Vec<String>,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.trace {
            writeln!(f, "{line}")?;
        }
        write!(f, "seed {}: {:?}: {}", self.seed, self.invariant, self.what)
    }
}

impl std::error::Error for Violation {}

/// An invariant that does not hold, as the monitor says it.
#[derive(Debug)]
pub(super) struct Broken(pub(super) Invariant, pub(super) String);

pub(super) type Checked = Result<(), Broken>;

/// Holds, or says what does not.
pub(super) fn check(holds: bool, invariant: Invariant, what: impl FnOnce() -> String) -> Checked {
    if holds {
        Ok(())
    } else {
        Err(Broken(invariant, what()))
    }
}
