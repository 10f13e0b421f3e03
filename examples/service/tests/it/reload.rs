//! HTTPS of the binaries, and a certificate that changes while they run.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use host_adapter_conformance::authority::Authority;
use rustls::crypto::aws_lc_rs;
use rustls::{ClientConfig, ClientConnection, RootCertStore, Stream};

use crate::processes::{BINARIES, PATIENCE, Process};

/// Writes a new certificate and its key in PEM.
fn write_identity(folder: &Path, authority: &Authority) {
    let identity = authority.issue("localhost");
    let pem = |label: &str, der: &[u8]| {
        let text = STANDARD.encode(der);
        format!("-----BEGIN {label}-----\n{text}\n-----END {label}-----\n")
    };
    let chain: String = identity.chain.iter().map(|der| pem("CERTIFICATE", der)).collect();
    std::fs::write(
        folder.join("key.pem"),
        pem("PRIVATE KEY", identity.key.secret_der()),
    )
    .unwrap();
    std::fs::write(folder.join("chain.pem"), chain).unwrap();
}

/// Response to `GET /openapi.json` over TLS; an error if the roots do not verify the certificate.
fn get(address: &str, roots: RootCertStore) -> std::io::Result<String> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider);
    let config = config.with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(roots).with_no_client_auth();
    let name = "localhost".try_into().unwrap();
    let mut tls = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut peer = TcpStream::connect(address)?;
    peer.set_read_timeout(Some(PATIENCE))?;
    let mut stream = Stream::new(&mut tls, &mut peer);
    write!(
        stream,
        "GET /openapi.json HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n"
    )?;
    let mut text = Vec::new();
    stream.read_to_end(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// X7: each server serves HTTPS, takes a new certificate at SIGHUP, and keeps the former one if the
/// files cannot be used.
#[test]
fn certificate_is_read_again_at_sighup() {
    for binary in BINARIES {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let (first, second) = (Authority::new(), Authority::new());
        write_identity(folder.path(), &first);
        let words = ["--tls-cert", &path("chain.pem"), "--tls-key", &path("key.pem")];
        let mut process = Process::start(binary, &words);
        let answer = get(&process.address, first.roots()).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 "), "{binary}: {answer}");
        assert!(
            answer.contains(&format!("https://{}", process.address)),
            "{binary}"
        );
        assert!(get(&process.address, second.roots()).is_err());

        write_identity(folder.path(), &second);
        process.signal("HUP");
        while get(&process.address, second.roots()).is_err() {}

        std::fs::write(path("key.pem"), "no key").unwrap();
        process.signal("HUP");
        let line = process.error_with("former certificate");
        assert!(line.contains("has no private key in PEM"), "{line}");
        assert!(get(&process.address, second.roots()).is_ok(), "{binary}");
    }
}
