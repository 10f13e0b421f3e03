//! Weights, [RFC 9110 §12.4.2](https://www.rfc-editor.org/rfc/rfc9110#section-12.4.2).

use crate::field;

/// How much something is wanted, in thousandths: from 0, not at all, to 1000.
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
    /// Not at all.
    pub const ZERO: Self = Self(0);
    /// What has no weight written has this.
    pub const FULL: Self = Self(1000);

    /// In thousandths.
    #[must_use]
    pub const fn thousandths(self) -> u16 {
        self.0
    }

    /// Whether it is wanted at all.
    #[must_use]
    pub const fn is_acceptable(self) -> bool {
        self.0 > 0
    }

    pub(crate) fn parse(value: &[u8]) -> Option<Self> {
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

/// A member of a list in which only the weight is a parameter; absent where another is, or the weight is no weight.
pub(super) fn weighted(member: &[u8]) -> Option<(&[u8], Weight)> {
    let (value, parameters) = field::split_once(member, b';');
    let Some(parameters) = parameters else {
        return Some((value, Weight::FULL));
    };
    // as nearly everybody writes it
    if let Some(raw) = parameters.strip_prefix(b"q=").and_then(Weight::parse) {
        return Some((field::trim(value), raw));
    }
    let mut weight = None;
    for part in field::split(parameters, b';') {
        let (b"q" | b"Q", raw) = field::parameter(part)? else {
            return None;
        };
        if weight.replace(Weight::parse(raw)?).is_some() {
            return None;
        }
    }
    Some((field::trim(value), weight.unwrap_or(Weight::FULL)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// H4: a weight is of the grammar, or none.
    #[test]
    fn only_the_grammar_of_the_rfc_is_a_weight() {
        for (value, expected) in [
            ("0", Some(0)),
            ("0.", Some(0)),
            ("0.5", Some(500)),
            ("0.05", Some(50)),
            ("0.005", Some(5)),
            ("1", Some(1000)),
            ("1.000", Some(1000)),
            ("1.001", None),
            ("1.5", None),
            ("0.0005", None),
            ("2", None),
            (".5", None),
            ("-0", None),
            ("0,5", None),
            ("0.a", None),
            ("abc", None),
            ("1e0", None),
            ("", None),
        ] {
            let weight = Weight::parse(value.as_bytes()).map(Weight::thousandths);
            assert_eq!(weight, expected, "{value}");
        }
    }
}
