//! The kit accepts the in-memory store and rejects stores that each break one rule.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashMap;
use std::sync::{Arc, Barrier, Mutex};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use graph_core::persisted::{DocumentHash, KeepOutcome, PersistedDocument, PersistedStore};
use graph_core::ports::StoreError;
use graph_core_conformance::persisted_store as cases;

mod memory {
    graph_core_conformance::persisted_store!(
        #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
        graph_core::memory::MemoryPersisted::new(8 << 20)
    );
}

/// Stores behind an `Arc`, and an asynchronous constructor.
mod shared {
    graph_core_conformance::persisted_store!(
        #[tokio::test]
        async {
            tokio::task::yield_now().await;
            std::sync::Arc::new(graph_core::memory::MemoryPersisted::default())
        }
    );
}

#[derive(PartialEq)]
enum Flaw {
    EndsInSeconds,
    EndIsServed,
    HashIsHalf,
    HashIsUntilNul,
    HashIgnoresCase,
    TextIsTrimmed,
    TextLosesUnicode,
    EveryKeepIsNew,
    ExpiredIsKnown,
    LastEndHolds,
    GetThenSet,
}

type Entries = HashMap<Vec<u8>, (String, SystemTime)>;

struct Flawed {
    flaw: Flaw,
    entries: Mutex<Entries>,
    /// Barrier between the reads of all racers and the first write.
    between: Barrier,
}

impl Flawed {
    fn new(flaw: Flaw) -> Self {
        Self {
            flaw,
            entries: Mutex::default(),
            between: Barrier::new(32),
        }
    }

    fn key(&self, hash: &DocumentHash) -> Vec<u8> {
        let bytes = hash.as_bytes();
        match self.flaw {
            Flaw::HashIsHalf => bytes[..16].to_vec(),
            Flaw::HashIsUntilNul => bytes.split(|byte| *byte == 0).next().unwrap().to_vec(),
            Flaw::HashIgnoresCase => bytes.to_ascii_lowercase(),
            _ => bytes.to_vec(),
        }
    }
}

#[async_trait]
impl PersistedStore for Flawed {
    async fn text(&self, hash: &DocumentHash, now: SystemTime) -> Result<Option<Arc<str>>, StoreError> {
        let entries = self.entries.lock().unwrap();
        let served = |end: SystemTime| now < end || self.flaw == Flaw::EndIsServed && now == end;
        let found = entries.get(&self.key(hash)).filter(|(_, end)| served(*end));
        Ok(found.map(|(text, _)| text.as_str().into()))
    }

    async fn keep(&self, document: &PersistedDocument, now: SystemTime) -> Result<KeepOutcome, StoreError> {
        let key = self.key(&document.hash);
        let mut end = document.expires_at;
        if self.flaw == Flaw::EndsInSeconds {
            let since = end.duration_since(SystemTime::UNIX_EPOCH).unwrap();
            end = SystemTime::UNIX_EPOCH + Duration::from_secs(since.as_secs());
        }
        let text = match self.flaw {
            Flaw::TextIsTrimmed => document.text.trim().to_owned(),
            Flaw::TextLosesUnicode => document
                .text
                .replace(|character: char| !character.is_ascii(), "?"),
            _ => document.text.to_string(),
        };
        let before = self.entries.lock().unwrap().get(&key).cloned();
        if self.flaw == Flaw::GetThenSet {
            self.between.wait();
            self.entries.lock().unwrap().insert(key, (text, end));
            return Ok(if before.is_some_and(|(_, end)| now < end) {
                KeepOutcome::Known
            } else {
                KeepOutcome::New
            });
        }
        let mut entries = self.entries.lock().unwrap();
        let known = match entries.get(&key) {
            Some((_, end)) => now < *end || self.flaw == Flaw::ExpiredIsKnown,
            None => false,
        };
        let entry = entries.entry(key).or_insert((text, end));
        entry.1 = if self.flaw == Flaw::LastEndHolds {
            end
        } else {
            entry.1.max(end)
        };
        Ok(if known && self.flaw != Flaw::EveryKeepIsNew {
            KeepOutcome::Known
        } else {
            KeepOutcome::New
        })
    }
}

macro_rules! caught {
    ($($test:ident: $flaw:ident by $case:ident;)+) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        #[should_panic]
        async fn $test() {
            let store: Arc<dyn PersistedStore> = Arc::new(Flawed::new(Flaw::$flaw));
            cases::$case(&store).await;
        }
    )+};
}

caught! {
    catches_ends_in_whole_seconds: EndsInSeconds by text_ends_at_its_exact_instant;
    catches_text_served_at_its_end: EndIsServed by text_ends_at_its_exact_instant;
    catches_empty_lifetime_that_is_served: EndIsServed by text_that_ends_at_once_is_never_served;
    catches_hash_cut_to_half: HashIsHalf by hashes_that_differ_in_one_byte_are_distinct;
    catches_hash_cut_at_nul: HashIsUntilNul by hashes_that_differ_in_one_byte_are_distinct;
    catches_hash_without_case: HashIgnoresCase by hashes_that_differ_in_one_byte_are_distinct;
    catches_trimmed_text: TextIsTrimmed by text_comes_back_byte_for_byte;
    catches_text_without_unicode: TextLosesUnicode by text_comes_back_byte_for_byte;
    catches_known_text_told_as_new: EveryKeepIsNew by one_of_32_keepers_is_first;
    catches_expired_text_told_as_known: ExpiredIsKnown by expired_text_is_kept_as_new;
    catches_expired_text_without_first_keeper: ExpiredIsKnown by one_of_32_keepers_of_expired_text_is_first;
    catches_end_that_is_shortened: LastEndHolds by keeping_again_extends_and_never_shortens;
    catches_latest_end_that_is_lost: LastEndHolds by latest_of_32_ends_holds;
    catches_get_then_set: GetThenSet by one_of_32_keepers_is_first;
}

/// A record can be built, read and written by a store in another crate (O44).
#[test]
fn record_is_built_and_read_outside_the_crate() {
    let end = SystemTime::UNIX_EPOCH + Duration::from_secs(60);
    let made = PersistedDocument::new("{ a }", end);
    let PersistedDocument {
        hash,
        text,
        expires_at,
    } = made.clone();
    let read = PersistedDocument {
        hash: DocumentHash::from_bytes(*hash.as_bytes()),
        text: String::from(&*text).into(),
        expires_at,
    };
    assert_eq!(read, made);
    assert_eq!(hash, DocumentHash::digest("{ a }"));
}
