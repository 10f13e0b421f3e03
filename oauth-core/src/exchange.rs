//! Requests to other servers, and their responses.

use std::future::Future;
use std::panic::AssertUnwindSafe;

use bytes::Bytes;
use futures_util::FutureExt as _;
use host_ports::ContentType;
use http::{HeaderMap, Request, Response};

use crate::ports::{Transport, TransportError, Truncated};

/// Longest accepted response body, in bytes.
pub(crate) const MAX_LENGTH: usize = 64 * 1024;

/// The body of the response is incomplete. For example, a truncated key set must not be used.
#[derive(Debug, thiserror::Error)]
#[error("the response body was truncated, or is longer than the limit of the exchange")]
struct IncompleteBody;

/// Sends `request` and refuses a response whose body is incomplete.
pub(crate) async fn exchange(
    transport: &dyn Transport,
    request: Request<Bytes>,
) -> Result<Response<Bytes>, TransportError> {
    let response = transport.send(request).await?;
    refuse_truncated(&response)?;
    Ok(response)
}

/// Refuses a response that its transport marked as [`Truncated`].
pub(crate) fn refuse_truncated(response: &Response<Bytes>) -> Result<(), TransportError> {
    match response.extensions().get::<Truncated>() {
        Some(Truncated) => Err(TransportError::other(IncompleteBody)),
        None => Ok(()),
    }
}

/// Awaits `asking` and converts a panic of a host's port into a [`TransportError`], so that no
/// waiter panics.
pub(crate) async fn contained<T>(asking: impl Future<Output = T>) -> Result<T, TransportError> {
    let asked = AssertUnwindSafe(asking).catch_unwind().await;
    asked.map_err(|_| TransportError::other("a port panicked"))
}

/// Returns `true` if `Content-Type` has this media type; parameters are ignored. A repeated
/// `Content-Type` matches no media type.
pub(crate) fn is_of_type(headers: &HeaderMap, media_type: &str) -> bool {
    ContentType::from_headers(headers).is_some_and(|sent| sent.is(media_type))
}
