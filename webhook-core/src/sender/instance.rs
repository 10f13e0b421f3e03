//! Instances: the owners of leases, and their heartbeats.
//!
//! A running [`Dispatcher`](super::Dispatcher) is an instance of its outbox. Its leases have no end
//! in time. They are freed when the instance leaves, or when another instance proves that it is
//! dead: its heartbeat counter has not changed for [`SILENCE`] of the observer's monotonic time.
//! Wall clocks are not used, so setting a clock forward or back neither frees nor extends a lease.
//!
//! | method of [`Outbox`](super::Outbox) | called by | when |
//! |---|---|---|
//! | `join` | a dispatcher | before its first lease, and after it was declared dead |
//! | `beat` | a dispatcher | every [`BEAT`] |
//! | `leave` | the instance itself | on a clean stop; its leases are due at once |
//! | `leave` | another instance | when it was silent for [`SILENCE`] |
//!
//! ```
//! use std::time::Duration;
//! use webhook_core::sender::{Heartbeat, InstanceId, Liveness};
//!
//! let mut liveness = Liveness::default();
//! let beat = |counter| [Heartbeat { instance: InstanceId::new(7), counter }];
//! let second = Duration::from_secs(1);
//! for at in (0..9).step_by(2) {
//!     assert!(liveness.observe(&beat(1), second * at).is_empty());
//! }
//! assert_eq!(liveness.observe(&beat(1), second * 10), beat(1));
//! ```

use std::{collections::BTreeMap, fmt, time::Duration};

/// Interval of heartbeats.
pub const BEAT: Duration = Duration::from_secs(2);

/// Time without a heartbeat after which an instance is dead.
pub const SILENCE: Duration = Duration::from_secs(9);

/// Longest time between two observations that still counts as continuous. After a longer gap the
/// observer itself was stalled or cut off, and observes every instance anew.
const LONGEST_GAP: Duration = Duration::from_secs(5);

/// Identifier of a dispatcher instance, assigned by [`Outbox::join`](super::Outbox::join).
///
/// An outbox never assigns an identifier twice.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct InstanceId(u64);

impl InstanceId {
    /// Creates an identifier from the number that the store assigned.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Number that the store assigned.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for InstanceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Heartbeat counter of an instance, as a store reports it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Heartbeat {
    /// Instance that beats.
    pub instance: InstanceId,
    /// Number of its heartbeats. Only a change has a meaning.
    pub counter: u64,
}

/// Reason for which an instance is removed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Departure {
    /// The instance has stopped. Its leases do not count as lost.
    Stopped,
    /// Another instance observed this counter for [`SILENCE`]. The instance is removed only if the
    /// counter is still the same. Each of its leases counts as lost.
    Silent {
        /// Heartbeat counter that did not change.
        counter: u64,
    },
}

/// Observations of other instances by one instance.
#[derive(Clone, Debug, Default)]
pub struct Liveness {
    seen: BTreeMap<InstanceId, Observation>,
    latest: Option<Duration>,
}

#[derive(Clone, Copy, Debug)]
struct Observation {
    counter: u64,
    since: Duration,
}

impl Liveness {
    /// Records the counters of all other instances at the monotonic time `now`; returns those that
    /// have been silent for [`SILENCE`].
    pub fn observe(&mut self, beats: &[Heartbeat], now: Duration) -> Vec<Heartbeat> {
        let is_continuous = self
            .latest
            .is_some_and(|latest| now.saturating_sub(latest) <= LONGEST_GAP);
        self.latest = Some(now);
        let before = std::mem::take(&mut self.seen);
        let mut dead = Vec::new();
        for beat in beats {
            let unchanged = before
                .get(&beat.instance)
                .filter(|seen| is_continuous && seen.counter == beat.counter);
            let since = unchanged.map_or(now, |seen| seen.since);
            let counter = beat.counter;
            self.seen.insert(beat.instance, Observation { counter, since });
            if now.saturating_sub(since) >= SILENCE {
                dead.push(*beat);
            }
        }
        dead
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn beat(instance: u64, counter: u64) -> Heartbeat {
        Heartbeat {
            instance: InstanceId::new(instance),
            counter,
        }
    }

    /// W29: an instance is dead nine seconds after its last change, and not before.
    #[test]
    fn unchanged_counter_is_dead_after_nine_seconds() {
        let mut liveness = Liveness::default();
        for at in [0, 3, 6, 8] {
            assert_eq!(liveness.observe(&[beat(1, 5)], SECOND * at), []);
        }
        assert_eq!(liveness.observe(&[beat(1, 5)], SECOND * 9), [beat(1, 5)]);
    }

    /// W29: any change is a sign of life, also to a lower counter after a restored backup.
    #[test]
    fn any_change_of_the_counter_is_life() {
        let mut liveness = Liveness::default();
        for (at, counter) in [(0, 5), (4, 5), (8, 4), (12, 4), (16, 4)] {
            assert_eq!(liveness.observe(&[beat(1, counter)], SECOND * at), []);
        }
        assert_eq!(liveness.observe(&[beat(1, 4)], SECOND * 17), [beat(1, 4)]);
    }

    /// W29: an observer that was stalled itself, or cut off from the store, declares none dead.
    #[test]
    fn stalled_observer_starts_anew() {
        let mut liveness = Liveness::default();
        assert_eq!(liveness.observe(&[beat(1, 5)], SECOND), []);
        assert_eq!(liveness.observe(&[beat(1, 5)], SECOND * 60), []);
        assert_eq!(liveness.observe(&[beat(1, 5)], SECOND * 64), []);
        assert_eq!(liveness.observe(&[beat(1, 5)], SECOND * 68), []);
        assert_eq!(liveness.observe(&[beat(1, 5)], SECOND * 69), [beat(1, 5)]);
    }

    /// W29: an instance that left is forgotten.
    #[test]
    fn missing_instance_is_forgotten() {
        let mut liveness = Liveness::default();
        liveness.observe(&[beat(1, 5), beat(2, 1)], SECOND);
        liveness.observe(&[beat(2, 2)], SECOND * 3);
        assert_eq!(liveness.seen.len(), 1);
    }
}
