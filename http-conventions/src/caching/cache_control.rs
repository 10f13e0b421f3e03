//! `Cache-Control` of responses.

use std::{fmt, time::Duration};

use http::{HeaderMap, HeaderValue, header::CACHE_CONTROL};

/// Caching policy of a response: its `Cache-Control` field.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CacheControl(Policy);

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Policy {
    NoStore,
    PrivateNoStore,
    PrivateNoCache,
    Public { max_age: u64 },
    Private { max_age: u64 },
    Revalidate,
}

impl CacheControl {
    /// `no-store`: no cache may store the response. Use it for tokens, errors and responses to
    /// unsafe methods.
    #[must_use]
    pub const fn no_store() -> Self {
        Self(Policy::NoStore)
    }

    /// `private, no-store`: data of one user that no cache may store.
    #[must_use]
    pub const fn private_no_store() -> Self {
        Self(Policy::PrivateNoStore)
    }

    /// `private, no-cache`: only the cache of the user may store the response, and it must
    /// revalidate it before every use. The pipeline sets it on a response with a validator and
    /// without a policy.
    #[must_use]
    pub const fn private_no_cache() -> Self {
        Self(Policy::PrivateNoCache)
    }

    /// `public, max-age=…`: data that is the same for all callers. Fractions of a second are
    /// dropped.
    #[must_use]
    pub const fn public(max_age: Duration) -> Self {
        Self(Policy::Public {
            max_age: max_age.as_secs(),
        })
    }

    /// `private, max-age=…`: data of one user. Only the cache of that user may store it. Fractions
    /// of a second are dropped.
    #[must_use]
    pub const fn private(max_age: Duration) -> Self {
        Self(Policy::Private {
            max_age: max_age.as_secs(),
        })
    }

    /// `max-age=0, must-revalidate`: caches may store the response, and must revalidate it before
    /// every use.
    ///
    /// # Security
    ///
    /// `must-revalidate` allows shared caches to store the response to a request with
    /// `Authorization` ([RFC 9111 §3.5](https://www.rfc-editor.org/rfc/rfc9111#section-3.5)).
    /// Authorize the request before responding with 304. To exclude shared caches, use
    /// [`private`](Self::private) with zero seconds.
    #[must_use]
    pub const fn revalidate() -> Self {
        Self(Policy::Revalidate)
    }

    /// Value of the `Cache-Control` field.
    #[must_use]
    pub fn header_value(self) -> HeaderValue {
        match self.0 {
            Policy::NoStore => HeaderValue::from_static("no-store"),
            Policy::PrivateNoStore => HeaderValue::from_static("private, no-store"),
            Policy::PrivateNoCache => HeaderValue::from_static("private, no-cache"),
            Policy::Revalidate => HeaderValue::from_static("max-age=0, must-revalidate"),
            // `Display` writes visible ASCII; the fallback is the strictest policy
            Policy::Public { .. } | Policy::Private { .. } => HeaderValue::try_from(self.to_string())
                .unwrap_or_else(|_| HeaderValue::from_static("no-store")),
        }
    }

    /// Sets `Cache-Control` and replaces an existing value.
    pub fn apply(self, headers: &mut HeaderMap) {
        headers.insert(CACHE_CONTROL, self.header_value());
    }
}

impl fmt::Display for CacheControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Policy::NoStore => f.write_str("no-store"),
            Policy::PrivateNoStore => f.write_str("private, no-store"),
            Policy::PrivateNoCache => f.write_str("private, no-cache"),
            Policy::Public { max_age } => write!(f, "public, max-age={max_age}"),
            Policy::Private { max_age } => write!(f, "private, max-age={max_age}"),
            Policy::Revalidate => f.write_str("max-age=0, must-revalidate"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// H9: each policy is written byte for byte.
    #[test]
    fn each_policy_writes_its_one_form() {
        let minute = Duration::from_millis(60_999);
        for (policy, expected) in [
            (CacheControl::no_store(), "no-store"),
            (CacheControl::private_no_store(), "private, no-store"),
            (CacheControl::private_no_cache(), "private, no-cache"),
            (CacheControl::public(minute), "public, max-age=60"),
            (CacheControl::private(minute), "private, max-age=60"),
            (CacheControl::revalidate(), "max-age=0, must-revalidate"),
        ] {
            assert_eq!(policy.header_value(), expected);
            assert_eq!(policy.to_string(), expected);
        }
    }
}
