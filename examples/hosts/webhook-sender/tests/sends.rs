//! Starts the program with its defaults and plays its receiver.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/postgres.rs"]
mod postgres;

use std::ffi::OsStr;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use std::{future::pending, net::TcpListener};
use webhook_core::ports::{OsEntropy, SystemClock, timer_fn};

use bytes::Bytes;
use host_store_sqlite::{Database, DatabaseError};
use host_transport_hyper::HyperTransport;
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::sync::Notify;
use tokio::time::timeout;
use webhook_core::event::Envelope;
use webhook_core::memory::MemoryInbox;
use webhook_core::receiver::{Inbox, Receiver, Verifier};
use webhook_core::secret::SigningSecret;
use webhook_core::sender::{Audience, Dispatcher, Endpoint, EndpointStore, Enqueue, Outbox, StoredEvent};
use webhook_core::{AddressPolicy, Signer};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const PROGRAM: &str = env!("CARGO_BIN_EXE_webhook-sender");
const PATIENCE: Duration = Duration::from_secs(20);

/// The running program; dropping it ends it.
struct Program {
    child: Child,
    output: Lines<BufReader<ChildStdout>>,
}

impl Program {
    fn start(store: impl AsRef<OsStr>, url: &str, amounts: &[&str]) -> Self {
        let mut child = Command::new(PROGRAM)
            .arg(store)
            .arg(url)
            .args(amounts)
            .env("WEBHOOK_SECRET", SECRET)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, output }
    }

    /// The outcome and the event id of the next line.
    async fn line(&mut self) -> (String, String) {
        let line = timeout(PATIENCE, self.output.next_line()).await;
        let line = line.unwrap().unwrap().unwrap();
        let (what, event) = line.rsplit_once(' ').unwrap();
        (what.to_owned(), event.to_owned())
    }

    async fn signal(&self, signal: &str) {
        let pid = self.child.id().unwrap().to_string();
        let sent = Command::new("kill").args([signal, &pid]).status().await;
        assert!(sent.unwrap().success());
    }

    async fn interrupt(mut self) -> ExitStatus {
        self.signal("-INT").await;
        self.child.wait().await.unwrap()
    }
}

/// A receiver that verifies signatures, and its URL.
fn receiver() -> (Arc<MemoryInbox>, String) {
    let inbox = Arc::new(MemoryInbox::default());
    let verifier = Verifier::standard_webhooks(SigningSecret::from_whsec(SECRET).unwrap());
    let receiver = Receiver::builder("shop", verifier, inbox.clone(), SystemClock)
        .build()
        .unwrap();
    let handle = move |request| {
        let receiver = receiver.clone();
        async move { receiver.receive(request).await.map(Full::new) }
    };
    (inbox, serve(handle))
}

/// Serves `handle`; returns its URL.
fn serve<H, F>(handle: H) -> String
where
    H: Fn(Request<Bytes>) -> F + Send + Sync + 'static,
    F: Future<Output = Response<Full<Bytes>>> + Send + 'static,
{
    let refuse = |_: &Request<()>, _: StatusCode| Response::default();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(host_adapter_hyper::serve(
        listener,
        handle,
        refuse,
        Default::default(),
        pending(),
    ));
    url
}

async fn amounts(file: &Path) -> Vec<u32> {
    let database = Database::open(file).unwrap();
    let read = database.read(|connection| -> Result<Vec<u32>, DatabaseError> {
        let mut rows = connection.prepare("SELECT amount FROM charge ORDER BY id")?;
        Ok(rows.query_map((), |row| row.get(0))?.collect::<Result<_, _>>()?)
    });
    read.await.unwrap()
}

/// W15: each charge is delivered by an event of its own, and Ctrl-C ends the program cleanly.
#[tokio::test]
async fn each_charge_is_told_to_the_receiver() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shop.sqlite");
    let (inbox, url) = receiver();
    let mut program = Program::start(&file, &url, &["500", "1200"]);
    let (first, second) = (program.line().await, program.line().await);
    assert_eq!((first.0.as_str(), second.0.as_str()), ("stored", "stored"));
    let mut acked = [program.line().await, program.line().await];
    acked.sort();
    let mut expected = [("Acked".to_owned(), first.1), ("Acked".to_owned(), second.1)];
    expected.sort();
    assert_eq!(acked, expected);
    assert!(program.interrupt().await.success());
    let jobs = inbox
        .take(9, SystemTime::now(), Duration::from_secs(60))
        .await
        .unwrap();
    let mut told: Vec<String> = jobs
        .into_iter()
        .map(|job| String::from_utf8(Envelope::parse(job.body).unwrap().object().to_vec()).unwrap())
        .collect();
    told.sort();
    assert_eq!(
        told,
        [r#"{"id":"ch_1","amount":500}"#, r#"{"id":"ch_2","amount":1200}"#]
    );
    assert_eq!(amounts(&file).await, [500, 1200]);
}

/// W15: a restart delivers the events in the file, also those of a killed process.
#[tokio::test]
async fn a_sender_goes_on_where_another_was_ended() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shop.sqlite");
    let (inbox, url) = receiver();
    let mut program = Program::start(&file, &url, &["500"]);
    let stored = program.line().await;
    assert_eq!(program.line().await, ("Acked".to_owned(), stored.1));
    program.child.kill().await.unwrap();
    let database = Database::open(&file).unwrap();
    let (event_type, version, now) = ("charge.created".parse(), "1".parse(), SystemTime::now());
    let id = "evt_left".parse().unwrap();
    let event = Envelope::new(id, event_type.unwrap(), version.unwrap(), now, b"{}").unwrap();
    let event = StoredEvent::new(event, Audience::everyone());
    let endpoints = database.subscribers(&event.event_type, &event.audience);
    let endpoints = endpoints.await.unwrap();
    database
        .enqueue(Enqueue::to(event, endpoints, now))
        .await
        .unwrap();
    drop(database);
    let mut again = Program::start(&file, &url, &[]);
    assert_eq!(again.line().await, ("Acked".to_owned(), "evt_left".to_owned()));
    assert!(again.interrupt().await.success());
    let jobs = inbox.take(9, now, Duration::from_secs(60)).await.unwrap();
    assert_eq!(jobs.len(), 2);
}

/// W15: after Ctrl-C the open delivery is finished, and its acknowledgement stored.
#[tokio::test]
async fn an_exchange_under_way_at_ctrl_c_is_finished() {
    finishes_open_delivery("-INT").await;
}

/// W29: a container runtime stops with SIGTERM, which drains like Ctrl-C.
#[tokio::test]
async fn sigterm_finishes_the_open_delivery() {
    finishes_open_delivery("-TERM").await;
}

async fn finishes_open_delivery(signal: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shop.sqlite");
    let (asked, acknowledge) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let receiver = (Arc::clone(&asked), Arc::clone(&acknowledge));
    let url = serve(move |_| {
        let (asked, acknowledge) = receiver.clone();
        async move {
            asked.notify_one();
            acknowledge.notified().await;
            Response::default()
        }
    });
    let mut program = Program::start(&file, &url, &["500"]);
    let stored = program.line().await;
    timeout(PATIENCE, asked.notified()).await.unwrap();
    program.signal(signal).await;
    // a program that does not wait has ended by then
    let ended = timeout(Duration::from_millis(500), program.child.wait()).await;
    assert!(ended.is_err(), "{ended:?}");
    acknowledge.notify_one();
    assert_eq!(program.line().await, ("Acked".to_owned(), stored.1));
    assert!(
        timeout(PATIENCE, program.child.wait())
            .await
            .unwrap()
            .unwrap()
            .success()
    );
}

/// W15: on PostgreSQL the charge and its event are in one transaction too.
#[tokio::test]
async fn charge_in_postgres_is_delivered() {
    let Some(mut store) = postgres::fresh().await else {
        return;
    };
    let (_inbox, url) = receiver();
    let mut program = Program::start(store.url(), &url, &["500"]);
    let stored = program.line().await;
    assert_eq!(program.line().await, ("Acked".to_owned(), stored.1));
    assert!(program.interrupt().await.success());
    assert_eq!(store.amounts().await, [500]);
    store.drop().await;
}

/// W15: amounts of standard input are stored and delivered while the program runs.
#[tokio::test]
async fn amounts_are_read_from_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shop.sqlite");
    let (_inbox, url) = receiver();
    let mut program = Program::start(&file, &url, &["-"]);
    let mut input = program.child.stdin.take().unwrap();
    for amount in ["500\n", "1200\n"] {
        input.write_all(amount.as_bytes()).await.unwrap();
        let stored = program.line().await;
        assert_eq!(stored.0, "stored");
        assert_eq!(program.line().await, ("Acked".to_owned(), stored.1));
    }
    assert!(program.interrupt().await.success());
    assert_eq!(amounts(&file).await, [500, 1200]);
}

/// W11: an event for an unreachable receiver is stored and retried.
#[tokio::test]
async fn an_absent_receiver_is_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shop.sqlite");
    let absent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", absent.local_addr().unwrap());
    drop(absent);
    let mut program = Program::start(&file, &url, &["500"]);
    let stored = program.line().await;
    let tried = program.line().await;
    assert!(tried.0.starts_with("Retry") && tried.1 == stored.1, "{tried:?}");
    assert!(program.interrupt().await.success());
}

#[tokio::test]
async fn a_wrong_use_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.sqlite");
    let file = path.to_str().unwrap();
    for (words, said) in [
        (&[] as &[&str], "usage: "),
        (&[file], "usage: "),
        (&[file, "http://127.0.0.1:1/", "much"], "usage: "),
        (
            &[file, "https://10.0.0.1/"],
            "the address 10.0.0.1 is refused: private use",
        ),
    ] {
        let output = Command::new(PROGRAM)
            .args(words)
            .env("WEBHOOK_SECRET", SECRET)
            .output()
            .await;
        let output = output.unwrap();
        assert!(!output.status.success(), "{words:?}");
        let complaint = String::from_utf8(output.stderr).unwrap();
        assert!(complaint.starts_with(said), "{complaint}");
    }
}

/// W23: over HTTP, the receivers of two tenants and of the operator get the events of their
/// audience, each once, and no others.
#[tokio::test]
async fn no_event_crosses_tenants_over_http() {
    let database = Database::open_in_memory().unwrap();
    let policy = AddressPolicy::new().danger_allow_loopback();
    let signer = Signer::standard_webhooks(&SigningSecret::from_whsec(SECRET).unwrap());
    let owners = ["tenant:acme", "tenant:zenith", "operator"];
    let mut inboxes = Vec::new();
    for (number, owner) in owners.iter().enumerate() {
        let (inbox, url) = receiver();
        let id = format!("ep_{number}").parse().unwrap();
        let (owner, url) = (owner.parse().unwrap(), url.parse().unwrap());
        let endpoint = Endpoint::register(id, owner, &url, signer.clone(), &policy).unwrap();
        database.insert(endpoint).await.unwrap();
        inboxes.push(inbox);
    }
    let dispatcher = Dispatcher::new(
        database.clone(),
        database.clone(),
        HyperTransport::new(policy.clone()),
        SystemClock,
        timer_fn(tokio::time::sleep),
        OsEntropy,
    )
    .with_address_policy(policy);
    let audiences = [
        "tenant:acme",
        "tenant:zenith",
        "operator",
        "everyone",
        "tenant:other",
    ];
    for number in 0..50 {
        let audience = audiences[number % audiences.len()];
        let (event_type, version) = ("charge.created".parse().unwrap(), "1".parse().unwrap());
        let object = format!(r#"{{"audience":"{audience}"}}"#);
        let id = format!("evt_{number}").parse().unwrap();
        let event = Envelope::new(id, event_type, version, SystemTime::now(), object.as_bytes());
        let event = StoredEvent::new(event.unwrap(), audience.parse().unwrap());
        dispatcher.send(event).await.unwrap();
    }
    let report = timeout(PATIENCE, dispatcher.run_due()).await.unwrap().unwrap();
    assert_eq!(report.handled.len(), 10 + 10 + 10 + 2 * 10);
    for (owner, inbox) in owners.iter().zip(inboxes) {
        let jobs = inbox.take(100, SystemTime::now(), PATIENCE).await.unwrap();
        let everyone = if *owner == "operator" { 0 } else { 10 };
        assert_eq!(jobs.len(), 10 + everyone, "{owner}");
        let own = format!(r#"{{"audience":"{owner}"}}"#);
        for job in jobs {
            let object = Envelope::parse(job.body).unwrap().object().clone();
            assert!(
                object == own || object == r#"{"audience":"everyone"}"#,
                "{owner}: {object:?}"
            );
        }
    }
}
