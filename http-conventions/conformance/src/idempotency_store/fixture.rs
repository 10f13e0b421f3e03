//! Values and calls of the cases.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http_conventions::idempotency::{
    AfterCrash, Claim, ClaimOutcome, Fence, Fingerprint, IdempotencyStore, RecordKey, RequestOutcome,
    Settled, StoredResponse,
};

pub(super) const LEASE: Duration = Duration::from_secs(60);
pub(super) const LIFETIME: Duration = Duration::from_secs(86_400);
pub(super) const REQUEST: Fingerprint = Fingerprint::from_bytes([0xA5; 32]);

/// A time with milliseconds, so that a store that truncates to seconds fails.
pub(super) fn start() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(1_800_000_000_789)
}

pub(super) fn key(name: u8) -> RecordKey {
    RecordKey::from_bytes([name; 32])
}

pub(super) fn fence(name: u8) -> Fence {
    Fence::from_bytes([name; 16])
}

/// A claim of key 1 by `holder` at `now`.
pub(super) fn claim_by(holder: u8, now: SystemTime) -> Claim {
    Claim::new(
        key(1),
        REQUEST,
        fence(holder),
        now + LEASE,
        now + LEASE + LIFETIME,
    )
}

/// The same claim, which takes over a key whose lease has expired.
pub(super) fn taking_over(holder: u8, now: SystemTime) -> Claim {
    claim_by(holder, now).with_after_crash(AfterCrash::RunAgain)
}

pub(super) fn response(status: u16, body: Bytes) -> RequestOutcome {
    let headers = vec![
        ("content-type".to_owned(), Bytes::from_static(b"application/json")),
        ("link".to_owned(), Bytes::from_static(b"</a>; rel=\"a\"")),
        ("link".to_owned(), Bytes::from_static(b"</b>; rel=\"b\"")),
        ("x-bytes".to_owned(), Bytes::from_static(b"caf\xe9 \xff")),
        ("x-empty".to_owned(), Bytes::new()),
    ];
    RequestOutcome::Completed(StoredResponse {
        status,
        headers,
        body,
    })
}

pub(super) fn small_response() -> RequestOutcome {
    response(201, Bytes::from_static(b"{\"id\":\"ch_1\"}"))
}

pub(super) async fn claim(store: &dyn IdempotencyStore, claim: &Claim, now: SystemTime) -> ClaimOutcome {
    store.claim(claim, now).await.unwrap()
}

pub(super) async fn complete(store: &dyn IdempotencyStore, holder: u8, outcome: RequestOutcome) -> Settled {
    store
        .complete(&key(1), &fence(holder), outcome, start() + LIFETIME)
        .await
        .unwrap()
}

/// The holder with the number of a racer.
pub(super) fn holder(racer: usize) -> u8 {
    u8::try_from(racer).unwrap()
}

pub(super) fn with_key(name: u8, mut claim: Claim) -> Claim {
    claim.key = key(name);
    claim
}

pub(super) fn of_other_request(mut claim: Claim) -> Claim {
    claim.fingerprint = Fingerprint::from_bytes([0x5A; 32]);
    claim
}
