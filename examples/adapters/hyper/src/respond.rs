//! Requests with complete bodies.

use std::{error::Error, panic::AssertUnwindSafe, pin::Pin, pin::pin};

use bytes::Bytes;
use futures_util::FutureExt;
use host_server::{Limits, RunsToEnd, check_head, read_on};
use http::request::Parts;
use http::{Extensions, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Either, Full, LengthLimitError};
use hyper::{body::Body, upgrade::OnUpgrade};
use tokio::time::timeout;

use crate::connection::Served;

/// Checks the head of a request, reads its body within the limits and returns the response of
/// `handler`, or the response of `refuse` in the cases that [`serve`](crate::serve) lists. Adapters
/// of frameworks on hyper call it in a handler of [`serve_streaming`](crate::serve_streaming).
pub async fn respond<I, H, R, F, B>(
    mut request: Request<I>,
    handler: &H,
    refuse: &R,
    limits: &Limits,
) -> Response<Either<Full<Bytes>, B>>
where
    I: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Unpin,
    H: Fn(Request<Bytes>) -> F,
    R: Fn(&Request<()>, StatusCode) -> Response<Bytes>,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body + Send + 'static,
{
    let upgraded = hyper::upgrade::on(&mut request);
    let served = Served {
        switch: request.extensions_mut().remove().unwrap_or_default(),
        work: request.extensions_mut().remove().unwrap_or_default(),
    };
    let known = request.extensions().clone();
    complete(request, (handler, refuse), (&known, &served, limits), upgraded).await
}

/// Like [`respond`], for a request whose extensions are `known`.
pub(crate) async fn complete<I, H, R, F, B>(
    request: Request<I>,
    (handler, refuse): (&H, &R),
    (known, served, limits): (&Extensions, &Served, &Limits),
    upgraded: OnUpgrade,
) -> Response<Either<Full<Bytes>, B>>
where
    I: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Unpin,
    H: Fn(Request<Bytes>) -> F,
    R: Fn(&Request<()>, StatusCode) -> Response<Bytes>,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body + Send + 'static,
{
    let checked = check_head(&request, limits);
    let (parts, mut body) = request.into_parts();
    let mut head = head_of(&parts);
    let is_head = parts.method == Method::HEAD;
    let handled = async {
        let read = match checked {
            Ok(()) => collect(&mut body, limits).await,
            Err(status) => Err(status),
        };
        if read.is_err() {
            read_on(&parts.headers, body).await;
        }
        let response = run(handler, Request::from_parts(parts, read?), served).await;
        let response = with_length(is_head, response).map(Either::Right);
        served.switch.complete(response, &head, upgraded)
    };
    let caught = AssertUnwindSafe(handled).catch_unwind().await;
    let handled = caught.unwrap_or(Err(StatusCode::INTERNAL_SERVER_ERROR));
    handled.unwrap_or_else(|status| {
        // only a refusal needs its own copy
        head.extensions_mut().extend(known.clone());
        refuse(&head, status).map(|body| Either::Left(Full::new(body)))
    })
}

/// Runs the handler. That of an unsafe method runs to its end although its client disconnects.
async fn run<H, F, B>(handler: &H, request: Request<Bytes>, served: &Served) -> Response<B>
where
    H: Fn(Request<Bytes>) -> F,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Send + 'static,
{
    if request.method().is_safe() {
        return handler(request).await;
    }
    let work = served.work.clone();
    let rest_of = move |handled: Pin<Box<F>>| {
        tokio::spawn(async move {
            handled.await;
            drop(work);
        });
    };
    RunsToEnd::new(handler(request), rest_of).await
}

/// Copies the head of a request without its extensions.
fn head_of(parts: &Parts) -> Request<()> {
    let mut head = Request::new(());
    head.method_mut().clone_from(&parts.method);
    head.uri_mut().clone_from(&parts.uri);
    *head.version_mut() = parts.version;
    head.headers_mut().clone_from(&parts.headers);
    head
}

async fn collect<I>(body: &mut I, limits: &Limits) -> Result<Bytes, StatusCode>
where
    I: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Unpin,
{
    if body.is_end_stream() {
        return Ok(Bytes::new());
    }
    let mut reading = pin!(read(body, limits.body));
    // most bodies arrive with their head and need no timer
    match reading.as_mut().now_or_never() {
        Some(read) => read,
        None => timeout(limits.read_timeout, reading)
            .await
            .unwrap_or(Err(StatusCode::REQUEST_TIMEOUT)),
    }
}

/// Reads a body of at most `limit` bytes. A body in one frame is not copied.
async fn read<I>(body: &mut I, limit: usize) -> Result<Bytes, StatusCode>
where
    I: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Unpin,
{
    let (mut first, mut joined) = (Bytes::new(), Vec::new());
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| match error.into().is::<LengthLimitError>() {
            true => StatusCode::PAYLOAD_TOO_LARGE,
            false => StatusCode::BAD_REQUEST,
        })?;
        let data = frame.into_data().unwrap_or_default();
        if data.len() > limit - first.len().max(joined.len()) {
            return Err(StatusCode::PAYLOAD_TOO_LARGE);
        }
        if first.is_empty() {
            first = data;
        } else {
            if joined.is_empty() {
                joined.extend_from_slice(&first);
            }
            joined.extend_from_slice(&data);
        }
        if body.is_end_stream() {
            break;
        }
    }
    Ok(if joined.is_empty() { first } else { joined.into() })
}

/// Sets the length of a HEAD response to that of the omitted content, if that is zero. hyper sets
/// every other length.
fn with_length<B: Body>(is_head: bool, mut response: Response<B>) -> Response<B> {
    let has_content = !matches!(
        response.status(),
        StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED
    );
    if is_head && has_content && response.body().size_hint().exact() == Some(0) {
        let length = response.headers_mut().entry(header::CONTENT_LENGTH);
        length.or_insert(HeaderValue::from_static("0"));
    }
    response
}
