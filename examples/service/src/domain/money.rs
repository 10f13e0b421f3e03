//! Money: an amount in the smallest unit of its currency.

use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Number;

use super::Fault;

/// An amount of money in the smallest unit of its currency, 1 to 99,999,999.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Amount(u32);

impl Amount {
    /// Largest amount, 99,999,999.
    pub const MAX: Self = Self(99_999_999);

    /// Validates an amount in the body of a request. `pointer` is the JSON Pointer (RFC 6901) of
    /// its member, for the fault.
    ///
    /// # Errors
    ///
    /// Returns a [`Fault`] if `units` is not in 1 to [`MAX`](Self::MAX).
    pub fn parse(units: i64, pointer: &'static str) -> Result<Self, Fault> {
        match u32::try_from(units) {
            Ok(units) if (1..=Self::MAX.0).contains(&units) => Ok(Self(units)),
            _ => Err(Fault::new(
                pointer,
                "must be an integer from 1 to 99999999, in the currency's smallest unit",
            )),
        }
    }

    /// The amount in the smallest unit.
    #[must_use]
    pub const fn units(self) -> u32 {
        self.0
    }
}

/// Deserializes a JSON number without a fraction in any notation: `440.0` is 440. A number that
/// [`Amount`] refuses anyway can become `i64::MIN` or `i64::MAX`.
pub(super) fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let number = Number::deserialize(deserializer)?;
    let written = number.as_f64().unwrap_or(f64::NAN);
    match number.as_i64() {
        Some(whole) => Ok(whole),
        None if written.fract() != 0.0 => Err(D::Error::custom("expected a number without a fraction")),
        None if written < 0.0 => Ok(i64::MIN),
        None => Ok(format!("{written:.0}").parse().unwrap_or(i64::MAX)),
    }
}

/// Deserializes an optional number like [`whole`].
pub(crate) fn whole_or_none<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    #[derive(Deserialize)]
    struct Whole(#[serde(deserialize_with = "whole")] i64);
    let read = Option::<Whole>::deserialize(deserializer)?;
    Ok(read.map(|Whole(units)| units))
}

/// A currency code in the form of ISO 4217, in lower case. Any three letters are accepted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Currency([u8; 3]);

impl Currency {
    /// The code in lower case.
    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl FromStr for Currency {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        match <[u8; 3]>::try_from(text.as_bytes()) {
            Ok(code) if code.iter().all(u8::is_ascii_lowercase) => Ok(Self(code)),
            _ => Err(Fault::new(
                "/currency",
                "must be three lower-case letters, for example `eur`",
            )),
        }
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    struct Body {
        #[serde(default, deserialize_with = "whole_or_none")]
        amount: Option<i64>,
    }

    /// H12: numbers are compared by value, and a number above the range of `i64` gets the usual
    /// fault.
    #[test]
    fn whole_number_parses_in_any_notation() {
        for (text, expected) in [
            ("{}", None),
            (r#"{"amount":null}"#, None),
            (r#"{"amount":440}"#, Some(440)),
            (r#"{"amount":440.0}"#, Some(440)),
            (r#"{"amount":4.4e2}"#, Some(440)),
            (r#"{"amount":-1.0}"#, Some(i64::MIN)),
            (r#"{"amount":1e300}"#, Some(i64::MAX)),
            (r#"{"amount":18446744073709551615}"#, Some(i64::MAX)),
        ] {
            let read: Body = serde_json::from_str(text).unwrap();
            assert_eq!(read.amount, expected, "{text}");
        }
        for text in [
            r#"{"amount":440.5}"#,
            r#"{"amount":"440"}"#,
            r#"{"amount":[440]}"#,
        ] {
            assert!(serde_json::from_str::<Body>(text).is_err(), "{text}");
        }
    }
}
