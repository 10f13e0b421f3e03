//! Proxies in the environment are ignored. The test runs itself again with another environment.

use std::io::Read;
use std::net::TcpListener;

use host_ports::Transport;
use host_transport_conformance::receiver::{Receiver, post};
use host_transport_reqwest::ReqwestTransport;
use tokio::io::AsyncReadExt;
use tokio::process::Command;

const CHILD: &str = "TRANSPORT_UNDER_TEST";

/// W10: a proxy would select the address to connect to, so none is taken from the environment.
#[tokio::test]
async fn proxy_of_the_environment_is_ignored() {
    if std::env::var_os(CHILD).is_some() {
        return goes_straight_to_the_receiver().await;
    }
    let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", proxy.local_addr().unwrap());
    let mut child = Command::new(std::env::current_exe().unwrap());
    child
        .args(["--exact", "proxy::proxy_of_the_environment_is_ignored"])
        .env(CHILD, "1")
        .kill_on_drop(true);
    for name in [
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "http_proxy",
        "https_proxy",
        "all_proxy",
    ] {
        child.env(name, &url);
    }
    for name in ["NO_PROXY", "no_proxy"] {
        child.env_remove(name);
    }
    let output = child.output().await.unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && told.contains("1 passed"), "{told}");
    proxy.set_nonblocking(true).unwrap();
    let asked = proxy.accept().map(|(mut stream, _)| {
        let mut request = String::new();
        stream.read_to_string(&mut request).ok();
        request
    });
    assert!(asked.is_err(), "the proxy was asked: {asked:?}");
}

/// The receiver gets a request to itself, and a TLS handshake with itself.
async fn goes_straight_to_the_receiver() {
    for (scheme, expected) in [("http", b"POST /in?a=1 "), ("https", b"\x16\x03\x01")] as [(&str, &[u8]); 2] {
        let receiver = Receiver::bind().await;
        let transport = ReqwestTransport::new(receiver.loopback_policy()).unwrap();
        let request = post(&receiver.url(scheme, "127.0.0.1"));
        let accepted = async {
            let (mut stream, _) = receiver.listener.accept().await.unwrap();
            let mut first = vec![0; expected.len()];
            stream.read_exact(&mut first).await.unwrap();
            first
        };
        let (_, first) = tokio::join!(transport.send(request), accepted);
        assert_eq!(first, expected, "{scheme}");
    }
}
