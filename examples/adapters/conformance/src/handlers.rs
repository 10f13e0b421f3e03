//! Handlers and responses of the cases.

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};

use crate::Body;

pub(crate) const MEBIBYTE: usize = 1 << 20;

pub(crate) async fn echo(request: Request<Bytes>) -> Response<Body> {
    whole(request.into_body())
}

/// A response with this content.
pub(crate) fn whole(content: impl Into<Bytes>) -> Response<Body> {
    let content = Full::new(content.into());
    Response::new(content.map_err(|never| match never {}).boxed_unsync())
}
