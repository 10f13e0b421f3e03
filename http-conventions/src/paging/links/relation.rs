//! Relation types, [RFC 8288 §2.1](https://www.rfc-editor.org/rfc/rfc8288#section-2.1).

use std::{borrow::Cow, fmt, str::FromStr};

use crate::uri::is_uri_byte;

/// Relation type: a registered name, a name that the API defines, or an absolute URI.
///
/// # ABNF
///
/// ```text
/// relation-type  = reg-rel-type / ext-rel-type
/// reg-rel-type   = LOALPHA *( LOALPHA / DIGIT / "." / "-" )
/// ext-rel-type   = URI
/// ```
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Relation(Cow<'static, str>);

impl Relation {
    /// `self`: the resource itself.
    pub const SELF: Self = Self(Cow::Borrowed("self"));
    /// `next`: the next page.
    pub const NEXT: Self = Self(Cow::Borrowed("next"));
    /// `prev`: the previous page.
    pub const PREV: Self = Self(Cow::Borrowed("prev"));
    /// `deprecation`: documentation of the deprecation, [RFC 9745
    /// §3](https://www.rfc-editor.org/rfc/rfc9745#section-3).
    pub const DEPRECATION: Self = Self(Cow::Borrowed("deprecation"));
    /// `sunset`: documentation of the removal, [RFC 8594
    /// §6](https://www.rfc-editor.org/rfc/rfc8594#section-6).
    pub const SUNSET: Self = Self(Cow::Borrowed("sunset"));
    /// `successor-version`: the version that replaces this one, RFC 5829.
    pub const SUCCESSOR_VERSION: Self = Self(Cow::Borrowed("successor-version"));

    /// Name or URI.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Relation {
    type Err = InvalidRelation;

    fn from_str(text: &str) -> Result<Self, InvalidRelation> {
        match is_name(text) || is_uri(text) {
            true => Ok(Self(Cow::Owned(text.to_owned()))),
            false => Err(InvalidRelation),
        }
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_name(text: &str) -> bool {
    let is_name_byte = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b".-".contains(&byte);
    text.starts_with(|first: char| first.is_ascii_lowercase()) && text.bytes().all(is_name_byte)
}

/// Returns `true` if the text is an absolute URI: a relative reference would be ambiguous.
fn is_uri(text: &str) -> bool {
    let is_scheme_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    text.split_once(':').is_some_and(|(scheme, rest)| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(is_scheme_byte)
            && !rest.is_empty()
            && rest.bytes().all(is_uri_byte)
    })
}

/// Error for a text that is neither a relation name nor an absolute URI.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("invalid relation type")]
pub struct InvalidRelation;
