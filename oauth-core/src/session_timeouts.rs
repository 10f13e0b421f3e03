use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

/// Timeouts of a session. Default: 30 minutes idle, eight hours in total.
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

    /// Creates timeouts of 30 to 60 minutes idle, and at most [`Self::MAX_ABSOLUTE`] in total.
    ///
    /// # Errors
    ///
    /// [`InvalidTimeout`] outside these ranges, or when `absolute` is shorter than `idle`.
    pub fn new(idle: Duration, absolute: Duration) -> Result<Self, InvalidTimeout> {
        Self::within(30 * MINUTE, 60 * MINUTE, idle, absolute)
    }

    /// Creates timeouts of 5 to 15 minutes idle, for applications with high risk.
    ///
    /// # Errors
    ///
    /// See [`Self::new`].
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

/// The timeout is outside the allowed range.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("timeout outside the allowed range")]
#[non_exhaustive]
pub struct InvalidTimeout;

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// S2, 105: 30 to 60 minutes idle, 5 to 15 for high risk, and eight hours in total.
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
