//! Extractors of the exchange, the page and the request with its content.

use std::time::Duration;

use axum::RequestExt as _;
use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Request};
use bytes::Bytes;
use http::{StatusCode, request::Parts};
use http_conventions::errors::Problem;
use http_conventions::paging::PageRequest;
use http_conventions::pipeline::{Admitted, Exchange};

use crate::content::collect;
use crate::refusal::{Reason, Refusal, no_conventions};
use crate::target::asked_for;

/// Time for a body, the default of [`Limits`](crate::Limits).
const READ_TIMEOUT: Duration = Duration::from_secs(10);

/// The exchange of this request, admitted by [`ConventionsLayer`](crate::ConventionsLayer).
///
/// A handler applies rate limits, idempotency keys and preconditions through it. The layer does not
/// change a response that the exchange has finished.
#[derive(Clone, Debug)]
pub struct Admission(pub Exchange<Admitted>);

impl<S: Sync> FromRequestParts<S> for Admission {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Refusal> {
        exchange(parts).cloned().map(Self)
    }
}

/// The requested page, within the [rules](http_conventions::pipeline::Conventions::page_rules) of
/// the conventions.
#[derive(Clone, Debug)]
pub struct Paged(pub PageRequest);

impl<S: Sync> FromRequestParts<S> for Paged {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Refusal> {
        let conventions = exchange(parts)?.conventions();
        let rules = conventions.page_rules().unwrap_or_default();
        rules
            .parse(parts.uri.query())
            .map(Self)
            .map_err(|invalid| Refusal::new(invalid.problem(conventions.problems()), Reason::Page(invalid)))
    }
}

/// The request with its content, in the form that the endpoints of the four crates take.
///
/// - The URI is the one that the client requested, also in a nested router.
/// - The size is limited by the conventions and by axum's `DefaultBodyLimit`: 413 above either.
/// - Content that is not complete within 10 s is refused with 408.
/// - No [`ConventionsLayer`](crate::ConventionsLayer) is needed.
#[derive(Clone, Debug)]
pub struct Whole(pub http::Request<Bytes>);

impl<S: Sync> FromRequest<S> for Whole {
    type Rejection = Refusal;

    async fn from_request(request: Request, _state: &S) -> Result<Self, Refusal> {
        let (mut parts, body) = request.with_limited_body().into_parts();
        parts.uri = asked_for(&parts.uri, &parts.extensions);
        match collect(Body::new(body), READ_TIMEOUT).await {
            Ok(content) => Ok(Self(http::Request::from_parts(parts, content))),
            Err(status) => {
                let problem = match parts.extensions.get::<Exchange<Admitted>>() {
                    Some(exchange) if status == StatusCode::PAYLOAD_TOO_LARGE => {
                        let conventions = exchange.conventions();
                        let too_large = conventions.size_limits().too_much_content();
                        too_large.problem(conventions.problems())
                    }
                    _ => Problem::of_status(status),
                };
                Err(Refusal::new(problem, Reason::Content(status)))
            }
        }
    }
}

pub(crate) fn exchange(parts: &Parts) -> Result<&Exchange<Admitted>, Refusal> {
    parts.extensions.get().ok_or_else(no_conventions)
}
