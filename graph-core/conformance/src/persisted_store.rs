//! Conformance cases of [`PersistedStore`].
#![expect(clippy::expect_used, reason = "a case fails by panicking")]

use std::time::{Duration, SystemTime};

use graph_core::persisted::{DocumentHash, KeepOutcome, PersistedDocument, PersistedStore};

const NANOSECOND: Duration = Duration::from_nanos(1);

/// Time with a fractional second, so that a store that rounds fails.
fn start() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::new(1_800_000_000, 123_456_789)
}

fn end() -> SystemTime {
    start() + Duration::from_secs(3_600)
}

async fn keep(
    store: &dyn PersistedStore,
    text: &str,
    expires_at: SystemTime,
    now: SystemTime,
) -> KeepOutcome {
    let document = PersistedDocument::new(text, expires_at);
    store.keep(&document, now).await.expect("the store answers")
}

async fn find(store: &dyn PersistedStore, hash: &DocumentHash, now: SystemTime) -> Option<String> {
    let found = store.text(hash, now).await.expect("the store answers");
    found.map(|text| text.to_string())
}

/// Returns `true` if `text` is served. A store must not return another text.
async fn is_served(store: &dyn PersistedStore, text: &str, now: SystemTime) -> bool {
    let found = find(store, &DocumentHash::digest(text), now).await;
    assert!(found.as_deref().is_none_or(|found| found == text), "{found:?}");
    found.is_some()
}

/// Documents whose hashes contain bytes with a special meaning for a store (terminator, separator,
/// pattern), and pairs of hashes with equal first or last bytes.
fn documents_with_hostile_hashes() -> Vec<String> {
    let texts = || (0..).map(|number| format!("{{ a{number} }}"));
    let bytes = |text: &String| *DocumentHash::digest(text).as_bytes();
    let hostile = [0, b'\n', b'%', b'\'', b':', b'\\', 0xff];
    let mut found = Vec::new();
    for at in [0, 1, 15, 31] {
        for byte in hostile {
            found.extend(texts().find(|text| bytes(text).get(at) == Some(&byte)));
        }
    }
    let first = "{ first }".to_owned();
    let wanted = bytes(&first);
    found.extend(texts().find(|text| bytes(text).first_chunk::<2>() == wanted.first_chunk()));
    found.extend(texts().find(|text| bytes(text).last_chunk::<2>() == wanted.last_chunk()));
    found.push(first);
    found.sort_unstable();
    found.dedup();
    found
}

#[host_ports_conformance::kit(persisted_store)]
mod cases {
    use std::sync::Arc;
    use std::time::{Duration, SystemTime};

    use graph_core::persisted::{DocumentHash, KeepOutcome, PersistedStore};
    use host_ports_conformance::race;

    use super::{NANOSECOND, documents_with_hostile_hashes, end, find, is_served, keep, start};

    /// G13: an unknown hash has no text, before and after other documents are stored.
    pub async fn hash_that_was_never_kept_is_unknown(store: &Arc<dyn PersistedStore>) {
        assert!(!is_served(store, "{ ping }", start()).await);
        assert_eq!(keep(store, "{ ping }", end(), start()).await, KeepOutcome::New);
        assert!(!is_served(store, "{ pong }", start()).await);
    }

    /// G13: the store returns every text unchanged: all characters that GraphQL allows, up to the
    /// engine's default size limit (64 KiB).
    pub async fn text_comes_back_byte_for_byte(store: &Arc<dyn PersistedStore>) {
        let unit = "\u{1f680} 'x' \\\"y\\\" ";
        let repeats = ((64 << 10) - 16) / unit.len();
        let long = format!("{{ a(b: \"{}\") }}", unit.repeat(repeats));
        for text in [
            "{a}",
            "{ a }",
            "{ a }\r\n",
            "{ a }\n",
            " { a }\t",
            "{ a } #'; -- %_ \\ $1 ?",
            "\u{feff}{ a }",
            "{ a } # \u{e9} e\u{301} \u{7f} \u{85} \u{2028}",
            "{ a(b: \"\\u0000\") }",
            &long,
        ] {
            assert_eq!(
                keep(store, text, end(), start()).await,
                KeepOutcome::New,
                "{text:?}"
            );
            assert!(is_served(store, text, start()).await, "{text:?}");
        }
    }

    /// All 32 bytes of a hash are significant. A client may request any hash.
    pub async fn hashes_that_differ_in_one_byte_are_distinct(store: &Arc<dyn PersistedStore>) {
        let documents = documents_with_hostile_hashes();
        for text in &documents {
            assert_eq!(
                keep(store, text, end(), start()).await,
                KeepOutcome::New,
                "{text}"
            );
        }
        for text in &documents {
            assert!(is_served(store, text, start()).await, "{text}");
            for at in [0, 1, 7, 15, 16, 30, 31] {
                for change in [0x01, 0x20, 0xff] {
                    let mut bytes = *DocumentHash::digest(text).as_bytes();
                    bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= change);
                    let found = find(store, &DocumentHash::from_bytes(bytes), start()).await;
                    assert_eq!(found, None, "{text}, byte {at}");
                }
            }
        }
    }

    /// G13: a document expires at `expires_at`, to the nanosecond.
    pub async fn text_ends_at_its_exact_instant(store: &Arc<dyn PersistedStore>) {
        assert_eq!(keep(store, "{ a }", end(), start()).await, KeepOutcome::New);
        assert!(is_served(store, "{ a }", end() - NANOSECOND).await);
        assert!(!is_served(store, "{ a }", end()).await);
        assert!(!is_served(store, "{ a }", end() + Duration::from_secs(3_600)).await);
    }

    /// A registration with an earlier expiry does not shorten the lifetime.
    pub async fn keeping_again_extends_and_never_shortens(store: &Arc<dyn PersistedStore>) {
        let later = end() + NANOSECOND;
        for (expires_at, outcome, latest) in [
            (end(), KeepOutcome::New, end()),
            (start() + NANOSECOND, KeepOutcome::Known, end()),
            (later, KeepOutcome::Known, later),
            (end(), KeepOutcome::Known, later),
        ] {
            assert_eq!(keep(store, "{ a }", expires_at, start()).await, outcome);
            assert!(is_served(store, "{ a }", latest - NANOSECOND).await);
            assert!(!is_served(store, "{ a }", latest).await);
        }
    }

    /// An expired document counts as absent.
    pub async fn expired_text_is_kept_as_new(store: &Arc<dyn PersistedStore>) {
        assert_eq!(keep(store, "{ a }", end(), start()).await, KeepOutcome::New);
        let later = end() + Duration::from_secs(60);
        assert_eq!(
            keep(store, "{ a }", later, end() - NANOSECOND).await,
            KeepOutcome::Known
        );
        assert_eq!(
            keep(store, "{ a }", later + NANOSECOND, later).await,
            KeepOutcome::New
        );
        assert!(is_served(store, "{ a }", later).await);
        assert!(!is_served(store, "{ a }", later + NANOSECOND).await);
    }

    /// A document that expires when it is stored is never served, even if the clock of the storing
    /// process is slow.
    pub async fn text_that_ends_at_once_is_never_served(store: &Arc<dyn PersistedStore>) {
        for now in [start(), start() - NANOSECOND, start() - Duration::from_secs(60)] {
            let text = format!("{{ a{} }}", nanoseconds(now));
            assert_eq!(keep(store, &text, now, now).await, KeepOutcome::New);
            assert!(!is_served(store, &text, now).await);
            assert!(!is_served(store, &text, start()).await);
        }
    }

    fn nanoseconds(time: SystemTime) -> u128 {
        let since = time.duration_since(SystemTime::UNIX_EPOCH);
        since.expect("the kit's times are after 1970").as_nanos()
    }

    /// G13: exactly one of 32 concurrent calls gets [`KeepOutcome::New`].
    pub async fn one_of_32_keepers_is_first(store: &Arc<dyn PersistedStore>) {
        let outcomes = race(store, async |store, _| {
            keep(&store, "{ a }", end(), start()).await
        })
        .await;
        let first = outcomes.iter().filter(|outcome| **outcome == KeepOutcome::New);
        assert_eq!(first.count(), 1);
        assert!(
            outcomes
                .iter()
                .all(|outcome| matches!(outcome, KeepOutcome::New | KeepOutcome::Known))
        );
        assert!(is_served(store, "{ a }", start()).await);
    }

    /// G13: exactly one of 32 concurrent calls replaces an expired document.
    pub async fn one_of_32_keepers_of_expired_text_is_first(store: &Arc<dyn PersistedStore>) {
        assert_eq!(keep(store, "{ a }", end(), start()).await, KeepOutcome::New);
        let later = end() + Duration::from_secs(60);
        let outcomes = race(store, async move |store, _| {
            keep(&store, "{ a }", later, end()).await
        })
        .await;
        let first = outcomes.iter().filter(|outcome| **outcome == KeepOutcome::New);
        assert_eq!(first.count(), 1);
        assert!(is_served(store, "{ a }", later - NANOSECOND).await);
    }

    /// The latest of 32 concurrent expiry times is kept.
    pub async fn latest_of_32_ends_holds(store: &Arc<dyn PersistedStore>) {
        let ends = race(store, async |store, number| {
            let seconds = u64::try_from(number * 7 % 32).unwrap_or_default();
            let expires_at = end() + Duration::from_secs(seconds);
            let outcome = keep(&store, "{ a }", expires_at, start()).await;
            assert!(matches!(outcome, KeepOutcome::New | KeepOutcome::Known));
            expires_at
        })
        .await;
        let latest = ends.into_iter().max().expect("there are racers");
        assert!(is_served(store, "{ a }", latest - NANOSECOND).await);
        assert!(!is_served(store, "{ a }", latest).await);
    }

    /// Of 32 concurrent callers half store a text and half read it. Each reader gets the complete
    /// text or `None`.
    pub async fn readers_see_whole_text_or_none(store: &Arc<dyn PersistedStore>) {
        let text: Arc<str> = format!("{{ a{} }}", " ".repeat(63 << 10)).into();
        let racing = Arc::clone(&text);
        let outcomes = race(store, async move |store, number| {
            if number % 2 == 0 {
                is_served(&store, &racing, start()).await;
                return None;
            }
            Some(keep(&store, &racing, end(), start()).await)
        })
        .await;
        let mut kept = outcomes.into_iter().flatten();
        assert!(kept.all(|outcome| matches!(outcome, KeepOutcome::New | KeepOutcome::Known)));
        assert!(is_served(store, &text, start()).await);
    }
}

pub use cases::*;
