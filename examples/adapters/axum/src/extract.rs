//! What handlers ask for in their arguments.

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

/// How long a peer may take to send a body, as by default in [`Limits`](crate::Limits).
const READ_TIMEOUT: Duration = Duration::from_secs(10);

/// The exchange of this request, which [`ConventionsLayer`](crate::ConventionsLayer) has admitted: what a handler is limited
/// by, replayed by and evaluates preconditions with. An answer that it finished passes the layer as it is.
#[derive(Clone, Debug)]
pub struct Admission(pub Exchange<Admitted>);

impl<S: Sync> FromRequestParts<S> for Admission {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Refusal> {
        exchange(parts).cloned().map(Self)
    }
}

/// The page that the query asks for, within the [rules](http_conventions::pipeline::Conventions::page_rules) of the conventions.
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

/// The request with its content read, as every endpoint of the four crates takes it: with the URI that the client asked for, also
/// in a router that is nested.
///
/// The size is limited by the conventions, and by axum's `DefaultBodyLimit`; content that is not there within ten seconds is
/// refused by 408. An endpoint needs no conventions around it.
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
