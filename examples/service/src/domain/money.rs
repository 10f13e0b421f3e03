//! Money: an amount in the smallest unit of its currency.

use std::fmt;
use std::str::FromStr;

use serde::Deserializer;

use super::{Fault, checked};

pub(super) const AMOUNT: &str = "must be an integer from 1 to 99999999, in the currency's smallest unit";
pub(super) const CURRENCY: &str = "must be three lower-case letters, for example `eur`";

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
            _ => Err(Fault::new(pointer, AMOUNT)),
        }
    }

    /// The amount in the smallest unit.
    #[must_use]
    pub const fn units(self) -> u32 {
        self.0
    }
}

/// Value of a JSON number without a fraction in any notation: `440.0` is 440. `None` for a number
/// with a fraction, or outside of the range of `i64`.
pub(crate) fn whole(number: f64) -> Option<i64> {
    let is_whole = number.fract() == 0.0;
    format!("{number:.0}").parse().ok().filter(|_| is_whole)
}

fn amount_fault(number: f64) -> Option<Fault> {
    match whole(number) {
        Some(units) => Amount::parse(units, "/amount").err(),
        None => Some(Fault::new("/amount", AMOUNT)),
    }
}

/// Deserializes the number of an [`Amount`].
pub(super) fn amount<'de, D: Deserializer<'de>>(given: D) -> Result<i64, D::Error> {
    let number = checked(given, |number| amount_fault(*number))?;
    Ok(whole(number).unwrap_or_default())
}

/// Deserializes an optional number like [`amount`].
pub(super) fn amount_or_none<'de, D: Deserializer<'de>>(given: D) -> Result<Option<i64>, D::Error> {
    let number = checked(given, |number: &Option<f64>| number.and_then(amount_fault))?;
    Ok(number.and_then(whole))
}

/// Deserializes the text of a [`Currency`].
pub(super) fn currency<'de, D: Deserializer<'de>>(given: D) -> Result<String, D::Error> {
    checked(given, |text: &String| text.parse::<Currency>().err())
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
            _ => Err(Fault::new("/currency", CURRENCY)),
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
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    struct Body {
        #[serde(default, deserialize_with = "amount_or_none")]
        amount: Option<i64>,
    }

    /// H12: numbers are compared by value, and a number that is no amount gets the same fault as
    /// one above the range of `i64`.
    #[test]
    fn whole_number_parses_in_any_notation() {
        for (text, expected) in [
            ("{}", None),
            (r#"{"amount":null}"#, None),
            (r#"{"amount":440}"#, Some(440)),
            (r#"{"amount":440.0}"#, Some(440)),
            (r#"{"amount":4.4e2}"#, Some(440)),
        ] {
            let read: Body = serde_json::from_str(text).unwrap();
            assert_eq!(read.amount, expected, "{text}");
        }
        for text in ["0", "440.5", "-1.0", "1e300", "18446744073709551615"] {
            let refused = serde_json::from_str::<Body>(&format!(r#"{{"amount":{text}}}"#));
            assert!(refused.unwrap_err().to_string().starts_with(AMOUNT), "{text}");
        }
        for text in [r#""440""#, "[440]"] {
            let refused = serde_json::from_str::<Body>(&format!(r#"{{"amount":{text}}}"#));
            assert!(!refused.unwrap_err().to_string().contains(AMOUNT), "{text}");
        }
    }
}
