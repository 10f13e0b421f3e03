//! Identifiers: a prefix for the kind and 128 random bits in hexadecimal.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// The text is not an identifier of this kind.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("invalid identifier")]
pub struct InvalidId;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// Builds the identifier from random bytes.
            #[must_use]
            pub fn from_random(bytes: [u8; 16]) -> Self {
                Self(format!(concat!($prefix, "{:032x}"), u128::from_be_bytes(bytes)))
            }

            /// The identifier with its prefix.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, InvalidId> {
                let digits = text.strip_prefix($prefix).ok_or(InvalidId)?;
                let digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
                if digits.len() == 32 && digits.bytes().all(digit) {
                    Ok(Self(text.to_owned()))
                } else {
                    Err(InvalidId)
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

id!(
    /// Identifier of a charge: `ch_` and 32 hexadecimal digits.
    ChargeId,
    "ch_"
);
id!(
    /// Identifier of a customer: `cus_` and 32 hexadecimal digits.
    CustomerId,
    "cus_"
);
id!(
    /// Identifier of a refund: `re_` and 32 hexadecimal digits.
    RefundId,
    "re_"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_identifiers_parse() {
        let id = ChargeId::from_random([7; 16]);
        assert_eq!(id.as_str().parse(), Ok(id.clone()));
        for text in [
            "",
            "ch_",
            "ch_07",
            "cus_07070707070707070707070707070707",
            "ch_0707070707070707070707070707070G",
        ] {
            assert_eq!(text.parse::<ChargeId>(), Err(InvalidId), "{text}");
        }
    }
}
