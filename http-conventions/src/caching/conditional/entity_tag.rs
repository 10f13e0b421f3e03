//! Entity tags, [RFC 9110 §8.8.3](https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3).

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use bytes::{BufMut as _, Bytes, BytesMut};
use http::HeaderValue;
use sha2::{Digest as _, Sha256};

use crate::content::ContentCoding;

/// A validator of one representation.
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
    /// The whole field value, `W/` and quotes included.
    text: Bytes,
}

impl EntityTag {
    /// The strong tag of these bytes: 128 bits of their SHA-256, so that nobody can make two bodies with one tag.
    ///
    /// The same data in another media type, language or content coding needs a tag of its own: pass the bytes as sent.
    #[must_use]
    pub fn of_content(content: &[u8]) -> Self {
        let digest = Sha256::digest(content);
        let (half, _) = digest.split_at(16);
        Self::from_opaque(b"\"", URL_SAFE_NO_PAD.encode(half).as_bytes())
    }

    /// A strong tag with this opaque text, for a host that has a version number or a hash already.
    ///
    /// # Errors
    ///
    /// When the text holds anything but visible ASCII, or a double quote.
    pub fn strong(opaque: &str) -> Result<Self, InvalidEntityTag> {
        checked(opaque).map(|opaque| Self::from_opaque(b"\"", opaque))
    }

    /// A weak tag with this opaque text: the same meaning, not the same bytes.
    ///
    /// # Errors
    ///
    /// When the text holds anything but visible ASCII, or a double quote.
    pub fn weak(opaque: &str) -> Result<Self, InvalidEntityTag> {
        checked(opaque).map(|opaque| Self::from_opaque(b"W/\"", opaque))
    }

    /// Reads a field value that is one entity tag.
    ///
    /// # Errors
    ///
    /// When the bytes do not match the grammar.
    pub fn parse(value: &[u8]) -> Result<Self, InvalidEntityTag> {
        match EntityTagRef::split(value) {
            Some((_, [])) => Ok(Self {
                text: Bytes::copy_from_slice(value),
            }),
            _ => Err(InvalidEntityTag),
        }
    }

    /// Whether this is a weak tag.
    #[must_use]
    pub fn is_weak(&self) -> bool {
        self.text.starts_with(b"W/")
    }

    /// The same tag, weakened: for a representation that means the same and has other bytes.
    #[must_use]
    pub fn to_weak(&self) -> Self {
        match self.is_weak() {
            true => self.clone(),
            false => Self {
                text: [b"W/", self.text.as_ref()].concat().into(),
            },
        }
    }

    /// The tag of the same state in this content coding, as [RFC 9110 §8.8.3.3] asks for one of its own: `"v7"` becomes `"v7-gzip"`.
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
            // the name of a coding is a token, which is of the characters of a tag
            Some(open) if !coding.is_identity() => Self {
                text: [open, b"-", coding.as_str().as_bytes(), b"\""].concat().into(),
            },
            _ => self.clone(),
        }
    }

    /// Strong comparison: both strong, and the same. For writes and ranges.
    #[must_use]
    pub fn strong_eq(&self, other: &Self) -> bool {
        self.borrow().strong_eq(other.borrow())
    }

    /// Weak comparison: the same but for `W/`. For reads from a cache.
    #[must_use]
    pub fn weak_eq(&self, other: &Self) -> bool {
        self.borrow().weak_eq(other.borrow())
    }

    /// The field value.
    #[must_use]
    pub fn header_value(&self) -> HeaderValue {
        // every byte of the grammar is a field value byte
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

/// A tag inside somebody else's bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct EntityTagRef<'a> {
    weak: bool,
    /// The opaque part with its quotes.
    quoted: &'a [u8],
}

impl<'a> EntityTagRef<'a> {
    /// Takes the tag at the start of the bytes; the rest is what follows it.
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

    /// The tag whose form in this coding it is, if it is one; without the quote that closes it.
    fn out_of_coding(self, coding: &ContentCoding) -> Option<&'a [u8]> {
        let open = self.quoted.strip_suffix(b"\"")?;
        open.strip_suffix(coding.as_str().as_bytes())?.strip_suffix(b"-")
    }

    /// Whether it is the other tag in one of these codings, as far as the opaque parts go.
    fn is_in_coding(self, other: EntityTagRef<'_>, codings: &[ContentCoding]) -> bool {
        let open = other.quoted.strip_suffix(b"\"");
        codings
            .iter()
            .any(|coding| open.is_some() && self.out_of_coding(coding) == open)
    }
}

/// The tag of the current state, and the codings in which it has others.
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

/// The bytes are not an entity tag.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("invalid entity tag")]
pub struct InvalidEntityTag;
