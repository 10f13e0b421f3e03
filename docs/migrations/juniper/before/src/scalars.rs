//! Custom scalars.

use std::fmt::Display;

use juniper::{GraphQLScalar, Scalar, ScalarValue, graphql_scalar};

/// Address of a mailbox.
#[derive(Clone, Debug, Eq, GraphQLScalar, PartialEq)]
#[graphql(
    specified_by_url = "https://www.rfc-editor.org/rfc/rfc5321",
    to_output_with = Self::to_output,
    from_input_with = Self::from_input,
    parse_token(String)
)]
pub struct EmailAddress(String);

impl EmailAddress {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    fn to_output(&self) -> &str {
        &self.0
    }

    fn from_input(text: &str) -> Result<Self, String> {
        match text.split_once('@') {
            Some((mailbox, host)) if !mailbox.is_empty() && host.contains('.') => Ok(Self(text.to_owned())),
            _ => Err(format!("`{text}` is not an address")),
        }
    }
}

/// Text with CommonMark markup.
#[derive(Clone, Debug, Eq, GraphQLScalar, PartialEq)]
#[graphql(transparent)]
pub struct Markdown(pub String);

/// Duration in whole minutes.
#[derive(Clone, Copy, Debug, Eq, GraphQLScalar, PartialEq)]
#[graphql(transparent, name = "Minutes")]
pub struct WorkTime(pub i32);

/// Size in bytes, as a string of digits.
#[derive(Clone, Copy, Debug, Eq, GraphQLScalar, PartialEq)]
#[graphql(with = byte_size, parse_token(String, i32))]
pub struct ByteSize(pub u64);

mod byte_size {
    use super::*;

    pub(super) fn to_output(size: &ByteSize) -> impl Display {
        size.0
    }

    pub(super) fn from_input(value: &Scalar<impl ScalarValue>) -> Result<ByteSize, Box<str>> {
        let text = value.try_to_string();
        let text = text.or_else(|| value.try_to_int().map(|size| size.to_string()));
        let size = text.and_then(|text| text.parse().ok());
        size.map(ByteSize).ok_or_else(|| "not a size in bytes".into())
    }
}

/// Colour of a label, `#rrggbb`.
#[graphql_scalar]
#[graphql(with = colour, parse_token(String))]
pub type Colour = Rgb;

/// Red, green and blue.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Rgb(pub u32);

mod colour {
    use super::*;

    pub(super) fn to_output(colour: &Colour) -> impl Display {
        format!("#{:06x}", colour.0)
    }

    pub(super) fn from_input(text: &str) -> Result<Colour, Box<str>> {
        let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6);
        let parsed = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        parsed
            .map(Rgb)
            .ok_or_else(|| format!("`{text}` is not a colour").into())
    }
}
