//! Timestamps in Unix seconds.

use std::{
    fmt,
    str::FromStr,
    time::{Duration, SystemTime},
};

const MAX_SECONDS: u64 = 999_999_999_999;
const MAX_DIGITS: usize = 12;

/// Time in whole Unix seconds, from 1970 to the year 33658.
///
/// Conversion from a [`SystemTime`] drops the fraction. Times out of range become the nearest
/// limit.
///
/// # ABNF
///
/// ```text
/// timestamp = "0" / %x31-39 *11DIGIT
/// ```
///
/// # Examples
///
/// ```
/// use webhook_core::event::Timestamp;
///
/// assert_eq!("1700000000".parse::<Timestamp>().unwrap().as_seconds(), 1_700_000_000);
/// for other_writing in ["+1700000000", "01700000000", "1700000000.0", " 1700000000", "-1", ""] {
///     assert!(other_writing.parse::<Timestamp>().is_err());
/// }
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Timestamp(u64);

impl Timestamp {
    /// Creates the time `seconds` after the beginning of 1970; `None` if it has more than 12
    /// digits.
    #[must_use]
    pub fn from_seconds(seconds: u64) -> Option<Self> {
        (seconds <= MAX_SECONDS).then_some(Self(seconds))
    }

    /// Seconds since the beginning of 1970.
    #[must_use]
    pub fn as_seconds(self) -> u64 {
        self.0
    }
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        let since_1970 = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self(since_1970.as_secs().min(MAX_SECONDS))
    }
}

impl From<Timestamp> for SystemTime {
    fn from(timestamp: Timestamp) -> Self {
        Self::UNIX_EPOCH + Duration::from_secs(timestamp.0)
    }
}

impl FromStr for Timestamp {
    type Err = InvalidTimestamp;

    fn from_str(text: &str) -> Result<Self, InvalidTimestamp> {
        let canonical = text == "0" || !text.starts_with('0');
        if !canonical || !(1..=MAX_DIGITS).contains(&text.len()) {
            return Err(InvalidTimestamp(()));
        }
        let seconds = text.bytes().try_fold(0, |seconds, byte| {
            byte.is_ascii_digit()
                .then(|| 10 * seconds + u64::from(byte - b'0'))
        });
        seconds.map(Self).ok_or(InvalidTimestamp(()))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Error: not a timestamp in its canonical form.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("a timestamp is at most twelve decimal digits without sign, leading zero or fraction")]
pub struct InvalidTimestamp(());
