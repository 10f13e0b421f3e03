//! HEAD and OPTIONS over the sockets of each server.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

const ORIGIN: &str = "https://app.example.com";

/// A binary that runs on a free port; stopped on drop.
struct Running {
    child: Child,
    address: String,
}

impl Running {
    fn start(binary: &str) -> Self {
        let mut child = Command::new(binary)
            .args(["--listen", "127.0.0.1:0", "--database", "sqlite::memory:"])
            .args(["--allow-origin", ORIGIN])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap())
            .lines()
            .map(Result::unwrap);
        let console = lines.into_iter().find(|line| line.contains("console")).unwrap();
        let (_, address) = console.split_once("http://").unwrap();
        Self {
            child,
            address: address.to_owned(),
        }
    }

    /// Head of the response in lower case, and its content.
    fn ask(&self, method: &str, path: &str) -> (String, String) {
        self.send(method, path, "\r\n".as_bytes())
    }

    /// Sends a request with these further headers and content.
    fn send(&self, method: &str, path: &str, rest: &[u8]) -> (String, String) {
        let mut peer = TcpStream::connect(&self.address).unwrap();
        write!(
            peer,
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n",
            self.address
        )
        .unwrap();
        peer.write_all(rest).unwrap();
        let mut answer = String::new();
        peer.read_to_string(&mut answer).unwrap();
        let (head, content) = answer.split_once("\r\n\r\n").unwrap();
        (head.to_lowercase(), content.to_owned())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Header lines that two subsequent responses share.
fn lasting(head: &str) -> Vec<String> {
    // names of headers whose values change from one request to the next
    let counts = [
        "ratelimit",
        "ratelimit-remaining",
        "ratelimit-reset",
        "x-ratelimit-remaining",
        "x-ratelimit-reset",
    ];
    let named = |line: &str| match line.split_once(':') {
        Some((name, _)) if counts.contains(&name) => name.to_owned(),
        _ => line.to_owned(),
    };
    let fields = head.lines().map(named);
    let mut fields: Vec<_> = fields
        .filter(|line| !line.starts_with("x-request-id") && !line.starts_with("date"))
        .collect();
    fields.sort();
    fields
}

fn check(binary: &str) {
    let running = Running::start(binary);
    for path in [
        "/",
        "/.well-known/openid-configuration",
        "/assets/desk.css",
        "/v1/charges",
        "/nowhere",
    ] {
        let (get, content) = running.ask("GET", path);
        let (head, nothing) = running.ask("HEAD", path);
        assert_eq!(nothing, "", "{path}");
        assert!(!content.is_empty(), "{path}");
        assert_eq!(lasting(&head), lasting(&get), "{path}");
        assert!(head.contains("x-request-id: "), "{path}");
    }
    for (path, allow) in [
        ("/v1/charges", "get, head, post, options"),
        (
            "/v1/charges/ch_00000000000000000000000000000000",
            "get, head, put, patch, options",
        ),
        ("/token", "post, options"),
        ("/par", "post, options"),
        ("/graphql", "get, head, post, options"),
        ("/userinfo", "get, head, post, options"),
        ("/login", "get, head, post, options"),
    ] {
        let (options, nothing) = running.ask("OPTIONS", path);
        assert!(options.starts_with("http/1.1 204"), "{path}: {options}");
        assert!(
            options.contains(&format!("\r\nallow: {allow}")),
            "{path}: {options}"
        );
        assert_eq!(nothing, "");
        let (refused, problem) = running.ask("DELETE", path);
        assert!(refused.starts_with("http/1.1 405"), "{path}: {refused}");
        assert!(
            refused.contains(&format!("\r\nallow: {allow}")),
            "{path}: {refused}"
        );
        assert!(
            refused.contains("\r\ncontent-type: application/problem+json"),
            "{path}: {refused}"
        );
        assert!(problem.contains("\"status\":405"), "{path}: {problem}");
    }
}

/// Checks that refusals by the server itself have the headers of every response.
fn check_refusals(binary: &str) {
    let running = Running::start(binary);
    let head = format!("origin: {ORIGIN}\r\nx-request-id: checkout-7f3a\r\n");
    let broken = format!("{head}transfer-encoding: chunked\r\n\r\nnonsense\r\n");
    let mut large = format!("{head}content-length: 1048577\r\n\r\n").into_bytes();
    large.resize(large.len() + 1_048_577, b'x');
    for (status, rest) in [(400, broken.as_bytes()), (413, large.as_slice())] {
        let (refused, problem) = running.send("POST", "/v1/charges", rest);
        assert!(refused.starts_with(&format!("http/1.1 {status}")), "{refused}");
        for line in [
            "x-request-id: checkout-7f3a",
            "content-type: application/problem+json",
            "cache-control: no-store",
            "vary: origin",
            &format!("access-control-allow-origin: {ORIGIN}"),
        ] {
            assert!(
                refused.contains(&format!("\r\n{line}")),
                "{status} {line}: {refused}"
            );
        }
        for member in ["\"instance\":\"/v1/charges\"", "\"request_id\":\"checkout-7f3a\""] {
            assert!(problem.contains(member), "{problem}");
        }
    }
}

/// H5, H13, H18, H19: content that the server refuses gets a complete response, on hyper.
#[test]
fn server_refusal_is_complete_on_hyper() {
    check_refusals(env!("CARGO_BIN_EXE_service-hyper"));
}

/// H5, H13, H18, H19: content that the server refuses gets a complete response, on axum.
#[test]
fn server_refusal_is_complete_on_axum() {
    check_refusals(env!("CARGO_BIN_EXE_service-axum"));
}

/// H5, H13, H18, H19: content that the server refuses gets a complete response, on actix-web.
#[test]
fn server_refusal_is_complete_on_actix() {
    check_refusals(env!("CARGO_BIN_EXE_service-actix"));
}

/// H2, H18: HEAD responds like GET without content, and OPTIONS lists the methods, on hyper.
#[test]
fn head_and_options_are_answered_on_hyper() {
    check(env!("CARGO_BIN_EXE_service-hyper"));
}

/// H2, H18: HEAD responds like GET without content, and OPTIONS lists the methods, on actix-web.
#[test]
fn head_and_options_are_answered_on_actix() {
    check(env!("CARGO_BIN_EXE_service-actix"));
}

/// H2, H18: HEAD responds like GET without content, and OPTIONS lists the methods, on axum.
#[test]
fn head_and_options_are_answered_on_axum() {
    check(env!("CARGO_BIN_EXE_service-axum"));
}
