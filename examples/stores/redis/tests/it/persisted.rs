//! Texts of persisted queries on the server.

use std::time::Duration;

use graph_core::persisted::{DocumentHash, KeepOutcome, PersistedDocument, PersistedStore};
use graph_core::ports::StoreErrorKind;

use crate::server::prefix;
use crate::support::{LEASE, START};

fn document(text: &str) -> PersistedDocument {
    PersistedDocument {
        hash: DocumentHash::digest(text),
        text: text.into(),
        expires_at: START + LEASE,
    }
}

/// G13: a text is one key, which expires on the server some time after its end.
#[tokio::test]
async fn a_text_passes_with_its_end() {
    let prefix = prefix!();
    let database = prefix.database().await;
    let document = document("{ ping }");
    for kept in [KeepOutcome::New, KeepOutcome::Known] {
        assert_eq!(database.keep(&document, START).await.unwrap(), kept);
    }
    let name = format!("text:{}", document.hash);
    assert_eq!(prefix.keys(), std::slice::from_ref(&name));
    let left = Duration::from_millis(prefix.raw("PTTL", &name, &[]));
    assert!(left > LEASE && left < LEASE * 10, "{left:?}");
}

/// G13: an unreadable text is reported, and neither served nor overwritten.
#[tokio::test]
async fn a_text_that_cannot_be_read_is_reported_as_corrupt() {
    let prefix = prefix!();
    let database = prefix.database().await;
    let document = document("{ ping }");
    let name = format!("text:{}", document.hash);
    for broken in [
        &["SET", "short"][..],
        &["SET", "no digits but long enough"],
        &["RPUSH", "another type"],
    ] {
        let () = prefix.raw(broken[0], &name, &broken[1..]);
        for _ in 0..2 {
            let error = database.keep(&document, START).await.unwrap_err();
            assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{broken:?}");
            let error = database.text(&document.hash, START).await.unwrap_err();
            assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{broken:?}");
        }
        let () = prefix.raw("DEL", &name, &[]);
    }
}
