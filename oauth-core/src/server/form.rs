//! Form bodies of the endpoints that clients call directly.

use bytes::Bytes;
use http::header::ALLOW;
use http::{HeaderValue, Method, Request, Response, StatusCode};

use super::endpoint_response::Failure;
use crate::error::{ErrorCode, ErrorResponse, Reason};
use crate::params::{Params, is_form};
use crate::vocabulary::{Audience, InvalidAudience};

/// Largest form or query, in bytes. The longest token with all other parameters is several times
/// shorter.
pub(super) const MAX_BODY: usize = 64 * 1024;

/// Parameters that may be repeated, [RFC 8707
/// §2](https://www.rfc-editor.org/rfc/rfc8707#section-2).
pub(super) const REPEATABLE: [&str; 1] = ["resource"];

/// Parses the values of `resource`. Fails if one of them is not a valid audience.
pub(super) fn resources(params: &Params) -> Result<Vec<Audience>, InvalidAudience> {
    params.all("resource").map(str::parse).collect()
}

/// Parses the form of a `POST`. The query is ignored, because queries end up in logs.
pub(super) fn form(request: &Request<Bytes>) -> Result<Params, Failure> {
    if request.method() != Method::POST {
        return Err(Failure::with_response(
            method_not_allowed("POST"),
            Reason::MethodNotAllowed,
        ));
    }
    if !is_form(request.headers()) {
        return Err(Failure::described(
            ErrorCode::InvalidRequest,
            Reason::ContentTypeNotAForm,
            "the content type must be application/x-www-form-urlencoded",
        ));
    }
    if request.body().len() > MAX_BODY {
        return Err(Failure::with_response(too_large(), Reason::BodyTooLarge));
    }
    let params = Params::parse(request.body()).map_err(|_| {
        Failure::described(
            ErrorCode::InvalidRequest,
            Reason::MalformedParameters,
            "the form is malformed",
        )
    })?;
    if params.first_repeated(&REPEATABLE).is_some() {
        return Err(Failure::described(
            ErrorCode::InvalidRequest,
            Reason::ParameterRepeated,
            "a parameter must not be repeated",
        ));
    }
    Ok(params)
}

/// Builds the response 405 with `allowed` in the `Allow` header.
pub(super) fn method_not_allowed(allowed: &'static str) -> Response<Bytes> {
    let mut response = ErrorResponse::new(ErrorCode::InvalidRequest)
        .with_description("the method is not allowed here")
        .into_response();
    *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
    response
        .headers_mut()
        .insert(ALLOW, HeaderValue::from_static(allowed));
    response
}

fn too_large() -> Response<Bytes> {
    let mut response = ErrorResponse::new(ErrorCode::InvalidRequest)
        .with_description("the form is too large")
        .into_response();
    *response.status_mut() = StatusCode::PAYLOAD_TOO_LARGE;
    response
}
