//! The suite of both adapters, run on actix-web.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../../../adapter-hyper/tests/it/suite/mod.rs"]
mod suite;

/// One server of the suite, until it is drained.
fn serve(server: suite::Server) -> std::io::Result<()> {
    let limits = adapter_actix::Limits {
        read_timeout: server.read_timeout,
        drain_timeout: server.drain_timeout,
        ..Default::default()
    };
    actix_web::rt::System::new().block_on(adapter_actix::serve(
        server.listener,
        server.handler,
        suite::refuse,
        limits,
        server.shutdown,
    ))
}
