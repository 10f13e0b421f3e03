//! Size limits of a request.

use http::{HeaderMap, Uri, header::CONTENT_LENGTH};

use crate::{
    errors::{Problem, ProblemBase, types},
    single_value,
};

/// Size limits of a request. A request that has exactly the size of a limit passes.
///
/// | limit | default |
/// |---|---|
/// | path and query | 8 KiB |
/// | field lines | 100 |
/// | names and values of all fields | 32 KiB |
/// | content as sent | 1 MiB |
/// | content after decompression | 1 MiB |
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
    /// Sets the limit of path and query in bytes.
    #[must_use]
    pub const fn with_target(mut self, bytes: u64) -> Self {
        self.target = bytes;
        self
    }

    /// Sets the limits of the header section: field lines, and bytes of all names and values.
    #[must_use]
    pub const fn with_fields(mut self, lines: u64, bytes: u64) -> Self {
        self.field_lines = lines;
        self.fields = bytes;
        self
    }

    /// Sets the limits of the content in bytes: as sent, and after decompression.
    ///
    /// # Security
    ///
    /// Decompression can enlarge content a thousandfold. The second limit protects memory only if
    /// the host counts the bytes while it decompresses; see [`ContentMeter`].
    #[must_use]
    pub const fn with_content(mut self, encoded: u64, decoded: u64) -> Self {
        self.encoded = encoded;
        self.decoded = decoded;
        self
    }

    /// Limit of the content as sent, in bytes.
    #[must_use]
    pub const fn content(&self) -> u64 {
        self.encoded
    }

    /// Returns `true` if a minimal request, with the target `/` and one field, passes.
    pub(crate) const fn let_something_pass(&self) -> bool {
        self.target > 0 && self.field_lines > 0 && self.fields > 0
    }

    /// Creates the error for content above the limit. Use it if another component, such as the
    /// server, counted the bytes.
    #[must_use]
    pub const fn too_much_content(&self) -> TooLarge {
        TooLarge::Content(self.encoded)
    }

    /// Checks the request head, including `Content-Length`.
    ///
    /// # Errors
    ///
    /// [`TooLarge`] for the first limit that is exceeded: the target, then the fields, then the
    /// content.
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

    /// Creates a meter that counts the content while it arrives. `Content-Length` may be absent, so
    /// checking the head alone is not enough.
    #[must_use]
    pub const fn meter(&self) -> ContentMeter {
        ContentMeter {
            limits: *self,
            encoded: 0,
            decoded: 0,
        }
    }
}

/// Counts the content of one request against the [`SizeLimits`].
#[derive(Clone, Debug)]
pub struct ContentMeter {
    limits: SizeLimits,
    encoded: u64,
    decoded: u64,
}

impl ContentMeter {
    /// Counts received bytes, as sent.
    ///
    /// # Errors
    ///
    /// [`TooLarge`] if the total exceeds the limit. Discard all received bytes.
    pub fn add_encoded(&mut self, bytes: usize) -> Result<(), TooLarge> {
        self.encoded = self.encoded.saturating_add(length(bytes));
        within(self.encoded, self.limits.encoded, TooLarge::Content)
    }

    /// Counts decompressed bytes. Do not call it for content without a coding.
    ///
    /// # Errors
    ///
    /// [`TooLarge`] if the total exceeds the limit. Discard all bytes and stop decompressing.
    pub fn add_decoded(&mut self, bytes: usize) -> Result<(), TooLarge> {
        self.decoded = self.decoded.saturating_add(length(bytes));
        within(self.decoded, self.limits.decoded, TooLarge::Unpacked)
    }

    /// Number of decompressed bytes left until the limit. A decompressor should produce at most one
    /// byte more, which is enough to detect the excess.
    #[must_use]
    pub const fn decoded_left(&self) -> u64 {
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

/// Error for a part of a request that exceeds its limit. The value is the limit, in bytes or in
/// field lines.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TooLarge {
    /// Path and query together exceed the limit in bytes.
    #[error("target of more than {0} bytes")]
    Target(u64),
    /// The number of field lines exceeds the limit.
    #[error("more than {0} field lines")]
    FieldLines(u64),
    /// Names and values of all fields together exceed the limit in bytes.
    #[error("fields of more than {0} bytes")]
    Fields(u64),
    /// The content as sent exceeds the limit in bytes.
    #[error("content of more than {0} bytes")]
    Content(u64),
    /// The content after decompression exceeds the limit in bytes.
    #[error("content of more than {0} bytes after decompression")]
    Unpacked(u64),
}

impl TooLarge {
    /// Creates the 413, 414 or 431 problem. Its extension `limit` contains the limit.
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
