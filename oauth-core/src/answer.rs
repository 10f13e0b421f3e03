//! What is common to the answers of other servers.

use std::future::Future;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;
use http::HeaderMap;
use http::header::CONTENT_TYPE;

use crate::ports::TransportError;

/// Longest answer that is read, in bytes.
pub(crate) const MAX_LENGTH: usize = 64 * 1024;

/// What several callers wait for: where a port of the host panics in it, it has failed, and panics in none of them.
pub(crate) async fn contained<T>(asking: impl Future<Output = T>) -> Result<T, TransportError> {
    let asked = AssertUnwindSafe(asking).catch_unwind().await;
    asked.map_err(|_| TransportError::new("a port panicked"))
}

/// Whether an answer says to be of this media type; parameters are ignored.
pub(crate) fn is_of_type(headers: &HeaderMap, media_type: &str) -> bool {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = value.and_then(|value| value.split(';').next());
    essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case(media_type))
}
