//! Hostile peers, closed pipes and extreme inputs.

use std::io::{BufRead, BufReader, Read, Write, pipe};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};

use crate::program::{SECRET, code, text, webhook};

const STEERING: &str = "\x1b[2J\x1b]0;owned\x07\u{9b}31m\u{202e}\u{61c}\u{2028}\u{200b}";

fn is_plain(text: &str) -> bool {
    text.chars()
        .all(|c| c == '\n' || !c.is_control() && !"\u{202e}\u{61c}\u{2028}\u{200b}".contains(c))
}

/// The text of a receiver's response cannot control the sender's terminal.
#[test]
fn an_answer_is_shown_without_its_controls() {
    let receiver = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", receiver.local_addr().unwrap());
    let answering = std::thread::spawn(move || {
        for status in ["200", "422"] {
            let (mut stream, _) = receiver.accept().unwrap();
            stream.read_exact(&mut [0; 4]).unwrap();
            let head = format!(
                "HTTP/1.1 {status} X\r\ncontent-length: {}\r\n\r\n",
                STEERING.len()
            );
            stream.write_all(format!("{head}{STEERING}").as_bytes()).unwrap();
            // ends when the sender has read it and closes the connection
            stream.read_to_end(&mut Vec::new()).ok();
        }
    });
    for expected in [0, 1] {
        let sent = webhook(&["send", &url, "--secret", SECRET, "--data", "{}"], b"");
        let shown = text(&sent.stdout) + &text(&sent.stderr);
        assert_eq!(code(&sent), expected, "{shown}");
        assert!(shown.contains("owned") && is_plain(&shown), "{shown:?}");
    }
    answering.join().unwrap();
}

/// The text of an unverified request cannot control the listener's terminal.
#[test]
fn a_request_is_shown_without_its_controls() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_webhook"))
        .args([
            "listen",
            "--secret",
            SECRET,
            "--listen",
            "127.0.0.1:0",
            "--explain",
            "--body",
        ])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    let greeting = output.next().unwrap().unwrap();
    let mut caller = TcpStream::connect(greeting.strip_prefix("listening on http://").unwrap()).unwrap();
    let id = STEERING.replace(|c: char| c.is_ascii_control(), "");
    let head = format!(
        "POST / HTTP/1.1\r\nhost: a\r\nwebhook-id: {id}\r\ncontent-length: {}\r\n\r\n",
        STEERING.len()
    );
    caller.write_all(format!("{head}{STEERING}").as_bytes()).unwrap();
    let line = output.next().unwrap().unwrap();
    assert!(
        line.contains("refused") && line.contains("owned") && is_plain(&line),
        "{line:?}"
    );
    child.kill().unwrap();
    child.wait().unwrap();
}

/// A message that quotes a header or a URL is one line without control characters.
#[test]
fn a_complaint_quotes_no_controls() {
    let header = format!("{STEERING}\nno header");
    let url = format!("https://{STEERING}/");
    let (no_file, command) = (format!("/nowhere/{STEERING}"), format!("{STEERING}\nsign"));
    for (words, expected) in [
        (&["verify", "--secret", SECRET, "--header", &header] as &[&str], 2),
        (&["send", &url, "--secret", SECRET, "--data", "{}"], 2),
        (&["sign", "--secret", SECRET, "--scheme", &header], 2),
        (&["sign", "--secret", SECRET, "--id", &header], 2),
        (&["sign", "--secret", SECRET, &header], 2),
        (&["sign", "--secret", SECRET, &format!("--{header}")], 2),
        (&["inspect", "a", "--state", &header], 2),
        (&["inspect", "a", "--limit", &header], 2),
        (&["inspect", "a", &header], 2),
        (&["inspect", &no_file], 1),
        (&["sign", "--secret-file", &no_file], 1),
        (&[&command], 2),
    ] {
        let refused = webhook(words, b"");
        let said = text(&refused.stderr);
        assert_eq!((code(&refused), said.lines().count()), (expected, 1), "{said:?}");
        assert!(is_plain(&said), "{said:?}");
    }
}

/// No number makes a command overflow or exceed its limit of connections.
#[test]
fn no_number_makes_a_command_panic() {
    let most = u64::MAX.to_string();
    let headers = ["--header=webhook-id: a", "--header=webhook-signature: v1,a"];
    let ours = ["--header=webhook-timestamp: 999999999999", "--secret", SECRET];
    let verify = [&["verify", "--explain"] as &[&str], &headers, &ours].concat();
    for (more, expected) in [
        (["--tolerance", &most], 1),
        (["--now", &most], 2),
        (["--now", "9223372036854775807"], 1),
    ] {
        assert_eq!(
            code(&webhook(&[&verify[..], &more].concat(), b"")),
            expected,
            "{more:?}"
        );
    }
    let unreachable = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", unreachable.local_addr().unwrap());
    drop(unreachable);
    let send = ["send", &url, "--secret", SECRET, "--data", "{}"];
    for (more, expected) in [
        (["--timeout", &most], 1),
        (["--concurrency", "1024"], 1),
        (["--concurrency", "1025"], 2),
        (["--concurrency", &most], 2),
    ] {
        assert_eq!(
            code(&webhook(&[&send[..], &more].concat(), b"")),
            expected,
            "{more:?}"
        );
    }
    for flag in ["--timestamp", "--from", "--before", "--limit"] {
        let command: &[&str] = if flag == "--timestamp" {
            &["sign", "--secret", SECRET]
        } else {
            &["inspect", "/nowhere"]
        };
        let refused = webhook(&[command, &[flag, &most]].concat(), b"");
        assert!([1, 2].contains(&code(&refused)), "{flag}");
    }
}

/// A closed stdout or stderr causes neither a panic nor another exit code.
#[test]
fn closed_pipes_are_ignored() {
    for (words, expected) in [
        (["sign", "--secret", SECRET], 0),
        (["sing", "--secret", SECRET], 2),
    ] {
        let ((out, out_end), (err, err_end)) = (pipe().unwrap(), pipe().unwrap());
        drop((out, err));
        let status = Command::new(env!("CARGO_BIN_EXE_webhook"))
            .args(words)
            .stdin(Stdio::null())
            .stdout(out_end)
            .stderr(err_end)
            .status();
        assert_eq!(status.unwrap().code(), Some(expected), "{words:?}");
    }
}

/// A stdin without end is refused at the limit; bytes that are not text are signed unchanged.
#[test]
fn a_body_is_any_bytes_up_to_a_bound() {
    let sign = |body: &[u8]| {
        webhook(
            &["sign", "--secret", SECRET, "--id", "a", "--timestamp", "1"],
            body,
        )
    };
    let endless = sign(&vec![0; (64 << 20) + 1]);
    assert_eq!((code(&endless), text(&endless.stdout).as_str()), (1, ""));
    assert!(text(&endless.stderr).contains("larger than 64 MiB"));
    let (binary, other) = (sign(b"\0\xff\xfe\r\n"), sign(b"\0\xff\xfe\n"));
    assert_eq!((code(&binary), code(&other)), (0, 0));
    assert_ne!(binary.stdout, other.stdout);
}

/// Secrets can come from files and the environment; flags have priority over the environment.
#[test]
fn secrets_come_from_files_and_environment() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secrets");
    let (new, old) = ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", SECRET);
    std::fs::write(&path, format!("{new}\r\n\n{old}\n")).unwrap();
    let file = path.to_str().unwrap();
    let sign = |words: &[&str], variable: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_webhook"))
            .args(["sign", "--id", "a", "--timestamp", "1"])
            .args(words)
            .env("WEBHOOK_SECRET", variable)
            .stdin(Stdio::null())
            .output();
        let output = output.unwrap();
        (code(&output), text(&output.stdout), text(&output.stderr))
    };
    let both = sign(&["--secret", new, "--secret", old], "");
    assert_eq!(both.0, 0);
    assert_eq!(sign(&["--secret-file", file], "nonsense"), both);
    assert_eq!(sign(&[], &format!("{new}\n{old}")), both);
    assert_eq!(
        sign(&["--secret", new, "--secret-file", file, "--secret", old], "").0,
        0
    );
    std::fs::write(&path, format!("{}{old}\n", "\n".repeat((64 << 10) - 20))).unwrap();
    let cut = sign(&["--secret-file", file], "");
    assert!(cut.0 == 1 && cut.2.contains("more than 64 KiB"), "{cut:?}");
    std::fs::write(&path, "").unwrap();
    let empty = sign(&["--secret-file", file], new);
    assert!(
        empty.0 == 2 && empty.2.contains("a secret is missing"),
        "{}",
        empty.2
    );
    let absent = sign(&["--secret-file", "/nowhere"], new);
    assert!(
        absent.0 == 1 && absent.2.starts_with("/nowhere: "),
        "{}",
        absent.2
    );
}
