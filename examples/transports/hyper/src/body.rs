//! Reads the body of a response within its limits.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use host_ports::{ExchangeLimits, TransportError};
use http_body_util::BodyExt as _;
use hyper::body::Body;
use tokio::time::{Instant, timeout_at};

/// Upper bound of a time limit, so that `Duration::MAX` does not overflow.
const FAR: Duration = Duration::from_secs(365 * 24 * 3600);
/// Time for the end of a body that has filled the cap, unless half of the time that is left is
/// shorter.
const END_OF_BODY: Duration = Duration::from_secs(1);

/// The instant `after` from now.
pub(crate) fn from_now(after: Duration) -> Instant {
    Instant::now() + after.min(FAR)
}

/// Reads at most `limits.max_response_body` bytes of the body, whose head has arrived. The second
/// value is `true` if the body is complete.
///
/// # Errors
///
/// A timeout at the deadline, if the limits have no body timeout.
pub(crate) async fn read<B>(
    body: B,
    limits: ExchangeLimits,
    deadline: Instant,
) -> Result<(Bytes, bool), TransportError>
where
    B: Body<Data = Bytes> + Unpin,
{
    let until = limits
        .body_timeout
        .map_or(deadline, |after| from_now(after).min(deadline));
    let mut kept = BytesMut::new();
    let filled = fill(&mut kept, limits.max_response_body, body, until);
    let is_whole = match (timeout_at(until, filled).await, limits.body_timeout) {
        (Ok(is_whole), _) => is_whole,
        (Err(_), Some(_)) => false,
        (Err(_), None) => return Err(TransportError::timeout()),
    };
    Ok((kept.freeze(), is_whole))
}

/// Returns `true` if the body is complete within `cap`.
async fn fill<B>(kept: &mut BytesMut, cap: usize, mut body: B, until: Instant) -> bool
where
    B: Body<Data = Bytes> + Unpin,
{
    while kept.len() < cap {
        let frame = match body.frame().await {
            Some(Ok(frame)) => frame,
            Some(Err(_broken)) => return false,
            None => return true,
        };
        let data: &[u8] = frame.data_ref().map_or(&[], |data| data);
        // a longer buffer would keep the whole frame in memory
        let fits = data.get(..cap - kept.len()).unwrap_or(data);
        kept.extend_from_slice(fits);
        if fits.len() < data.len() {
            return false;
        }
    }
    ends_in_time(body, until).await
}

/// Returns `true` if no more data follows. It gives up before `until`, so that the status is
/// returned even if the server neither ends its chunked body nor sends more.
async fn ends_in_time<B>(mut body: B, until: Instant) -> bool
where
    B: Body<Data = Bytes> + Unpin,
{
    let now = Instant::now();
    let patience = END_OF_BODY.min(until.saturating_duration_since(now) / 2);
    let ends = async {
        loop {
            match body.frame().await {
                // trailers, or an empty chunk
                Some(Ok(frame)) if frame.data_ref().is_none_or(Bytes::is_empty) => {}
                Some(_) => break false,
                None => break true,
            }
        }
    };
    timeout_at(now + patience, ends).await.unwrap_or(false)
}
