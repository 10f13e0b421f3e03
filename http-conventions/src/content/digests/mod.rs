//! Digests of a content, [RFC 9530](https://www.rfc-editor.org/rfc/rfc9530).

mod check;
mod wanted;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::{HeaderMap, HeaderName, HeaderValue};
use sha2::{Digest as _, Sha256, Sha512};

pub use self::{
    check::{DigestRefusal, check_digests, require_content_digest},
    wanted::add_wanted_digests,
};
use crate::structured::{Malformed, Value, dictionary};

/// Field with the digests of the content of a message, [RFC 9530
/// §2](https://www.rfc-editor.org/rfc/rfc9530#section-2).
pub const CONTENT_DIGEST: HeaderName = HeaderName::from_static("content-digest");

/// Field with the digests of the complete representation, of which the content may be a part, [RFC
/// 9530 §3](https://www.rfc-editor.org/rfc/rfc9530#section-3).
pub const REPR_DIGEST: HeaderName = HeaderName::from_static("repr-digest");

/// Field that asks for `Content-Digest`, [RFC 9530
/// §4](https://www.rfc-editor.org/rfc/rfc9530#section-4).
pub const WANT_CONTENT_DIGEST: HeaderName = HeaderName::from_static("want-content-digest");

/// Field that asks for `Repr-Digest`, [RFC 9530
/// §4](https://www.rfc-editor.org/rfc/rfc9530#section-4).
pub const WANT_REPR_DIGEST: HeaderName = HeaderName::from_static("want-repr-digest");

const SHA_256: &[u8] = b"sha-256";
const SHA_512: &[u8] = b"sha-512";

/// Algorithm of a digest. The registered algorithms that are not secure, such as `md5` and `sha`,
/// are not supported.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum DigestAlgorithm {
    /// `sha-256`.
    Sha256,
    /// `sha-512`.
    Sha512,
}

/// Digests in one field, with at least one supported algorithm.
///
/// ```
/// use http::HeaderMap;
/// use http_conventions::content::{CONTENT_DIGEST, DigestAlgorithm, Digests};
///
/// let content = b"{\"hello\": \"world\"}\n";
/// let digests = Digests::of(content, DigestAlgorithm::Sha256);
/// assert_eq!(
///     digests.header_value(),
///     "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:"
/// );
///
/// let mut headers = HeaderMap::new();
/// headers.insert(CONTENT_DIGEST, digests.header_value());
/// let sent = Digests::parse(&headers, &CONTENT_DIGEST)?;
/// assert!(sent.is_some_and(|sent| sent.match_content(content)));
/// # Ok::<(), http_conventions::content::InvalidDigests>(())
/// ```
///
/// # Security
///
/// A digest shows that the content was not damaged. It does not show who wrote the content, because
/// everyone can compute it. Digests are therefore no secrets, and are not compared in constant
/// time.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Digests {
    sha256: Option<[u8; 32]>,
    sha512: Option<[u8; 64]>,
}

impl Digests {
    const NONE: Self = Self {
        sha256: None,
        sha512: None,
    };

    /// Computes the digest of a content.
    #[must_use]
    pub fn of(content: &[u8], algorithm: DigestAlgorithm) -> Self {
        match algorithm {
            DigestAlgorithm::Sha256 => Self::from_sha256(Sha256::digest(content).into()),
            DigestAlgorithm::Sha512 => Self::from_sha512(Sha512::digest(content).into()),
        }
    }

    /// Creates digests from a SHA-256 that the host computed, for example of a stream.
    #[must_use]
    pub const fn from_sha256(digest: [u8; 32]) -> Self {
        Self {
            sha256: Some(digest),
            ..Self::NONE
        }
    }

    /// Creates digests from a SHA-512 that the host computed, for example of a stream.
    #[must_use]
    pub const fn from_sha512(digest: [u8; 64]) -> Self {
        Self {
            sha512: Some(digest),
            ..Self::NONE
        }
    }

    /// Reads the digests of a field; `None` if the field is absent or has no supported algorithm.
    ///
    /// # Errors
    ///
    /// [`InvalidDigests`] if the field is not a dictionary ([RFC 9651
    /// §3.2](https://www.rfc-editor.org/rfc/rfc9651#section-3.2)), or if a supported algorithm has
    /// a value that is not a byte sequence of the right length.
    pub fn parse(headers: &HeaderMap, name: &HeaderName) -> Result<Option<Self>, InvalidDigests> {
        if !headers.contains_key(name) {
            return Ok(None);
        }
        let (mut sha256, mut sha512) = (None, None);
        dictionary(headers, name, |key, value| match key {
            SHA_256 => sha256 = Some(bytes_of(value)),
            SHA_512 => sha512 = Some(bytes_of(value)),
            _ => {}
        })
        .map_err(|Malformed| InvalidDigests)?;
        let found = Self {
            sha256: sha256.map(|value| value.ok_or(InvalidDigests)).transpose()?,
            sha512: sha512.map(|value| value.ok_or(InvalidDigests)).transpose()?,
        };
        Ok((found != Self::NONE).then_some(found))
    }

    /// SHA-256, if present.
    #[must_use]
    pub const fn sha256(&self) -> Option<&[u8; 32]> {
        self.sha256.as_ref()
    }

    /// SHA-512, if present.
    #[must_use]
    pub const fn sha512(&self) -> Option<&[u8; 64]> {
        self.sha512.as_ref()
    }

    /// Returns `true` if each digest is the digest of `content`.
    #[must_use]
    pub fn match_content(&self, content: &[u8]) -> bool {
        self.sha256
            .is_none_or(|digest| digest == <[u8; 32]>::from(Sha256::digest(content)))
            && self
                .sha512
                .is_none_or(|digest| digest == <[u8; 64]>::from(Sha512::digest(content)))
    }

    /// Computes the digests of another content, with the same algorithms.
    pub(crate) fn recompute(&self, content: &[u8]) -> Self {
        Self {
            sha256: self.sha256.map(|_| Sha256::digest(content).into()),
            sha512: self.sha512.map(|_| Sha512::digest(content).into()),
        }
    }

    /// Value of `Content-Digest` or `Repr-Digest`.
    #[must_use]
    pub fn header_value(&self) -> HeaderValue {
        let member = |name: &str, digest: &[u8]| format!("{name}=:{}:", STANDARD.encode(digest));
        let sha256 = self.sha256.map(|digest| member("sha-256", &digest));
        let sha512 = self.sha512.map(|digest| member("sha-512", &digest));
        let members: Vec<String> = sha256.into_iter().chain(sha512).collect();
        // base64 is a valid field value; an empty dictionary claims nothing
        HeaderValue::try_from(members.join(", ")).unwrap_or(HeaderValue::from_static(""))
    }
}

/// The bytes of a digest; `None` if the value has another type or length.
fn bytes_of<const LENGTH: usize>(value: Value) -> Option<[u8; LENGTH]> {
    match value {
        Value::Bytes(bytes) => bytes.try_into().ok(),
        Value::Integer(_) | Value::Other => None,
    }
}

/// Error for a malformed `Content-Digest` or `Repr-Digest`.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("invalid digests")]
pub struct InvalidDigests;
