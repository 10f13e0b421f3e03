//! Size limits of a request.

use http::{HeaderMap, Uri, header::CONTENT_LENGTH};

use crate::{
    errors::{Problem, ProblemBase, types},
    single_value,
};

/// The caps on one request, all inclusive: by default a target of 8 KiB, 100 field lines of 32 KiB together, and content of
/// 1 MiB, as it is sent and unpacked alike.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SizeLimits {
    target: u64,
    field_lines: u64,
    fields: u64,
    encoded: u64,
    decoded: u64,
}

impl Default for SizeLimits {
    fn default() -> Self {
        Self {
            target: 8 << 10,
            field_lines: 100,
            fields: 32 << 10,
            encoded: 1 << 20,
            decoded: 1 << 20,
        }
    }
}

impl SizeLimits {
    /// With a path and query of so many bytes.
    #[must_use]
    pub const fn with_target(mut self, bytes: u64) -> Self {
        self.target = bytes;
        self
    }

    /// With so many field lines, and so many bytes in their names and values together.
    #[must_use]
    pub const fn with_fields(mut self, lines: u64, bytes: u64) -> Self {
        self.field_lines = lines;
        self.fields = bytes;
        self
    }

    /// With so many bytes of content as it is sent, and so many when it is unpacked.
    ///
    /// # Security
    ///
    /// Packed content can be a thousand times as large unpacked: the second cap is what protects memory, and holds only where
    /// the host counts while it unpacks.
    #[must_use]
    pub const fn with_content(mut self, encoded: u64, decoded: u64) -> Self {
        self.encoded = encoded;
        self.decoded = decoded;
        self
    }

    /// How many bytes of content a request may send, as it is sent.
    #[must_use]
    pub const fn content(&self) -> u64 {
        self.encoded
    }

    /// Whether any request is small enough: one for `/`, with one field.
    pub(crate) const fn let_something_pass(&self) -> bool {
        self.target > 0 && self.field_lines > 0 && self.fields > 0
    }

    /// What content that is too large is refused with, whoever counted it.
    #[must_use]
    pub const fn too_much_content(&self) -> TooLarge {
        TooLarge::Content(self.encoded)
    }

    /// Checks what is known before any content is read, its announced length included.
    ///
    /// # Errors
    ///
    /// When something is larger than its cap: first the target, then the fields, then the content.
    pub fn check_head(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), TooLarge> {
        let target = uri.path_and_query().map_or("", |target| target.as_str());
        within(length(target.len()), self.target, TooLarge::Target)?;
        let sizes = headers
            .iter()
            .map(|(name, value)| length(name.as_str().len() + value.len()));
        within(length(headers.len()), self.field_lines, TooLarge::FieldLines)?;
        within(sizes.sum(), self.fields, TooLarge::Fields)?;
        let announced =
            single_value(headers, &CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
        within(announced.unwrap_or(0), self.encoded, TooLarge::Content)
    }

    /// Counts the content while it arrives: its announced length may be absent.
    #[must_use]
    pub const fn meter(&self) -> ContentMeter {
        ContentMeter {
            limits: *self,
            encoded: 0,
            decoded: 0,
        }
    }
}

/// The content that has arrived so far.
#[derive(Clone, Debug)]
pub struct ContentMeter {
    limits: SizeLimits,
    encoded: u64,
    decoded: u64,
}

impl ContentMeter {
    /// So many more bytes have arrived.
    ///
    /// # Errors
    ///
    /// When they are more than the cap in all; keep none of them.
    pub fn arrived(&mut self, bytes: usize) -> Result<(), TooLarge> {
        self.encoded = self.encoded.saturating_add(length(bytes));
        within(self.encoded, self.limits.encoded, TooLarge::Content)
    }

    /// So many more bytes have been unpacked; not called for content that is not packed.
    ///
    /// # Errors
    ///
    /// When they are more than the cap in all; keep none of them, and unpack no further.
    pub fn unpacked(&mut self, bytes: usize) -> Result<(), TooLarge> {
        self.decoded = self.decoded.saturating_add(length(bytes));
        within(self.decoded, self.limits.decoded, TooLarge::Unpacked)
    }

    /// How many bytes may still be unpacked: one more is what an unpacker should ask for at most.
    #[must_use]
    pub const fn unpacked_left(&self) -> u64 {
        self.limits.decoded.saturating_sub(self.decoded)
    }
}

fn length(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

fn within(size: u64, limit: u64, error: fn(u64) -> TooLarge) -> Result<(), TooLarge> {
    match size > limit {
        true => Err(error(limit)),
        false => Ok(()),
    }
}

/// Something of a request is larger than its cap, which is given in bytes, or in lines.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TooLarge {
    /// The path and query.
    #[error("target of more than {0} bytes")]
    Target(u64),
    /// There are too many field lines.
    #[error("more than {0} field lines")]
    FieldLines(u64),
    /// All names and values together.
    #[error("fields of more than {0} bytes")]
    Fields(u64),
    /// The content as it is sent.
    #[error("content of more than {0} bytes")]
    Content(u64),
    /// The content when it is unpacked.
    #[error("content of more than {0} bytes when unpacked")]
    Unpacked(u64),
}

impl TooLarge {
    /// The 413, 414 or 431 to answer with; its extension `limit` is the cap.
    #[must_use]
    pub fn problem(self, base: &ProblemBase) -> Problem {
        let (kind, limit) = match self {
            Self::Target(limit) => (types::TARGET_TOO_LONG, limit),
            Self::FieldLines(limit) | Self::Fields(limit) => (types::FIELDS_TOO_LARGE, limit),
            Self::Content(limit) | Self::Unpacked(limit) => (types::CONTENT_TOO_LARGE, limit),
        };
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        kind.problem(base)
            .with_detail(self.to_string())
            .with_extension("limit", limit)
    }
}
