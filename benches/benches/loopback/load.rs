//! Load: as many requests as a server answers, on a few open connections.

use std::{cell::Cell, time::Instant};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use benches::Served;
use futures_util::future::join_all;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

pub(crate) const CLIENT: &str = "bench";
pub(crate) const SECRET: &str = "the-secret-of-the-bench-and-of-no-one-else";
pub(crate) const SCOPE: &str = "read:charges";

const CONNECTIONS: usize = 16;
/// Warm-up in seconds of the server's processor time, which other programs do not shorten.
const WARM_UP: f64 = 3.0;
const MEASURED: f64 = 2.0;

#[derive(Clone, Copy)]
pub(crate) enum Work {
    ClientCredentials,
    Introspection,
}

/// Measured rate of a server.
#[derive(Clone, Copy)]
pub(crate) struct Rate {
    /// Responses per second.
    pub(crate) wall: f64,
    /// Responses per second of the server's processor time, independent of other programs on the
    /// core.
    pub(crate) processor: f64,
}

/// Measures a server with this path for introspection.
pub(crate) async fn rate(server: &Served, work: Work, introspect: &str) -> Rate {
    let port = server.port();
    let issue = post("/token", &format!("grant_type=client_credentials&scope={SCOPE}"));
    let request = match work {
        Work::ClientCredentials => issue,
        Work::Introspection => {
            let mut connection = Connection::open(port).await;
            let answer = connection.ask(&issue).await.to_owned();
            let token = answer
                .split("\"access_token\":\"")
                .nth(1)
                .and_then(|rest| rest.split('"').next());
            let request = post(introspect, &format!("token={}", token.expect("a token")));
            assert!(connection.ask(&request).await.contains("\"active\":true"));
            request
        }
    };
    let (over, answered) = (Cell::new(false), Cell::new(0_u32));
    let lane = async || {
        let mut connection = Connection::open(port).await;
        while !over.get() {
            connection.ask(&request).await;
            answered.set(answered.get() + 1);
        }
    };
    let watch = async {
        let before = server.work(WARM_UP).await.whole();
        let (begin, warm) = (Instant::now(), answered.get());
        let spent = server.work(MEASURED).await.whole() - before;
        let answered = f64::from(answered.get() - warm);
        over.set(true);
        Rate {
            wall: answered / begin.elapsed().as_secs_f64(),
            processor: answered / spent,
        }
    };
    tokio::join!(join_all((0..CONNECTIONS).map(|_| lane())), watch).1
}

/// A form of the only client, authenticated with `client_secret_basic`.
fn post(path: &str, form: &str) -> Vec<u8> {
    let credentials = BASE64_STANDARD.encode(format!("{CLIENT}:{SECRET}"));
    let length = form.len();
    format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Basic {credentials}\r\n\
         content-type: application/x-www-form-urlencoded\r\ncontent-length: {length}\r\n\r\n{form}"
    )
    .into_bytes()
}

struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    async fn open(port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).await.expect("a server");
        stream.set_nodelay(true).expect("a socket");
        Self {
            stream,
            buffer: Vec::with_capacity(4096),
        }
    }

    /// Sends a request and reads the response, which must be a 200 with a length.
    async fn ask(&mut self, request: &[u8]) -> &str {
        self.buffer.clear();
        self.stream.write_all(request).await.expect("sent");
        loop {
            let read = self.stream.read_buf(&mut self.buffer).await.expect("an answer");
            let text = str::from_utf8(&self.buffer).expect("text");
            assert!(read > 0, "the server hangs up: {text}");
            if is_whole(text) {
                break;
            }
        }
        let answer = str::from_utf8(&self.buffer).expect("text");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        answer
    }
}

fn is_whole(answer: &str) -> bool {
    let Some((head, body)) = answer.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("content-length").then_some(value)
    });
    let length: usize = length.and_then(|length| length.parse().ok()).expect("a length");
    body.len() >= length
}
