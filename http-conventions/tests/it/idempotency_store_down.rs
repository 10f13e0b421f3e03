//! Idempotency keys while the store fails.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::SystemTime,
};

use async_trait::async_trait;
use bytes::Bytes;
use http_conventions::errors::{ErrorStatus, Problem};
use http_conventions::idempotency::{
    Claim, ClaimOutcome, Fence, IdempotencyStore, MemoryIdempotencyStore, RecordKey, Reply, RequestOutcome,
    Settled, StoredResponse,
};
use http_conventions::ports::StoreError;

use crate::idempotency_fixture::{BODY, Fixture, SCOPE, post};

/// A store that fails in a chosen way.
struct Broken(fn() -> Result<ClaimOutcome, StoreError>);

#[async_trait]
impl IdempotencyStore for Broken {
    async fn claim(&self, _: &Claim, _: SystemTime) -> Result<ClaimOutcome, StoreError> {
        self.0()
    }

    async fn complete(
        &self,
        _: &RecordKey,
        _: &Fence,
        _: RequestOutcome,
        _: SystemTime,
    ) -> Result<Settled, StoreError> {
        Err(StoreError::unavailable("gone"))
    }

    async fn release(&self, _: &RecordKey, _: &Fence) -> Result<Settled, StoreError> {
        Err(StoreError::unavailable("gone"))
    }
}

/// H6: while the store is unavailable nothing runs, and the response is 503. H12: a broken store is
/// a server error with a problem body; a 503 has Retry-After.
#[tokio::test]
async fn nothing_runs_while_the_store_is_down() {
    let down = Fixture::with_store(Arc::new(Broken(|| {
        Err(StoreError::unavailable("no route to secret-host"))
    })));
    let response = down.send(&post("k-1", BODY)).await;
    assert_eq!(response.status(), 503);
    assert_eq!(response.headers()["retry-after"], "1");
    assert!(!String::from_utf8_lossy(response.body()).contains("secret-host"));
    assert_eq!(down.failures(), ["store unavailable: no route to secret-host"]);
    let full = Fixture::with_store(Arc::new(MemoryIdempotencyStore::with_capacity(0)));
    let response = full.send(&post("k-1", BODY)).await;
    assert_eq!(
        (response.status().as_u16(), &response.headers()["retry-after"]),
        (503, &"1".parse().unwrap())
    );
    assert_eq!(full.runs(), 0);

    for corrupt in [
        || Err(StoreError::corrupt("not a record")),
        || Ok(stored(7, "etag", b"v")),
        || Ok(stored(200, "e tag", b"v")),
        || Ok(stored(200, "etag", b"a\r\nb")),
    ] {
        let fixture = Fixture::with_store(Arc::new(Broken(corrupt)));
        let response = fixture.send(&post("k-1", BODY)).await;
        assert_eq!(response.status(), 500);
        let failures = fixture.failures();
        assert!(failures.len() == 1 && failures[0].starts_with("store holds an unreadable record"));
        assert_eq!(fixture.runs(), 0);
    }
    assert_eq!(down.runs(), 0);
}

fn stored(status: u16, name: &str, value: &'static [u8]) -> ClaimOutcome {
    let headers = vec![(name.to_owned(), Bytes::from_static(value))];
    ClaimOutcome::Settled(RequestOutcome::Completed(StoredResponse {
        status,
        headers,
        body: Bytes::new(),
    }))
}

/// H6: once the handler has run, its response is sent even if it cannot be stored.
#[tokio::test]
async fn an_answer_goes_out_even_if_it_cannot_be_noted() {
    let fixture = Fixture::with_store(Arc::new(Broken(|| Ok(ClaimOutcome::Claimed))));
    let answer = fixture.send(&post("k-1", BODY)).await;
    assert_eq!(answer.status(), 201);
    let gone = ["store unavailable: gone"];
    assert_eq!(fixture.failures(), gone);
    let released = fixture
        .reply(SCOPE, &post("k-1", BODY), |_| {
            Reply::NothingHappened(Problem::new(ErrorStatus::BAD_GATEWAY))
        })
        .await;
    assert_eq!(released.status(), 502);
    assert_eq!(fixture.failures(), gone);
}

/// A store that grants the first claim and loses its response.
#[derive(Default)]
struct LosesAnAnswer {
    store: MemoryIdempotencyStore,
    lost: AtomicBool,
}

#[async_trait]
impl IdempotencyStore for LosesAnAnswer {
    async fn claim(&self, claim: &Claim, now: SystemTime) -> Result<ClaimOutcome, StoreError> {
        let outcome = self.store.claim(claim, now).await?;
        match self.lost.swap(true, Ordering::SeqCst) {
            false => Err(StoreError::unavailable("the connection was lost")),
            true => Ok(outcome),
        }
    }

    async fn complete(
        &self,
        key: &RecordKey,
        fence: &Fence,
        outcome: RequestOutcome,
        expires_at: SystemTime,
    ) -> Result<Settled, StoreError> {
        self.store.complete(key, fence, outcome, expires_at).await
    }

    async fn release(&self, key: &RecordKey, fence: &Fence) -> Result<Settled, StoreError> {
        self.store.release(key, fence).await
    }
}

/// H6: a claim whose response was lost frees its key, so that the next request runs without waiting
/// for a lease.
#[tokio::test]
async fn a_claim_whose_answer_was_lost_holds_no_key() {
    let fixture = Fixture::with_store(Arc::new(LosesAnAnswer::default()));
    assert_eq!(fixture.send(&post("k-1", BODY)).await.status(), 503);
    assert_eq!(fixture.runs(), 0);
    assert_eq!(fixture.send(&post("k-1", BODY)).await.status(), 201);
    assert_eq!(fixture.send(&post("k-1", BODY)).await.status(), 201);
    assert_eq!(fixture.runs(), 1);
}
