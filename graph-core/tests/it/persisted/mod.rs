//! Persisted queries: automatic persisted queries and trusted documents.

mod automatic;
mod faults;
mod memory;
mod trusted;
mod wire;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use graph_core::memory::MemoryPersisted;
use graph_core::persisted::{AutomaticPersistedQueries, DocumentHash, PersistedStore};
use host_ports::testing::ManualClock;
use http::Request;
use serde_json::{Value, json};

use crate::fixture::{Fixture, builder, post_body};

fn clock() -> ManualClock {
    ManualClock::new(SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000))
}

fn over(store: Arc<dyn PersistedStore>) -> AutomaticPersistedQueries {
    AutomaticPersistedQueries::new(store, clock())
}

/// Shop with automatic persisted queries.
fn automatic() -> (Fixture, Arc<MemoryPersisted>) {
    let store = Arc::new(MemoryPersisted::new(1 << 20));
    let shop = Fixture::new(builder().with_automatic_persisted_queries(over(store.clone())));
    (shop, store)
}

fn hash(text: &str) -> String {
    DocumentHash::digest(text).to_string()
}

/// `extensions` as Apollo Client and urql send them.
fn extensions(hash: &str) -> Value {
    json!({ "persistedQuery": { "version": 1, "sha256Hash": hash } })
}

fn hashed(text: &str) -> Request<Bytes> {
    post_body(json!({ "extensions": extensions(&hash(text)) }).to_string())
}

fn registering(text: &str) -> Request<Bytes> {
    post_body(json!({ "query": text, "extensions": extensions(&hash(text)) }).to_string())
}

fn by_id(id: &str) -> Request<Bytes> {
    post_body(json!({ "documentId": id }).to_string())
}

/// GET request with these parameters.
fn got(parameters: &[(&str, &str)]) -> Request<Bytes> {
    let query = form_urlencoded::Serializer::new(String::new())
        .extend_pairs(parameters)
        .finish();
    let request = Request::get(format!("/graphql?{query}"));
    request.body(Bytes::new()).unwrap()
}
