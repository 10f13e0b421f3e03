use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

/// Timeouts of a session. The idle timeout counts from the last use, the absolute timeout from the
/// sign-in. Defaults: 30 minutes and eight hours.
///
/// ```
/// use std::time::Duration;
/// use oauth_core::session::SessionTimeouts;
///
/// let minutes = |count: u64| Duration::from_secs(count * 60);
/// assert!(SessionTimeouts::new(minutes(60), minutes(8 * 60)).is_ok());
/// assert!(SessionTimeouts::new(minutes(120), minutes(8 * 60)).is_err());
/// assert!(SessionTimeouts::high_risk(minutes(5), minutes(60)).is_ok());
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SessionTimeouts {
    idle: Duration,
    absolute: Duration,
}

impl SessionTimeouts {
    /// Maximum of the absolute timeout: eight hours.
    pub const MAX_ABSOLUTE: Duration = Duration::from_secs(8 * 60 * 60);

    /// Creates timeouts. `idle` is 30 to 60 minutes; `absolute` is `idle` to
    /// [`Self::MAX_ABSOLUTE`]. All limits are included.
    ///
    /// # Errors
    ///
    /// [`InvalidTimeout`] outside these ranges.
    pub fn new(idle: Duration, absolute: Duration) -> Result<Self, InvalidTimeout> {
        Self::within(30 * MINUTE, 60 * MINUTE, idle, absolute)
    }

    /// Creates timeouts for applications with high risk. `idle` is 5 to 15 minutes; `absolute` is
    /// `idle` to [`Self::MAX_ABSOLUTE`].
    ///
    /// # Errors
    ///
    /// [`InvalidTimeout`] outside these ranges.
    pub fn high_risk(idle: Duration, absolute: Duration) -> Result<Self, InvalidTimeout> {
        Self::within(5 * MINUTE, 15 * MINUTE, idle, absolute)
    }

    fn within(
        shortest: Duration,
        longest: Duration,
        idle: Duration,
        absolute: Duration,
    ) -> Result<Self, InvalidTimeout> {
        if (shortest..=longest).contains(&idle) && (idle..=Self::MAX_ABSOLUTE).contains(&absolute) {
            Ok(Self { idle, absolute })
        } else {
            Err(InvalidTimeout)
        }
    }

    /// Returns the idle timeout.
    #[must_use]
    pub const fn idle(self) -> Duration {
        self.idle
    }

    /// Returns the absolute timeout.
    #[must_use]
    pub const fn absolute(self) -> Duration {
        self.absolute
    }
}

impl Default for SessionTimeouts {
    fn default() -> Self {
        Self {
            idle: 30 * MINUTE,
            absolute: Self::MAX_ABSOLUTE,
        }
    }
}

/// A timeout is outside its allowed range.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("timeout outside the allowed range")]
#[non_exhaustive]
pub struct InvalidTimeout;

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// S2, 105: the idle timeout is 30 to 60 minutes, or 5 to 15 for high risk; the absolute
    /// timeout is at most eight hours.
    #[test]
    fn a_session_lasts_up_to_an_idle_hour_and_eight_hours() {
        type Make = fn(Duration, Duration) -> Result<SessionTimeouts, InvalidTimeout>;
        let kinds: [(Make, Duration, Duration); 2] = [
            (SessionTimeouts::new, 30 * MINUTE, 60 * MINUTE),
            (SessionTimeouts::high_risk, 5 * MINUTE, 15 * MINUTE),
        ];
        let longest = SessionTimeouts::MAX_ABSOLUTE;
        for (make, shortest_idle, longest_idle) in kinds {
            for idle in [shortest_idle, longest_idle] {
                let timeouts = make(idle, longest).unwrap();
                assert_eq!((timeouts.idle(), timeouts.absolute()), (idle, longest));
                assert!(make(idle, idle).is_ok());
                assert_eq!(make(idle, idle - SECOND), Err(InvalidTimeout));
                assert_eq!(make(idle, longest + SECOND), Err(InvalidTimeout));
            }
            assert_eq!(make(shortest_idle - SECOND, longest), Err(InvalidTimeout));
            assert_eq!(make(longest_idle + SECOND, longest), Err(InvalidTimeout));
        }
        let default = SessionTimeouts::default();
        assert_eq!(
            SessionTimeouts::new(default.idle(), default.absolute()),
            Ok(default)
        );
    }
}
