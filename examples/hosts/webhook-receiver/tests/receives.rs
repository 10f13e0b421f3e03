//! Starts the program with its defaults and plays its sender.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::Stdio;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use host_store_sqlite::{Database, DatabaseError};
use host_transport_hyper::HyperTransport;
use http::{Request, StatusCode};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use webhook_core::address::AddressPolicy;
use webhook_core::event::{Envelope, EventId};
use webhook_core::ports::Transport;
use webhook_core::secret::SigningSecret;
use webhook_core::signature::{Signer, Signers};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const PROGRAM: &str = env!("CARGO_BIN_EXE_webhook-receiver");

/// The running program; dropping it ends it.
struct Program {
    child: Child,
    output: Lines<BufReader<ChildStdout>>,
    url: String,
    transport: HyperTransport,
}

impl Program {
    async fn start() -> Self {
        Self::start_with(&[]).await
    }

    async fn start_with(arguments: &[&str]) -> Self {
        let mut child = Command::new(PROGRAM)
            .args(["--secret", SECRET, "--listen", "127.0.0.1:0"])
            .args(arguments)
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
        let greeting = output.next_line().await.unwrap().unwrap();
        let url = greeting.strip_prefix("listening on ").unwrap().to_owned();
        let transport = HyperTransport::new(AddressPolicy::new().danger_allow_loopback());
        Self {
            child,
            output,
            url,
            transport,
        }
    }

    async fn post(&self, signed: &Envelope, sent: Bytes) -> StatusCode {
        post(&self.transport, &self.url, signed, sent).await
    }

    async fn line(&mut self) -> String {
        let line = tokio::time::timeout(Duration::from_secs(20), self.output.next_line()).await;
        line.unwrap().unwrap().unwrap()
    }
}

/// Sends a body with the signature of an event.
async fn post(transport: &HyperTransport, url: &str, signed: &Envelope, sent: Bytes) -> StatusCode {
    send(transport, url, signed.id(), signed.bytes(), sent).await
}

/// Sends a body with its own signature, under the id of an event.
async fn post_signed(transport: &HyperTransport, url: &str, named: &Envelope, sent: Bytes) -> StatusCode {
    send(transport, url, named.id(), &sent.clone(), sent).await
}

async fn send(transport: &HyperTransport, url: &str, id: &EventId, signed: &[u8], sent: Bytes) -> StatusCode {
    let secret = SigningSecret::from_whsec(SECRET).unwrap();
    let signers = Signers::from(Signer::standard_webhooks(&secret));
    let mut request = Request::post(url).body(sent).unwrap();
    signers
        .sign(id, SystemTime::now(), signed)
        .insert_into(request.headers_mut());
    transport.send(request).await.unwrap().status()
}

fn event(id: &str) -> Envelope {
    let (event_type, version) = ("charge.created".parse().unwrap(), "2026-11-01".parse().unwrap());
    Envelope::new(
        id.parse().unwrap(),
        event_type,
        version,
        SystemTime::now(),
        br#"{"id":"ch_1"}"#,
    )
    .unwrap()
}

#[tokio::test]
async fn an_event_is_printed_once_and_a_forged_one_never() {
    let mut program = Program::start().await;
    let (first, last) = (event("evt_first"), event("evt_last"));
    assert_eq!(
        program.post(&first, first.bytes().clone()).await,
        StatusCode::NO_CONTENT
    );
    assert_eq!(
        program.post(&first, first.bytes().clone()).await,
        StatusCode::NO_CONTENT
    );
    let tampered = Bytes::from([last.bytes(), b" ".as_slice()].concat());
    assert_eq!(program.post(&last, tampered).await, StatusCode::BAD_REQUEST);
    assert_eq!(program.line().await, "charge.created evt_first");
    // a queued duplicate or forgery would come before this one
    assert_eq!(
        program.post(&last, last.bytes().clone()).await,
        StatusCode::NO_CONTENT
    );
    assert_eq!(program.line().await, "charge.created evt_last");
}

/// H23: each event is counted once, in the transaction that acknowledges it, across a kill of the
/// program.
#[tokio::test]
async fn events_are_counted_once_across_a_kill() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("receiver.sqlite");
    let arguments = ["--database", file.to_str().unwrap()];
    let mut program = Program::start_with(&arguments).await;
    let (first, last) = (event("evt_first"), event("evt_last"));
    for event in [&first, &first, &last] {
        let status = program.post(event, event.bytes().clone()).await;
        assert_eq!(status, StatusCode::NO_CONTENT);
    }
    assert_eq!(program.line().await, "charge.created evt_first");
    let database = Database::open(&file).unwrap();
    count_reaches(&database, 2).await;
    program.child.kill().await.unwrap();

    let program = Program::start_with(&arguments).await;
    let further = event("evt_further");
    for event in [&first, &last, &further] {
        let status = program.post(event, event.bytes().clone()).await;
        assert_eq!(status, StatusCode::NO_CONTENT);
    }
    count_reaches(&database, 3).await;
}

/// Waits until so many events of the type are counted, and no more are.
async fn count_reaches(database: &Database, expected: i64) {
    let counted = async || -> Result<i64, DatabaseError> {
        let count = "SELECT coalesce(sum(count), 0) FROM event_count WHERE type = 'charge.created'";
        let read = database.read(|connection| -> Result<i64, DatabaseError> {
            Ok(connection.query_row(count, (), |row| row.get(0))?)
        });
        read.await
    };
    let reached = async {
        while counted().await.unwrap() < expected {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), reached)
        .await
        .unwrap();
    assert_eq!(counted().await.unwrap(), expected);
}

/// W26: an event that cannot be parsed is buried, and the next one is processed.
#[tokio::test]
async fn unreadable_event_does_not_stop_the_next() {
    let mut program = Program::start().await;
    let (unreadable, next) = (event("evt_unreadable"), event("evt_next"));
    let body = Bytes::from_static(b"{}");
    let status = post_signed(&program.transport, &program.url, &unreadable, body).await;
    assert_eq!(status, StatusCode::NO_CONTENT);
    assert_eq!(
        program.post(&next, next.bytes().clone()).await,
        StatusCode::NO_CONTENT
    );
    assert_eq!(program.line().await, "charge.created evt_next");
}

/// W7: the program stops acknowledging events that it cannot process.
#[tokio::test]
async fn the_program_ends_when_it_can_print_no_more() {
    let Program {
        mut child,
        output,
        url,
        transport,
    } = Program::start().await;
    drop(output);
    let event = event("evt_unseen");
    let status = post(&transport, &url, &event, event.bytes().clone()).await;
    assert_eq!(status, StatusCode::NO_CONTENT);
    let ended = tokio::time::timeout(Duration::from_secs(20), child.wait()).await;
    assert_eq!(ended.unwrap().unwrap().code(), Some(1));
}

/// H19: a body over the limit is refused before it is verified.
#[tokio::test]
async fn a_body_over_the_limit_is_413() {
    let program = Program::start().await;
    let body = Bytes::from(vec![b' '; (1 << 20) + 1]);
    assert_eq!(
        program.post(&event("evt_large"), body).await,
        StatusCode::PAYLOAD_TOO_LARGE
    );
}

#[tokio::test]
async fn a_wrong_use_is_explained() {
    let explanation = async |arguments: &[&str]| {
        let output = Command::new(PROGRAM)
            .args(arguments)
            .env_remove("WEBHOOK_SECRET")
            .output()
            .await
            .unwrap();
        assert!(!output.status.success(), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    for arguments in [&["--verbose"] as &[_], &["--listen"], &[]] {
        assert!(
            explanation(arguments)
                .await
                .starts_with("usage: webhook-receiver"),
            "{arguments:?}"
        );
    }
    assert!(explanation(&["--secret", "whsec_short"]).await.contains("secret"));
}
