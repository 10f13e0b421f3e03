//! The command: its output and its exit codes.

use std::io::Write;
use std::process::Stdio;

use bytes::Bytes;
use http::{HeaderValue, StatusCode};
use tokio::process::Command;

use crate::desk::{TOKEN, serve};

async fn run(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_conventions-audit"))
        .args(arguments)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code().unwrap(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

/// H22: the command reports its progress, and exits with 0 without a finding.
#[tokio::test]
async fn the_command_audits_by_an_openapi_document() {
    let (base, _stop) = serve(|_, _| {});
    let header = format!("{}: {}", TOKEN.0, TOKEN.1);
    let (code, out, err) = run(&[&base, "--openapi", "/openapi.json", "--header", &header]).await;
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.starts_with("0 findings in "), "{out}");
    assert_eq!(err, "[1/2] /v1/charges\n[2/2] /v1/charges\n");
}

/// H6, H22: `--write` audits a request without a document.
#[tokio::test]
async fn the_command_audits_a_write_that_is_named() {
    let (base, _stop) = serve(|_, _| {});
    let header = format!("{}: {}", TOKEN.0, TOKEN.1);
    let write = "/v1/charges={\"amount\":1000}";
    let (code, out, err) = run(&[&base, "--write", write, "--header", &header]).await;
    assert_eq!((code, &*err), (0, "[1/1] /v1/charges\n"), "{out}");
    let answers = out
        .strip_prefix("0 findings in ")
        .and_then(|rest| rest.strip_suffix(" answers\n"));
    let answers: u32 = answers.unwrap().parse().unwrap();
    assert!(answers > 16, "{out}");
}

/// H22: a finding makes the command exit with 1, in text and in JSON.
#[tokio::test]
async fn the_command_fails_on_a_finding() {
    let (base, _stop) = serve(|_, answer| {
        if answer.status() == StatusCode::UNAUTHORIZED {
            answer.headers_mut().remove("www-authenticate");
        }
    });
    let (code, out, _) = run(&[&base, "--path", "/v1/charges"]).await;
    assert_eq!(code, 1, "{out}");
    assert!(
        out.contains(
            "GET /v1/charges (401): no-challenge: a 401 without WWW-Authenticate (RFC 9110 §15.5.2)"
        ),
        "{out}"
    );
    let (code, out, _) = run(&[&base, "--path", "/v1/charges", "--json"]).await;
    assert_eq!(code, 1);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["findings"][0]["convention"], "H14");
}

/// A command without a request to send exits with 2.
#[tokio::test]
async fn the_command_ends_with_two_where_there_was_nothing_to_audit() {
    let (base, stop) = serve(|_, _| {});
    for arguments in [
        &[][..],
        &["--path"],
        &["--nonsense"],
        &[&base, "--write", "/v1/charges"],
        &[&base, "--write", "/v1/charges={"],
        &[&base, "--write", "v1/charges={}"],
        &["https://127.0.0.1", "--path", "/"],
        &[&*base],
    ] {
        let (code, out, err) = run(arguments).await;
        assert_eq!((code, &*out), (2, ""), "{arguments:?}: {err}");
        assert!(!err.is_empty());
    }
    let (code, _, err) = run(&[&base, "--openapi", "/v1/nothing"]).await;
    assert_eq!(code, 2, "{err}");
    drop(stop);
    let (code, out, _) = run(&["--help"]).await;
    assert_eq!(code, 0);
    assert!(out.starts_with("usage: "));
}

/// H22: no text of a server controls the terminal: neither its fields and content nor the paths of
/// its document.
#[tokio::test]
async fn an_audited_server_cannot_steer_the_terminal() {
    let (base, _stop) = serve(|request, answer| {
        if request.uri().path() == "/steering.json" {
            let document = "{\"paths\":{\"/v1/\\u009b31m\\u202e\":{\"get\":{}}}}";
            *answer.body_mut() = Bytes::from_static(document.as_bytes());
            return;
        }
        let steering = HeaderValue::from_bytes("\u{9b}31m\u{202e}".as_bytes()).unwrap();
        answer.headers_mut().insert("ratelimit", steering);
        *answer.body_mut() = Bytes::from_static(b"{\"status\":\"\\u009b31m\\u202e\"}");
    });
    for format in [&[][..], &["--json"]] {
        let arguments = [&[&*base, "--openapi", "/steering.json"], format].concat();
        let (code, out, err) = run(&arguments).await;
        assert_eq!(code, 1, "{out:?} {err:?}");
        assert!(
            out.contains("invalid-problem") && out.contains("invalid-rate-limit"),
            "{out:?}"
        );
        for shown in [out, err] {
            let steers = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
            assert!(!shown.contains(steers), "{shown:?}");
        }
    }
}

/// X10: the attack finds what a server without limits does, and cites the section.
#[tokio::test]
async fn the_command_attacks_a_server() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    // answers each connection alike, without a look at its bytes
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let mut socket = socket.unwrap();
            let _closed = socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
        }
    });
    let (code, report, _) = run(&["--attack", &base, "--path", "/charges"]).await;
    assert_eq!(code, 1, "{report}");
    for finding in [
        "two Hosts (RFC 9112 §3.2): ",
        "a length with text (RFC 9110 §8.6): ",
    ] {
        assert!(report.contains(finding), "{report}");
    }
    assert!(!report.contains("plain GET"), "{report}");
}

#[tokio::test]
async fn attacks_and_audits_have_their_own_arguments() {
    for (arguments, error) in [
        (&["http://a", "--except", "x"][..], "--except needs --attack"),
        (
            &["--attack", "http://a", "--openapi", "/o"],
            "--attack takes one --path",
        ),
        (
            &["--attack", "http://127.0.0.1:1", "--except", "x"],
            "no attack is named \"x\"",
        ),
        (&["--attack", "/path"], "/path is not the URL of a server"),
    ] {
        let (code, _, complaint) = run(arguments).await;
        assert_eq!(code, 2);
        assert!(complaint.contains(error), "{complaint}");
    }
}
