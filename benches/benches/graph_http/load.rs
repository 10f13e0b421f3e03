//! Load: as many requests as a server answers, one at a time on each of several open connections.

use std::{cell::Cell, fmt, time::Instant};

use benches::Served;
use futures_util::future::join_all;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

pub(crate) const CONNECTIONS: usize = 32;
/// Warm-up in seconds of the server's processor time, which other programs do not shorten.
const WARM_UP: f64 = 0.5;
const MEASURED: f64 = 2.0;

/// A request, and the expected body of its response.
pub(crate) struct Load {
    request: Vec<u8>,
    body: Vec<u8>,
}

/// Measured rate of a server.
#[derive(Clone, Copy)]
pub(crate) struct Rate {
    /// Responses per second.
    pub(crate) wall: f64,
    /// Share of the time that the server's core was busy: at 100 % the load is no bottleneck.
    pub(crate) busy: f64,
    /// Microseconds per response of the server's program.
    pub(crate) user: f64,
    /// Microseconds per response of the kernel.
    pub(crate) system: f64,
}

impl Rate {
    /// Microseconds per response of both.
    pub(crate) fn takes(&self) -> f64 {
        self.user + self.system
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            wall,
            busy,
            user,
            system,
        } = self;
        let busy = 100.0 * busy;
        let takes = self.takes();
        write!(
            f,
            "{wall:.0}/s, core {busy:.0} % busy, {takes:.2} µs each, {user:.2} in the program and {system:.2} in the kernel"
        )
    }
}

impl Load {
    pub(crate) fn new(query: &str, body: Vec<u8>) -> Self {
        let content = serde_json::json!({ "query": query }).to_string();
        let length = content.len();
        let request = format!(
            "POST /graphql HTTP/1.1\r\nhost: localhost\r\naccept: application/json\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n\r\n{content}"
        );
        Self {
            request: request.into_bytes(),
            body,
        }
    }

    /// Sends requests until the server has used its processor time.
    pub(crate) async fn rate(&self, server: &Served) -> Rate {
        let (over, answered) = (Cell::new(false), Cell::new(0_u32));
        let lane = async || {
            let mut connection = Connection::open(self, server).await;
            while !over.get() {
                connection.ask(self).await;
                answered.set(answered.get() + 1);
            }
            // the last response is checked like the first
            assert!(connection.buffer.ends_with(&self.body));
        };
        let watch = async {
            let before = server.work(WARM_UP).await;
            let (begin, warm) = (Instant::now(), answered.get());
            let after = server.work(MEASURED).await;
            let (elapsed, answers) = (begin.elapsed().as_secs_f64(), f64::from(answered.get() - warm));
            over.set(true);
            Rate {
                wall: answers / elapsed,
                busy: (after.whole() - before.whole()) / elapsed,
                user: 1e6 * (after.user - before.user) / answers,
                system: 1e6 * (after.system - before.system) / answers,
            }
        };
        tokio::join!(join_all((0..CONNECTIONS).map(|_| lane())), watch).1
    }

    /// Sends so many requests on one connection.
    pub(crate) async fn ask(&self, server: &Served, times: u64) {
        let mut connection = Connection::open(self, server).await;
        for _ in 0..times {
            connection.ask(self).await;
        }
    }
}

struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    /// Length of a response with its head: all are equal.
    length: usize,
}

impl Connection {
    /// Opens a connection, sends one request and checks the response.
    async fn open(load: &Load, server: &Served) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", server.port())).await;
        let mut connection = Self {
            stream: stream.expect("a server"),
            buffer: Vec::with_capacity(1 << 16),
            length: usize::MAX,
        };
        connection.stream.set_nodelay(true).expect("a socket");
        connection.send(load).await;
        while !connection.buffer.ends_with(&load.body) {
            let text = String::from_utf8_lossy(&connection.buffer).into_owned();
            assert!(
                connection.buffer.len() < 2 * load.body.len(),
                "another answer: {text}"
            );
            connection.read().await;
        }
        connection.length = connection.buffer.len();
        connection
    }

    /// Sends the request and reads a response, checked for success and its length.
    async fn ask(&mut self, load: &Load) {
        self.send(load).await;
        while self.buffer.len() < self.length {
            self.read().await;
        }
        let head = self.buffer.get(..12);
        assert!(self.buffer.len() == self.length && head == Some(b"HTTP/1.1 200"));
    }

    async fn send(&mut self, load: &Load) {
        self.buffer.clear();
        self.stream.write_all(&load.request).await.expect("sent");
    }

    async fn read(&mut self) {
        let read = self.stream.read_buf(&mut self.buffer).await.expect("an answer");
        assert!(read > 0, "the server hangs up");
    }
}
