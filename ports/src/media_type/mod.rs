//! Media types and `Accept`, [RFC 9110
//! §8.3.1](https://www.rfc-editor.org/rfc/rfc9110#section-8.3.1).

mod accept;
mod content_type;
mod weight;

use std::{fmt, str::FromStr};

use http::HeaderValue;

use crate::field;

pub use self::accept::{Accept, MediaRange};
pub use self::content_type::ContentType;
pub use self::weight::Weight;

/// The media type of a representation.
///
/// # ABNF
///
/// ```text
/// media-type = type "/" subtype *( OWS ";" OWS parameter-name "=" ( token / quoted-string ) )
/// ```
///
/// ```
/// use host_ports::MediaType;
///
/// let html: MediaType = "text/html; charset=utf-8".parse()?;
/// assert_eq!(html.header_value(), "text/html; charset=utf-8");
/// assert_eq!(html.essence(), "text/html");
/// assert!("text/*".parse::<MediaType>().is_err());
/// # Ok::<(), host_ports::InvalidMediaType>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MediaType {
    text: HeaderValue,
    essence: Box<str>,
    parameters: Box<[Parameter]>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
struct Parameter {
    name: Box<[u8]>,
    value: Box<[u8]>,
}

impl MediaType {
    /// Type and subtype in lower case, without parameters.
    #[must_use]
    pub fn essence(&self) -> &str {
        &self.essence
    }

    /// The text as it was parsed.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.text.to_str().unwrap_or_default()
    }

    /// The value of `Content-Type`.
    #[must_use]
    pub fn header_value(&self) -> HeaderValue {
        self.text.clone()
    }

    /// The parameters: names in lower case, values without quotes.
    pub fn parameters(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let parameters = self.parameters.iter();
        parameters.map(|parameter| (parameter.name.as_ref(), parameter.value.as_ref()))
    }

    /// Compares a parameter with a raw value; `None` if there is no parameter of this name.
    fn has_parameter(&self, name: &[u8], raw: &[u8]) -> Option<bool> {
        let parameter = self
            .parameters
            .iter()
            .find(|parameter| parameter.name.eq_ignore_ascii_case(name))?;
        let is_charset = name.eq_ignore_ascii_case(b"charset");
        let value = parameter.value.iter().copied();
        Some(match is_charset {
            true => value
                .map(|byte| byte.to_ascii_lowercase())
                .eq(field::unquoted(raw).map(|byte| byte.to_ascii_lowercase())),
            false => value.eq(field::unquoted(raw)),
        })
    }
}

impl FromStr for MediaType {
    type Err = InvalidMediaType;

    fn from_str(text: &str) -> Result<Self, InvalidMediaType> {
        let (essence, parameters) = field::split_once(text.as_bytes(), b';');
        let essence = field::trim(essence);
        let (main, sub) = halves(essence).ok_or(InvalidMediaType)?;
        if main == b"*" || sub == b"*" {
            return Err(InvalidMediaType);
        }
        let parameters = field::split(parameters.unwrap_or_default(), b';')
            .map(Parameter::parse)
            .collect::<Option<_>>()
            .ok_or(InvalidMediaType)?;
        Ok(Self {
            text: HeaderValue::from_str(text).map_err(|_| InvalidMediaType)?,
            essence: String::from_utf8_lossy(essence).to_ascii_lowercase().into(),
            parameters,
        })
    }
}

impl Parameter {
    fn parse(part: &[u8]) -> Option<Self> {
        let (name, raw) = field::parameter(part)?;
        // `q` is always the weight in `Accept`
        let is_weight = name.eq_ignore_ascii_case(b"q");
        (!is_weight && raw.is_ascii()).then(|| Self {
            name: name.to_ascii_lowercase().into(),
            value: field::unquoted(raw).collect(),
        })
    }
}

impl fmt::Display for MediaType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Type and subtype, both tokens.
fn halves(essence: &[u8]) -> Option<(&[u8], &[u8])> {
    let slash = essence.iter().position(|byte| *byte == b'/')?;
    let (main, sub) = essence.split_at_checked(slash)?;
    let sub = sub.get(1..)?;
    (field::is_token(main) && field::is_token(sub)).then_some((main, sub))
}

/// Error for a text that is not a media type, for example a media range.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("invalid media type")]
pub struct InvalidMediaType;
