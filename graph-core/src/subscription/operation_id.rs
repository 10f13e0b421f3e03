//! Operation ids of clients.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Maximum length in bytes; each event repeats the id.
const MAX: usize = 256;

/// Id that a client assigns to an operation: 1 to 256 bytes, cheap to clone.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct OperationId(Arc<str>);

/// Reason to refuse an id.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum InvalidOperationId {
    Missing,
    TooLong,
}

impl OperationId {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The id as a JSON string. Line breaks are escaped, so the id cannot inject lines into an
    /// event.
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

    /// G10: an id has at most 256 bytes and stays on one line for any content.
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
