//! Output on a terminal, and Ctrl-C.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpListener;
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use pty_process::blocking::{Command, Pty};
use pty_process::{Size, blocking::open};

use crate::program::{OTHER, SECRET, code, webhook};

/// A terminal that runs the program; dropping it ends both.
struct Terminal {
    pty: Pty,
    child: Child,
    seen: String,
}

impl Terminal {
    fn start(words: &[&str], variables: &[(&str, &str)]) -> Self {
        let (pty, pts) = open().unwrap();
        pty.resize(Size::new(24, 40)).unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_webhook"))
            .args(words)
            .env_remove("NO_COLOR")
            .env("WEBHOOK_SECRET", SECRET)
            .env("TERM", "xterm")
            .envs(variables.iter().copied())
            .spawn(pts)
            .unwrap();
        let seen = String::new();
        Self { pty, child, seen }
    }

    /// Reads the next part of the output; `false` at its end.
    fn read(&mut self) -> bool {
        let mut piece = [0; 4096];
        match self.pty.read(&mut piece) {
            Ok(0) => false,
            Ok(read) => {
                let piece = piece.get(..read).unwrap();
                self.seen.push_str(&String::from_utf8_lossy(piece));
                true
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => true,
            // Linux reports a closed other end as an error
            Err(_) => false,
        }
    }

    fn read_until(&mut self, text: &str) {
        while !self.seen.contains(text) {
            assert!(self.read(), "no {text:?} in {:?}", self.seen);
        }
    }

    fn press_ctrl_c(&mut self) {
        self.pty.write_all(b"\x03").unwrap();
    }

    /// Returns the exit code and the whole output.
    fn end(mut self) -> (Option<i32>, String) {
        while self.read() {}
        (self.child.wait().unwrap().code(), std::mem::take(&mut self.seen))
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Starts `listen` in a terminal; returns its URL.
fn listening(variables: &[(&str, &str)]) -> (Terminal, String) {
    let mut terminal = Terminal::start(&["listen", "--listen", "127.0.0.1:0", "--body"], variables);
    terminal.read_until("\n");
    let greeting = terminal.seen.trim();
    let url = greeting.strip_prefix("listening on ").unwrap().to_owned();
    (terminal, url)
}

fn send(url: &str, data: &str) {
    let sent = webhook(&["send", url, "--secret", SECRET, "--data", data], b"");
    assert_eq!(code(&sent), 0);
}

/// Results are coloured on request, bodies shown with `--body`, and Ctrl-C ends a listener cleanly.
#[test]
fn a_terminal_that_wants_colour_gets_it() {
    for (variables, is_coloured) in [
        (&[] as &[_], true),
        (&[("NO_COLOR", "")], true),
        (&[("NO_COLOR", "1")], false),
        (&[("TERM", "dumb")], false),
    ] {
        let (mut terminal, url) = listening(variables);
        send(&url, r#"{"id":"ch_1"}"#);
        terminal.read_until("ch_1");
        terminal.press_ctrl_c();
        let (code, seen) = terminal.end();
        assert_eq!(code, Some(0), "{seen}");
        assert!(seen.contains("verified"), "{seen}");
        assert_eq!(
            seen.contains("\x1b[32mverified"),
            is_coloured,
            "{variables:?} {seen:?}"
        );
        assert_eq!(seen.contains('\x1b'), is_coloured, "{variables:?} {seen:?}");
    }
}

/// A printed line fits into 80 columns for any type and id; the reason is below.
#[test]
fn a_line_of_the_listener_fits_the_terminal() {
    let (mut terminal, url) = listening(&[("NO_COLOR", "1")]);
    send(&url, r#"{"id":"ch_1"}"#);
    let long_id = format!("evt_{}", "7".repeat(200));
    let words = ["send", &url, "--secret", SECRET, "--data", "{}", "--id", &long_id];
    let long_type = "charge.dispute.evidence.created";
    assert_eq!(
        code(&webhook(&[&words[..], &["--type", long_type]].concat(), b"")),
        0
    );
    let forged = ["send", &url, "--secret", OTHER, "--data", "{}"];
    assert_eq!(code(&webhook(&forged, b"")), 1);
    terminal.read_until("no signature matches");
    terminal.press_ctrl_c();
    let (_, seen) = terminal.end();
    let is_body = |line: &&str| line.starts_with("  {");
    let lines: Vec<&str> = seen
        .lines()
        .map(str::trim_end)
        .filter(|line| !is_body(line))
        .collect();
    let told = |word: &str| lines.iter().filter(|line| line.contains(word)).count();
    assert_eq!(
        (told("verified   204  "), told("refused    400  ")),
        (2, 1),
        "{seen}"
    );
    assert!(lines.contains(&"  no signature matches"), "{seen}");
    assert!(lines.iter().all(|line| line.chars().count() <= 80), "{seen}");
    assert!(seen.contains("charge.dispute.evidence…  evt_7777777"), "{seen}");
}

/// Progress stays on its row; after Ctrl-C nothing more is sent, and open exchanges are finished.
#[test]
fn a_long_send_shows_progress_and_ends_at_ctrl_c() {
    let (mut listener, url) = listening(&[]);
    let words = [
        "send",
        &url,
        "--data",
        "{}",
        "--count",
        "1000000",
        "--concurrency",
        "4",
    ];
    let mut sender = Terminal::start(&words, &[]);
    sender.read_until("/1000000 sent, ");
    listener.read_until("verified");
    sender.press_ctrl_c();
    // without a reader of its terminal the listener would block
    let ended = AtomicBool::new(false);
    let (code, seen) = std::thread::scope(|scope| {
        scope.spawn(|| {
            while listener.read() {
                if ended.load(Relaxed) {
                    break;
                }
            }
        });
        let end = sender.end();
        ended.store(true, Relaxed);
        send(&url, "{}");
        end
    });
    assert_eq!(code, Some(1), "{seen}");
    assert!(seen.contains("\r\x1b[?7l"), "no row may wrap: {seen:?}");
    let summary = seen.rsplit("interrupted: ").next().unwrap();
    let (sent, rest) = summary.split_once("/1000000 sent, ").unwrap();
    assert!(rest.starts_with(&format!("{sent} acknowledged in ")), "{summary}");
}

/// A silent receiver delays neither the progress nor the end by a second Ctrl-C.
#[test]
fn a_second_ctrl_c_ends_at_once() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", silent.local_addr().unwrap());
    let mut terminal = Terminal::start(
        &["send", &url, "--data", "{}", "--count", "9", "--timeout", "3600"],
        &[],
    );
    terminal.read_until("0/9 sent");
    terminal.press_ctrl_c();
    terminal.read_until("Ctrl-C again");
    terminal.press_ctrl_c();
    assert_eq!(terminal.end().0, Some(130));
}

/// Without a body the user is told that the program waits for one.
#[test]
fn a_body_may_be_typed() {
    let mut terminal = Terminal::start(&["sign", "--id", "a"], &[]);
    terminal.read_until("Ctrl-D");
    terminal.pty.write_all(b"{}\n\x04").unwrap();
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(0));
    assert!(seen.contains("Webhook-Id: a"), "{seen}");
}
