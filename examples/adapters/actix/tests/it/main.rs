//! The conformance kit for adapters, run on actix-web.

use host_adapter_actix::{serve, serve_tls};
use host_adapter_conformance::{Adapter, Server, refuse};

fn adapter() -> Adapter {
    Adapter::new(run)
}

/// Serves one server of the kit until it is drained.
fn run(server: Server) -> std::io::Result<()> {
    let (listener, handler, limits, shutdown) =
        (server.listener, server.handler, server.limits, server.shutdown);
    actix_web::rt::System::new().block_on(async {
        match server.tls {
            None => serve(listener, handler, refuse, limits, shutdown).await,
            Some(tls) => serve_tls((listener, tls), handler, refuse, limits, shutdown).await,
        }
    })
}

mod sign_in;
mod webhooks;
mod whole;

mod requests {
    host_adapter_conformance::requests!(
        #[test]
        super::adapter()
    );
}

mod clients {
    host_adapter_conformance::clients!(
        #[test]
        super::adapter()
    );
}

mod websockets {
    host_adapter_conformance::websockets!(
        #[test]
        super::adapter()
    );
}

mod tls {
    host_adapter_conformance::tls!(
        #[test]
        super::adapter()
    );
}

mod client_certificates {
    host_adapter_conformance::client_certificates!(
        #[test]
        super::adapter()
    );
}

/// X10: raw requests that attack a server.
#[test]
fn server_withstands_all_attacks() {
    let skips = "actix-http skips what follows a chunk size and the trailers, and stores nothing of them";
    let exceptions = [
        ("a request after a malformed trailer", skips),
        ("a chunk extension of 200 kB", skips),
        ("a trailer of 200 kB", skips),
    ];
    host_adapter_conformance::attacks::withstands_all(&std::sync::Arc::new(adapter()), &exceptions);
}
