//! `Accept-Encoding`, [RFC 9110 §12.5.3](https://www.rfc-editor.org/rfc/rfc9110#section-12.5.3).

use std::{borrow::Cow, fmt, str::FromStr};

use http::{HeaderMap, HeaderValue, header::ACCEPT_ENCODING};

use super::{Weight, weighted::weighted};
use crate::field;

/// Number of offers that are weighed in one pass over the field. Their weights are on the stack.
const AT_ONCE: usize = 8;

static IDENTITY: ContentCoding = ContentCoding::IDENTITY;

/// A content coding, such as `gzip`, [RFC 9110
/// §8.4.1](https://www.rfc-editor.org/rfc/rfc9110#section-8.4.1).
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct ContentCoding(Cow<'static, str>);

impl ContentCoding {
    /// `identity`: no coding.
    pub const IDENTITY: Self = Self(Cow::Borrowed("identity"));
    /// `gzip`, RFC 1952.
    pub const GZIP: Self = Self(Cow::Borrowed("gzip"));
    /// `deflate`, RFC 1950.
    pub const DEFLATE: Self = Self(Cow::Borrowed("deflate"));
    /// `br`, RFC 7932.
    pub const BROTLI: Self = Self(Cow::Borrowed("br"));
    /// `zstd`, RFC 8878.
    pub const ZSTD: Self = Self(Cow::Borrowed("zstd"));

    /// Name in lower case.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns `true` if this is `identity`.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        *self == Self::IDENTITY
    }

    /// Value of `Content-Encoding`; `None` for identity, which is not sent.
    #[must_use]
    pub fn header_value(&self) -> Option<HeaderValue> {
        match self.is_identity() {
            true => None,
            false => HeaderValue::from_str(&self.0).ok(),
        }
    }

    /// Returns `true` if a field names this coding; `x-gzip` and `x-compress` are aliases.
    pub(crate) fn is_named(&self, name: &[u8]) -> bool {
        let name = match name {
            [b'x' | b'X', b'-', rest @ ..] if is_old_name(rest) => rest,
            name => name,
        };
        self.0.as_bytes().eq_ignore_ascii_case(name)
    }
}

fn is_old_name(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"gzip") || name.eq_ignore_ascii_case(b"compress")
}

impl FromStr for ContentCoding {
    type Err = InvalidContentCoding;

    fn from_str(text: &str) -> Result<Self, InvalidContentCoding> {
        match field::is_token(text.as_bytes()) && text != "*" {
            true => Ok(Self(text.to_ascii_lowercase().into())),
            false => Err(InvalidContentCoding),
        }
    }
}

impl fmt::Display for ContentCoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// `Accept-Encoding` of a request. Borrows its headers.
///
/// - A coding has the weight of its name, or else the weight of `*`.
/// - Identity is acceptable unless `identity;q=0` or `*;q=0` refuses it. If the field does not name
///   identity, every other acceptable coding is preferred to it.
/// - Without the field, identity is chosen: the client need not support another coding.
/// - A malformed member, or one with a malformed weight, is ignored.
///
/// # Performance
///
/// Parsing is linear in the length of the field.
///
/// ```
/// use http::{HeaderMap, header};
/// use http_conventions::content::{AcceptEncoding, ContentCoding};
///
/// let mut headers = HeaderMap::new();
/// headers.insert(header::ACCEPT_ENCODING, "gzip, zstd;q=0.5".parse()?);
///
/// let offers = [ContentCoding::ZSTD, ContentCoding::GZIP];
/// assert_eq!(AcceptEncoding::of(&headers).choose(&offers), Some(&ContentCoding::GZIP));
/// # Ok::<(), http::header::InvalidHeaderValue>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct AcceptEncoding<'a> {
    headers: &'a HeaderMap,
}

impl<'a> AcceptEncoding<'a> {
    /// `Accept-Encoding` of these headers.
    #[must_use]
    pub const fn of(headers: &'a HeaderMap) -> Self {
        Self { headers }
    }

    /// Chooses the coding with the highest weight; the first offer wins a tie.
    ///
    /// `None` if the request accepts no offer and refuses identity.
    #[must_use]
    pub fn choose(self, offers: &[ContentCoding]) -> Option<&ContentCoding> {
        if !self.headers.contains_key(ACCEPT_ENCODING) {
            return Some(&IDENTITY);
        }
        let ([identity, ..], star) = self.named(std::slice::from_ref(&IDENTITY));
        let mut best: Option<(Weight, &ContentCoding)> = None;
        for some in offers.chunks(AT_ONCE) {
            let (named, star) = self.named(some);
            for (offer, named) in some.iter().zip(named) {
                let weight = named.or(star).unwrap_or(Weight::ZERO);
                let is_last = offer.is_identity() || best.is_some_and(|(most, _)| weight <= most);
                if weight.is_acceptable() && !is_last {
                    best = Some((weight, offer));
                }
            }
        }
        match (best, identity.or(star)) {
            (Some((weight, _)), Some(identity)) if identity > weight => Some(&IDENTITY),
            (Some((_, offer)), _) => Some(offer),
            (None, Some(Weight::ZERO)) => None,
            (None, _) => Some(&IDENTITY),
        }
    }

    /// Weights of the offers that the field names, and the weight of `*`.
    fn named(self, offers: &[ContentCoding]) -> ([Option<Weight>; AT_ONCE], Option<Weight>) {
        let mut named = [None; AT_ONCE];
        let mut star = None;
        let lines = self.headers.get_all(&ACCEPT_ENCODING).iter();
        let members = lines.flat_map(|line| field::values(line.as_bytes()));
        for (name, weight) in members.filter_map(weighted) {
            if name == b"*" {
                star = star.max(Some(weight));
            }
            for (offer, named) in offers.iter().zip(&mut named) {
                if offer.is_named(name) {
                    *named = (*named).max(Some(weight));
                }
            }
        }
        (named, star)
    }
}

/// Error for a malformed name of a content coding.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("invalid content coding")]
pub struct InvalidContentCoding;
