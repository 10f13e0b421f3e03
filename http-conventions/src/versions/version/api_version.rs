//! A version of an API.

use std::{fmt, str::FromStr};

/// Version of an API: a number such as `2`, or a date such as `2026-11-21`.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ApiVersion(Form);

#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
enum Form {
    Number(u32),
    /// Year, month and day.
    Date(u16, u8, u8),
}

impl ApiVersion {
    /// Returns `true` if the version is a date.
    #[must_use]
    pub const fn is_date(self) -> bool {
        matches!(self.0, Form::Date(..))
    }
}

impl FromStr for ApiVersion {
    type Err = InvalidApiVersion;

    /// Parses decimal digits without leading zeros, or a calendar date `YYYY-MM-DD`.
    fn from_str(text: &str) -> Result<Self, InvalidApiVersion> {
        let form = match text.contains('-') {
            true => date(text),
            false => number(text).map(Form::Number),
        };
        form.map(Self).ok_or(InvalidApiVersion)
    }
}

fn number(text: &str) -> Option<u32> {
    let is_canonical = !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_canonical)
}

fn date(text: &str) -> Option<Form> {
    let mut parts = text.split('-');
    let mut part = |length: usize| -> Option<u16> {
        let digits = parts.next().filter(|digits| digits.len() == length)?;
        let are_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse().ok().filter(|_| are_digits)
    };
    let (year, month, day) = (part(4)?, part(2)?, part(2)?);
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => return None,
    };
    let is_day = (1..=days).contains(&day) && parts.next().is_none();
    let (month, day) = (u8::try_from(month).ok()?, u8::try_from(day).ok()?);
    is_day.then_some(Form::Date(year, month, day))
}

impl fmt::Display for ApiVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Form::Number(number) => write!(f, "{number}"),
            Form::Date(year, month, day) => write!(f, "{year:04}-{month:02}-{day:02}"),
        }
    }
}

/// The text is neither a number nor a date.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("invalid version")]
pub struct InvalidApiVersion;
