//! Incoming events, as a receiver passes them to its store.
#![expect(clippy::expect_used, reason = "a case fails by panicking")]

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use webhook_core::receiver::{BodyDigest, Claim, Dedupe, EventKey, Incoming};

/// Time for which the receiver remembers an event: a value that no store has as its default.
pub(crate) const MEMORY: Duration = Duration::from_secs(77 * 60 * 60);

/// Time at which every case begins.
pub(crate) fn start() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)
}

/// An event from the source `s`, remembered for [`MEMORY`] from [`start`] on.
pub(crate) fn event(id: &str, body: impl Into<Bytes>) -> Incoming {
    from_source("s", id, body)
}

/// An [`event`] from this source.
pub(crate) fn from_source(source: &str, id: &str, body: impl Into<Bytes>) -> Incoming {
    let body = body.into();
    let key = EventKey {
        source: source.to_owned(),
        id: id.parse().expect("the case has a valid id"),
    };
    Incoming {
        key,
        digest: BodyDigest::compute(&body),
        body,
        expires_at: start() + MEMORY,
    }
}

/// Claims `event` at `now`.
pub(crate) async fn claim<S: Dedupe + ?Sized>(store: &S, event: Incoming, now: SystemTime) -> Claim {
    let claimed = store.claim_and_enqueue(event, now).await;
    claimed.expect("the store works")
}
