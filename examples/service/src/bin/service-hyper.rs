//! The payments desk on hyper. Run `cargo run -p service`, or add `-- tour` for the tour.

use std::process::ExitCode;
use std::sync::Arc;

use http::Request;
use service::serve::{self, Serving};

#[tokio::main]
async fn main() -> ExitCode {
    serve::main(async |serving: Serving| {
        let Serving {
            listener,
            tls,
            app,
            limits,
            shutdown,
            ..
        } = serving;
        let desk = Arc::clone(&app);
        let refuse = move |head: &Request<()>, status| desk.refuse(head, status);
        let handler = move |request| {
            let app = Arc::clone(&app);
            async move { app.handle(request).await }
        };
        match tls {
            None => host_adapter_hyper::serve(listener, handler, refuse, limits, shutdown).await,
            Some(tls) => {
                host_adapter_hyper::serve_tls((listener, tls), handler, refuse, limits, shutdown).await
            }
        }
    })
    .await
}
