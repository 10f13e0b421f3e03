//! `Allow`.

use bytes::Bytes;
use http::{HeaderValue, Method, Response, StatusCode, header};

/// The methods a resource takes; none is none.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Allow(HeaderValue);

impl Allow {
    /// These methods, in this order.
    #[must_use]
    pub fn of(methods: &[Method]) -> Self {
        let names = methods.iter().map(Method::as_str).collect::<Vec<_>>().join(", ");
        // a method is a token, so the list is always a field value
        Self(HeaderValue::try_from(names).unwrap_or(HeaderValue::from_static("")))
    }

    /// The field value.
    #[must_use]
    pub fn header_value(&self) -> HeaderValue {
        self.0.clone()
    }

    /// The 204 that answers OPTIONS.
    #[must_use]
    pub fn no_content(&self) -> Response<Bytes> {
        let mut response = Response::new(Bytes::new());
        *response.status_mut() = StatusCode::NO_CONTENT;
        response.headers_mut().insert(header::ALLOW, self.header_value());
        response
    }
}

impl From<&[Method]> for Allow {
    fn from(methods: &[Method]) -> Self {
        Self::of(methods)
    }
}

impl<const N: usize> From<&[Method; N]> for Allow {
    fn from(methods: &[Method; N]) -> Self {
        Self::of(methods)
    }
}
