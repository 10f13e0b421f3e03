//! Collects request bodies within limits.

use std::{error::Error, iter::successors, time::Duration};

use axum::body::Body;
use bytes::Bytes;
use host_server::LINGER;
use http::StatusCode;
use http_body_util::{BodyExt, LengthLimitError};
use tokio::time::timeout;

/// Collects a limited body; otherwise 413, 408 or 400.
pub(crate) async fn collect(mut body: Body, read_timeout: Duration) -> Result<Bytes, StatusCode> {
    match timeout(read_timeout, (&mut body).collect()).await {
        Ok(Ok(content)) => Ok(content.to_bytes()),
        Ok(Err(error)) if is_over_limit(&error) => {
            // reading on makes a limited body report that it is over its limit
            let rest = async {
                while body
                    .frame()
                    .await
                    .is_some_and(|frame| frame.err().is_none_or(|error| is_over_limit(&error)))
                {
                }
            };
            timeout(LINGER, rest).await.ok();
            Err(StatusCode::PAYLOAD_TOO_LARGE)
        }
        Ok(Err(_)) => Err(StatusCode::BAD_REQUEST),
        Err(_) => Err(StatusCode::REQUEST_TIMEOUT),
    }
}

/// Returns `true` if a length limit is among the causes: each layer wraps the error of the body.
fn is_over_limit(error: &(dyn Error + 'static)) -> bool {
    successors(Some(error), |&error| error.source()).any(|cause| cause.is::<LengthLimitError>())
}
