//! WebSockets, if the feature is on.

#[cfg(feature = "websocket")]
pub(crate) use crate::frames::{complete, is_requested};

/// Returns `false`: a body follows the head of each request.
#[cfg(not(feature = "websocket"))]
pub(crate) fn is_requested(_head: &http::Request<()>) -> bool {
    false
}

/// Replaces a 101, which this build cannot serve, by an error. Any other response is passed on.
#[cfg(not(feature = "websocket"))]
pub(crate) async fn complete<B>(
    _request: &actix_web::HttpRequest,
    _frames: Option<actix_web::web::Payload>,
    response: http::Response<B>,
) -> Result<actix_web::HttpResponse, http::StatusCode>
where
    B: http_body::Body<Data = bytes::Bytes, Error: Into<crate::BoxError>> + 'static,
{
    match response.status() {
        http::StatusCode::SWITCHING_PROTOCOLS => Err(http::StatusCode::INTERNAL_SERVER_ERROR),
        _ => Ok(crate::convert::answer(response)),
    }
}
