//! `listen` and `send`.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::program::{OTHER, SECRET, code, text, webhook};

/// A running `webhook listen`; dropping it ends it.
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

/// W8: messages are printed as they arrive, with duplicates and forgeries marked.
#[test]
fn listener_prints_each_message() {
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
        line.contains("refused    400  -") && line.contains("no signature matches"),
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

/// A pipe gets each message as one full line, with the date and the reason.
#[test]
fn a_pipe_gets_whole_lines() {
    let mut listening = Listening::start();
    let id = format!("evt_{}", "7".repeat(200));
    let event_type = "charge.dispute.evidence.created";
    for secret in [SECRET, OTHER] {
        let url = listening.url.clone();
        let words = [
            "send", &url, "--secret", secret, "--data", "{}", "--type", event_type, "--id", &id,
        ];
        webhook(&words, b"");
    }
    let line = listening.line();
    let (time, rest) = line.split_once("  ").unwrap();
    assert!(time.len() == 20 && time.ends_with('Z'), "{line}");
    assert!(
        rest.starts_with(&format!("verified   204  {event_type}  {id}  ")),
        "{line}"
    );
    let line = listening.line();
    assert!(
        line.contains(&id) && line.ends_with(" B  no signature matches\n"),
        "{line}"
    );
}

/// Many events are sent concurrently and counted; progress is for terminals alone.
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
