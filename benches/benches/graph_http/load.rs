//! As many requests as a server answers, on connections that stay open, one at a time on each.

use std::{cell::Cell, fmt, time::Instant};

use benches::Served;
use futures_util::future::join_all;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

pub(crate) const CONNECTIONS: usize = 32;
/// In seconds of the server's processor time, so that a busy machine leaves nobody cold.
const WARM_UP: f64 = 0.5;
const MEASURED: f64 = 2.0;

/// One request, and the body of its answer.
pub(crate) struct Load {
    request: Vec<u8>,
    body: Vec<u8>,
}

/// How fast a server was.
#[derive(Clone, Copy)]
pub(crate) struct Rate {
    /// Answers a second.
    pub(crate) wall: f64,
    /// How much of the time the server's core worked: the load is no bottleneck where it is all of it.
    pub(crate) busy: f64,
    /// Microseconds of the server's processor in its program for each answer.
    pub(crate) user: f64,
    /// The same in the kernel.
    pub(crate) system: f64,
}

impl Rate {
    /// Microseconds of the server's processor for each answer.
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

    /// Asks until the server has worked for its time.
    pub(crate) async fn rate(&self, server: &Served) -> Rate {
        let (over, answered) = (Cell::new(false), Cell::new(0_u32));
        let lane = async || {
            let mut connection = Connection::open(self, server).await;
            while !over.get() {
                connection.ask(self).await;
                answered.set(answered.get() + 1);
            }
            // the last answer is looked at as the first one was
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

    /// Asks so often on one connection.
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
    /// Of an answer with its head: all have the same.
    length: usize,
}

impl Connection {
    /// Asks once, and looks whether the answer is the right one.
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

    /// Sends the request, and waits for an answer of success and the right length.
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
