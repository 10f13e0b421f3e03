//! The tour, run by the three binaries.

use std::process::{Command, Output};

use crate::postgres::Schema;

fn run(binary: &str, words: &[&str]) -> Output {
    Command::new(binary).args(words).output().unwrap()
}

fn check(binary: &str) {
    check_passed(&run(binary, &["tour"]));
}

fn check_passed(output: &Output) {
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().last().unwrap_or_default();
    let passed = text.lines().filter(|line| line.contains(" ✓ ")).count();
    assert!(output.status.success(), "{text}");
    assert_eq!(last, format!("tour: {passed} steps, {passed} passed"));
    assert!(passed > 40, "{text}");
    assert!(!text.contains('\u{1b}'), "no colour where there is no terminal");
}

/// X3: the same service on hyper. X1: the payments desk, with its events, scopes and subscription.
/// X2: over the reference adapters.
#[test]
fn the_tour_passes_on_hyper() {
    check(env!("CARGO_BIN_EXE_service-hyper"));
}

/// X3: the same service on actix-web.
#[test]
fn the_tour_passes_on_actix() {
    check(env!("CARGO_BIN_EXE_service-actix"));
}

/// X3: the same service on axum.
#[test]
fn the_tour_passes_on_axum() {
    check(env!("CARGO_BIN_EXE_service-axum"));
}

/// X6: the same service on PostgreSQL.
#[test]
fn the_tour_passes_on_postgres() {
    if let Some(schema) = Schema::fresh("tour") {
        let words = ["tour", "--database", &schema.url()];
        check_passed(&run(env!("CARGO_BIN_EXE_service-hyper"), &words));
    }
}

/// X6: a server that cannot be reached is named with its flag.
#[test]
fn unreachable_database_exits_with_1() {
    let words = ["--database", "postgres://desk:s3cret@127.0.0.1:1/desk"];
    let output = run(env!("CARGO_BIN_EXE_service-hyper"), &words);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        text.starts_with("--database: cannot open `127.0.0.1:1`: the database is unavailable"),
        "{text}"
    );
    assert!(!text.contains("s3cret"), "{text}");
}

#[test]
fn invalid_command_line_exits_with_2() {
    let output = run(env!("CARGO_BIN_EXE_service-hyper"), &["--database", "mysql:x"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .starts_with("--database: `mysql:x` is not ")
    );
}

#[test]
fn sign_in_as_requires_a_loopback_address() {
    let words = [
        "--listen",
        "0.0.0.0:0",
        "--database",
        "sqlite::memory:",
        "--sign-in-as",
        "ada@example.com",
    ];
    let output = run(env!("CARGO_BIN_EXE_service-hyper"), &words);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("requires a loopback address")
    );
}
