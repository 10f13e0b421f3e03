//! What a client calls an operation.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Longest id in bytes: each event repeats it.
const MAX: usize = 256;

/// The id that a client gives to an operation, to know its events by: 1 to 256 bytes of anything, cheap to clone.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct OperationId(Arc<str>);

/// Why a text is no id.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum InvalidOperationId {
    Missing,
    TooLong,
}

impl OperationId {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// As JSON, which has no line breaks but escaped ones: nothing in an id starts a line of its own.
    pub(crate) fn quoted(&self) -> String {
        serde_json::Value::from(self.as_str()).to_string()
    }
}

impl FromStr for OperationId {
    type Err = InvalidOperationId;

    fn from_str(text: &str) -> Result<Self, InvalidOperationId> {
        match text.len() {
            0 => Err(InvalidOperationId::Missing),
            1..=MAX => Ok(Self(text.into())),
            _ => Err(InvalidOperationId::TooLong),
        }
    }
}

impl fmt::Display for InvalidOperationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "missing",
            Self::TooLong => "too long",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// G10: an id has up to 256 bytes, and whatever it is made of, it stays on its line.
    #[test]
    fn an_id_is_up_to_256_bytes_on_one_line() {
        let id: OperationId = "\u{e9}".repeat(128).parse().unwrap();
        assert_eq!(id.as_str().len(), 256);
        assert_eq!("".parse::<OperationId>(), Err(InvalidOperationId::Missing));
        let long = "i".repeat(257).parse::<OperationId>();
        assert_eq!(long, Err(InvalidOperationId::TooLong));
        let id: OperationId = "a\r\n\"data: \u{2028}".parse().unwrap();
        assert_eq!(id.quoted(), "\"a\\r\\n\\\"data: \u{2028}\"");
    }
}
