//! Incoming events.

use std::time::{Duration, SystemTime};

use webhook_core::receiver::{BodyDigest, EventKey, Incoming};

pub(crate) const START: SystemTime = SystemTime::UNIX_EPOCH;
pub(crate) const LEASE: Duration = Duration::from_secs(60);

pub(crate) fn incoming(number: usize, expires_at: SystemTime) -> Incoming {
    let key = EventKey {
        source: "peer".to_owned(),
        id: format!("evt_{number}").parse().unwrap(),
    };
    Incoming {
        key,
        digest: BodyDigest::compute(b"{}"),
        body: "{}".into(),
        expires_at,
    }
}
