//! Event identifiers, sent as `Webhook-Id`.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::ports::Entropy;

const MAX_LENGTH: usize = 256;

/// Identifier of an event; receivers detect duplicates by it.
///
/// The id stays the same over all attempts and replays. Ids are compared byte for byte.
///
/// # Security
///
/// A dot is not allowed. The signed text is `id.timestamp.body`: if ids could contain dots, two
/// different messages could have the same signature.
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
    /// Generates an id: `evt_` and 128 random bits in hexadecimal.
    #[must_use]
    pub fn generate(entropy: &dyn Entropy) -> Self {
        let mut bytes = [0; 16];
        entropy.fill(&mut bytes);
        Self(format!("evt_{:032x}", u128::from_be_bytes(bytes)).into())
    }

    /// The id as sent in `Webhook-Id`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Checks the grammar of [`FromStr`] without an allocation.
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

/// Error: an event id is empty, longer than 256 bytes, or contains a dot, a space, a control
/// character or a non-ASCII character.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("an event id is 1 to 256 visible ASCII characters without a dot")]
pub struct InvalidEventId(());
