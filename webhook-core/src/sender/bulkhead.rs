//! Bulkheads: limits on the places of a dispatcher that each group of endpoints may use.
//!
//! A place is one concurrent exchange. An endpoint that hangs holds its places until the deadline
//! of the exchange. So the places of a dispatcher are divided by the [`Standing`] of the endpoints:
//!
//! | standing | last outcome | places |
//! |---|---|---|
//! | [`Answering`](Standing::Answering) | a response of any status within 2 seconds | all; while three quarters of all places are taken, at most a 64th (at least 4) per endpoint |
//! | [`Unproven`](Standing::Unproven) | none yet, a response after more than 2 seconds, or a failure other than a timeout | at most half, together with `Silent`; one per endpoint while half of all places are taken |
//! | [`Silent`](Standing::Silent) | a timeout | at most an eighth, within that half |
//!
//! The outbox stores the standing with the endpoint, so that a restart keeps it.
//!
//! ```
//! use webhook_core::sender::{Places, Standing};
//!
//! let mut places = Places::new(512);
//! assert_eq!((places.bulkheads(16).unproven, places.bulkheads(16).silent), (256, 64));
//! for _ in 0..64 {
//!     places.take(Standing::Silent);
//! }
//! assert_eq!((places.bulkheads(16).unproven, places.bulkheads(16).silent), (192, 0));
//! ```

use std::time::Duration;

use super::{Attempt, AttemptResult, term::terms};
use crate::ports::TransportErrorKind;

/// Longest exchange after which an endpoint counts as [`Standing::Answering`].
const PROMPT: Duration = Duration::from_secs(2);

/// Standing of an endpoint: the bulkhead that its next delivery uses.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Standing {
    /// No outcome yet, a slow response, or a failure other than a timeout.
    #[default]
    Unproven,
    /// The last exchange ended with a response of any status within 2 seconds.
    Answering,
    /// The last exchange timed out.
    Silent,
}

terms!(Standing {
    Unproven => "unproven",
    Answering => "answering",
    Silent => "silent",
});

impl Standing {
    /// Standing of an endpoint after this attempt.
    #[must_use]
    pub fn after(attempt: &Attempt) -> Self {
        match &attempt.result {
            AttemptResult::Answered { .. } if attempt.duration <= PROMPT => Self::Answering,
            AttemptResult::Failed {
                kind: TransportErrorKind::Timeout,
                ..
            } => Self::Silent,
            AttemptResult::Answered { .. } | AttemptResult::Failed { .. } => Self::Unproven,
        }
    }
}

/// Limits of one call of [`Outbox::lease`](super::Outbox::lease), by the standing of the endpoints.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Bulkheads {
    /// Maximum number of leases for endpoints that are not [`Standing::Answering`].
    pub unproven: usize,
    /// Maximum number of leases for [`Standing::Silent`] endpoints. They also count against
    /// `unproven`.
    pub silent: usize,
    /// Maximum number of leased deliveries per endpoint that is not [`Standing::Answering`],
    /// existing leases included.
    pub per_unproven: usize,
}

impl Bulkheads {
    /// No limits.
    pub const OPEN: Self = Self {
        unproven: usize::MAX,
        silent: usize::MAX,
        per_unproven: usize::MAX,
    };

    /// Number of further leases that endpoints of this standing may get.
    #[must_use]
    pub fn room(&self, standing: Standing) -> usize {
        match standing {
            Standing::Answering => usize::MAX,
            Standing::Unproven => self.unproven,
            Standing::Silent => self.silent.min(self.unproven),
        }
    }

    /// Subtracts one lease for an endpoint of this standing.
    pub fn take(&mut self, standing: Standing) {
        if standing != Standing::Answering {
            self.unproven = self.unproven.saturating_sub(1);
        }
        if standing == Standing::Silent {
            self.silent = self.silent.saturating_sub(1);
        }
    }

    /// Maximum number of leased deliveries of one endpoint of this standing.
    #[must_use]
    pub fn per_endpoint(&self, standing: Standing) -> usize {
        match standing {
            Standing::Answering => usize::MAX,
            Standing::Unproven | Standing::Silent => self.per_unproven,
        }
    }
}

/// Places of a dispatcher: the exchanges that may run at the same time.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Places {
    capacity: usize,
    answering: usize,
    unproven: usize,
    silent: usize,
}

impl Places {
    /// Creates places for `capacity` exchanges, all of them free.
    #[must_use]
    pub const fn new(capacity: usize) -> Self {
        Self {
            capacity,
            answering: 0,
            unproven: 0,
            silent: 0,
        }
    }

    /// Takes a place for an endpoint of this standing.
    pub fn take(&mut self, standing: Standing) {
        *self.count(standing) += 1;
    }

    /// Frees a place that was taken under this standing.
    pub fn free(&mut self, standing: Standing) {
        let count = self.count(standing);
        *count = count.saturating_sub(1);
    }

    /// Number of free places.
    #[must_use]
    pub fn room(&self) -> usize {
        self.capacity.saturating_sub(self.taken())
    }

    /// Limits of the next lease. [`Bulkheads::per_unproven`] is `per_endpoint`, or 1 while at least
    /// half of all places are taken.
    #[must_use]
    pub fn bulkheads(&self, per_endpoint: usize) -> Bulkheads {
        // a dispatcher with few places still tries new and silent endpoints
        let silent = (self.capacity / 8).max(1).saturating_sub(self.silent);
        let unproven = self
            .capacity
            .div_ceil(2)
            .saturating_sub(self.unproven + self.silent);
        let is_scarce = self.taken() >= self.capacity.div_ceil(2);
        Bulkheads {
            unproven,
            silent: silent.min(unproven),
            per_unproven: if is_scarce { 1 } else { per_endpoint },
        }
    }

    /// Maximum number of leased deliveries per endpoint: `per_endpoint`. While three quarters of
    /// all places are taken, it is at most a 64th of them, or 4 if that is more.
    ///
    /// If all endpoints that responded until now begin to hang, a quarter of the places remains for
    /// others.
    #[must_use]
    pub fn per_endpoint(&self, per_endpoint: usize) -> usize {
        let is_scarce = self.taken() >= self.capacity - self.capacity / 4;
        if is_scarce {
            per_endpoint.min((self.capacity / 64).max(4))
        } else {
            per_endpoint
        }
    }

    fn taken(&self) -> usize {
        self.answering + self.unproven + self.silent
    }

    fn count(&mut self, standing: Standing) -> &mut usize {
        match standing {
            Standing::Answering => &mut self.answering,
            Standing::Unproven => &mut self.unproven,
            Standing::Silent => &mut self.silent,
        }
    }
}

#[cfg(test)]
mod tests {
    use http::StatusCode;

    use super::*;

    fn attempt(result: AttemptResult, milliseconds: u64) -> Attempt {
        Attempt {
            delivery: crate::sender::DeliveryId {
                event: "evt_1".parse().unwrap(),
                endpoint: "ep_1".parse().unwrap(),
            },
            fence: 1,
            started_at: std::time::SystemTime::UNIX_EPOCH,
            duration: Duration::from_millis(milliseconds),
            result,
        }
    }

    fn answered(status: u16, milliseconds: u64) -> Attempt {
        let status = StatusCode::from_u16(status).unwrap();
        let body = bytes::Bytes::new();
        attempt(AttemptResult::Answered { status, body }, milliseconds)
    }

    /// W27: only a response within 2 seconds, of any status, makes an endpoint `Answering`.
    #[test]
    fn standing_follows_the_last_outcome() {
        for status in [200, 302, 404, 429, 500, 503] {
            assert_eq!(Standing::after(&answered(status, 2_000)), Standing::Answering);
            assert_eq!(Standing::after(&answered(status, 2_001)), Standing::Unproven);
        }
        for kind in TransportErrorKind::ALL {
            let message = String::new();
            let standing = Standing::after(&attempt(AttemptResult::Failed { kind, message }, 1));
            let expected = if kind == TransportErrorKind::Timeout {
                Standing::Silent
            } else {
                Standing::Unproven
            };
            assert_eq!(standing, expected, "{kind}");
        }
    }

    /// W27: unproven and silent endpoints hold at most half of the places, silent ones at most an
    /// eighth.
    #[test]
    fn bulkheads_bound_every_mix_of_endpoints() {
        for capacity in [1, 2, 3, 4, 8, 64, 512] {
            let mut places = Places::new(capacity);
            for turn in 0..capacity * 3 {
                let standing = Standing::ALL[turn % 3];
                let bulkheads = places.bulkheads(16);
                if places.room() > 0 && bulkheads.room(standing) > 0 {
                    places.take(standing);
                }
                assert!(
                    places.unproven + places.silent <= capacity.div_ceil(2),
                    "{places:?}"
                );
                assert!(places.silent <= (capacity / 8).max(1), "{places:?}");
            }
            assert_eq!(places.room(), 0, "answering endpoints use the rest: {places:?}");
        }
    }

    /// W27: if all endpoints that responded until now begin to hang, a quarter of the places
    /// remains.
    #[test]
    fn endpoints_that_begin_to_hang_leave_a_quarter() {
        let mut places = Places::new(512);
        let mut held = [0; 8];
        for turn in 0..512 {
            let endpoint = turn % 8;
            if held[endpoint] < places.per_endpoint(64) {
                held[endpoint] += 1;
                places.take(Standing::Answering);
            }
        }
        assert_eq!(held.iter().sum::<usize>(), 384);
        assert_eq!(places.per_endpoint(64), 8, "another endpoint gets places");
        assert_eq!(places.room(), 128);
    }

    /// W27: an unproven endpoint has one place while half of the places are taken.
    #[test]
    fn unproven_endpoint_has_one_place_while_scarce() {
        let mut places = Places::new(8);
        assert_eq!(places.bulkheads(4).per_unproven, 4);
        for _ in 0..4 {
            places.take(Standing::Answering);
        }
        assert_eq!(places.bulkheads(4).per_unproven, 1);
        places.free(Standing::Answering);
        assert_eq!(places.bulkheads(4).per_unproven, 4);
    }
}
