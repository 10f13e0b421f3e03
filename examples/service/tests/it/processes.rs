//! Processes of the service: their start, its refusals, and their end.

use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStderr, ChildStdout, Command, Output, Stdio};
use std::time::Duration;

use host_store_sqlite::rusqlite::Connection;
use serde_json::Value;

pub(crate) const BINARIES: [&str; 3] = [
    env!("CARGO_BIN_EXE_service-hyper"),
    env!("CARGO_BIN_EXE_service-axum"),
    env!("CARGO_BIN_EXE_service-actix"),
];
/// Longer than any answer takes, so that a failing test ends.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A free port, which the process is told to use. Another program may take it meanwhile.
fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

/// A running process of the service; killed on drop.
pub(crate) struct Process {
    child: Child,
    stdout: Lines<BufReader<ChildStdout>>,
    stderr: BufReader<ChildStderr>,
    pub(crate) address: String,
}

impl Process {
    /// Starts a service on a database in memory.
    pub(crate) fn start(binary: &str, words: &[&str]) -> Self {
        let place = ["--listen", "127.0.0.1:0", "--database", "sqlite::memory:"];
        Self::start_at(binary, &[&place, words].concat())
    }

    pub(crate) fn start_at(binary: &str, words: &[&str]) -> Self {
        let mut child = Command::new(binary)
            .args(words)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap()).lines();
        let console = stdout.find_map(|line| line.ok().filter(|line| line.contains("console")));
        let address = console.unwrap().split_once("://").unwrap().1.to_owned();
        Self {
            stderr: BufReader::new(child.stderr.take().unwrap()),
            child,
            stdout,
            address,
        }
    }

    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-s", name, &id])
                .status()
                .unwrap()
                .success()
        );
    }

    /// Next line of standard error that contains this text.
    pub(crate) fn error_with(&mut self, text: &str) -> String {
        let mut lines = self.stderr.by_ref().lines().map(Result::unwrap);
        lines.find(|line| line.contains(text)).unwrap()
    }

    /// Waits for the end; returns the exit code and standard error.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let mut errors = String::new();
        self.stderr.read_to_string(&mut errors).unwrap();
        let _rest = self.stdout.by_ref().count();
        (self.child.wait().unwrap().code(), errors)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _ended = self.child.wait();
    }
}

/// Status and text of a response; `None` if nothing listens.
pub(crate) fn get(address: &str, path: &str) -> Option<(u16, String)> {
    let mut peer = TcpStream::connect(address).ok()?;
    peer.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(
        peer,
        "GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n"
    )
    .ok()?;
    let mut text = String::new();
    peer.read_to_string(&mut text).ok()?;
    let status = text.split(' ').nth(1)?.parse().ok()?;
    Some((status, text))
}

/// X8: at SIGTERM `/readyz` turns 503 while requests are still served; then the listener closes, an
/// open request gets its response, and the process ends with 0. On each server.
#[test]
fn sigterm_ends_readiness_and_then_the_listener() {
    for binary in BINARIES {
        let operator = free_address();
        let words = [
            "--operator-listen",
            &operator,
            "--drain-delay",
            "1",
            "--log-format",
            "json",
        ];
        let process = Process::start(binary, &words);
        assert_eq!(get(&operator, "/readyz").unwrap().0, 200, "{binary}");
        // the routes are not beside the service, and the service is not beside the routes
        assert_eq!(get(&process.address, "/readyz").unwrap().0, 404, "{binary}");
        assert_eq!(get(&operator, "/").unwrap().0, 404, "{binary}");

        let mut open = TcpStream::connect(&process.address).unwrap();
        open.set_read_timeout(Some(PATIENCE)).unwrap();
        let body = "grant_type=none";
        write!(
            open,
            "POST /token HTTP/1.1\r\nhost: {}\r\ncontent-length: {}\r\n\
             content-type: application/x-www-form-urlencoded\r\n\r\n",
            process.address,
            body.len()
        )
        .unwrap();
        process.signal("TERM");
        while get(&operator, "/readyz").unwrap().0 == 200 {}
        let (status, text) = get(&operator, "/readyz").unwrap();
        assert_eq!(status, 503, "{text}");
        assert!(text.contains("\"failing\":[\"service\"]"), "{text}");
        assert_eq!(get(&process.address, "/openapi.json").unwrap().0, 200, "{binary}");

        while TcpStream::connect(&process.address).is_ok() {}
        open.write_all(body.as_bytes()).unwrap();
        let mut answer = String::new();
        open.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 40"), "{binary}: {answer}");
        let (code, errors) = process.end();
        assert_eq!(code, Some(0), "{binary}: {errors}");
        let lines = errors
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let token = lines.filter(|line| line.get("route").is_some_and(|route| route == "/token"));
        assert_eq!(token.count(), 1, "{errors}");
    }
}

fn run(words: &[&str]) -> Output {
    Command::new(BINARIES[0]).args(words).output().unwrap()
}

/// Starts the service, which refuses with this text on standard error and nothing else.
fn refuse(words: &[&str], expected: &str) {
    let output = run(words);
    assert_eq!(output.status.code(), Some(1), "{words:?}");
    assert_eq!(String::from_utf8(output.stderr).unwrap(), format!("{expected}\n"));
    assert!(output.stdout.is_empty());
}

const MEMORY: [&str; 4] = ["--database", "sqlite::memory:", "--listen", "127.0.0.1:0"];
const MISSING: &str = "No such file or directory (os error 2)";

/// X7: a busy port.
#[test]
fn busy_port_is_named_with_the_way_out() {
    let busy = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = busy.local_addr().unwrap().to_string();
    for (flag, words) in [
        ("--listen", MEMORY[..2].to_vec()),
        ("--operator-listen", MEMORY.to_vec()),
    ] {
        let cause = "Address already in use (os error 98)";
        refuse(
            &[words.as_slice(), &[flag, &address]].concat(),
            &format!(
                "{flag}: cannot listen on {address}: {cause}; choose another address or stop its program"
            ),
        );
    }
}

/// X7: files that cannot be read or used, all of them at once.
#[test]
fn unreadable_files_are_all_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let missing = path("missing");
    refuse(
        &[
            "--tls-cert",
            &missing,
            "--tls-key",
            &missing,
            "--trusted-documents",
            &missing,
        ],
        &format!(
            "--tls-cert: cannot read `{missing}`: {MISSING}\n\
             --trusted-documents: cannot read `{missing}`: {MISSING}"
        ),
    );
    let text = path("letter.txt");
    std::fs::write(&text, "Dear Ada").unwrap();
    refuse(
        &["--tls-cert", &text, "--tls-key", &text, "--check"],
        &format!("--tls-cert: `{text}` has no certificate in PEM"),
    );
    let nowhere = path("nowhere/desk.sqlite");
    refuse(
        &[
            "--listen",
            "127.0.0.1:0",
            "--database",
            &format!("sqlite:{nowhere}"),
        ],
        &format!(
            "--database: cannot open `{nowhere}`: the database is unavailable: {MISSING}; \
             name another file or make this one accessible"
        ),
    );
}

/// X7: a database of another application is refused by each command, and not a byte of it changes.
#[test]
fn foreign_database_is_refused_by_each_command() {
    let folder = tempfile::tempdir().unwrap();
    let foreign = folder.path().join("foreign.sqlite");
    let made = Connection::open(&foreign).unwrap();
    made.execute_batch("CREATE TABLE users (id)").unwrap();
    drop(made);
    let before = std::fs::read(&foreign).unwrap();
    let database = format!("sqlite:{}", foreign.display());
    for words in [vec![], vec!["--check"], vec!["lock", "ada@example.com"]] {
        refuse(
            &[words.as_slice(), &["--database", &database]].concat(),
            &format!(
                "--database: `{}` belongs to another application: it has the table `users`; name another file",
                foreign.display()
            ),
        );
    }
    assert_eq!(std::fs::read(&foreign).unwrap(), before);
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        1,
        "no file beside it"
    );
}

/// X7: a Redis server that does not respond is named without its password.
#[test]
fn silent_redis_is_named_without_its_password() {
    let server = free_address();
    let url = format!("redis://:s3cret@{server}");
    let output = run(&[MEMORY.as_slice(), &["--redis", &url]].concat());
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(
        text.starts_with(&format!("--redis: cannot use `{server}`: ")),
        "{text}"
    );
    let end = "Connection refused (os error 111); start the server or leave the flag out\n";
    assert!(text.ends_with(end), "{text}");
    assert!(!text.contains("s3cret"), "{text}");
}

/// X7: `--check` reads the files and starts nothing.
#[test]
fn check_reads_files_and_starts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("desk.toml");
    let database = folder.path().join("desk.sqlite");
    std::fs::write(
        &config,
        format!("database = 'sqlite:{}'\nlog = 'warn'", database.display()),
    )
    .unwrap();
    let words = ["--check", "--config", config.to_str().unwrap()];
    let output = run(&words);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "the settings are valid\n"
    );
    assert!(!database.exists());
    std::fs::write(&config, "log = 'loud'").unwrap();
    let output = run(&words);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(
        text.starts_with("`log` in ") && text.contains("`loud` is not a level"),
        "{text}"
    );
}
