//! Ids of requests, and the `X-Request-Id` field.

use std::{fmt, str::FromStr};

use http::{HeaderMap, HeaderName, HeaderValue};

use crate::{hex, ports::Entropy, single_value};

/// Header of the request id, in requests and responses.
pub const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

const LENGTHS: std::ops::RangeInclusive<usize> = 8..=128;

/// Id of a request: 8 to 128 characters of `A-Za-z0-9._~-`.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct RequestId(HeaderValue);

impl RequestId {
    /// Generates an id: 128 random bits in hexadecimal.
    #[must_use]
    pub fn generate(entropy: &dyn Entropy) -> Self {
        let mut random = [0; 16];
        entropy.fill(&mut random);
        let mut text = [0; 32];
        for (digits, byte) in text.chunks_exact_mut(2).zip(random) {
            digits.copy_from_slice(&hex::digits(byte));
        }
        Self(HeaderValue::from_bytes(&text).unwrap_or(HeaderValue::from_static("unnamed-request")))
    }

    /// Adopts the id that the client sent if it is valid, or else generates one.
    ///
    /// # Security
    ///
    /// The client chooses this id. Use it to find log lines, never to authenticate or authorize.
    #[must_use]
    pub fn adopt(headers: &HeaderMap, entropy: &dyn Entropy) -> Self {
        match single_value(headers, &X_REQUEST_ID) {
            Some(value) if is_acceptable(value.as_bytes()) => Self(value.clone()),
            _ => Self::generate(entropy),
        }
    }

    /// Id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.to_str().unwrap_or_default()
    }

    /// Value of the `X-Request-Id` field.
    pub(crate) fn into_header_value(self) -> HeaderValue {
        self.0
    }

    /// Sets `X-Request-Id` and replaces an existing value.
    pub fn apply(&self, headers: &mut HeaderMap) {
        headers.insert(X_REQUEST_ID, self.0.clone());
    }
}

impl FromStr for RequestId {
    type Err = InvalidRequestId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if !is_acceptable(text.as_bytes()) {
            return Err(InvalidRequestId);
        }
        HeaderValue::from_str(text)
            .map(Self)
            .map_err(|_| InvalidRequestId)
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

fn is_acceptable(value: &[u8]) -> bool {
    LENGTHS.contains(&value.len())
        && value
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._~-".contains(byte))
}

/// Error for a request id that does not match `[A-Za-z0-9._~-]{8,128}`.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("invalid request id")]
pub struct InvalidRequestId;
