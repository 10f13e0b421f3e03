use std::time::Duration;

use serde::{Deserialize, Serialize};

const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Lifetime of an access token: 5 to 60 minutes. Default: 10 minutes for JWTs, 15 minutes for
/// opaque tokens. The server accepts at most 15 minutes for JWTs.
///
/// ```
/// use std::time::Duration;
/// use oauth_core::grant::AccessTokenLifetime;
///
/// assert!(AccessTokenLifetime::new(Duration::from_secs(15 * 60)).is_ok());
/// assert!(AccessTokenLifetime::new(Duration::from_secs(24 * 60 * 60)).is_err());
/// ```
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "Duration", into = "Duration")]
pub struct AccessTokenLifetime(Duration);

impl AccessTokenLifetime {
    /// Shortest lifetime: five minutes.
    pub const MIN: Duration = Duration::from_secs(5 * 60);
    /// Longest lifetime: one hour.
    pub const MAX: Duration = Duration::from_secs(60 * 60);
    pub(crate) const DEFAULT: Self = Self(Duration::from_secs(10 * 60));
    pub(crate) const DEFAULT_OPAQUE: Self = Self(Duration::from_secs(15 * 60));

    /// Creates a lifetime within the range.
    ///
    /// # Errors
    ///
    /// [`InvalidLifetime`] outside [`Self::MIN`] to [`Self::MAX`], both included.
    pub fn new(lifetime: Duration) -> Result<Self, InvalidLifetime> {
        if (Self::MIN..=Self::MAX).contains(&lifetime) {
            Ok(Self(lifetime))
        } else {
            Err(InvalidLifetime)
        }
    }

    /// Returns the lifetime.
    #[must_use]
    pub const fn as_duration(self) -> Duration {
        self.0
    }
}

impl TryFrom<Duration> for AccessTokenLifetime {
    type Error = InvalidLifetime;

    fn try_from(lifetime: Duration) -> Result<Self, InvalidLifetime> {
        Self::new(lifetime)
    }
}

impl From<AccessTokenLifetime> for Duration {
    fn from(lifetime: AccessTokenLifetime) -> Self {
        lifetime.0
    }
}

impl Default for AccessTokenLifetime {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Lifetime of the refresh tokens of a token family. Default and maximum: 14 days since the last
/// rotation, 30 days in total.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(try_from = "Wire", into = "Wire")]
pub struct RefreshTokenLifetime {
    idle: Duration,
    absolute: Duration,
}

impl RefreshTokenLifetime {
    /// Longest idle time: 14 days.
    pub const MAX_IDLE: Duration = Duration::from_secs(14 * 24 * 60 * 60);
    /// Longest total lifetime: 30 days.
    pub const MAX_ABSOLUTE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

    /// Creates lifetimes within the range.
    ///
    /// # Errors
    ///
    /// [`InvalidLifetime`] when `idle` is under a minute, over [`Self::MAX_IDLE`] or over
    /// `absolute`, or when `absolute` is over [`Self::MAX_ABSOLUTE`].
    pub fn new(idle: Duration, absolute: Duration) -> Result<Self, InvalidLifetime> {
        let fits = (MINUTE..=Self::MAX_IDLE.min(absolute)).contains(&idle) && absolute <= Self::MAX_ABSOLUTE;
        if fits {
            Ok(Self { idle, absolute })
        } else {
            Err(InvalidLifetime)
        }
    }

    /// Returns the idle lifetime of one refresh token.
    #[must_use]
    pub const fn idle(self) -> Duration {
        self.idle
    }

    /// Returns the total lifetime of the family.
    #[must_use]
    pub const fn absolute(self) -> Duration {
        self.absolute
    }
}

/// Stored form, checked when it is read.
#[derive(Deserialize, Serialize)]
struct Wire {
    idle: Duration,
    absolute: Duration,
}

impl TryFrom<Wire> for RefreshTokenLifetime {
    type Error = InvalidLifetime;

    fn try_from(wire: Wire) -> Result<Self, InvalidLifetime> {
        Self::new(wire.idle, wire.absolute)
    }
}

impl From<RefreshTokenLifetime> for Wire {
    fn from(lifetime: RefreshTokenLifetime) -> Self {
        let RefreshTokenLifetime { idle, absolute } = lifetime;
        Self { idle, absolute }
    }
}

impl Default for RefreshTokenLifetime {
    fn default() -> Self {
        Self {
            idle: 14 * DAY,
            absolute: 30 * DAY,
        }
    }
}

/// The lifetime is outside the allowed range.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("lifetime outside the allowed range")]
#[non_exhaustive]
pub struct InvalidLifetime;

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// O21: an access token lives 5 to 60 minutes.
    #[test]
    fn an_access_token_lives_five_to_sixty_minutes() {
        for lifetime in [5 * MINUTE, 10 * MINUTE, 60 * MINUTE] {
            assert!(AccessTokenLifetime::new(lifetime).is_ok(), "{lifetime:?}");
        }
        for lifetime in [
            Duration::ZERO,
            5 * MINUTE - SECOND,
            60 * MINUTE + SECOND,
            Duration::MAX,
        ] {
            assert_eq!(
                AccessTokenLifetime::new(lifetime),
                Err(InvalidLifetime),
                "{lifetime:?}"
            );
        }
        assert_eq!(AccessTokenLifetime::default().as_duration(), 10 * MINUTE);
    }

    /// O21: a refresh token lives up to 14 days idle and 30 days in total.
    #[test]
    fn a_refresh_token_lives_up_to_fourteen_idle_and_thirty_days() {
        for (idle, absolute) in [(14 * DAY, 30 * DAY), (MINUTE, MINUTE), (14 * DAY, 14 * DAY)] {
            assert!(
                RefreshTokenLifetime::new(idle, absolute).is_ok(),
                "{idle:?} {absolute:?}"
            );
        }
        let refused = [
            (14 * DAY + SECOND, 30 * DAY),
            (14 * DAY, 30 * DAY + SECOND),
            (2 * DAY, DAY),
            (Duration::ZERO, DAY),
            (Duration::MAX, Duration::MAX),
        ];
        for (idle, absolute) in refused {
            assert_eq!(
                RefreshTokenLifetime::new(idle, absolute),
                Err(InvalidLifetime),
                "{idle:?} {absolute:?}"
            );
        }
    }
}
