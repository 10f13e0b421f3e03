use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use http::{Response, StatusCode};
use serde::Deserialize;

pub(super) use crate::exchange::MAX_LENGTH as MAX_BODY;
use crate::json;

/// Error response of an authorization server, [RFC 6749
/// §5.2](https://www.rfc-editor.org/rfc/rfc6749#section-5.2).
///
/// # Security
///
/// The text comes from the server. Escape it before showing it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OAuthError {
    code: String,
    description: Option<String>,
}

#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(borrow)]
    error: Cow<'a, str>,
    #[serde(borrow)]
    error_description: Option<Cow<'a, str>>,
}

impl OAuthError {
    pub(super) fn new(code: &str, description: Option<&str>) -> Self {
        Self {
            code: code.to_owned(),
            description: description.map(str::to_owned),
        }
    }

    /// Reads an error response, [RFC 6749
    /// §5.2](https://www.rfc-editor.org/rfc/rfc6749#section-5.2); `None` if the status or the body
    /// is not that of one.
    pub(super) fn read(response: &Response<Bytes>) -> Option<Self> {
        let is_refusal = matches!(
            response.status(),
            StatusCode::BAD_REQUEST | StatusCode::UNAUTHORIZED
        );
        if !is_refusal || response.body().len() > MAX_BODY {
            return None;
        }
        let wire: Wire<'_> = json::object(response.body()).ok()?;
        Some(Self::new(&wire.error, wire.error_description.as_deref()))
    }

    /// Returns the error code, for example `invalid_grant` or `access_denied`.
    #[must_use]
    pub fn code(&self) -> &str {
        &self.code
    }

    /// Returns `error_description`, a text for developers.
    #[must_use]
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }
}

impl fmt::Display for OAuthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the server responded with error {:?}", self.code)
    }
}

impl std::error::Error for OAuthError {}
