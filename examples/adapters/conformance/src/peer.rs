//! The client of a test: a plain socket.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use crate::running::PATIENCE;

/// The other end of one connection.
pub(crate) struct Peer(pub(crate) TcpStream);

impl Peer {
    pub(crate) fn connect(address: SocketAddr, patience: Duration) -> Self {
        let socket = TcpStream::connect(address).unwrap();
        socket.set_read_timeout(Some(patience)).unwrap();
        Self(socket)
    }

    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.0.write_all(bytes.as_ref()).unwrap();
    }

    pub(crate) fn close_writing(&mut self) {
        self.0.shutdown(Shutdown::Write).unwrap();
    }

    pub(crate) fn head(&mut self) -> FullResponse {
        let status = self.line();
        let status = str::from_utf8(&status)
            .unwrap()
            .split(' ')
            .nth(1)
            .unwrap()
            .parse()
            .unwrap();
        let headers = std::iter::from_fn(|| {
            let line = self.line();
            let colon = line.iter().position(|&byte| byte == b':')?;
            let (name, value) = line.split_at(colon);
            let name = String::from_utf8(name.to_ascii_lowercase()).unwrap();
            Some((name, value.strip_prefix(b": ").unwrap().to_vec()))
        });
        FullResponse {
            status,
            headers: headers.collect(),
            body: Vec::new(),
        }
    }

    pub(crate) fn answer(&mut self) -> FullResponse {
        let mut answer = self.head();
        let length = str::from_utf8(answer.all("content-length").first().unwrap())
            .unwrap()
            .parse()
            .unwrap();
        answer.body = vec![0; length];
        self.0.read_exact(&mut answer.body).unwrap();
        answer
    }

    /// The next chunk of a chunked body; the last one is empty.
    pub(crate) fn chunk(&mut self) -> Vec<u8> {
        let length = usize::from_str_radix(str::from_utf8(&self.line()).unwrap(), 16).unwrap();
        let mut chunk = vec![0; length];
        self.0.read_exact(&mut chunk).unwrap();
        assert_eq!(self.line(), b"");
        chunk
    }

    /// Everything until the server closes, which it must.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        match self.0.read_to_end(&mut rest) {
            Err(error) if error.kind() != io::ErrorKind::ConnectionReset => panic!("still open: {error}"),
            _ => rest,
        }
    }

    /// Returns `false` if the server has closed the connection.
    pub(crate) fn try_send(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        self.0.write_all(bytes.as_ref()).is_ok()
    }

    /// Returns `true` if a response begins, `false` if the server closes the connection.
    pub(crate) fn is_answered(&mut self) -> bool {
        self.0.read(&mut [0]).is_ok_and(|read| read > 0)
    }

    /// Sends line ends without reading, until the server resets the connection, which it must.
    pub(crate) fn wait_until_reset(&mut self) {
        let begun = Instant::now();
        while self.try_send("\r\n") {
            assert!(begun.elapsed() < PATIENCE, "still open");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    #[cfg(feature = "websocket")]
    pub(crate) fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.0.read_exact(&mut bytes).unwrap();
        bytes
    }

    #[cfg(feature = "websocket")]
    pub(crate) fn many(&mut self, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.0.read_exact(&mut bytes).unwrap();
        bytes
    }

    fn line(&mut self) -> Vec<u8> {
        let mut line = Vec::new();
        while !line.ends_with(b"\r\n") {
            let mut byte = [0];
            self.0.read_exact(&mut byte).unwrap();
            line.extend(byte);
        }
        line.truncate(line.len() - 2);
        line
    }
}

pub(crate) struct FullResponse {
    pub(crate) status: u16,
    headers: Vec<(String, Vec<u8>)>,
    pub(crate) body: Vec<u8>,
}

impl FullResponse {
    pub(crate) fn all(&self, name: &str) -> Vec<&[u8]> {
        self.headers
            .iter()
            .filter(|(key, _)| key == name)
            .map(|(_, value)| value.as_slice())
            .collect()
    }

    pub(crate) fn text(&self) -> &str {
        str::from_utf8(&self.body).unwrap()
    }

    /// The host refused, and saw this of the request: its method, its target, its `x-tag` or `-`,
    /// and its peer.
    pub(crate) fn assert_refused(&self, status: u16, head: &str) {
        assert_eq!(
            (self.status, self.text()),
            (status, format!("{status} {head} true").as_str())
        );
    }
}
