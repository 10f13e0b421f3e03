//! Event types and versions.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

const MAX_TYPE_LENGTH: usize = 128;
const MAX_VERSION_LENGTH: usize = 64;

/// Type of an event: lowercase words joined by dots, such as `charge.refunded`.
///
/// Types are a public contract. Receivers match on them, so do not rename a type or change its
/// meaning.
///
/// # ABNF
///
/// ```text
/// event-type = word *( "." word )      ; at most 128 bytes
/// word       = 1*( %x61-7A / DIGIT / "_" )
/// ```
///
/// # Examples
///
/// ```
/// use webhook_core::event::EventType;
///
/// assert!("charge.refunded".parse::<EventType>().is_ok());
/// assert!("Charge.Refunded".parse::<EventType>().is_err());
/// assert!("charge..refunded".parse::<EventType>().is_err());
/// ```
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String")]
pub struct EventType(Box<str>);

/// Version of an event's format: 1 to 64 visible ASCII characters, such as `1` or `2026-11-21`.
///
/// Within one version, a sender may add members, and does not change or remove any.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String")]
pub struct EventVersion(Box<str>);

impl EventType {
    /// The type as written in the envelope.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn is_valid(text: &str) -> bool {
        let of_a_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        text.len() <= MAX_TYPE_LENGTH
            && text
                .split('.')
                .all(|word| !word.is_empty() && word.bytes().all(of_a_word))
    }
}

impl EventVersion {
    /// The version as written in the envelope.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn is_valid(text: &str) -> bool {
        (1..=MAX_VERSION_LENGTH).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
    }
}

impl FromStr for EventType {
    type Err = InvalidEventType;

    fn from_str(text: &str) -> Result<Self, InvalidEventType> {
        if Self::is_valid(text) {
            Ok(Self(text.into()))
        } else {
            Err(InvalidEventType(()))
        }
    }
}

impl FromStr for EventVersion {
    type Err = InvalidEventVersion;

    fn from_str(text: &str) -> Result<Self, InvalidEventVersion> {
        if Self::is_valid(text) {
            Ok(Self(text.into()))
        } else {
            Err(InvalidEventVersion(()))
        }
    }
}

impl TryFrom<String> for EventType {
    type Error = InvalidEventType;

    fn try_from(text: String) -> Result<Self, InvalidEventType> {
        text.parse()
    }
}

impl TryFrom<String> for EventVersion {
    type Error = InvalidEventVersion;

    fn try_from(text: String) -> Result<Self, InvalidEventVersion> {
        text.parse()
    }
}

impl fmt::Display for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for EventVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Error: not an event type.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("an event type is lowercase words joined by dots, at most 128 bytes")]
pub struct InvalidEventType(());

/// Error: not an event version.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("an event version is 1 to 64 visible ASCII characters")]
pub struct InvalidEventVersion(());
