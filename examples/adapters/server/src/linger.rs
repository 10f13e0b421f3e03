//! The rest of a refused upload.

use std::{pin::pin, time::Duration};

use http::{HeaderMap, header};
use http_body::Body;
use http_body_util::BodyExt;
use tokio::time::timeout;

/// Time for which a refused upload is still read, so that the client sees the response and not a
/// reset.
pub const LINGER: Duration = Duration::from_secs(1);

/// Reads the rest of a refused body for at most [`LINGER`]. A client that waits for `100 Continue`
/// sends nothing.
pub async fn read_on<B: Body>(headers: &HeaderMap, body: B) {
    if headers.contains_key(header::EXPECT) || body.is_end_stream() {
        return;
    }
    let mut body = pin!(body);
    let rest = async { while let Some(Ok(_)) = body.frame().await {} };
    timeout(LINGER, rest).await.ok();
}
