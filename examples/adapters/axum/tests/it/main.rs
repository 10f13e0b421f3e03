//! The suite of the adapters, run on axum.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod router;

#[path = "../../../hyper/tests/it/suite/mod.rs"]
mod suite;

#[path = "../../../hyper/tests/it/tls/mod.rs"]
mod tls;

/// One server of the suite, until it is drained.
fn serve(server: suite::Server) -> std::io::Result<()> {
    let limits = host_adapter_axum::Limits {
        read_timeout: server.read_timeout,
        drain_timeout: server.drain_timeout,
        ..Default::default()
    };
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(host_adapter_axum::serve(
        server.listener,
        server.handler,
        suite::refuse,
        limits,
        server.shutdown,
    ))
}

/// Whether the shutdown drops handshakes, or waits for their time to pass.
const DROPS_HANDSHAKES: bool = true;

/// One server of the suite of TLS, until it is drained.
fn serve_tls(server: tls::Server) -> std::io::Result<()> {
    let limits = host_adapter_axum::Limits {
        read_timeout: server.read_timeout,
        drain_timeout: server.drain_timeout,
        ..Default::default()
    };
    let stopped = async { server.stopped.await.unwrap_or(()) };
    let listener = (server.listener, server.tls);
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(host_adapter_axum::serve_tls(
        listener,
        tls::tell,
        tls::refuse,
        limits,
        stopped,
    ))
}
