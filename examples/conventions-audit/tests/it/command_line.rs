//! The command: what it prints, and how it ends.

use std::process::Stdio;

use http::StatusCode;
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

/// H22: the command ends with 0 where nothing was found, and tells how far it has come.
#[tokio::test]
async fn the_command_audits_by_an_openapi_document() {
    let (base, _stop) = serve(|_, _| {});
    let header = format!("{}: {}", TOKEN.0, TOKEN.1);
    let (code, out, err) = run(&[&base, "--openapi", "/openapi.json", "--header", &header]).await;
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.starts_with("0 findings in "), "{out}");
    assert_eq!(err, "[1/2] /v1/charges\n[2/2] /v1/charges\n");
}

/// H22: a finding makes it end with 1, in text and in JSON.
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

/// A command that had nothing to look at does not say that all is well.
#[tokio::test]
async fn the_command_ends_with_two_where_there_was_nothing_to_audit() {
    let (base, stop) = serve(|_, _| {});
    for arguments in [
        &[][..],
        &["--path"],
        &["--nonsense"],
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
