//! The measured servers: an authorization server and a fixed response behind the suite's adapter,
//! and the same response on plain hyper.

use std::convert::Infallible;
use std::net::TcpListener;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;

use crate::issuer::Issuer;

/// Length of the fixed response, between those of an opaque token and of a JWT.
const ANSWER: usize = 480;

/// Serves until it is killed.
pub(crate) async fn serve(what: &str) -> std::io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    let (limits, never) = (Default::default(), std::future::pending());
    let answer = Bytes::from(vec![b'x'; ANSWER]);
    match what {
        "hyper" => {
            println!("listening {port}");
            plain(listener, answer).await
        }
        "adapter" => {
            println!("listening {port}");
            let handler = move |_: Request<Bytes>| {
                let answer = answer.clone();
                async { Response::new(Full::new(answer)) }
            };
            host_adapter_hyper::serve(listener, handler, refuse, limits, never).await
        }
        issuer => {
            let issuer = Issuer::open(issuer).await;
            println!("listening {port}");
            let handler = move |request| {
                let issuer = issuer.clone();
                async move { issuer.answer(request).await.map(Full::new) }
            };
            host_adapter_hyper::serve(listener, handler, refuse, limits, never).await
        }
    }
}

fn refuse(_: &Request<()>, status: StatusCode) -> Response<Bytes> {
    let response = Response::builder().status(status);
    response.body(Bytes::new()).unwrap_or_default()
}

/// hyper as in its guide: no timeouts, no limits, no shutdown. The body of each request is read.
async fn plain(listener: TcpListener, answer: Bytes) -> std::io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let answer = answer.clone();
        let service = service_fn(move |request: Request<Incoming>| {
            let answer = answer.clone();
            async move {
                let body = request.into_body().collect().await;
                drop(body.expect("a body").to_bytes());
                Ok::<_, Infallible>(Response::new(Full::new(answer)))
            }
        });
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}
