//! TLS between the service and its databases, as servers of a provider require it.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use host_store_redis::redis::{Client, TlsCertificates, cmd};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use tempfile::TempDir;

use crate::fan_out::Process;
use crate::postgres::{Schema, skip};

/// A Redis server of the test's own that listens with TLS alone.
struct Redis {
    process: Child,
    url: String,
    folder: TempDir,
}

impl Redis {
    /// `None` if the program is not installed.
    fn start() -> Option<Self> {
        let folder = TempDir::new().unwrap();
        let own = generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        let CertifiedKey { cert, signing_key } = own;
        fs::write(folder.path().join("tls.crt"), cert.pem()).unwrap();
        fs::write(folder.path().join("tls.key"), signing_key.serialize_pem()).unwrap();
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let process = Command::new("redis-server")
            .args(["--bind", "127.0.0.1", "--port", "0", "--save", ""])
            .args(["--tls-port", &free.port().to_string(), "--tls-auth-clients", "no"])
            .args(["--tls-cert-file", "tls.crt", "--tls-key-file", "tls.key"])
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .spawn()
            .ok()?;
        for _ in 0..1000 {
            if TcpStream::connect(free).is_ok() {
                break;
            }
            thread::sleep(Duration::from_millis(20));
        }
        Some(Self {
            process,
            url: format!("rediss://{free}"),
            folder,
        })
    }

    /// Its certificate, which is its own authority.
    fn certificate(&self) -> PathBuf {
        self.folder.path().join("tls.crt")
    }

    /// Number of keys that the server stores.
    fn keys(&self) -> u64 {
        let certificates = TlsCertificates {
            client_tls: None,
            root_cert: Some(fs::read(self.certificate()).unwrap()),
        };
        let client = Client::build_with_tls(self.url.as_str(), certificates).unwrap();
        cmd("DBSIZE")
            .query(&mut client.get_connection().unwrap())
            .unwrap()
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

/// X6, X7: both databases are used over TLS. A Redis server whose certificate no root signed is
/// refused before the service listens.
#[test]
fn both_databases_are_used_over_tls() {
    let Some(schema) = Schema::fresh("encrypted") else {
        return;
    };
    let Some(redis) = Redis::start() else {
        return skip("encrypted_databases", "the program redis-server");
    };
    // refuses a server without TLS
    let database = format!("{}&sslmode=require", schema.url());
    let binary = env!("CARGO_BIN_EXE_service-hyper");

    let untrusted = Command::new(binary)
        .args([
            "--listen",
            "127.0.0.1:0",
            "--database",
            &database,
            "--redis",
            &redis.url,
        ])
        .output()
        .unwrap();
    let error = String::from_utf8(untrusted.stderr).unwrap();
    assert!(error.starts_with("--redis: cannot use `127.0.0.1:"), "{error}");
    assert!(error.contains("certificate"), "{error}");
    assert_eq!(untrusted.status.code(), Some(1));

    let certificate = redis.certificate();
    let roots = [("SSL_CERT_FILE", certificate.to_str().unwrap())];
    let process = Process::start_with(binary, &database, &redis.url, &roots);
    let token = process.token();
    let list = process.answer(
        "GET /v1/charges",
        &format!("authorization: Bearer {token}\r\n"),
        "",
    );
    assert!(list.starts_with("HTTP/1.1 200 "), "{list}");
    assert!(redis.keys() > 0, "the limits are in Redis");
}
