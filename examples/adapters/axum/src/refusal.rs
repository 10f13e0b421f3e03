//! The rejection type of the extractors.

use axum::{body::Body, response::IntoResponse, response::Response};
use bytes::Bytes;
use http::StatusCode;
use http_conventions::errors::{ErrorStatus, Problem};
use http_conventions::paging::InvalidPageRequest;
use http_conventions::pipeline::EarlyResponse;

/// An early response of a handler.
///
/// It is the rejection of every extractor of this crate, and `?` converts the refusals of the four
/// crates into it. The response is a problem; [`reason`](Self::reason) is for the log.
#[derive(Debug)]
// one pointer, so that a `Result` stays small
pub struct Refusal(Box<(http::Response<Bytes>, Reason)>);

/// Cause of a [`Refusal`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Reason {
    /// The route has no [`ConventionsLayer`](crate::ConventionsLayer): 500.
    NoConventions,
    /// The [conventions](http_conventions::pipeline::Conventions) of an
    /// [`IdempotencyLayer`](crate::IdempotencyLayer) have no idempotency: 500.
    NoIdempotency,
    /// The function of an [`IdempotencyLayer`](crate::IdempotencyLayer) found no principal: 500.
    NoPrincipal,
    /// The caller is not authenticated, or lacks a scope: 400, 401 or 403.
    #[cfg(feature = "oauth")]
    Caller(oauth_core::resource::Challenge),
    /// The parameter `limit` or `after` is malformed: 400.
    Page(InvalidPageRequest),
    /// The content is too large, too slow or broken: 413, 408, 400.
    Content(StatusCode),
    /// A stage of the exchange, or the handler, ended the request.
    Host,
}

impl Refusal {
    pub(crate) fn new(problem: Problem, reason: Reason) -> Self {
        Self(Box::new((problem.into_response(), reason)))
    }

    /// Status of the response.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.0.0.status()
    }

    /// Cause, for the log.
    #[must_use]
    pub fn reason(&self) -> &Reason {
        &self.0.1
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        self.0.0.map(Body::from)
    }
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self::new(problem, Reason::Host)
    }
}

impl From<EarlyResponse> for Refusal {
    fn from(early: EarlyResponse) -> Self {
        Self(Box::new((early.into_response(), Reason::Host)))
    }
}

pub(crate) fn no_conventions() -> Refusal {
    Refusal::new(
        Problem::new(ErrorStatus::INTERNAL_SERVER_ERROR),
        Reason::NoConventions,
    )
}
