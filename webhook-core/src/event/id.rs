//! The identifier of an event, which is also the `Webhook-Id` of its message.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::ports::Entropy;

const MAX_LENGTH: usize = 256;

/// Identifies an event: what a receiver recognises a repetition by.
///
/// Stays the same over every attempt and replay. Compared byte for byte.
///
/// # Security
///
/// A dot is refused, because the signed text is `id.timestamp.body`: with dots inside ids, two different messages have
/// one signature, and whoever holds the one can present the other.
///
/// # ABNF
///
/// ```text
/// event-id = 1*256( %x21-2D / %x2F-7E )
/// ```
///
/// # Examples
///
/// ```
/// use webhook_core::event::EventId;
///
/// assert_eq!("evt_2KWPBgLl".parse::<EventId>().unwrap().as_str(), "evt_2KWPBgLl");
/// assert!("evt.1".parse::<EventId>().is_err());
/// assert!("evt 1".parse::<EventId>().is_err());
/// ```
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String")]
pub struct EventId(Box<str>);

impl EventId {
    /// Makes a fresh id: `evt_` and 128 random bits in hexadecimal.
    #[must_use]
    pub fn generate(entropy: &dyn Entropy) -> Self {
        let mut bytes = [0; 16];
        entropy.fill(&mut bytes);
        Self(format!("evt_{:032x}", u128::from_be_bytes(bytes)).into())
    }

    /// The id as it stands on the wire.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether `text` is an id; what [`FromStr`] asks, without making one.
    pub(crate) fn is_valid(text: &str) -> bool {
        (1..=MAX_LENGTH).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'.')
    }
}

impl FromStr for EventId {
    type Err = InvalidEventId;

    fn from_str(text: &str) -> Result<Self, InvalidEventId> {
        if Self::is_valid(text) {
            Ok(Self(text.into()))
        } else {
            Err(InvalidEventId(()))
        }
    }
}

impl TryFrom<String> for EventId {
    type Error = InvalidEventId;

    fn try_from(text: String) -> Result<Self, InvalidEventId> {
        if Self::is_valid(&text) {
            Ok(Self(text.into()))
        } else {
            Err(InvalidEventId(()))
        }
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Not an event id: empty, longer than 256 bytes, or with a dot, a space, a control or a non-ASCII character.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("an event id is 1 to 256 visible ASCII characters without a dot")]
pub struct InvalidEventId(());
