//! One connection, from its accept to its end.

use std::convert::Infallible;
use std::{error::Error, io, pin::pin, sync::Arc};

use bytes::Bytes;
use futures_util::FutureExt;
use host_server::{Accepted, Carrier, Closing, Limits, Opened, PeerWatch, Work, serve_connections};
use http::{Extensions, Request, Response, StatusCode};
use http_body_util::{Either, Full};
use hyper::{body::Body, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{rt::TokioIo, rt::TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::respond::complete;
use crate::upgrade::Switch;

/// Limit of the field lines of a head; hyper itself refuses a head with more. Higher than the limit
/// of hosts, whose refusals explain themselves.
const FIELD_LINES: usize = 256;

/// Limit of each buffer of a connection in bytes: of the head of a request, and of the parts of a
/// response that hyper copies.
const BUFFER: usize = 64 << 10;

/// Parts of a connection that all its requests share.
pub(crate) struct Connection {
    /// Extensions of its requests.
    known: Extensions,
    served: Served,
    limits: Arc<Limits>,
}

/// Parts of a connection that its responses need. The extensions of the requests of
/// [`serve_streaming`](crate::serve_streaming) hold each of them.
#[derive(Clone)]
pub(crate) struct Served {
    pub(crate) switch: Switch,
    /// Held by the handler of an unsafe method. `None` outside of a server of this crate.
    pub(crate) work: Option<Work>,
}

/// Handler of the requests of a connection.
pub(crate) trait Answer: Send + Sync + 'static {
    type Body: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static;

    fn answer(
        &self,
        request: Request<Incoming>,
        connection: &Connection,
    ) -> impl Future<Output = Response<Self::Body>> + Send;
}

/// A handler that reads the body itself.
pub(crate) struct Streaming<A>(pub(crate) A);

impl<A, F, B> Answer for Streaming<A>
where
    A: Fn(Request<Incoming>) -> F + Send + Sync + 'static,
    F: Future<Output = Response<B>> + Send,
    B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    type Body = B;

    fn answer(
        &self,
        mut request: Request<Incoming>,
        connection: &Connection,
    ) -> impl Future<Output = Response<B>> + Send {
        request.extensions_mut().extend(connection.known.clone());
        let Served { switch, work } = connection.served.clone();
        request.extensions_mut().insert(switch);
        request.extensions_mut().insert(work);
        (self.0)(request)
    }
}

/// A handler of requests with complete bodies, and the refusals of the host.
pub(crate) struct Whole<H, R>(pub(crate) H, pub(crate) R);

impl<H, R, F, B> Answer for Whole<H, R>
where
    H: Fn(Request<Bytes>) -> F + Send + Sync + 'static,
    R: Fn(&Request<()>, StatusCode) -> Response<Bytes> + Send + Sync + 'static,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    type Body = Either<Full<Bytes>, B>;

    fn answer(
        &self,
        mut request: Request<Incoming>,
        connection: &Connection,
    ) -> impl Future<Output = Response<Self::Body>> + Send {
        let upgraded = hyper::upgrade::on(&mut request);
        request.extensions_mut().extend(connection.known.clone());
        let Connection {
            known,
            served,
            limits,
        } = connection;
        complete(request, (&self.0, &self.1), (known, served, limits), upgraded)
    }
}

/// Serves the connections of a listener until `shutdown` completes, then drains them.
pub(crate) async fn serve_over(
    carrier: impl Carrier,
    listener: std::net::TcpListener,
    answer: impl Answer,
    limits: Limits,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    let answer = Arc::new(answer);
    let converse = move |accepted: Accepted| {
        let (carrier, answer) = (carrier.clone(), Arc::clone(&answer));
        async move {
            if let Some(opened) = accepted.open(carrier).await {
                converse(opened, &*answer).await;
            }
        }
    };
    serve_connections(listener, limits, shutdown, converse, |connections, future| {
        connections.spawn(future);
    })
    .await
}

/// Serves one connection until it ends.
async fn converse<S>(opened: Opened<S>, answer: &impl Answer)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let switch: Switch = Default::default();
    let stream = TokioIo::new(switch.spelled(opened.stream));
    let connection = Connection {
        known: opened.extensions,
        served: Served {
            switch,
            work: Some(opened.work),
        },
        limits: opened.limits,
    };
    serve_http(stream, (opened.peer_watch, opened.closing), &connection, answer).await;
    connection.served.switch.run().await;
}

/// Serves HTTP on one connection until it ends or becomes a WebSocket.
async fn serve_http<S>(
    stream: TokioIo<S>,
    (peer_watch, mut closing): (PeerWatch, Closing),
    connection: &Connection,
    answer: &impl Answer,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let answer = service_fn(|request| answer.answer(request, connection).map(Ok::<_, Infallible>));
    let mut http = http1::Builder::new();
    let http = http
        .timer(TokioTimer::new())
        .header_read_timeout(connection.limits.read_timeout)
        .half_close(true)
        .max_headers(FIELD_LINES)
        .max_buf_size(BUFFER);
    let http = http.serve_connection(stream, answer);
    let mut http = pin!(http.with_upgrades());
    let mut gone = pin!(peer_watch.wait_until_gone(connection.limits.half_closed_timeout));
    tokio::select! {
        _ = &mut http => return,
        () = &mut gone => return,
        () = closing.wait() => http.as_mut().graceful_shutdown(),
    }
    tokio::select! {
        _ = http => {}
        () = gone => {}
    }
}
