//! Reads the body of an HTTP response within a size limit and a deadline.
//!
//! The transports on hyper and reqwest share [`read`], so that the same response has the same
//! result on both.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use host_ports::{ExchangeLimits, TransportError};
use http_body::Body;
use http_body_util::BodyExt as _;
use tokio::time::{Instant, timeout_at};

/// Upper bound of a time limit, so that `Duration::MAX` does not overflow.
const FAR: Duration = Duration::from_secs(365 * 24 * 3600);

/// Time for the end of a body that has filled the cap, unless half of the time that is left is
/// shorter.
const END_OF_BODY: Duration = Duration::from_secs(1);

/// Returns the instant `after` from now; more than a year counts as a year.
#[must_use]
pub fn from_now(after: Duration) -> Instant {
    Instant::now() + after.min(FAR)
}

/// Reads at most `limits.max_response_body` bytes of the body, whose head has arrived. The second
/// value is `true` if the body is complete.
///
/// # Errors
///
/// A timeout at the deadline, if the limits have no body timeout.
pub async fn read<B>(
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

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::stream;
    use http_body::Frame;
    use http_body_util::{Full, StreamBody};

    use super::*;

    fn limits(max_response_body: usize, body_timeout: Option<Duration>) -> ExchangeLimits {
        ExchangeLimits {
            timeout: Duration::from_secs(10),
            max_response_body,
            body_timeout,
        }
    }

    /// A body of exactly the limit is complete; one byte more is cut.
    #[tokio::test]
    async fn the_limit_is_the_longest_complete_body() {
        for (cap, expected) in [(5, ("hello", true)), (4, ("hell", false))] {
            let body = Full::from("hello");
            let (read, is_complete) = read(body, limits(cap, None), from_now(Duration::MAX))
                .await
                .unwrap();
            assert_eq!((&read[..], is_complete), (expected.0.as_bytes(), expected.1));
        }
    }

    /// A body that stops in the middle is a timeout, or an excerpt if the limits have a body
    /// timeout.
    #[tokio::test(start_paused = true)]
    async fn stalled_body_is_a_timeout_or_an_excerpt() {
        let stalled = || {
            let first = stream::iter([Ok::<_, Infallible>(Frame::data(Bytes::from("he")))]);
            Box::pin(StreamBody::new(futures_util::StreamExt::chain(
                first,
                stream::pending(),
            )))
        };
        let deadline = from_now(Duration::from_secs(10));
        let begun = Instant::now();
        let excerpt = read(stalled(), limits(9, Some(Duration::from_secs(1))), deadline).await;
        assert_eq!(excerpt.unwrap(), (Bytes::from("he"), false));
        assert_eq!(begun.elapsed().as_secs(), 1);
        let error = read(stalled(), limits(9, None), deadline).await.unwrap_err();
        assert_eq!(error.kind(), host_ports::TransportErrorKind::Timeout);
    }
}
