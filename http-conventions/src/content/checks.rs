//! Checks the media type and the content coding of a request.

use http::{
    HeaderMap, HeaderName, HeaderValue,
    header::{ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE},
};

use crate::{
    content::{ContentCoding, MediaType, Offers},
    errors::{Problem, ProblemBase, types},
    field, single_value,
};

static IDENTITY: ContentCoding = ContentCoding::IDENTITY;

/// Finds the supported media type that `Content-Type` names. `read` lists the supported media
/// types.
///
/// Type and subtype must be equal. `charset` is compared if both media types have one. All other
/// parameters are ignored.
///
/// # Errors
///
/// [`UnsupportedContent`] if the field is absent, repeated or malformed, or names another type.
pub fn media_type<'o>(
    headers: &HeaderMap,
    read: &'o Offers<MediaType>,
) -> Result<&'o MediaType, UnsupportedContent> {
    let sent = single_value(headers, &CONTENT_TYPE).and_then(|value| value.to_str().ok()?.parse().ok());
    sent.and_then(|sent| read.all().iter().find(|read| is_read_as(&sent, read)))
        .ok_or_else(|| UnsupportedContent::new(ACCEPT, read.all().iter().map(MediaType::as_str)))
}

fn is_read_as(sent: &MediaType, read: &MediaType) -> bool {
    let charset = |of: &MediaType| -> Option<Vec<u8>> {
        let mut parameters = of.parameters();
        parameters.find_map(|(name, value)| (name == b"charset").then(|| value.to_ascii_lowercase()))
    };
    let clashes = match (charset(sent), charset(read)) {
        (Some(sent), Some(read)) => sent != read,
        _ => false,
    };
    sent.essence() == read.essence() && !clashes
}

/// Finds the supported coding that `Content-Encoding` names; identity if the field is absent.
/// `read` lists the supported codings; identity is always supported.
///
/// # Errors
///
/// [`UnsupportedContent`] if the coding is not supported, or if there are several codings. Several
/// codings are refused because nested compression can multiply the decompressed size.
pub fn coding<'o>(
    headers: &HeaderMap,
    read: &'o [ContentCoding],
) -> Result<&'o ContentCoding, UnsupportedContent> {
    let mut named = field::members(headers, &CONTENT_ENCODING);
    let found = match (named.next(), named.next()) {
        (None, _) => Some(&IDENTITY),
        (Some(name), None) => read
            .iter()
            .chain([&IDENTITY])
            .find(|coding| coding.is_named(name)),
        (Some(_), Some(_)) => None,
    };
    found.ok_or_else(|| {
        let identity = [ContentCoding::IDENTITY.as_str()];
        let names: Vec<&str> = read.iter().map(ContentCoding::as_str).collect();
        UnsupportedContent::new(ACCEPT_ENCODING, names.iter().chain(&identity).copied())
    })
}

/// Error for a media type or content coding of a request that the host does not support.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("unsupported content; supported by {name}: {value:?}")]
pub struct UnsupportedContent {
    name: HeaderName,
    value: HeaderValue,
}

impl UnsupportedContent {
    pub(crate) fn new<'a>(name: HeaderName, read: impl IntoIterator<Item = &'a str>) -> Self {
        let read: Vec<&str> = read.into_iter().collect();
        Self {
            name,
            // each part was a valid field value
            value: HeaderValue::try_from(read.join(", ")).unwrap_or(HeaderValue::from_static("")),
        }
    }

    /// Creates the 415 problem. Its `Accept`, `Accept-Encoding` or `Accept-Patch` lists the
    /// supported values, [RFC 9110
    /// §15.5.16](https://www.rfc-editor.org/rfc/rfc9110#section-15.5.16).
    #[must_use]
    pub fn problem(self, base: &ProblemBase) -> Problem {
        types::UNSUPPORTED_CONTENT
            .problem(base)
            .with_field(self.name, self.value)
    }
}
