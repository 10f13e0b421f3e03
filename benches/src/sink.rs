//! A fast receiver of webhooks on loopback.

use std::{convert::Infallible, future::pending, io, thread, time::Duration};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Empty};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    net::TcpListener,
    time::{sleep, timeout},
};

const PATIENCE: Duration = Duration::from_secs(60);

/// Answers 204 on a thread of its own until the process ends.
#[derive(Debug)]
pub struct Sink {
    url: String,
}

impl Sink {
    /// Path without a response.
    pub const HUNG: &'static str = "/hung";

    /// Starts a sink that reads each message and answers after this time.
    ///
    /// # Errors
    ///
    /// The operating system refuses a socket.
    pub fn start(service: Duration) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let url = format!("http://{}", listener.local_addr()?);
        let runtime = crate::runtime()?;
        thread::spawn(move || runtime.block_on(serve(listener, service)));
        Ok(Self { url })
    }

    /// URL without a path.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }
}

async fn serve(listener: std::net::TcpListener, service: Duration) {
    let listener = TcpListener::from_std(listener).expect("a socket");
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            continue;
        };
        let answer = service_fn(move |request| answer(request, service));
        let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), answer);
        tokio::spawn(timeout(PATIENCE, connection));
    }
}

async fn answer(request: Request<Incoming>, service: Duration) -> Result<Response<Empty<Bytes>>, Infallible> {
    if request.uri().path() == Sink::HUNG {
        return pending().await;
    }
    let mut response = Response::default();
    if request.into_body().collect().await.is_ok() {
        *response.status_mut() = StatusCode::NO_CONTENT;
    }
    if !service.is_zero() {
        sleep(service).await;
    }
    Ok(response)
}
