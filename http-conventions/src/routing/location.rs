//! The `Location` field, and responses of status 201 and 202.

use std::str::FromStr;

use http::{HeaderValue, Response, StatusCode, header};

use crate::uri::{is_uri_byte, push_percent_encoded};

/// Target of a redirect or of `Location`: a path of this host, or an absolute `http` or `https`
/// URI.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Location(HeaderValue);

impl Location {
    /// Creates a path from segments.
    ///
    /// Percent-encodes each segment and omits empty segments. The result is always a path of this
    /// host, whatever the segments contain.
    ///
    /// ```
    /// use http_conventions::routing::Location;
    ///
    /// assert_eq!(Location::of_path(["files", "a b/c?d"]).header_value(), "/files/a%20b%2Fc%3Fd");
    /// assert_eq!(Location::of_path(["", "evil.example"]).header_value(), "/evil.example");
    /// ```
    #[must_use]
    pub fn of_path<S: AsRef<str>>(segments: impl IntoIterator<Item = S>) -> Self {
        let mut path = Vec::with_capacity(64);
        for segment in segments {
            let segment = segment.as_ref();
            if !segment.is_empty() {
                path.push(b'/');
                encode(&mut path, segment);
            }
        }
        if path.is_empty() {
            path.push(b'/');
        }
        // visible ASCII is a valid field value
        Self(HeaderValue::try_from(path).unwrap_or(HeaderValue::from_static("/")))
    }

    /// Value of the `Location` field.
    #[must_use]
    pub fn header_value(&self) -> HeaderValue {
        self.0.clone()
    }

    /// Path or URI as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.to_str().unwrap_or_default()
    }
}

impl serde::Serialize for Location {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// Appends a segment and percent-encodes all but unreserved characters, [RFC 3986
/// §2.3](https://www.rfc-editor.org/rfc/rfc3986#section-2.3).
fn encode(path: &mut Vec<u8>, segment: &str) {
    let is_dots = matches!(segment, "." | "..");
    for byte in segment.bytes() {
        match byte {
            b'.' if !is_dots => path.push(byte),
            b'-' | b'_' | b'~' => path.push(byte),
            _ if byte.is_ascii_alphanumeric() => path.push(byte),
            _ => push_percent_encoded(path, byte),
        }
    }
}

impl FromStr for Location {
    type Err = InvalidLocation;

    /// Parses an absolute path such as `/v1/charges/ch_1`, or an absolute `http` or `https` URI.
    /// Refuses `//host`.
    fn from_str(text: &str) -> Result<Self, InvalidLocation> {
        let authority = ["https://", "http://"]
            .iter()
            .find_map(|scheme| text.strip_prefix(scheme));
        let has_start = match authority {
            Some(rest) => !rest.is_empty() && !rest.starts_with(['/', '?', '#']),
            None => text.starts_with('/') && !text.starts_with("//"),
        };
        if !has_start || !text.bytes().all(is_uri_byte) {
            return Err(InvalidLocation);
        }
        HeaderValue::from_str(text).map(Self).map_err(|_| InvalidLocation)
    }
}

/// Sets status 201 and `Location`: the resource was created at `location`, and the content
/// describes the resource.
#[must_use]
pub fn respond_created<B>(location: &Location, answer: Response<B>) -> Response<B> {
    located(StatusCode::CREATED, location, answer)
}

/// Sets status 202 and `Location`: the work has started, and the client polls `location`.
#[must_use]
pub fn respond_accepted<B>(location: &Location, answer: Response<B>) -> Response<B> {
    located(StatusCode::ACCEPTED, location, answer)
}

fn located<B>(status: StatusCode, location: &Location, mut answer: Response<B>) -> Response<B> {
    *answer.status_mut() = status;
    answer
        .headers_mut()
        .insert(header::LOCATION, location.header_value());
    answer
}

/// Error for a text that is neither an absolute path nor an absolute `http` or `https` URI.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("invalid location")]
pub struct InvalidLocation;
