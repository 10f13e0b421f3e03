//! The `Location` field, and responses of status 201 and 202.

use std::str::FromStr;

use http::{HeaderValue, Response, StatusCode, header};

use crate::{
    errors::Problem,
    uri::{is_uri_byte, push_percent_encoded},
};

/// Target of a redirect or of `Location`: a path of this host, or an absolute `http` or `https`
/// URI.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Location(HeaderValue);

impl Location {
    /// Creates a path of this host from segments, which it percent-encodes. Without segments the
    /// path is `/`.
    ///
    /// # Errors
    ///
    /// [`InvalidLocation`] for a segment that would name another resource:
    ///
    /// - `.` and `..`, which a client removes from the path together with the segment before `..`.
    ///   No encoding prevents that: browsers treat `%2E%2E` as `..` ([URL
    ///   standard](https://url.spec.whatwg.org/#double-dot-path-segment)).
    /// - an empty segment.
    ///
    /// ```
    /// use http_conventions::routing::{InvalidLocation, Location};
    ///
    /// let file = Location::of_path(["files", "a b/c?d"])?;
    /// assert_eq!(file.header_value(), "/files/a%20b%2Fc%3Fd");
    /// assert_eq!(Location::of_path(["files", ".."]), Err(InvalidLocation));
    /// # Ok::<(), InvalidLocation>(())
    /// ```
    pub fn of_path<S: AsRef<str>>(segments: impl IntoIterator<Item = S>) -> Result<Self, InvalidLocation> {
        let mut path = Vec::with_capacity(64);
        for segment in segments {
            let segment = segment.as_ref();
            if matches!(segment, "" | "." | "..") {
                return Err(InvalidLocation);
            }
            path.push(b'/');
            encode(&mut path, segment);
        }
        if path.is_empty() {
            path.push(b'/');
        }
        HeaderValue::try_from(path).map(Self).map_err(|_| InvalidLocation)
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
    for byte in segment.bytes() {
        match byte {
            b'-' | b'.' | b'_' | b'~' => path.push(byte),
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

/// Error for a text that is neither an absolute path nor an absolute `http` or `https` URI, or for
/// a segment that is empty, `.` or `..`.
///
/// It converts to a problem with status 500, because the host builds its locations. A host whose
/// clients choose a segment checks the segment first, and refuses it with 400 or 422.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("invalid location")]
pub struct InvalidLocation;

impl From<InvalidLocation> for Problem {
    fn from(invalid: InvalidLocation) -> Self {
        Self::internal(invalid)
    }
}
