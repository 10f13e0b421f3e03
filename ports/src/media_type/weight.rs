//! Weights, [RFC 9110 §12.4.2](https://www.rfc-editor.org/rfc/rfc9110#section-12.4.2).

/// Preference of a range, in thousandths from 0 (not acceptable) to 1000.
///
/// # ABNF
///
/// ```text
/// weight = OWS ";" OWS "q=" qvalue
/// qvalue = ( "0" [ "." 0*3DIGIT ] ) / ( "1" [ "." 0*3("0") ] )
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Weight(u16);

impl Weight {
    /// Not acceptable.
    pub const ZERO: Self = Self(0);
    /// The weight of a range without `q`.
    pub const FULL: Self = Self(1000);

    /// The weight in thousandths.
    #[must_use]
    pub const fn thousandths(self) -> u16 {
        self.0
    }

    /// Returns `true` for a weight above zero.
    #[must_use]
    pub const fn is_acceptable(self) -> bool {
        self.0 > 0
    }

    /// Parses a `qvalue`; `None` if the value does not match the grammar.
    #[must_use]
    pub fn parse(value: &[u8]) -> Option<Self> {
        let (whole, fraction) = match value {
            [whole @ (b'0' | b'1')] => (*whole, &b""[..]),
            [whole @ (b'0' | b'1'), b'.', fraction @ ..] if fraction.len() <= 3 => (*whole, fraction),
            _ => return None,
        };
        let mut thousandths = u16::from(whole - b'0');
        for place in 0..3 {
            let digit = fraction.get(place).copied().unwrap_or(b'0');
            if !digit.is_ascii_digit() {
                return None;
            }
            thousandths = thousandths * 10 + u16::from(digit - b'0');
        }
        (thousandths <= 1000).then_some(Self(thousandths))
    }
}
