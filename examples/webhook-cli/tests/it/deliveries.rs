//! `inspect` and `replay` on a file of store-sqlite.

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use store_sqlite::Database;
use webhook_core::ports::{OsEntropy, TransportError};
use webhook_core::sender::{Dispatcher, Endpoint, EndpointStore};
use webhook_core::{address::AddressPolicy, event::Envelope, secret::SigningSecret, signature::Signer};

use crate::program::{SECRET, code, text, webhook};

/// A store whose one delivery was refused for good.
async fn failed_delivery(file: &Path) {
    let database = Database::open(file).unwrap();
    let policy = AddressPolicy::new();
    let secret = SigningSecret::from_whsec(SECRET).unwrap();
    let url = "https://shop.example.com/".parse().unwrap();
    let endpoint = Endpoint::register(
        "shop".parse().unwrap(),
        &url,
        Signer::standard_webhooks(&secret),
        &policy,
    );
    database.insert(endpoint.unwrap()).await.unwrap();
    let store = Arc::new(database);
    let refusing = |_| async {
        let answer = http::Response::builder()
            .status(422)
            .body(Bytes::from_static(b"no \x1b[31mthanks"));
        answer.map_err(TransportError::other)
    };
    let dispatcher = Dispatcher::new(
        store.clone(),
        store,
        Arc::new(refusing),
        SystemTime::now,
        OsEntropy,
    );
    let (id, kind, version) = ("evt_1".parse(), "charge.created".parse(), "1".parse());
    let event = Envelope::new(
        id.unwrap(),
        kind.unwrap(),
        version.unwrap(),
        SystemTime::now(),
        b"{}",
    )
    .unwrap();
    dispatcher.send(event).await.unwrap();
    dispatcher.run_due().await.unwrap();
}

/// W18: deliveries and their attempts are listed, and replayed, of which a dry run says the number and does nothing.
#[test]
fn failed_deliveries_are_inspected_and_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("desk.sqlite");
    tokio::runtime::Runtime::new()
        .unwrap()
        .block_on(failed_delivery(&path));
    let file = path.to_str().unwrap();
    let shown = |words: &[&str]| {
        let output = webhook(words, b"");
        assert_eq!(code(&output), 0, "{words:?} {}", text(&output.stderr));
        text(&output.stdout)
    };
    let table = shown(&["inspect", file, "--attempts"]);
    assert!(
        table.contains("evt_1") && table.contains("permanent_failure") && table.contains("rejected"),
        "{table}"
    );
    assert!(
        table.contains("422 Unprocessable Entity no \u{fffd}[31mthanks"),
        "{table}"
    );
    assert!(shown(&["inspect", file, "--state", "dead_letter"]).contains("0 deliveries"));
    assert!(shown(&["inspect", file, "--limit", "0"]).contains("0 deliveries; there are more"));
    for _ in 0..2 {
        assert!(shown(&["replay", file, "--all", "--dry-run"]).contains("1 deliveries would be sent again"));
    }
    assert!(shown(&["replay", file, "--endpoint", "other"]).contains("0 deliveries are due again"));
    assert!(shown(&["replay", file, "--event", "evt_1"]).contains("1 deliveries are due again"));
    assert!(shown(&["inspect", file]).contains("ready"));
}

/// A file that is no store, or none at all, is left as it is.
#[test]
fn a_foreign_file_is_refused_and_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let (absent, foreign) = (folder.path().join("absent"), folder.path().join("foreign"));
    std::fs::write(&foreign, b"").unwrap();
    for path in [&absent, &foreign] {
        for command in [["inspect", "--attempts"], ["replay", "--all"]] {
            let [command, flag] = command;
            let output = webhook(&[command, path.to_str().unwrap(), flag], b"");
            assert_eq!((code(&output), text(&output.stderr).lines().count()), (1, 1));
        }
    }
    assert!(!absent.exists());
    assert_eq!(std::fs::read(&foreign).unwrap(), b"");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}
