//! TLS to a Redis server of the test's own.

use std::fs;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use bytes::Bytes;
use host_store_redis::redis::{Client, TlsCertificates};
use host_store_redis::{Database, Received};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use tempfile::TempDir;
use tokio::time::{sleep, timeout};
use webhook_core::receiver::{Claim, Dedupe};

use crate::server::skip;
use crate::support::{LEASE, START, incoming};

const PATIENCE: Duration = Duration::from_secs(20);

/// A server that listens with TLS alone, on a free port of 127.0.0.1.
struct OwnServer {
    process: Child,
    port: u16,
    /// Its certificate in PEM, which is its own authority.
    root: String,
    _folder: TempDir,
}

impl OwnServer {
    /// `None` if the program is not installed.
    async fn start() -> Option<Self> {
        Command::new("redis-server")
            .arg("--version")
            .stdout(Stdio::null())
            .status()
            .ok()?;
        let folder = TempDir::new().unwrap();
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        let (certificate, key) = (folder.path().join("tls.crt"), folder.path().join("tls.key"));
        fs::write(&certificate, cert.pem()).unwrap();
        fs::write(&key, signing_key.serialize_pem()).unwrap();
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let process = Command::new("redis-server")
            .args([
                "--port",
                "0",
                "--tls-port",
                &port.to_string(),
                "--bind",
                "127.0.0.1",
            ])
            .args(["--tls-auth-clients", "no", "--save", "", "--tls-cert-file"])
            .arg(&certificate)
            .arg("--tls-key-file")
            .arg(&key)
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let server = Self {
            process,
            port,
            root: cert.pem(),
            _folder: folder,
        };
        let listens = async {
            while tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_err() {
                sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(PATIENCE, listens).await.unwrap();
        Some(server)
    }

    fn url(&self) -> String {
        format!("rediss://127.0.0.1:{}", self.port)
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

fn trusting(url: &str, root: &str) -> Client {
    let certificates = TlsCertificates {
        client_tls: None,
        root_cert: Some(root.as_bytes().to_vec()),
    };
    Client::build_with_tls(url, certificates).unwrap()
}

/// X5: stores and listeners work over TLS with a verified certificate; a certificate of another
/// authority or for another name is refused, and so is plain text.
#[tokio::test]
async fn certificate_of_the_server_is_verified() {
    let Some(server) = OwnServer::start().await else {
        return skip(module_path!());
    };
    let database = Database::with_client(trusting(&server.url(), &server.root), "hooks")
        .await
        .unwrap();
    let claimed = database
        .claim_and_enqueue(incoming(1, START + LEASE), START)
        .await;
    assert_eq!(claimed.unwrap(), Claim::Enqueued);
    let mut listener = database.listen("a").await.unwrap();
    database.publish("a", Bytes::from_static(b"1")).await.unwrap();
    let heard = timeout(PATIENCE, listener.next()).await.unwrap();
    assert_eq!(heard, Received::Message(Bytes::from_static(b"1")));

    let other = generate_simple_self_signed(["127.0.0.1".to_owned()])
        .unwrap()
        .cert
        .pem();
    let by_name = server.url().replace("127.0.0.1", "localhost");
    for client in [trusting(&server.url(), &other), trusting(&by_name, &server.root)] {
        assert!(Database::with_client(client, "hooks").await.is_err());
    }
    let plain = server.url().replace("rediss", "redis");
    // the system's roots do not contain the certificate
    for url in [server.url(), plain] {
        assert!(Database::connect(&url, "hooks").await.is_err(), "{url}");
    }
}
