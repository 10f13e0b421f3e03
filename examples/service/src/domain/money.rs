//! Money: an amount in the currency's smallest unit.

use std::fmt;
use std::str::FromStr;

use super::Fault;

/// An amount of money in the smallest unit of its currency, 1 to 99,999,999.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Amount(u32);

impl Amount {
    /// The largest amount that one charge may have.
    pub const MAX: Self = Self(99_999_999);

    /// Checks an amount that a client sent; `pointer` names its member.
    ///
    /// # Errors
    ///
    /// A [`Fault`] outside 1 to [`MAX`](Self::MAX).
    pub fn parse(units: i64, pointer: &'static str) -> Result<Self, Fault> {
        match u32::try_from(units) {
            Ok(units) if (1..=Self::MAX.0).contains(&units) => Ok(Self(units)),
            _ => Err(Fault::new(
                pointer,
                "an integer from 1 to 99999999, in the currency's smallest unit",
            )),
        }
    }

    /// The amount in the smallest unit.
    #[must_use]
    pub const fn units(self) -> u32 {
        self.0
    }
}

/// A currency: three lower-case letters of ISO 4217.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Currency([u8; 3]);

impl Currency {
    /// The code, in lower case.
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
            _ => Err(Fault::new("/currency", "three lower-case letters, as `eur`")),
        }
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
