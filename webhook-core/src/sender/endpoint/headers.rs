//! Static headers of an endpoint.

use std::fmt;

use http::{HeaderMap, HeaderName, HeaderValue, header};

use crate::sender::trace::{TRACEPARENT, TRACESTATE};

/// Maximum number of static headers of an endpoint.
const MOST: usize = 32;

/// Maximum length of a name in bytes.
const MAX_NAME: usize = 256;

/// Maximum length of a value in bytes.
const MAX_VALUE: usize = 4096;

/// Maximum total length of their names and values in bytes.
const MAX_LENGTH: usize = 8 * 1024;

/// Prefixes of names that the dispatcher sets itself, in each of its signature schemes and content
/// modes, or that steer a connection.
const RESERVED_PREFIXES: [&str; 5] = ["webhook-", "ce-", "sec-", "proxy-", "x-forwarded-"];

/// Names that the dispatcher or HTTP sets.
const RESERVED: [HeaderName; 20] = [
    header::ACCEPT_ENCODING,
    header::CONNECTION,
    header::CONTENT_ENCODING,
    header::CONTENT_LENGTH,
    header::CONTENT_TYPE,
    header::COOKIE,
    header::DATE,
    header::EXPECT,
    header::FORWARDED,
    header::HOST,
    header::RANGE,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    header::USER_AGENT,
    header::VIA,
    HeaderName::from_static("keep-alive"),
    TRACEPARENT,
    TRACESTATE,
];

/// Names of signature fields (RFC 9421 and RFC 9530).
const SIGNATURES: [&str; 6] = [
    "signature",
    "signature-input",
    "accept-signature",
    "content-digest",
    "repr-digest",
    "digest",
];

/// Headers that the dispatcher adds to each message to an endpoint, such as an `Authorization` that
/// the receiver's gateway asks for.
///
/// - At most 32 headers, each name once, and 8 KiB in total.
/// - A name has at most 256 bytes, a value at most 4,096.
/// - Refused are the names that the dispatcher, the signature or HTTP sets: `Content-Type`,
///   `User-Agent`, `Host`, `Webhook-*`, `CE-*`, `Signature`, `Connection` and the like.
///
/// # Security
///
/// The signature does not cover these headers. `Debug` hides the values, because they may be
/// credentials, and [`SecretsAtRest`](super::SecretsAtRest) encrypts them with the signers.
///
/// # Examples
///
/// ```
/// use webhook_core::sender::StaticHeaders;
///
/// let headers = StaticHeaders::new([("authorization", "Bearer 8c1f"), ("x-team", "billing")])?;
/// assert_eq!(headers.iter().count(), 2);
/// assert!(!format!("{headers:?}").contains("8c1f"));
/// assert!(StaticHeaders::new([("webhook-id", "evt_1")]).is_err());
/// # Ok::<_, webhook_core::sender::InvalidStaticHeader>(())
/// ```
#[derive(Clone, Default, Eq, PartialEq)]
pub struct StaticHeaders(HeaderMap);

impl StaticHeaders {
    /// Checks names and values.
    ///
    /// # Errors
    ///
    /// [`InvalidStaticHeader`], which names the header and never its value.
    pub fn new<'a>(
        headers: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, InvalidStaticHeader> {
        let mut checked = HeaderMap::new();
        let mut length = 0;
        for (name, value) in headers {
            let invalid = |reason| InvalidStaticHeader {
                name: name.chars().take(64).collect(),
                reason,
            };
            let parsed = HeaderName::from_bytes(name.as_bytes());
            let parsed = parsed.map_err(|_| invalid("is not a field name"))?;
            if name.len() > MAX_NAME || value.len() > MAX_VALUE {
                return Err(invalid("has a name over 256 bytes or a value over 4096"));
            }
            if is_reserved(&parsed) {
                return Err(invalid("is reserved"));
            }
            // `from_str` also accepts text that is not ASCII
            let is_visible = |byte: u8| byte == b'\t' || byte == b' ' || byte.is_ascii_graphic();
            let checked_value = HeaderValue::from_str(value).ok();
            let checked_value = checked_value.filter(|_| value.bytes().all(is_visible));
            let mut value = checked_value.ok_or_else(|| invalid("is not visible ASCII"))?;
            value.set_sensitive(true);
            length += parsed.as_str().len() + value.len();
            if checked.insert(parsed, value).is_some() {
                return Err(invalid("is repeated"));
            }
            if checked.len() > MOST || length > MAX_LENGTH {
                return Err(invalid("exceeds 32 headers or 8 KiB"));
            }
        }
        Ok(Self(checked))
    }

    /// Names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&HeaderName, &HeaderValue)> {
        self.0.iter()
    }

    /// Returns `true` if there are no headers.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn is_reserved(name: &HeaderName) -> bool {
    let text = name.as_str();
    let has_prefix = RESERVED_PREFIXES.iter().any(|prefix| text.starts_with(prefix));
    has_prefix || RESERVED.contains(name) || SIGNATURES.contains(&text)
}

impl fmt::Debug for StaticHeaders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.keys().map(|name| (name.as_str(), "…"));
        f.debug_map().entries(names).finish()
    }
}

/// Error: a static header is refused.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the header `{name}` {reason}")]
pub struct InvalidStaticHeader {
    name: String,
    reason: &'static str,
}
