//! Checks of the digests of a request.

use http::{HeaderMap, HeaderValue, header::CONTENT_RANGE};
use thiserror::Error;

use super::{CONTENT_DIGEST, Digests, InvalidDigests, REPR_DIGEST, WANT_CONTENT_DIGEST};
use crate::errors::{Problem, ProblemBase, types};

/// Both algorithms with the same preference.
const SUPPORTED: HeaderValue = HeaderValue::from_static("sha-256=10, sha-512=10");

/// Refusal of a request because of the digest of its content.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum DigestRefusal {
    /// The request has content, and no `Content-Digest` with a supported algorithm.
    #[error("the content needs a Content-Digest with sha-256 or sha-512")]
    Missing,
    /// `Content-Digest` or `Repr-Digest` is malformed.
    #[error("Content-Digest or Repr-Digest is malformed")]
    Malformed,
    /// The content has another digest.
    #[error("the content does not have the digest in Content-Digest or Repr-Digest")]
    Mismatch,
}

impl DigestRefusal {
    /// Creates the 400 problem. If the digest is missing, `Want-Content-Digest` lists the supported
    /// algorithms.
    #[must_use]
    pub fn problem(self, base: &ProblemBase) -> Problem {
        match self {
            Self::Missing => types::CONTENT_DIGEST_MISSING
                .problem(base)
                .with_field(WANT_CONTENT_DIGEST, SUPPORTED),
            Self::Malformed | Self::Mismatch => types::CONTENT_DIGEST_MISMATCH
                .problem(base)
                .with_detail(self.to_string()),
        }
    }
}

impl From<InvalidDigests> for DigestRefusal {
    fn from(_: InvalidDigests) -> Self {
        Self::Malformed
    }
}

/// Checks `Content-Digest` and `Repr-Digest` of a request against its complete content, as sent.
///
/// Both fields are optional. A field without a supported algorithm is ignored. `Repr-Digest` is
/// also ignored beside `Content-Range`, because the content is then only a part of the
/// representation.
///
/// # Errors
///
/// [`DigestRefusal`] if a field is malformed, or if a digest does not match the content.
pub fn check_digests(headers: &HeaderMap, content: &[u8]) -> Result<(), DigestRefusal> {
    let is_part = headers.contains_key(CONTENT_RANGE);
    let of_content = Digests::parse(headers, &CONTENT_DIGEST)?;
    let of_whole = Digests::parse(headers, &REPR_DIGEST)?.filter(|_| !is_part);
    let mut all = of_content.iter().chain(&of_whole);
    match all.all(|digests| digests.match_content(content)) {
        true => Ok(()),
        false => Err(DigestRefusal::Mismatch),
    }
}

/// Checks digests like [`check_digests`], and requires a `Content-Digest` of content that is not
/// empty.
///
/// ```
/// use http::HeaderMap;
/// use http_conventions::{
///     content::{CONTENT_DIGEST, DigestAlgorithm, DigestRefusal, Digests, require_content_digest},
///     errors::ProblemBase,
/// };
///
/// let mut headers = HeaderMap::new();
/// let missing = require_content_digest(&headers, b"{}").unwrap_err();
/// let base = ProblemBase::new("https://api.example.com/problems/")?;
/// let response = missing.problem(&base).into_response();
/// assert_eq!(response.status(), 400);
/// assert_eq!(response.headers()["want-content-digest"], "sha-256=10, sha-512=10");
///
/// let digest = Digests::of(b"{}", DigestAlgorithm::Sha512).header_value();
/// headers.insert(CONTENT_DIGEST, digest);
/// assert_eq!(require_content_digest(&headers, b"{}"), Ok(()));
/// assert_eq!(require_content_digest(&headers, b"[]"), Err(DigestRefusal::Mismatch));
/// # Ok::<(), http_conventions::errors::InvalidProblemBase>(())
/// ```
///
/// # Errors
///
/// [`DigestRefusal`].
pub fn require_content_digest(headers: &HeaderMap, content: &[u8]) -> Result<(), DigestRefusal> {
    if !content.is_empty() && Digests::parse(headers, &CONTENT_DIGEST)?.is_none() {
        return Err(DigestRefusal::Missing);
    }
    check_digests(headers, content)
}
