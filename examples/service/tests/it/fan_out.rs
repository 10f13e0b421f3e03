//! Two processes on one database: changes by one reach the subscribers of the other.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::postgres::skip;

/// A binary that runs on a free port; killed on drop.
pub(crate) struct Process {
    child: Child,
    address: String,
    token: OnceLock<String>,
}

impl Process {
    /// Starts a service under a URL of its own.
    pub(crate) fn start(binary: &str, database: &str, redis: &str) -> Self {
        Self::start_with(binary, database, redis, &[])
    }

    /// As [`start`](Self::start), with these variables of the environment.
    pub(crate) fn start_with(binary: &str, database: &str, redis: &str, variables: &[(&str, &str)]) -> Self {
        let stores = ["--database", database, "--redis", redis];
        let (child, console) = Self::spawn(binary, &["--listen", "127.0.0.1:0"], &stores, variables);
        let address = console.split_once("http://").unwrap().1.to_owned();
        Self {
            child,
            address,
            token: OnceLock::new(),
        }
    }

    /// Starts a service under the URL of `first`, on the same port of another loopback address.
    pub(crate) fn start_beside(first: &Self, binary: &str, database: &str, redis: &str) -> Self {
        let (_, port) = first.address.split_once(':').unwrap();
        let address = format!("127.0.0.2:{port}");
        let base_url = format!("http://{}", first.address);
        let place = ["--listen", &address, "--base-url", &base_url];
        let (child, _) = Self::spawn(binary, &place, &["--database", database, "--redis", redis], &[]);
        Self {
            child,
            address,
            token: OnceLock::new(),
        }
    }

    /// Starts a service, and waits for the line about its console.
    fn spawn(binary: &str, place: &[&str], stores: &[&str], variables: &[(&str, &str)]) -> (Child, String) {
        let mut child = Command::new(binary)
            .envs(variables.iter().copied())
            .args(place)
            .args(stores)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let console = lines.find_map(|line| line.ok().filter(|line| line.contains("console")));
        (child, console.unwrap())
    }

    /// Sends a request and returns the connection. `head` is the method and the path.
    pub(crate) fn send(&self, head: &str, headers: &str, body: &str) -> TcpStream {
        let mut peer = TcpStream::connect(&self.address).unwrap();
        write!(
            peer,
            "{head} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-length: {}\r\n{headers}\r\n{body}",
            self.address,
            body.len()
        )
        .unwrap();
        peer
    }

    /// Sends a request and reads the response.
    pub(crate) fn answer(&self, head: &str, headers: &str, body: &str) -> String {
        let mut answer = String::new();
        self.send(head, headers, body)
            .read_to_string(&mut answer)
            .unwrap();
        answer
    }

    /// A token of `demo-service`, the same at each call: the tests share one limit of requests for
    /// tokens.
    pub(crate) fn token(&self) -> String {
        self.token.get_or_init(|| self.new_token()).clone()
    }

    fn new_token(&self) -> String {
        // demo-service:demo-service-secret
        let headers = "authorization: Basic ZGVtby1zZXJ2aWNlOmRlbW8tc2VydmljZS1zZWNyZXQ=\r\n\
                       content-type: application/x-www-form-urlencoded\r\n";
        let scope = "grant_type=client_credentials&scope=read:charges%20write:charges%20write:refunds";
        let answer = self.answer("POST /token", headers, scope);
        let (_, rest) = answer.split_once(r#""access_token":""#).unwrap();
        rest.split_once('"').unwrap().0.to_owned()
    }

    pub(crate) fn graph(&self, accept: &str, query: &str) -> TcpStream {
        let headers = format!(
            "authorization: Bearer {}\r\naccept: {accept}\r\ncontent-type: application/json\r\n",
            self.token()
        );
        self.send("POST /graphql", &headers, &format!(r#"{{"query":"{query}"}}"#))
    }
}

impl Process {
    /// Kills the process by SIGKILL.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// URL of the Redis server, or `None` if there is none.
pub(crate) fn redis(suite: &str) -> Option<String> {
    let url = std::env::var("TEST_REDIS_URL").unwrap_or_else(|_| "redis://127.0.0.1:6379".to_owned());
    let client = host_store_redis::redis::Client::open(url.as_str()).unwrap();
    if client.get_connection().is_err() {
        skip(suite, "the Redis of TEST_REDIS_URL");
        return None;
    }
    Some(url)
}

/// X5, G10: a charge that one process creates is pushed once to a subscriber of another process on
/// the same database, on every server.
#[test]
fn a_change_in_one_process_reaches_the_subscriber_of_another() {
    let Some(redis) = redis("fan_out") else { return };
    let folder = tempfile::tempdir().unwrap();
    let database = format!("sqlite:{}", folder.path().join("desk.sqlite").display());
    let here = Process::start(env!("CARGO_BIN_EXE_service-hyper"), &database, &redis);
    let there = Process::start(env!("CARGO_BIN_EXE_service-actix"), &database, &redis);
    hears_changes(&here, &there);
    hears_changes(&there, &here);
}

/// Changes charges in one process until a subscriber of the other has heard of one.
pub(crate) fn hears_changes(teller: &Process, hearer: &Process) {
    let updates = hearer.graph(
        "text/event-stream",
        "subscription { chargeUpdated { amount version } }",
    );
    updates
        .set_read_timeout(Some(Duration::from_millis(100)))
        .unwrap();
    let began = Instant::now();
    let (mut updates, mut heard, mut told) = (updates, Vec::new(), 0);
    // repeat: the subscription and the Redis listener may start after the first charge
    while !contains(&heard, r#"{"chargeUpdated":{"amount":4711,"version":1}}"#) {
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "{}",
            String::from_utf8_lossy(&heard)
        );
        let query = r#"mutation { createCharge(amount: 4711, currency: \"eur\") { amount } }"#;
        let mut answer = String::new();
        teller
            .graph("application/json", query)
            .read_to_string(&mut answer)
            .unwrap();
        assert!(
            answer.contains(r#"{"data":{"createCharge":{"amount":4711}}}"#),
            "{answer}"
        );
        told += 1;
        let mut buffer = [0; 4096];
        if let Ok(length) = updates.read(&mut buffer) {
            heard.extend(buffer.into_iter().take(length));
        }
    }
    let events = String::from_utf8_lossy(&heard).matches("event: next").count();
    assert!(events <= told, "{events} events of {told} charges");
}

fn contains(heard: &[u8], wanted: &str) -> bool {
    String::from_utf8_lossy(heard).contains(wanted)
}
