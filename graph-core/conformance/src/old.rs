//! What any [`PersistedStore`] must do.
#![expect(clippy::expect_used, reason = "a case fails by panicking")]

use std::time::{Duration, SystemTime};

use super::race::race;
use crate::persisted::{DocumentHash, Kept, PersistedDocument, PersistedStore};

/// Makes a test of each case: `persisted_store!(#[tokio::test] expression)`.
#[macro_export]
macro_rules! persisted_store {
    (#[$attribute:meta] $($store:tt)+) => {
        $crate::__kit_cases! { persisted_store [#[$attribute]] [$($store)+]:
            a_hash_that_nobody_kept_is_unknown
            a_text_comes_back_byte_for_byte
            hashes_that_are_alike_are_others
            a_text_ends_at_the_exact_instant
            keeping_again_prolongs_and_never_shortens
            what_has_ended_is_kept_anew
            what_has_ended_already_is_served_to_nobody
            one_of_32_keepers_is_the_first
            one_of_32_keepers_of_an_ended_text_is_the_first
            the_longest_of_32_ends_stands
            readers_see_a_whole_text_or_none
        }
    };
}

const NANOSECOND: Duration = Duration::from_nanos(1);

/// Not a whole second, so that a store which rounds shows.
fn start() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::new(1_800_000_000, 123_456_789)
}

fn end() -> SystemTime {
    start() + Duration::from_secs(3_600)
}

fn document(text: &str, expires_at: SystemTime) -> PersistedDocument {
    PersistedDocument {
        hash: DocumentHash::of(text),
        text: text.into(),
        expires_at,
    }
}

async fn keep(store: &dyn PersistedStore, text: &str, expires_at: SystemTime, now: SystemTime) -> Kept {
    let kept = store.keep(&document(text, expires_at), now).await;
    kept.expect("the store answers")
}

async fn served(store: &dyn PersistedStore, text: &str, now: SystemTime) -> bool {
    let found = store.text(&DocumentHash::of(text), now).await;
    let found = found.expect("the store answers");
    assert!(found.as_deref().is_none_or(|found| found == text), "{found:?}");
    found.is_some()
}

/// G13: also before anything was kept.
pub async fn a_hash_that_nobody_kept_is_unknown(store: &dyn PersistedStore) {
    assert!(!served(store, "{ ping }", start()).await);
    assert_eq!(keep(store, "{ ping }", end(), start()).await, Kept::New);
    assert!(!served(store, "{ pong }", start()).await);
}

/// G13: whatever is in it, and however long it is.
pub async fn a_text_comes_back_byte_for_byte(store: &dyn PersistedStore) {
    let long = format!("{{ a{} }}", "\u{1f680} 'x' \"y\" ".repeat(16 << 10));
    for text in [
        "",
        "\0",
        "{ a }\r\n",
        "{ a }\n",
        "'; -- %_ \\",
        "\u{feff}{ a }",
        "# \u{e9} e\u{301}",
        "9",
        &long,
    ] {
        assert_eq!(keep(store, text, end(), start()).await, Kept::New, "{text:?}");
        assert!(served(store, text, start()).await, "{text:?}");
    }
}

/// A hash is 32 bytes, all of which count.
pub async fn hashes_that_are_alike_are_others(store: &dyn PersistedStore) {
    let hashes = [[0; 32], [0xff; 32], [b':'; 32], [b'\n'; 32]]
        .into_iter()
        .flat_map(|bytes: [u8; 32]| {
            let flipped = [0, 15, 31].map(|at| {
                let mut other = bytes;
                other.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1);
                other
            });
            [bytes].into_iter().chain(flipped)
        });
    for (number, hash) in hashes.map(DocumentHash::from_bytes).enumerate() {
        let found = store.text(&hash, start()).await.expect("the store answers");
        assert_eq!(found, None, "{hash}");
        let document = PersistedDocument {
            hash,
            text: number.to_string().into(),
            expires_at: end(),
        };
        let kept = store.keep(&document, start()).await.expect("the store answers");
        assert_eq!(kept, Kept::New);
        let found = store.text(&hash, start()).await.expect("the store answers");
        assert_eq!(found.as_deref(), Some(&*document.text));
    }
}

/// To the nanosecond.
pub async fn a_text_ends_at_the_exact_instant(store: &dyn PersistedStore) {
    assert_eq!(keep(store, "{ a }", end(), start()).await, Kept::New);
    assert!(served(store, "{ a }", end() - NANOSECOND).await);
    assert!(!served(store, "{ a }", end()).await);
    assert!(
        !served(
            store,
            "{ a }",
            end() + end().duration_since(start()).unwrap_or_default()
        )
        .await
    );
}

/// Whoever registers with an earlier end takes nothing from the others.
pub async fn keeping_again_prolongs_and_never_shortens(store: &dyn PersistedStore) {
    let later = end() + NANOSECOND;
    for (expires_at, kept, stands) in [
        (end(), Kept::New, end()),
        (start() + NANOSECOND, Kept::Known, end()),
        (later, Kept::Known, later),
        (end(), Kept::Known, later),
    ] {
        assert_eq!(keep(store, "{ a }", expires_at, start()).await, kept);
        assert!(served(store, "{ a }", stands - NANOSECOND).await);
        assert!(!served(store, "{ a }", stands).await);
    }
}

/// As if it had not been there.
pub async fn what_has_ended_is_kept_anew(store: &dyn PersistedStore) {
    assert_eq!(keep(store, "{ a }", end(), start()).await, Kept::New);
    let later = end() + Duration::from_secs(60);
    assert_eq!(keep(store, "{ a }", later, end() - NANOSECOND).await, Kept::Known);
    assert_eq!(keep(store, "{ a }", later + NANOSECOND, later).await, Kept::New);
    assert!(served(store, "{ a }", later).await);
    assert!(!served(store, "{ a }", later + NANOSECOND).await);
}

/// Whatever the answer to keeping it is.
pub async fn what_has_ended_already_is_served_to_nobody(store: &dyn PersistedStore) {
    for expires_at in [start(), start() - NANOSECOND, SystemTime::UNIX_EPOCH] {
        assert_eq!(keep(store, "{ a }", expires_at, start()).await, Kept::New);
        assert!(!served(store, "{ a }", start()).await);
    }
}

/// G13: whoever comes at once.
pub async fn one_of_32_keepers_is_the_first(store: &dyn PersistedStore) {
    let kept = race(async |_| keep(store, "{ a }", end(), start()).await);
    assert_eq!(kept.iter().filter(|kept| **kept == Kept::New).count(), 1);
    assert!(kept.iter().all(|kept| matches!(kept, Kept::New | Kept::Known)));
    assert!(served(store, "{ a }", start()).await);
}

/// G13: what is in the way is over, and one of them takes its place.
pub async fn one_of_32_keepers_of_an_ended_text_is_the_first(store: &dyn PersistedStore) {
    assert_eq!(keep(store, "{ a }", end(), start()).await, Kept::New);
    let later = end() + Duration::from_secs(60);
    let kept = race(async |_| keep(store, "{ a }", later, end()).await);
    assert_eq!(kept.iter().filter(|kept| **kept == Kept::New).count(), 1);
    assert!(served(store, "{ a }", later - NANOSECOND).await);
}

/// Nobody's end is lost to an earlier one that is written after it.
pub async fn the_longest_of_32_ends_stands(store: &dyn PersistedStore) {
    let ends = race(async |number| {
        let seconds = u64::try_from(number * 7 % 32).unwrap_or_default();
        let expires_at = end() + Duration::from_secs(seconds);
        let _ = keep(store, "{ a }", expires_at, start()).await;
        expires_at
    });
    let longest = ends.into_iter().max().expect("there are racers");
    assert!(served(store, "{ a }", longest - NANOSECOND).await);
    assert!(!served(store, "{ a }", longest).await);
}

/// Half of the racers read; what they get is the text that belongs to the hash, or none.
pub async fn readers_see_a_whole_text_or_none(store: &dyn PersistedStore) {
    let text = format!("{{ a{} }}", " ".repeat(64 << 10));
    let seen = race(async |number| {
        if number % 2 == 0 {
            return served(store, &text, start()).await;
        }
        keep(store, &text, end(), start()).await != Kept::TooLarge
    });
    let keepers = seen.iter().skip(1).step_by(2);
    assert!(keepers.into_iter().all(|kept| *kept));
    assert!(served(store, &text, start()).await);
}
