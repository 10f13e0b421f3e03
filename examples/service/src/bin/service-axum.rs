//! The payments desk on axum: `cargo run -p service --bin service-axum`, or with `-- tour` to see everything at work.

use std::process::ExitCode;
use std::sync::Arc;

use adapter_axum::Limits;
use service::app::App;
use service::serve::{self, Serving};

#[tokio::main]
async fn main() -> ExitCode {
    serve::main(async |serving: Serving| {
        let Serving {
            listener,
            app,
            drain_timeout,
            shutdown,
            ..
        } = serving;
        let limits = Limits {
            drain_timeout,
            ..Limits::default()
        };
        let handler = move |request| {
            let app = Arc::clone(&app);
            async move { app.handle(request).await }
        };
        adapter_axum::serve(listener, handler, App::refuse, limits, shutdown).await
    })
    .await
}
