//! A failing or corrupt store breaks no operation (G13, G19).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use async_trait::async_trait;
use graph_core::memory::MemoryPersisted;
use graph_core::persisted::{DocumentHash, KeepOutcome, PersistedDocument, PersistedStore};
use graph_core::ports::IncidentKind;
use graph_core::ports::StoreError;
use serde_json::json;

use super::{extensions, got, hash, hashed, over, registering};
use crate::fixture::{Fixture, accepting, builder, codes, json as envelope};

/// Unavailable store.
struct Broken;

#[async_trait]
impl PersistedStore for Broken {
    async fn text(&self, _: &DocumentHash, _: SystemTime) -> Result<Option<Arc<str>>, StoreError> {
        Err(StoreError::unavailable("redis at 10.0.0.9 is away"))
    }

    async fn keep(&self, _: &PersistedDocument, _: SystemTime) -> Result<KeepOutcome, StoreError> {
        Err(StoreError::unavailable("redis at 10.0.0.9 is away"))
    }
}

/// Store with a text of another hash.
struct Poisoned;

#[async_trait]
impl PersistedStore for Poisoned {
    async fn text(&self, _: &DocumentHash, _: SystemTime) -> Result<Option<Arc<str>>, StoreError> {
        Ok(Some("mutation { add(id: 1) { id } }".into()))
    }

    async fn keep(&self, _: &PersistedDocument, _: SystemTime) -> Result<KeepOutcome, StoreError> {
        Ok(KeepOutcome::Known)
    }
}

/// G13: hashes are unknown and texts run; the incident log has the cause, the client does not.
#[tokio::test]
async fn a_broken_store_is_a_miss() {
    let shop = Fixture::new(builder().with_automatic_persisted_queries(over(Arc::new(Broken))));
    let miss = shop.send(hashed("{ ping }")).await;
    assert_eq!(codes(&envelope(&miss)), ["PERSISTED_QUERY_NOT_FOUND"]);
    let answer = envelope(&shop.send(registering("{ ping }")).await);
    assert_eq!(answer, json!({ "data": { "ping": "pong" } }));
    let incidents = shop.incidents.lock().unwrap();
    assert_eq!(incidents.len(), 2);
    for incident in incidents.iter() {
        assert_eq!(incident.kind, IncidentKind::Store);
        assert_eq!(incident.detail, "store unavailable: redis at 10.0.0.9 is away");
    }
}

/// G13: a text that does not match its hash never runs.
#[tokio::test]
async fn a_poisoned_store_runs_nothing() {
    let shop = Fixture::new(builder().with_automatic_persisted_queries(over(Arc::new(Poisoned))));
    let miss = shop.send(hashed("{ ping }")).await;
    assert_eq!(codes(&envelope(&miss)), ["PERSISTED_QUERY_NOT_FOUND"]);
    assert_eq!(shop.shop.calls(), 0);
    let incidents = shop.incidents.lock().unwrap();
    assert!(
        incidents[0]
            .detail
            .starts_with("store holds an unreadable record"),
        "{incidents:?}"
    );
}

/// Counts the calls.
#[derive(Default)]
struct Counting {
    kept: MemoryPersisted,
    asked: AtomicUsize,
}

#[async_trait]
impl PersistedStore for Counting {
    async fn text(&self, hash: &DocumentHash, now: SystemTime) -> Result<Option<Arc<str>>, StoreError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.kept.text(hash, now).await
    }

    async fn keep(&self, document: &PersistedDocument, now: SystemTime) -> Result<KeepOutcome, StoreError> {
        self.kept.keep(document, now).await
    }
}

/// G13: a process without the text asks the store once per hash, and then uses its plan cache.
#[tokio::test]
async fn a_plan_is_found_by_its_hash() {
    let store = Arc::new(Counting::default());
    let process = || Fixture::new(builder().with_automatic_persisted_queries(over(store.clone())));
    let (one, other) = (process(), process());
    one.send(registering("{ ping }")).await;
    for (shop, asked) in [(&one, 0), (&one, 0), (&other, 1), (&other, 1), (&one, 1)] {
        let answer = envelope(&shop.send(hashed("{ ping }")).await);
        assert_eq!(answer, json!({ "data": { "ping": "pong" } }));
        assert_eq!(store.asked.load(Ordering::SeqCst), asked);
    }
}

const ADD: &str = "mutation { add(id: 1) { id } }";

/// Misses once; then another client registers a mutation.
#[derive(Default)]
struct Meanwhile {
    asked: AtomicUsize,
}

#[async_trait]
impl PersistedStore for Meanwhile {
    async fn text(&self, _: &DocumentHash, _: SystemTime) -> Result<Option<Arc<str>>, StoreError> {
        let before = self.asked.fetch_add(1, Ordering::SeqCst);
        Ok((before > 0).then(|| ADD.into()))
    }

    async fn keep(&self, _: &PersistedDocument, _: SystemTime) -> Result<KeepOutcome, StoreError> {
        Ok(KeepOutcome::New)
    }
}

/// G20, G1, G13: a GET executes the document that was checked: a mutation registered in between
/// does not run.
#[tokio::test]
async fn a_mutation_registered_meanwhile_does_not_run_by_get() {
    for accept in ["text/event-stream", "multipart/mixed;subscriptionSpec=1.0"] {
        let store = Arc::new(Meanwhile::default());
        let shop = Fixture::new(builder().with_automatic_persisted_queries(over(store.clone())));
        let extensions = extensions(&hash(ADD)).to_string();
        let streaming = || accepting(got(&[("extensions", &extensions)]), accept);
        let response = shop.send(streaming()).await;
        let body = String::from_utf8_lossy(response.body()).into_owned();
        assert!(body.contains("PERSISTED_QUERY_NOT_FOUND"), "{body}");
        assert_eq!(store.asked.load(Ordering::SeqCst), 1);
        assert_eq!(shop.send(streaming()).await.status(), 405);
        assert_eq!(shop.shop.calls(), 0);
    }
}
