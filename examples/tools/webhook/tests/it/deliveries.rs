//! `inspect` and `replay` on a file of host-store-sqlite.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use host_store_sqlite::Database;
use webhook_core::ports::{OsEntropy, SystemClock, TransportError, timer_fn, transport_fn};
use webhook_core::sender::{Audience, Dispatcher, Endpoint, EndpointStore, Owner, StoredEvent};
use webhook_core::{address::AddressPolicy, event::Envelope, secret::SigningSecret, signature::Signer};

use crate::program::{SECRET, code, text, webhook};

/// Creation time of the event, in Unix seconds.
const CREATED: u64 = 1_700_000_000;

/// Makes a store with one permanently failed delivery, and an endpoint registered after it.
async fn failed_delivery(file: &Path) {
    let database = Database::open(file).unwrap();
    let policy = AddressPolicy::new();
    let secret = SigningSecret::from_whsec(SECRET).unwrap();
    let url = "https://shop.example.com/".parse().unwrap();
    let endpoint = Endpoint::register(
        "shop".parse().unwrap(),
        Owner::Tenant("acme".parse().unwrap()),
        &url,
        Signer::standard_webhooks(&secret),
        &policy,
    )
    .unwrap();
    database.insert(endpoint.clone()).await.unwrap();
    let store = Arc::new(database);
    let refusing = transport_fn(async |_| {
        let answer = http::Response::builder()
            .status(422)
            .body(Bytes::from_static(b"no \x1b[31mthanks"));
        answer.map_err(TransportError::other)
    });
    let dispatcher = Dispatcher::new(
        store.clone(),
        store.clone(),
        refusing,
        SystemClock,
        timer_fn(tokio::time::sleep),
        OsEntropy,
    );
    let (id, kind, version) = ("evt_1".parse(), "charge.created".parse(), "1".parse());
    let event = Envelope::new(
        id.unwrap(),
        kind.unwrap(),
        version.unwrap(),
        SystemTime::UNIX_EPOCH + Duration::from_secs(CREATED),
        b"{}",
    )
    .unwrap();
    let event = StoredEvent::new(event, Audience::everyone());
    dispatcher.send(event).await.unwrap();
    dispatcher.run_due().await.unwrap();
    let later = Endpoint {
        id: "later".parse().unwrap(),
        ..endpoint
    };
    store.insert(later).await.unwrap();
}

/// W18: deliveries and their attempts are listed and replayed; a dry run changes nothing.
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
    let acked = ["replay", file, "--event", "evt_1", "--state", "acked"];
    assert!(
        shown(&acked).contains("0 deliveries are due again"),
        "it has failed"
    );
    assert!(shown(&["replay", file, "--event", "evt_1"]).contains("1 deliveries are due again"));
    assert!(
        shown(&acked).contains("0 deliveries are due again"),
        "it is under way"
    );
    assert!(shown(&["inspect", file]).contains("ready"));
}

/// Runs a command that succeeds, on a store with a failed delivery; returns its output.
fn shown(file: &Path, words: &[&str]) -> String {
    let (command, rest) = words.split_first().unwrap();
    let words = [&[*command, file.to_str().unwrap()], rest].concat();
    let output = webhook(&words, b"");
    assert_eq!(code(&output), 0, "{words:?} {}", text(&output.stderr));
    text(&output.stdout)
}

fn with_failed_delivery() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("desk.sqlite");
    tokio::runtime::Runtime::new()
        .unwrap()
        .block_on(failed_delivery(&file));
    (folder, file)
}

/// W18: a replay can be limited to events of a period, whose end is excluded.
#[test]
fn failed_deliveries_of_a_period_are_replayed() {
    let (_folder, file) = with_failed_delivery();
    let (at, after) = (CREATED.to_string(), (CREATED + 1).to_string());
    for (words, found) in [
        (["--from", &after, "--before", "1700009999"], 0),
        (["--from", "0", "--before", &at], 0),
        (["--from", &at, "--before", &after], 1),
    ] {
        let inspected = shown(&file, &[&["inspect"], &words[..]].concat());
        assert!(
            inspected.ends_with(&format!("{found} deliveries\n")),
            "{inspected}"
        );
        let replayed = shown(&file, &[&["replay"], &words[..]].concat());
        assert_eq!(replayed, format!("{found} deliveries are due again\n"));
    }
}

/// W18: an endpoint gets the events from before its registration, once.
#[test]
fn an_endpoint_is_sent_what_it_missed() {
    let (_folder, file) = with_failed_delivery();
    let missing = ["replay", "--missing", "--endpoint", "later"];
    let after = (CREATED + 1).to_string();
    assert_eq!(
        shown(&file, &[&missing[..], &["--from", &after]].concat()),
        "0 deliveries are due for the first time\n"
    );
    for _ in 0..2 {
        let dry_run = shown(&file, &[&missing[..], &["--dry-run"]].concat());
        assert_eq!(dry_run, "1 deliveries would be sent for the first time\n");
    }
    for made in [1, 0] {
        assert_eq!(
            shown(&file, &missing),
            format!("{made} deliveries are due for the first time\n")
        );
    }
    let none = webhook(
        &[
            "replay",
            file.to_str().unwrap(),
            "--missing",
            "--endpoint",
            "unknown",
        ],
        b"",
    );
    assert_eq!(
        (code(&none), text(&none.stderr).as_str()),
        (1, "unknown: no such endpoint\n")
    );
}

/// A replay needs a selection, and refuses contradictory flags.
#[test]
fn a_replay_of_nothing_in_particular_is_refused() {
    let (_folder, file) = with_failed_delivery();
    for words in [
        &[][..],
        &["--missing"],
        &["--missing", "--all"],
        &["--missing", "--endpoint", "later", "--event", "evt_1"],
        &["--missing", "--endpoint", "later", "--state", "dead_letter"],
        &["--all", "--from", "0"],
        &["--from", "ten"],
        &["--state", "acked", "--all"],
    ] {
        let output = webhook(&[&["replay", file.to_str().unwrap()], words].concat(), b"");
        assert_eq!(
            (code(&output), text(&output.stderr).lines().count()),
            (2, 1),
            "{words:?}"
        );
    }
}

/// A missing file, or one that is no store, is not changed.
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
