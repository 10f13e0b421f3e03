//! A Redis server of one test, which the test kills and restarts.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::postgres::skip;

/// A server without persistence on a port of its own; killed on drop.
pub(crate) struct OwnRedis {
    child: Child,
    port: u16,
}

impl OwnRedis {
    /// Starts a server; `None` if the program is missing.
    pub(crate) fn start(suite: &str) -> Option<Self> {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let Some(child) = spawn(port) else {
            skip(suite, "the program redis-server");
            return None;
        };
        Some(Self { child, port })
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Kills the server by SIGKILL.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Starts the killed server again, on the same port.
    pub(crate) fn restart(&mut self) {
        self.child = spawn(self.port).unwrap();
    }
}

/// Starts a server and waits until it accepts connections.
fn spawn(port: u16) -> Option<Child> {
    let words = [
        "--bind",
        "127.0.0.1",
        "--save",
        "",
        "--appendonly",
        "no",
        "--port",
    ];
    let child = Command::new("redis-server")
        .args(words)
        .arg(port.to_string())
        .current_dir(std::env::temp_dir())
        .stdout(Stdio::null())
        .spawn()
        .ok()?;
    let began = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(began.elapsed() < Duration::from_secs(20));
        std::thread::yield_now();
    }
    Some(child)
}

impl Drop for OwnRedis {
    fn drop(&mut self) {
        self.kill();
    }
}
