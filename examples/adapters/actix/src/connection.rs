//! Serves one connection, from its accept to its end.

use std::io;
use std::{
    net::SocketAddr, net::TcpListener, panic::AssertUnwindSafe, pin::Pin, rc::Rc, sync::Arc, time::Duration,
};

use actix_http::{
    ConnectionType, HttpService, Request as RawRequest, Response as RawResponse, body::BoxBody,
};
use actix_service::{Service, ServiceFactory, fn_service, map_config};
use actix_web::rt::time::timeout;
use actix_web::{App, HttpRequest, HttpResponse, dev::AppConfig, dev::Extensions, web, web::Payload};
use bytes::Bytes;
use futures_util::FutureExt;
use host_server::{
    Accepted, Carrier, LINGER, Limits, Opened, RunsToEnd, Work, check_head, serve_connections,
};
use http::{Request, Response, StatusCode, header};
use http_body::Body;
use http_body_util::Full;
use tokio::sync::watch;

use crate::convert::{answer, head, status};
use crate::gate::{GatedBody, Passing};
use crate::stream::{ConnectionData, ConnectionStream, Ending};
use crate::{BoxError, upgrade};

/// Handler of the host, and its responses to refused requests.
struct Host<H, R> {
    handler: H,
    refuse: R,
    limits: Limits,
}

/// Serves the connections of a listener until `shutdown` completes, then drains them.
pub(crate) async fn serve_over<C, H, R, F, B>(
    carrier: C,
    listener: TcpListener,
    (handler, refuse): (H, R),
    limits: Limits,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()>
where
    C: Carrier,
    H: Fn(Request<Bytes>) -> F + Send + Sync + 'static,
    R: Fn(&Request<()>, StatusCode) -> Response<Bytes> + Send + Sync + 'static,
    F: Future<Output = Response<B>> + 'static,
    B: Body<Data = Bytes, Error: Into<BoxError>> + 'static,
{
    let host = Arc::new(Host {
        handler,
        refuse,
        limits: limits.clone(),
    });
    let closing = watch::Sender::new(false);
    let begun = closing.subscribe();
    let (expecting, handling) = (Arc::clone(&host), host);
    let app = App::new().default_service(web::to(move |request: HttpRequest, body: Payload| {
        respond(Arc::clone(&handling), request, body)
    }));
    let http = HttpService::build()
        .keep_alive(limits.read_timeout)
        .client_request_timeout(limits.read_timeout)
        .client_disconnect_timeout(LINGER)
        .graceful_shutdown_signal(move || {
            let mut begun = begun.clone();
            async move {
                begun.wait_for(|is_closing| *is_closing).await.ok();
            }
        })
        .expect(fn_service(move |request: RawRequest| {
            std::future::ready(check_expectation(&expecting, request))
        }))
        .on_connect_ext(
            |stream: &ConnectionStream<C::Stream>, extensions: &mut Extensions| {
                extensions.insert(stream.data().clone());
            },
        )
        .h1(map_config(app, |()| AppConfig::default()));
    let http = http.new_service(()).await;
    let http = Rc::new(http.map_err(|()| io::Error::other("the service of actix-web does not start"))?);
    let serve = move |accepted: Accepted| {
        let (carrier, http) = (carrier.clone(), Rc::clone(&http));
        async move {
            if let Some(opened) = accepted.open(carrier).await {
                serve_connection(opened, &*http).await;
            }
        }
    };
    let shutdown = async {
        shutdown.await;
        closing.send_replace(true);
    };
    serve_connections(listener, limits, shutdown, serve, |connections, future| {
        connections.spawn_local(future);
    })
    .await
}

/// Serves one connection until it ends.
async fn serve_connection<S>(
    opened: Opened<S>,
    http: &impl Service<(ConnectionStream<S>, Option<SocketAddr>)>,
) {
    let ending = Rc::<Ending>::default();
    let data = ConnectionData {
        extensions: opened.extensions,
        work: opened.work,
        ending: Rc::clone(&ending),
        gate: Rc::default(),
    };
    let stream = ConnectionStream::new(opened.stream, data, opened.limits.read_timeout);
    let served = http.call((stream, None));
    // in a task of its own, because actix-http restarts its keep-alive time at each poll
    let gone = actix_web::rt::spawn(
        opened
            .peer_watch
            .wait_until_gone(opened.limits.half_closed_timeout),
    );
    let stop_watching = gone.abort_handle();
    tokio::select! {
        _ = served => {}
        _ = gone => {}
        () = ending.complete(LINGER) => {}
    }
    stop_watching.abort();
}

/// Checks the head of a request before `100 Continue` invites its body.
fn check_expectation<H, R>(host: &Host<H, R>, request: RawRequest) -> Result<RawRequest, RawResponse<BoxBody>>
where
    R: Fn(&Request<()>, StatusCode) -> Response<Bytes>,
{
    let extensions = request.conn_data::<ConnectionData>().map(|data| &data.extensions);
    let head = head(request.head(), extensions).ok_or_else(|| Request::new(()));
    let checked = match &head {
        Ok(head) => check_head(head, &host.limits),
        Err(_) => Err(StatusCode::BAD_REQUEST),
    };
    let Err(refusal) = checked else {
        return Ok(request);
    };
    let (parts, body) = (host.refuse)(&head.unwrap_or_else(|none| none), refusal).into_parts();
    let mut response = RawResponse::build(status(parts.status));
    for (name, value) in &parts.headers {
        response.append_header((name.as_str(), value.as_bytes()));
    }
    Err(response.body(body).map_into_boxed_body())
}

async fn respond<H, R, F, B>(
    host: Arc<Host<H, R>>,
    request: HttpRequest,
    body: Payload,
) -> HttpResponse<GatedBody>
where
    H: Fn(Request<Bytes>) -> F,
    R: Fn(&Request<()>, StatusCode) -> Response<Bytes>,
    F: Future<Output = Response<B>> + 'static,
    B: Body<Data = Bytes, Error: Into<BoxError>> + 'static,
{
    let data = request.conn_data::<ConnectionData>().cloned();
    if let Some(ConnectionData { ending, gate, .. }) = &data {
        gate.let_pass(Passing::Nothing);
        if ending.has_last_request.replace(!keeps_alive(&request)) {
            // actix-http reads on after the last request of a connection
            ending.begun.notify_one();
            return std::future::pending().await;
        }
    }
    let response = match head(request.head(), data.as_ref().map(|data| &data.extensions)) {
        Some(head) => handle(&host, (request, body), &head, data.as_ref()).await,
        None => answer((host.refuse)(&Request::new(()), StatusCode::BAD_REQUEST).map(Full::new)),
    };
    response.map_body(|_, body| GatedBody {
        body,
        gate: data.map(|data| data.gate),
    })
}

/// Returns the response of the handler, or of the host to a refused request.
async fn handle<H, R, F, B>(
    host: &Host<H, R>,
    (request, body): (HttpRequest, Payload),
    head: &Request<()>,
    data: Option<&ConnectionData>,
) -> HttpResponse
where
    H: Fn(Request<Bytes>) -> F,
    R: Fn(&Request<()>, StatusCode) -> Response<Bytes>,
    F: Future<Output = Response<B>> + 'static,
    B: Body<Data = Bytes, Error: Into<BoxError>> + 'static,
{
    let limits = &host.limits;
    let let_pass = |passing| data.map_or((), |data| data.gate.let_pass(passing));
    let handled = async {
        check_head(head, limits)?;
        let (body, frames) = match upgrade::is_requested(head) && !is_chunked(head) {
            // the bytes after the head are frames, not a body
            true => (Bytes::new(), Some(body)),
            false => {
                let_pass(Passing::of_body(head.headers()));
                (collect(body, limits.body, limits.read_timeout).await?, None)
            }
        };
        let_pass(match frames {
            Some(_) => Passing::All,
            None => Passing::Nothing,
        });
        let parts = head.clone().into_parts().0;
        let work = data.map(|data| data.work.clone());
        let response = run(&host.handler, Request::from_parts(parts, body), work).await;
        upgrade::complete(&request, frames, response).await
    };
    let caught = AssertUnwindSafe(handled).catch_unwind().await;
    let handled = caught.unwrap_or(Err(StatusCode::INTERNAL_SERVER_ERROR));
    handled.unwrap_or_else(|status| {
        let mut refusal = answer((host.refuse)(head, status).map(Full::new));
        if let Some(data) = data.filter(|_| has_body(head)) {
            // actix-http waits without limit for the rest of a body
            data.ending.has_last_request.set(true);
            data.ending.begun.notify_one();
            // the client must not send its next request on a connection that is about to end
            refusal.head_mut().set_connection_type(ConnectionType::Close);
        }
        refusal
    })
}

fn keeps_alive(request: &HttpRequest) -> bool {
    request.head().connection_type() != ConnectionType::Close
}

fn has_body(head: &Request<()>) -> bool {
    is_chunked(head) || head.headers().contains_key(header::CONTENT_LENGTH)
}

fn is_chunked(head: &Request<()>) -> bool {
    head.headers().contains_key(header::TRANSFER_ENCODING)
}

/// Runs the handler. The handler of an unsafe method runs to its end even if the client
/// disconnects.
async fn run<H, F, B>(handler: &H, request: Request<Bytes>, work: Option<Work>) -> Response<B>
where
    H: Fn(Request<Bytes>) -> F,
    F: Future<Output = Response<B>> + 'static,
    B: 'static,
{
    if request.method().is_safe() {
        return handler(request).await;
    }
    let rest_of = move |handled: Pin<Box<F>>| {
        actix_web::rt::spawn(async move {
            handled.await;
            drop(work);
        });
    };
    RunsToEnd::new(handler(request), rest_of).await
}

/// Reads a body of at most `limit` bytes within `time`.
pub(crate) async fn collect(body: Payload, limit: usize, time: Duration) -> Result<Bytes, StatusCode> {
    let in_time = timeout(time, body.to_bytes_limited(limit)).await;
    let within_limit = in_time.map_err(|_| StatusCode::REQUEST_TIMEOUT)?;
    let whole = within_limit.map_err(|_| StatusCode::PAYLOAD_TOO_LARGE)?;
    whole.map_err(|_| StatusCode::BAD_REQUEST)
}
