//! Clients that read nothing, in front of the service as its processes run it.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};

/// One process of the service. Dropping it ends the process.
struct Process {
    child: Child,
    address: SocketAddr,
}

impl Process {
    fn start(binary: &str) -> Self {
        let mut child = Command::new(binary)
            .args(["--listen", "127.0.0.1:0", "--database", "sqlite::memory:"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let console = lines.find_map(|line| {
            let line = line.unwrap();
            let url = line.trim().strip_prefix("console")?.trim().to_owned();
            Some(url.strip_prefix("http://").unwrap().parse().unwrap())
        });
        Self {
            child,
            address: console.unwrap(),
        }
    }

    /// Resident memory in bytes.
    fn memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .unwrap();
        let kibibytes: u64 = line.trim().strip_suffix("kB").unwrap().trim().parse().unwrap();
        kibibytes * 1024
    }

    fn get(&self) -> String {
        format!("GET /openapi.json HTTP/1.1\r\nhost: {}\r\n", self.address)
    }

    /// Makes requests, each on a connection of its own.
    fn serves(&self, count: usize) {
        for _ in 0..count {
            let mut socket = TcpStream::connect(self.address).unwrap();
            write!(socket, "{}connection: close\r\n\r\n", self.get()).unwrap();
            let mut response = String::new();
            socket.read_to_string(&mut response).unwrap();
            assert!(response.starts_with("HTTP/1.1 200"), "{response}");
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Opens connections from several loopback addresses, as several clients, that send many requests
/// and read nothing.
fn unread(process: &Process, count: u8) -> Vec<TcpStream> {
    let requests = format!("{}\r\n", process.get()).repeat(120);
    let open = |client: u8| {
        let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
        let from = SocketAddr::from(([127, 0, 1, client], 0));
        socket.bind(&from.into()).unwrap();
        // the kernel holds as little of the responses as it can
        socket.set_recv_buffer_size(4096).unwrap();
        socket.connect(&process.address.into()).unwrap();
        let mut socket = TcpStream::from(socket);
        socket.write_all(requests.as_bytes()).unwrap();
        socket
    };
    (0..count)
        .flat_map(|client| (0..100).map(move |_| client))
        .map(open)
        .collect()
}

fn check(name: &str, binary: &str) {
    let process = Process::start(binary);
    process.serves(100);
    let idle = process.memory();
    let _held = unread(&process, 10);
    process.serves(100);
    let memory = process.memory().saturating_sub(idle);
    assert!(memory <= 100_000_000, "{name}: {memory} bytes");
}

/// X10: a thousand clients that read nothing take at most 100 MB and stop no other client.
#[test]
fn unread_connections_stop_no_other_client() {
    check("hyper", env!("CARGO_BIN_EXE_service-hyper"));
    check("actix", env!("CARGO_BIN_EXE_service-actix"));
    check("axum", env!("CARGO_BIN_EXE_service-axum"));
}
