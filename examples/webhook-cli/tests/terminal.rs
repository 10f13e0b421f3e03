//! Runs the program as somebody at a terminal would.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use store_sqlite::Database;
use webhook_core::ports::{OsEntropy, TransportError};
use webhook_core::sender::{Dispatcher, Endpoint, EndpointStore};
use webhook_core::{address::AddressPolicy, event::Envelope, secret::SigningSecret, signature::Signer};

const SECRET: &str = "whsec_Tzuc4RkLS09XuInUQYOD961sTKHBtWuXC/jM6hCEqG8=";
const OTHER: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const WHSK: &str =
    "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==";
const WHPK: &str = "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=";
const ID: &str = "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W";
const BODY: &[u8] = br#"{"type":"invoice.paid","data":{"object":{"id":"in_1","amount":1200}}}"#;

fn webhook(words: &[&str], stdin: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_webhook"))
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // a command that is refused does not read what it is given
    child.stdin.take().unwrap().write_all(stdin).ok();
    child.wait_with_output().unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn signed(scheme: &str, secret: &str, body: &[u8]) -> Vec<String> {
    let words = [
        "sign",
        "--scheme",
        scheme,
        "--secret",
        secret,
        "--id",
        ID,
        "--timestamp",
        "1700000000",
    ];
    let output = webhook(&words, body);
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    text(&output.stdout).lines().map(str::to_owned).collect()
}

fn verify(scheme: &str, secrets: &[&str], headers: &[String], more: &[&str], body: &[u8]) -> Output {
    let mut words = vec!["verify", "--scheme", scheme];
    words.extend(secrets.iter().flat_map(|secret| ["--secret", secret]));
    words.extend(headers.iter().flat_map(|header| ["--header", header]));
    words.extend(more);
    webhook(&words, body)
}

/// W3: the signatures are those of the reference libraries, by every scheme.
#[test]
fn sign_prints_the_headers_of_the_vectors() {
    for (scheme, secret, signature) in [
        (
            "standard",
            SECRET,
            "v1,n/GgCCORmDM7VTp392JUPn+0U6YYXrEJ2A/mPDo7KY4=",
        ),
        (
            "hex",
            SECRET,
            "v1,483c9316f605d0168804145cb4f6bc36906fb8dc952eb9e4eee726f21eae2108",
        ),
        (
            "hex-id",
            SECRET,
            "v1,9ff1a008239198333b553a77f762543e7fb453a6185eb109d80fe63c3a3b298e",
        ),
        (
            "hex",
            "your-signing-secret-32chars",
            "v1,4e8418b3a9dcda7af6255775b3ba2fbde8fc8bad4e29a8010852ac381bc5ca6e",
        ),
        (
            "ed25519",
            WHSK,
            "v1a,XJEehqrn6FEfiuarP3hkbWgI2DebvrIFB/lvDGaqjE8bPwqDyHpa03/W0uMNds6yiu33ruEV32avVM+hM5/kDg==",
        ),
    ] {
        let expected = [
            format!("Webhook-Id: {ID}"),
            "Webhook-Timestamp: 1700000000".to_owned(),
            format!("Webhook-Signature: {signature}"),
        ];
        assert_eq!(signed(scheme, secret, BODY), expected, "{scheme}");
    }
}

/// W5: 0 when it verifies, 1 with one line when it does not, by every scheme.
#[test]
fn verify_tells_right_from_wrong_by_its_exit_code() {
    for (scheme, ours, theirs) in [
        ("standard", SECRET, SECRET),
        ("hex", SECRET, SECRET),
        ("hex-id", SECRET, SECRET),
        ("ed25519", WHSK, WHPK),
        ("ed25519", WHSK, WHSK),
    ] {
        let headers = signed(scheme, ours, BODY);
        for (now, body, expected) in [
            ("1700000300", BODY, 0),
            ("1699999700", BODY, 0),
            ("1700000301", BODY, 1),
            ("1700000000", b"{}".as_slice(), 1),
        ] {
            let output = verify(scheme, &[theirs], &headers, &["--now", now], body);
            assert_eq!(code(&output), expected, "{scheme} {now}");
            assert_eq!(
                text(&output.stderr).lines().count(),
                usize::try_from(expected).unwrap()
            );
        }
        let wide = verify(
            scheme,
            &[theirs],
            &headers,
            &["--now=1700000400", "--tolerance=400"],
            BODY,
        );
        assert_eq!(code(&wide), 0);
        assert_eq!(
            code(&verify(scheme, &[theirs], &headers, &[], BODY)),
            1,
            "the clock is the system's"
        );
    }
}

/// W2: headers are taken as given: a repeated or missing one is not repaired.
#[test]
fn verify_takes_the_headers_as_given() {
    let headers = signed("standard", SECRET, BODY);
    let now = ["--now", "1700000000"];
    let mut twice = headers.clone();
    twice.push(format!("webhook-id: {ID}"));
    assert_eq!(code(&verify("standard", &[SECRET], &twice, &now, BODY)), 1);
    let mut split = headers.clone();
    split.insert(2, "WEBHOOK-SIGNATURE: v1,bm9wZQ== v2,x".to_owned());
    assert_eq!(code(&verify("standard", &[SECRET], &split, &now, BODY)), 0);
    assert_eq!(code(&verify("standard", &[SECRET], &[], &now, BODY)), 1);
    assert_eq!(
        code(&verify("standard", &[OTHER, SECRET], &headers, &now, BODY)),
        0
    );
    let control = ["webhook-id: a\u{1}".to_owned()];
    assert_eq!(code(&verify("standard", &[SECRET], &control, &now, BODY)), 1);
}

/// W5: the diagnosis is shown when it is asked for, and only then.
#[test]
fn explain_names_the_mistake() {
    let headers = signed("hex-id", SECRET, BODY);
    let with_newline = [BODY, b"\n"].concat();
    let now = ["--now", "1700000000"];
    let quiet = verify("hex-id", &[SECRET], &headers, &now, &with_newline);
    assert!(!text(&quiet.stderr).contains("likely"));
    let explain = ["--now", "1700000000", "--explain"];
    let loud = verify("hex-id", &[SECRET], &headers, &explain, &with_newline);
    assert!(text(&loud.stderr).contains("likely: the body arrived with a line break"));
    let scheme = verify("standard", &[SECRET], &headers, &explain, BODY);
    assert!(text(&scheme.stderr).contains("another scheme: id-timestamp-body-hex"));
    assert_eq!((code(&loud), code(&scheme)), (1, 1));
}

/// Every command line that means nothing ends with 2 and one line, and never shows a secret.
#[test]
fn bad_usage_exits_with_2_and_one_line() {
    for words in [
        &[] as &[&str],
        &["sing"],
        &["sign"],
        &["sign", "--secret"],
        &["sign", "--secret", "whsec_short"],
        &["sign", "--secret", SECRET, "--scheme", "md5"],
        &["sign", "--secret", SECRET, "--id", "a.b"],
        &["sign", "--secret", SECRET, "--timestamp", "1e9"],
        &["sign", "--secret", SECRET, "--id", "a", "--id", "b"],
        &["sign", "--secret", SECRET, "extra"],
        &["sign", "--secret", WHSK],
        &["sign", "--scheme", "ed25519", "--secret", WHPK],
        &["verify", "--secret", SECRET, "--header", "no colon"],
        &["verify", "--secret", SECRET, "--header", "a b: c"],
        &["verify", "--secret", SECRET, "--now", "-1"],
        &["verify", "--secret", SECRET, "--tolerance", "x"],
        &["verify", "--secret", SECRET, "--explain=yes"],
        &["verify", "--header", "a: b"],
        &["send", "--secret", SECRET],
        &["send", "ftp://example.com", "--secret", SECRET],
        &["send", "https://10.0.0.1/", "--secret", SECRET],
        &["send", "http://127.0.0.1:1/", "--secret", SECRET, "--count", "0"],
        &[
            "send",
            "http://127.0.0.1:1/",
            "--secret",
            SECRET,
            "--count",
            "2",
            "--id",
            "a",
        ],
        &["send", "http://127.0.0.1:1/", "--secret", SECRET, "--data", "[]"],
        &["send", "http://127.0.0.1:1/", "--secret", SECRET, "--type", "a.b"],
        &["listen", "--secret", SECRET, "--listen", "here"],
        &["inspect"],
        &["inspect", "a", "b"],
        &["inspect", "a", "--state", "lost"],
        &["replay", "a"],
        &["replay", "a", "--all", "--event", "evt_1"],
        &["replay", "a", "--all", "--state", "acked"],
    ] {
        let output = webhook(words, b"{}");
        let said = text(&output.stderr);
        assert_eq!((code(&output), said.lines().count()), (2, 1), "{words:?} {said}");
        assert!(!said.contains("short") && !said.contains("Tzuc4"), "{said}");
    }
    let help = webhook(&["--help"], b"");
    assert_eq!(code(&help), 0);
    assert!(text(&help.stdout).starts_with("usage: webhook sign"));
}

/// `webhook listen` at work; dropping it ends it.
struct Listening {
    child: Child,
    output: BufReader<std::process::ChildStdout>,
    url: String,
}

impl Listening {
    fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_webhook"))
            .args([
                "listen",
                "--secret",
                SECRET,
                "--listen",
                "127.0.0.1:0",
                "--explain",
            ])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut greeting = String::new();
        output.read_line(&mut greeting).unwrap();
        let url = greeting.trim().strip_prefix("listening on ").unwrap().to_owned();
        Self { child, output, url }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// W8: what is sent is shown as it arrives, repetitions and forgeries as what they are.
#[test]
fn what_is_sent_is_shown_by_the_listener() {
    let mut listening = Listening::start();
    let url = listening.url.clone();
    let send = |secret: &str, id: &str| {
        webhook(
            &[
                "send",
                &url,
                "--secret",
                secret,
                "--data",
                "{}",
                "--type",
                "charge.created",
                "--id",
                id,
            ],
            b"",
        )
    };
    let sent = send(SECRET, "evt_1");
    assert_eq!(code(&sent), 0, "{}", text(&sent.stderr));
    assert!(text(&sent.stdout).starts_with("204 No Content in "));
    let line = listening.line();
    assert!(
        line.contains("verified   204  charge.created") && line.contains("evt_1"),
        "{line}"
    );
    assert!(!line.contains('\x1b'), "no colour where there is no terminal");
    let forged = send(OTHER, "evt_2");
    assert_eq!(code(&forged), 1);
    assert!(text(&forged.stderr).starts_with("400 Bad Request"));
    let line = listening.line();
    assert!(
        line.contains("refused    400  -") && line.contains("no signature is right"),
        "{line}"
    );
    assert!(listening.line().contains("likely: another secret"));
    let body = br#"{"id":"evt_3"}"#;
    for verdict in ["verified", "duplicate"] {
        let sent = webhook(&["send", &url, "--secret", SECRET, "--id", "evt_3"], body);
        assert_eq!(code(&sent), 0);
        assert!(listening.line().contains(verdict));
    }
}

/// Many events are sent at once and counted; progress is for terminals alone.
#[test]
fn many_are_sent_and_counted() {
    let mut listening = Listening::start();
    let words = [
        "send",
        &listening.url,
        "--secret",
        SECRET,
        "--data",
        "{}",
        "--count",
        "20",
        "--concurrency",
        "4",
    ];
    let sent = webhook(&words, b"");
    assert_eq!(code(&sent), 0, "{}", text(&sent.stderr));
    assert!(text(&sent.stdout).starts_with("20/20 sent, 20 acknowledged in "));
    assert_eq!(text(&sent.stderr), "");
    for _ in 0..20 {
        assert!(listening.line().contains("verified"));
    }
    let forged = webhook(
        &[
            "send",
            &listening.url,
            "--secret",
            OTHER,
            "--data",
            "{}",
            "--count",
            "3",
        ],
        b"",
    );
    assert_eq!(code(&forged), 1);
    assert!(text(&forged.stderr).contains("0 acknowledged, 400 Bad Request × 3"));
}

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
