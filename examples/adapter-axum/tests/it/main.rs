//! The suite of the adapters, run on axum.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod router;

#[path = "../../../adapter-hyper/tests/it/suite/mod.rs"]
mod suite;

/// One server of the suite, until it is drained.
fn serve(server: suite::Server) -> std::io::Result<()> {
    let limits = adapter_axum::Limits {
        read_timeout: server.read_timeout,
        drain_timeout: server.drain_timeout,
        ..Default::default()
    };
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(adapter_axum::serve(
        server.listener,
        server.handler,
        suite::refuse,
        limits,
        server.shutdown,
    ))
}
