//! Entity tags, [RFC 9110 §8.8.3](https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3).

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use bytes::{BufMut as _, Bytes, BytesMut};
use http::HeaderValue;
use sha2::{Digest as _, Sha256};

use crate::content::ContentCoding;

/// Entity tag: the validator of one representation. A strong and a weak tag with the same text are
/// equal only in the weak comparison.
///
/// # ABNF
///
/// ```text
/// entity-tag = [ "W/" ] DQUOTE *etagc DQUOTE
/// etagc      = %x21 / %x23-7E / obs-text
/// ```
///
/// ```
/// use http_conventions::caching::EntityTag;
///
/// let strong = EntityTag::strong("v7")?;
/// let weak = EntityTag::parse(b"W/\"v7\"")?;
/// assert!(strong.weak_eq(&weak));
/// assert!(!strong.strong_eq(&weak));
/// # Ok::<(), http_conventions::caching::InvalidEntityTag>(())
/// ```
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct EntityTag {
    /// Whole field value, `W/` and quotes included.
    text: Bytes,
}

impl EntityTag {
    /// Creates a strong tag from content: 128 bits of its SHA-256. In practice two bodies never
    /// share a tag.
    ///
    /// Pass the bytes as sent: each media type, language and content coding needs its own tag.
    #[must_use]
    pub fn of_content(content: &[u8]) -> Self {
        let digest = Sha256::digest(content);
        let (half, _) = digest.split_at(16);
        Self::from_opaque(b"\"", URL_SAFE_NO_PAD.encode(half).as_bytes())
    }

    /// Creates a strong tag from opaque text, such as a version number or a hash.
    ///
    /// # Errors
    ///
    /// [`InvalidEntityTag`] if the text contains a double quote or a character that is not visible
    /// ASCII.
    pub fn strong(opaque: &str) -> Result<Self, InvalidEntityTag> {
        checked(opaque).map(|opaque| Self::from_opaque(b"\"", opaque))
    }

    /// Creates a weak tag from opaque text. Representations with the same weak tag are equivalent,
    /// but not necessarily equal in each byte.
    ///
    /// # Errors
    ///
    /// [`InvalidEntityTag`] if the text contains a double quote or a character that is not visible
    /// ASCII.
    pub fn weak(opaque: &str) -> Result<Self, InvalidEntityTag> {
        checked(opaque).map(|opaque| Self::from_opaque(b"W/\"", opaque))
    }

    /// Parses a field value that is one entity tag.
    ///
    /// # Errors
    ///
    /// [`InvalidEntityTag`] if the bytes do not match the grammar.
    pub fn parse(value: &[u8]) -> Result<Self, InvalidEntityTag> {
        match EntityTagRef::split(value) {
            Some((_, [])) => Ok(Self {
                text: Bytes::copy_from_slice(value),
            }),
            _ => Err(InvalidEntityTag),
        }
    }

    /// Returns `true` if the tag is weak.
    #[must_use]
    pub fn is_weak(&self) -> bool {
        self.text.starts_with(b"W/")
    }

    /// Weak form of this tag, for an equivalent representation with different bytes.
    #[must_use]
    pub fn to_weak(&self) -> Self {
        match self.is_weak() {
            true => self.clone(),
            false => Self {
                text: [b"W/", self.text.as_ref()].concat().into(),
            },
        }
    }

    /// Tag of the same state in a content coding: `"v7"` becomes `"v7-gzip"`. For identity the tag
    /// is unchanged.
    ///
    /// [RFC 9110 §8.8.3.3] requires a different tag for each coding.
    ///
    /// [RFC 9110 §8.8.3.3]: https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3.3
    ///
    /// ```
    /// use http_conventions::{caching::EntityTag, content::ContentCoding};
    ///
    /// let tag = EntityTag::strong("v7")?;
    /// assert_eq!(tag.in_coding(&ContentCoding::GZIP).header_value(), "\"v7-gzip\"");
    /// assert_eq!(tag.in_coding(&ContentCoding::IDENTITY), tag);
    /// # Ok::<(), http_conventions::caching::InvalidEntityTag>(())
    /// ```
    #[must_use]
    pub fn in_coding(&self, coding: &ContentCoding) -> Self {
        match self.text.strip_suffix(b"\"") {
            // the name of a coding is a token, and a tag may contain every character of a token
            Some(open) if !coding.is_identity() => Self {
                text: [open, b"-", coding.as_str().as_bytes(), b"\""].concat().into(),
            },
            _ => self.clone(),
        }
    }

    /// Strong comparison: returns `true` if both tags are strong and equal. Use it for writes and
    /// ranges.
    #[must_use]
    pub fn strong_eq(&self, other: &Self) -> bool {
        self.borrow().strong_eq(other.borrow())
    }

    /// Weak comparison: returns `true` if the tags are equal apart from `W/`. Use it for cached
    /// reads.
    #[must_use]
    pub fn weak_eq(&self, other: &Self) -> bool {
        self.borrow().weak_eq(other.borrow())
    }

    /// Value of the `ETag` field.
    #[must_use]
    pub fn header_value(&self) -> HeaderValue {
        // the grammar allows only bytes that a field value allows
        HeaderValue::from_maybe_shared(self.text.clone()).unwrap_or_else(|_| HeaderValue::from_static("\"\""))
    }

    pub(super) fn borrow(&self) -> EntityTagRef<'_> {
        let weak = self.is_weak();
        let quoted = if weak {
            self.text.get(2..)
        } else {
            Some(self.text.as_ref())
        };
        EntityTagRef {
            weak,
            quoted: quoted.unwrap_or_default(),
        }
    }

    fn from_opaque(prefix: &[u8], opaque: &[u8]) -> Self {
        let mut text = BytesMut::with_capacity(prefix.len() + opaque.len() + 1);
        text.put_slice(prefix);
        text.put_slice(opaque);
        text.put_u8(b'"');
        Self { text: text.freeze() }
    }
}

fn checked(opaque: &str) -> Result<&[u8], InvalidEntityTag> {
    let visible = |byte: &u8| is_etagc(*byte) && byte.is_ascii();
    if opaque.as_bytes().iter().all(visible) {
        Ok(opaque.as_bytes())
    } else {
        Err(InvalidEntityTag)
    }
}

/// An entity tag that borrows from a field value.
#[derive(Clone, Copy, Debug)]
pub(super) struct EntityTagRef<'a> {
    weak: bool,
    /// Opaque part with its quotes.
    quoted: &'a [u8],
}

impl<'a> EntityTagRef<'a> {
    /// Parses the tag at the start of the bytes and returns it with the rest.
    pub(super) fn split(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (weak, quoted) = match bytes.strip_prefix(b"W/") {
            Some(quoted) => (true, quoted),
            None => (false, bytes),
        };
        let opaque = quoted.strip_prefix(b"\"")?;
        let length = opaque.iter().position(|byte| !is_etagc(*byte))?;
        if opaque.get(length) != Some(&b'"') {
            return None;
        }
        let (quoted, rest) = quoted.split_at_checked(length + 2)?;
        Some((Self { weak, quoted }, rest))
    }

    pub(super) fn strong_eq(self, other: EntityTagRef<'_>) -> bool {
        !self.weak && !other.weak && self.quoted == other.quoted
    }

    pub(super) fn weak_eq(self, other: EntityTagRef<'_>) -> bool {
        self.quoted == other.quoted
    }

    /// Opening quote and text of the tag without the suffix of this coding; `None` if the suffix is
    /// absent.
    fn out_of_coding(self, coding: &ContentCoding) -> Option<&'a [u8]> {
        let open = self.quoted.strip_suffix(b"\"")?;
        open.strip_suffix(coding.as_str().as_bytes())?.strip_suffix(b"-")
    }

    /// Returns `true` if this tag is `other` in one of these codings; ignores weakness.
    fn is_in_coding(self, other: EntityTagRef<'_>, codings: &[ContentCoding]) -> bool {
        let open = other.quoted.strip_suffix(b"\"");
        codings
            .iter()
            .any(|coding| open.is_some() && self.out_of_coding(coding) == open)
    }
}

/// Tag of the current state, and the content codings that have their own tags.
#[derive(Clone, Copy, Debug)]
pub(super) struct CurrentTag<'a> {
    pub(super) tag: EntityTagRef<'a>,
    pub(super) codings: &'a [ContentCoding],
}

impl CurrentTag<'_> {
    pub(super) fn strong_eq(self, listed: EntityTagRef<'_>) -> bool {
        let in_coding = || !listed.weak && !self.tag.weak && listed.is_in_coding(self.tag, self.codings);
        listed.strong_eq(self.tag) || in_coding()
    }

    pub(super) fn weak_eq(self, listed: EntityTagRef<'_>) -> bool {
        listed.weak_eq(self.tag) || listed.is_in_coding(self.tag, self.codings)
    }
}

impl<'a> From<&'a EntityTag> for CurrentTag<'a> {
    fn from(tag: &'a EntityTag) -> Self {
        Self {
            tag: tag.borrow(),
            codings: &[],
        }
    }
}

const fn is_etagc(byte: u8) -> bool {
    matches!(byte, 0x21 | 0x23..=0x7E | 0x80..=0xFF)
}

/// Error for a malformed entity tag.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("invalid entity tag")]
pub struct InvalidEntityTag;
