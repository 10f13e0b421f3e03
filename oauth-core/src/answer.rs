//! What is common to the answers of other servers.

use http::HeaderMap;
use http::header::CONTENT_TYPE;

/// Longest answer that is read, in bytes.
pub(crate) const MAX_LENGTH: usize = 64 * 1024;

/// Whether an answer says to be of this media type; parameters are ignored.
pub(crate) fn is_of_type(headers: &HeaderMap, media_type: &str) -> bool {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = value.and_then(|value| value.split(';').next());
    essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case(media_type))
}
