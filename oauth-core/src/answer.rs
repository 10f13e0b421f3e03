//! What is common to the answers of other servers.

use std::panic::AssertUnwindSafe;

use bytes::Bytes;
use futures_util::FutureExt as _;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Request, Response};

use crate::ports::{Transport, TransportError};

/// Longest answer that is read, in bytes.
pub(crate) const MAX_LENGTH: usize = 64 * 1024;

/// One exchange whose end several callers wait for: a transport that panics has failed, and panics in none of them.
pub(crate) async fn ask(
    transport: &dyn Transport,
    request: Request<Bytes>,
) -> Result<Response<Bytes>, TransportError> {
    let asking = AssertUnwindSafe(async { transport.send(request).await });
    let asked = asking.catch_unwind().await;
    asked.unwrap_or_else(|_| Err(TransportError::new("the transport panicked")))
}

/// Whether an answer says to be of this media type; parameters are ignored.
pub(crate) fn is_of_type(headers: &HeaderMap, media_type: &str) -> bool {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = value.and_then(|value| value.split(';').next());
    essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case(media_type))
}
