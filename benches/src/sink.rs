//! A fast receiver of webhooks on loopback.

use std::{
    convert::Infallible,
    future::pending,
    io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Empty};
use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto,
};
use rustls::{ServerConfig, crypto::aws_lc_rs, pki_types::CertificateDer};
use tokio::{
    net::TcpListener,
    time::{sleep, timeout},
};
use tokio_rustls::TlsAcceptor;

const PATIENCE: Duration = Duration::from_secs(300);

/// Answers every message with 204, except at [`HUNG`](Self::HUNG), on a thread of its own, until
/// the process ends.
#[derive(Debug)]
pub struct Sink {
    url: String,
    answered: Arc<AtomicUsize>,
}

impl Sink {
    /// Path whose requests never get a response.
    pub const HUNG: &'static str = "/hung";

    /// Starts a sink that reads each message and answers after the time `service`.
    ///
    /// # Errors
    ///
    /// The operating system refuses a socket.
    pub fn start(service: Duration) -> io::Result<Self> {
        Self::start_with(service, None)
    }

    /// Starts a sink over TLS that supports HTTP/2 and HTTP/1.1. It has the certificate of
    /// host-transport-conformance.
    ///
    /// # Errors
    ///
    /// The operating system refuses a socket.
    pub fn start_tls() -> io::Result<Self> {
        Self::start_with(Duration::ZERO, Some(tls()))
    }

    fn start_with(service: Duration, tls: Option<TlsAcceptor>) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let url = match tls {
            Some(_) => format!("https://{NAME}:{port}"),
            None => format!("http://127.0.0.1:{port}"),
        };
        let runtime = crate::runtime()?;
        let answered = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&answered);
        thread::spawn(move || runtime.block_on(serve(listener, tls, service, counter)));
        Ok(Self { url, answered })
    }

    /// Number of messages answered so far.
    #[must_use]
    pub fn answered(&self) -> usize {
        self.answered.load(Ordering::Relaxed)
    }

    /// URL without a path.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }
}

/// Host name in the certificate.
pub(crate) const NAME: &str = "hooks.example.com";

fn tls() -> TlsAcceptor {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider speaks TLS 1.2 and 1.3")
        .with_no_client_auth();
    let certificate = CertificateDer::from(host_transport_conformance::tls::CERTIFICATE);
    let mut config = config
        .with_single_cert(vec![certificate], host_transport_conformance::tls::key())
        .expect("the key of the certificate");
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    TlsAcceptor::from(Arc::new(config))
}

async fn serve(
    listener: std::net::TcpListener,
    tls: Option<TlsAcceptor>,
    service: Duration,
    answered: Arc<AtomicUsize>,
) {
    let listener = TcpListener::from_std(listener).expect("a socket");
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            continue;
        };
        let answered = Arc::clone(&answered);
        let tls = tls.clone();
        let answer = service_fn(move |request| answer(request, service, Arc::clone(&answered)));
        tokio::spawn(timeout(PATIENCE, async move {
            let server = auto::Builder::new(TokioExecutor::new());
            // a dispatcher that ends closes its connections
            let _closed = match tls {
                Some(tls) => match tls.accept(stream).await {
                    Ok(stream) => server.serve_connection(TokioIo::new(stream), answer).await,
                    Err(_refused) => return,
                },
                None => server.serve_connection(TokioIo::new(stream), answer).await,
            };
        }));
    }
}

async fn answer(
    request: Request<Incoming>,
    service: Duration,
    answered: Arc<AtomicUsize>,
) -> Result<Response<Empty<Bytes>>, Infallible> {
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
    answered.fetch_add(1, Ordering::Relaxed);
    Ok(response)
}
