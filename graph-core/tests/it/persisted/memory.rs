//! Bounds of the in-memory store.

use std::time::{Duration, SystemTime};

use graph_core::memory::MemoryPersisted;
use graph_core::persisted::{DocumentHash, KeepOutcome, PersistedDocument, PersistedStore};

fn start() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn document(text: &str) -> PersistedDocument {
    PersistedDocument {
        hash: DocumentHash::digest(text),
        text: text.into(),
        expires_at: start() + Duration::from_secs(60),
    }
}

async fn keep(store: &MemoryPersisted, text: &str) -> KeepOutcome {
    store.keep(&document(text), start()).await.unwrap()
}

async fn served(store: &MemoryPersisted, text: &str, now: SystemTime) -> bool {
    let found = store.text(&DocumentHash::digest(text), now).await;
    found.unwrap().is_some()
}

/// G13: a flood of texts stays within the capacity and does not evict texts in use.
#[tokio::test]
async fn a_flood_of_texts_is_bounded() {
    let store = MemoryPersisted::new(64 << 10);
    assert_eq!(keep(&store, "{ mine }").await, KeepOutcome::New);
    for number in 0..10_000 {
        assert_eq!(keep(&store, &format!("{{ a{number} }}")).await, KeepOutcome::New);
        assert!(served(&store, "{ mine }", start()).await);
    }
    assert!(store.len() <= (64 << 10) / 256, "{}", store.len());
    assert!(store.len() > 100, "{}", store.len());
    assert!(!served(&store, "{ a0 }", start()).await);
    assert!(served(&store, "{ a9999 }", start()).await);
}

/// G13: a single text may use at most a quarter of the capacity.
#[tokio::test]
async fn a_text_takes_a_quarter_at_most() {
    let store = MemoryPersisted::new(4_096);
    assert_eq!(keep(&store, "{ mine }").await, KeepOutcome::New);
    assert_eq!(keep(&store, &" ".repeat(1_024)).await, KeepOutcome::TooLarge);
    assert_eq!(keep(&store, &" ".repeat(700)).await, KeepOutcome::New);
    assert!(served(&store, "{ mine }", start()).await);
    assert_eq!(keep(&MemoryPersisted::new(0), "").await, KeepOutcome::TooLarge);
}

/// G13: expired texts are evicted first, even if they were requested recently.
#[tokio::test]
async fn what_has_ended_leaves_first() {
    let store = MemoryPersisted::new(2_048);
    let later = start() + Duration::from_secs(60);
    let lasting = |text: &str| PersistedDocument {
        expires_at: later + Duration::from_secs(60),
        ..document(text)
    };
    for text in ["{ a }", "{ b }", "{ c }", "{ d }", "{ e }", "{ f }"] {
        assert_eq!(keep(&store, text).await, KeepOutcome::New);
        assert!(served(&store, text, start()).await);
    }
    for (text, now) in [("{ lasting }", start()), ("{ new }", later)] {
        assert_eq!(store.keep(&lasting(text), now).await.unwrap(), KeepOutcome::New);
    }
    assert!(served(&store, "{ lasting }", later).await);
    assert!(served(&store, "{ new }", later).await);
    assert_eq!(store.len(), 7);
}
