//! Idempotency keys, and the keys of their records.

use std::fmt;

use http::{HeaderMap, HeaderName, Method};
use sha2::{Digest as _, Sha256};

use crate::{byte_strings::byte_string, digest::LengthPrefixed as _};

/// The request header that carries the key.
pub const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

const MAX_LENGTH: usize = 255;

/// Idempotency key: the name that a client chose for one operation, with 1 to 255 characters.
///
/// The draft requires a quoted string; most deployed APIs use an unquoted string. Both forms denote
/// the same key.
///
/// ```
/// use http::HeaderMap;
/// use http_conventions::idempotency::{IDEMPOTENCY_KEY, IdempotencyKey};
///
/// let mut headers = HeaderMap::new();
/// assert_eq!(IdempotencyKey::from_headers(&headers), Ok(None));
///
/// headers.insert(IDEMPOTENCY_KEY, "abc-123".parse()?);
/// let bare = IdempotencyKey::from_headers(&headers)?;
/// headers.insert(IDEMPOTENCY_KEY, "\"abc-123\"".parse()?);
/// assert_eq!(IdempotencyKey::from_headers(&headers)?, bare);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Security
///
/// `Debug` hides the key, because a caller of the same scope that knows the key can read the stored
/// response.
#[derive(Clone, Eq, Hash, PartialEq)]
pub struct IdempotencyKey(Box<str>);

impl IdempotencyKey {
    /// Parses the key of a request; `None` if the field is absent.
    ///
    /// # Errors
    ///
    /// [`InvalidIdempotencyKey`] if the field is repeated, empty, too long, or neither a quoted nor
    /// an unquoted string.
    pub fn from_headers(headers: &HeaderMap) -> Result<Option<Self>, InvalidIdempotencyKey> {
        let mut lines = headers.get_all(IDEMPOTENCY_KEY).iter();
        match (lines.next(), lines.next()) {
            (None, _) => Ok(None),
            (Some(line), None) => Self::parse(line.as_bytes()).map(Some),
            (Some(_), Some(_)) => Err(InvalidIdempotencyKey),
        }
    }

    /// Parses a field value.
    ///
    /// # Errors
    ///
    /// [`InvalidIdempotencyKey`] if the value is empty, too long, or neither a quoted nor an
    /// unquoted string.
    pub fn parse(value: &[u8]) -> Result<Self, InvalidIdempotencyKey> {
        let value = value.trim_ascii();
        let key = match value.strip_prefix(b"\"") {
            Some(rest) => unquote(rest)?,
            None => bare(value)?,
        };
        if key.is_empty() || key.len() > MAX_LENGTH {
            return Err(InvalidIdempotencyKey);
        }
        Ok(Self(key.into()))
    }

    /// Key without quotes.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdempotencyKey").finish_non_exhaustive()
    }
}

/// Parses visible ASCII without quotes, commas and backslashes.
fn bare(value: &[u8]) -> Result<String, InvalidIdempotencyKey> {
    let is_plain = |byte: &u8| byte.is_ascii_graphic() && !b"\",\\".contains(byte);
    match value.iter().all(is_plain) {
        true => String::from_utf8(value.to_vec()).map_err(|_| InvalidIdempotencyKey),
        false => Err(InvalidIdempotencyKey),
    }
}

/// Parses the rest of a String of [RFC 9651
/// §3.3.3](https://www.rfc-editor.org/rfc/rfc9651#section-3.3.3) after its first quote, without
/// parameters.
fn unquote(rest: &[u8]) -> Result<String, InvalidIdempotencyKey> {
    let mut key = String::new();
    let mut bytes = rest.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' if bytes.len() == 0 => return Ok(key),
            b'\\' => match bytes.next() {
                Some(escaped @ (b'"' | b'\\')) => key.push(char::from(escaped)),
                _ => return Err(InvalidIdempotencyKey),
            },
            b' ' | b'!' | b'#'..=b'~' => key.push(char::from(byte)),
            _ => return Err(InvalidIdempotencyKey),
        }
    }
    Err(InvalidIdempotencyKey)
}

/// Scope of a key: principal and route. The same key in two scopes names two operations.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct KeyScope<'a> {
    principal: &'a str,
    route: &'a str,
}

impl<'a> KeyScope<'a> {
    /// Creates the scope of a principal and a route template, such as `/v1/charges/{id}/refunds`.
    ///
    /// # Security
    ///
    /// The principal must come from authentication and include the tenant. If all callers share one
    /// principal, a caller that guesses a key reads the response of another caller.
    #[must_use]
    pub const fn new(principal: &'a str, route: &'a str) -> Self {
        Self { principal, route }
    }
}

byte_string! {
    /// Key of a record: SHA-256 over principal, method, route and idempotency key. Stores never see
    /// the idempotency key.
    #[derive(Clone, Copy, Eq, Hash, PartialEq)]
    pub struct RecordKey(32);
}

impl RecordKey {
    /// Computes the record key of an idempotency key.
    #[must_use]
    pub fn new(scope: KeyScope<'_>, method: &Method, key: &IdempotencyKey) -> Self {
        let digest = Sha256::new_with_prefix(b"idempotency record 1")
            .chain_field(scope.principal.as_bytes())
            .chain_field(method.as_str().as_bytes())
            .chain_field(scope.route.as_bytes())
            .chain_field(key.as_str().as_bytes());
        Self::from_bytes(digest.finalize().into())
    }
}

/// Error for an `Idempotency-Key` that is repeated, empty, too long or malformed.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("invalid Idempotency-Key")]
pub struct InvalidIdempotencyKey;
