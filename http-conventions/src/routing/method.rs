//! Request methods.

use http::{HeaderName, HeaderValue, Method};

use crate::content::{MediaType, Offers};

/// Response field that announces support of QUERY, [RFC 10008
/// §3](https://www.rfc-editor.org/rfc/rfc10008#section-3).
pub const ACCEPT_QUERY: HeaderName = HeaderName::from_static("accept-query");

/// Semantics of all methods that this crate knows.
pub static METHODS: [(Method, Semantics); 10] = [
    (Method::GET, Semantics::READS),
    (Method::HEAD, Semantics::READS),
    (Method::QUERY, Semantics::READS),
    (Method::OPTIONS, Semantics::SAFE),
    (Method::TRACE, Semantics::SAFE),
    (Method::PUT, Semantics::IDEMPOTENT),
    (Method::DELETE, Semantics::IDEMPOTENT),
    (Method::POST, Semantics::NONE),
    // some PATCH requests are idempotent, but the method does not show which
    (Method::PATCH, Semantics::NONE),
    (Method::CONNECT, Semantics::NONE),
];

/// Properties of a method that hold for every resource.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Semantics {
    is_safe: bool,
    is_idempotent: bool,
    is_cacheable: bool,
}

impl Semantics {
    const READS: Self = Self {
        is_safe: true,
        is_idempotent: true,
        is_cacheable: true,
    };
    const SAFE: Self = Self {
        is_cacheable: false,
        ..Self::READS
    };
    const IDEMPOTENT: Self = Self {
        is_safe: false,
        ..Self::SAFE
    };
    const NONE: Self = Self {
        is_idempotent: false,
        ..Self::IDEMPOTENT
    };

    /// Semantics of a method. An unknown method is neither safe, idempotent nor cacheable.
    #[must_use]
    pub fn of(method: &Method) -> Self {
        let known = METHODS.iter().find(|(known, _)| known == method);
        known.map_or(Self::NONE, |(_, semantics)| *semantics)
    }

    /// Returns `true` if the method is safe, that is, read-only.
    #[must_use]
    pub const fn is_safe(self) -> bool {
        self.is_safe
    }

    /// Returns `true` if several identical requests have the same effect as one.
    #[must_use]
    pub const fn is_idempotent(self) -> bool {
        self.is_idempotent
    }

    /// Returns `true` if a cache may store the response without explicit freshness.
    ///
    /// For QUERY the content is part of the cache key. POST returns `false`: its response needs
    /// explicit freshness ([RFC 9110
    /// §9.3.3](https://www.rfc-editor.org/rfc/rfc9110#section-9.3.3)).
    #[must_use]
    pub const fn is_cacheable(self) -> bool {
        self.is_cacheable
    }

    /// Returns `true` if a client may retry a request that got no response. A request with another
    /// method needs an `Idempotency-Key` for that.
    #[must_use]
    pub const fn is_retried(self) -> bool {
        self.is_idempotent
    }
}

/// Value of `Accept-Query`: a list of strings with parameters, [RFC
/// 9651](https://www.rfc-editor.org/rfc/rfc9651).
///
/// A parameter whose name is not a structured-field key is omitted.
///
/// ```
/// use http_conventions::{content::Offers, routing::accept_query};
///
/// let offers = Offers::parse(
///     "application/jsonpath",
///     &["application/sql; charset=\"UTF-8\""],
/// )?;
/// assert_eq!(
///     accept_query(&offers),
///     "\"application/jsonpath\", \"application/sql\";charset=\"UTF-8\""
/// );
/// # Ok::<(), http_conventions::content::InvalidMediaType>(())
/// ```
#[must_use]
pub fn accept_query(offers: &Offers<MediaType>) -> HeaderValue {
    let members: Vec<String> = offers.all().iter().map(member).collect();
    // strings and keys are visible ASCII and spaces
    HeaderValue::try_from(members.join(", ")).unwrap_or(HeaderValue::from_static(""))
}

fn member(offer: &MediaType) -> String {
    let mut text = format!("\"{}\"", offer.essence());
    for (name, value) in offer.parameters() {
        if is_key(name) && value.iter().all(|byte| matches!(byte, b' '..=b'~')) {
            text.push(';');
            text.extend(name.iter().copied().map(char::from));
            text.push_str("=\"");
            for byte in value {
                if matches!(byte, b'"' | b'\\') {
                    text.push('\\');
                }
                text.push(char::from(*byte));
            }
            text.push('"');
        }
    }
    text
}

/// Returns `true` if the name is a `key`, [RFC 9651
/// §3.1.2](https://www.rfc-editor.org/rfc/rfc9651#section-3.1.2).
fn is_key(name: &[u8]) -> bool {
    let is_key_byte =
        |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-.*".contains(byte);
    let starts_so = |byte: &u8| byte.is_ascii_lowercase() || *byte == b'*';
    name.first().is_some_and(starts_so) && name.iter().all(is_key_byte)
}
