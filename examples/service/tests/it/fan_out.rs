//! Two processes on one database: changes by one reach the subscribers of the other.

use std::io::{BufRead, BufReader, Read, Write, stderr};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A binary that runs on a free port; stopped on drop.
struct Process {
    child: Child,
    address: String,
}

impl Process {
    fn start(binary: &str, database: &str, redis: &str) -> Self {
        let mut child = Command::new(binary)
            .args([
                "--listen",
                "127.0.0.1:0",
                "--database",
                database,
                "--redis",
                redis,
            ])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let console = lines.find_map(|line| line.ok().filter(|line| line.contains("console")));
        let address = console.unwrap().split_once("http://").unwrap().1.to_owned();
        Self { child, address }
    }

    fn post(&self, path: &str, headers: &str, body: &str) -> TcpStream {
        let mut peer = TcpStream::connect(&self.address).unwrap();
        write!(
            peer,
            "POST {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-length: {}\r\n{headers}\r\n{body}",
            self.address,
            body.len()
        )
        .unwrap();
        peer
    }

    fn answer(&self, path: &str, headers: &str, body: &str) -> String {
        let mut answer = String::new();
        self.post(path, headers, body)
            .read_to_string(&mut answer)
            .unwrap();
        answer
    }

    fn token(&self) -> String {
        // demo-service:demo-service-secret
        let headers = "authorization: Basic ZGVtby1zZXJ2aWNlOmRlbW8tc2VydmljZS1zZWNyZXQ=\r\n\
                       content-type: application/x-www-form-urlencoded\r\n";
        let scope = "grant_type=client_credentials&scope=read:charges%20write:charges";
        let answer = self.answer("/token", headers, scope);
        let (_, rest) = answer.split_once(r#""access_token":""#).unwrap();
        rest.split_once('"').unwrap().0.to_owned()
    }

    fn graph(&self, accept: &str, query: &str) -> TcpStream {
        let headers = format!(
            "authorization: Bearer {}\r\naccept: {accept}\r\ncontent-type: application/json\r\n",
            self.token()
        );
        self.post("/graphql", &headers, &format!(r#"{{"query":"{query}"}}"#))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// X5, G10: a charge that one process creates is pushed once to a subscriber of another process on
/// the same database, on every server.
#[test]
fn a_change_in_one_process_reaches_the_subscriber_of_another() {
    let redis = std::env::var("TEST_REDIS_URL").unwrap_or_else(|_| "redis://127.0.0.1:6379".to_owned());
    if host_store_redis::redis::Client::open(redis.as_str())
        .unwrap()
        .get_connection()
        .is_err()
    {
        assert!(
            std::env::var("CI").as_deref() != Ok("true"),
            "CI needs the Redis of TEST_REDIS_URL"
        );
        let line = "skipped, nothing proven: fan_out (no Redis; set TEST_REDIS_URL)\n";
        stderr().write_all(line.as_bytes()).unwrap();
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let database = format!("sqlite:{}", folder.path().join("desk.sqlite").display());
    let here = Process::start(env!("CARGO_BIN_EXE_service-hyper"), &database, &redis);
    let there = Process::start(env!("CARGO_BIN_EXE_service-actix"), &database, &redis);
    for (teller, hearer) in [(&here, &there), (&there, &here)] {
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
}

fn contains(heard: &[u8], wanted: &str) -> bool {
    String::from_utf8_lossy(heard).contains(wanted)
}
