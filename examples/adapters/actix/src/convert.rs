//! Conversions between `http` 0.2 of actix-web and `http` 1.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use actix_http::RequestHead;
use actix_web::{HttpResponse, body::SizedStream, http as http02};
use bytes::Bytes;
use futures_util::Stream;
use http::{Extensions, Request, Response, Version, header::CONTENT_LENGTH};
use http_body::Body;
use http_body_util::BodyDataStream;

use crate::BoxError;

/// Largest piece of a body, in bytes, that actix-http copies into its buffer at once.
const PIECE: usize = 16 << 10;

/// Converts the head to `http` 1; `None` for a head that `http` 1 cannot represent.
pub(crate) fn head(from: &RequestHead, extensions: Option<&Extensions>) -> Option<Request<()>> {
    let mut request = Request::builder()
        .method(from.method.as_str())
        .uri(from.uri.to_string())
        .version(match from.version {
            http02::Version::HTTP_10 => Version::HTTP_10,
            _ => Version::HTTP_11,
        });
    for (name, value) in from.headers() {
        request = request.header(name.as_str(), value.as_bytes());
    }
    let mut request = request.body(()).ok()?;
    // a host that uses the server of actix-web has no extensions of this crate
    from.peer_addr.map(|peer| request.extensions_mut().insert(peer));
    if let Some(extensions) = extensions {
        request.extensions_mut().extend(extensions.clone());
    }
    Some(request)
}

pub(crate) fn status(of: http::StatusCode) -> http02::StatusCode {
    http02::StatusCode::from_u16(of.as_u16()).unwrap_or(http02::StatusCode::INTERNAL_SERVER_ERROR)
}

pub(crate) fn answer<B>(response: Response<B>) -> HttpResponse
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + 'static,
{
    let (parts, body) = response.into_parts();
    let mut answer = HttpResponse::build(status(parts.status));
    for (name, value) in &parts.headers {
        answer.append_header((name.as_str(), value.as_bytes()));
    }
    let length = parts.headers.get(CONTENT_LENGTH);
    let declared = length.and_then(|length| length.to_str().ok()?.parse().ok());
    let size = declared.or(body.size_hint().exact());
    let pieces = Pieces {
        chunks: Box::pin(BodyDataStream::new(body)),
        rest: Bytes::new(),
    };
    match size {
        Some(size) => answer.body(SizedStream::new(size, pieces)),
        None => answer.streaming(pieces),
    }
}

/// Splits the chunks of a body into pieces, so that little is buffered for a client that reads
/// nothing.
struct Pieces<B> {
    chunks: Pin<Box<BodyDataStream<B>>>,
    rest: Bytes,
}

impl<B> Stream for Pieces<B>
where
    B: Body<Data = Bytes, Error: Into<BoxError>>,
{
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        if self.rest.is_empty() {
            match ready!(self.chunks.as_mut().poll_next(cx)) {
                Some(Ok(chunk)) => self.rest = chunk,
                Some(Err(error)) => return Poll::Ready(Some(Err(io::Error::other(error)))),
                None => return Poll::Ready(None),
            }
        }
        let length = self.rest.len().min(PIECE);
        Poll::Ready(Some(Ok(self.rest.split_to(length))))
    }
}
