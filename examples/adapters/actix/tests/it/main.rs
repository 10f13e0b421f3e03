//! The suite of the adapters, run on actix-web.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../../../hyper/tests/it/suite/mod.rs"]
mod suite;

#[path = "../../../hyper/tests/it/tls/mod.rs"]
mod tls;

/// One server of the suite, until it is drained.
fn serve(server: suite::Server) -> std::io::Result<()> {
    let limits = host_adapter_actix::Limits {
        read_timeout: server.read_timeout,
        drain_timeout: server.drain_timeout,
        ..Default::default()
    };
    actix_web::rt::System::new().block_on(host_adapter_actix::serve(
        server.listener,
        server.handler,
        suite::refuse,
        limits,
        server.shutdown,
    ))
}

/// Whether the shutdown drops handshakes, or waits for their time to pass.
const DROPS_HANDSHAKES: bool = false;

/// One server of the suite of TLS, until it is drained.
fn serve_tls(server: tls::Server) -> std::io::Result<()> {
    let limits = host_adapter_actix::Limits {
        read_timeout: server.read_timeout,
        drain_timeout: server.drain_timeout,
        ..Default::default()
    };
    let stopped = async { server.stopped.await.unwrap_or(()) };
    let listener = (server.listener, server.tls);
    actix_web::rt::System::new().block_on(host_adapter_actix::serve_tls(
        listener,
        tls::tell,
        tls::refuse,
        limits,
        stopped,
    ))
}
