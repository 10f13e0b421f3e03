//! The `Allow` field, and the response to OPTIONS.

use bytes::Bytes;
use http::{HeaderValue, Method, Response, StatusCode, header};

/// Methods that a resource supports. An empty list is valid.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Allow(HeaderValue);

impl Allow {
    /// Creates a list of these methods, in this order.
    #[must_use]
    pub fn of(methods: &[Method]) -> Self {
        let names = methods.iter().map(Method::as_str).collect::<Vec<_>>().join(", ");
        // methods are tokens, so the list is a valid field value
        Self(HeaderValue::try_from(names).unwrap_or(HeaderValue::from_static("")))
    }

    /// Value of the `Allow` field.
    #[must_use]
    pub fn header_value(&self) -> HeaderValue {
        self.0.clone()
    }

    /// The 204 response to OPTIONS.
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
