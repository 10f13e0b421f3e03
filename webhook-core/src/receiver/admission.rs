//! Verification of a request up to its claim, and the responses.

use std::{fmt, sync::Arc, time::Duration};

use bytes::Bytes;
use host_ports::ContentType;
use http::{HeaderMap, Method, Response, StatusCode, request::Parts};
use http_conventions::{
    errors::{ErrorStatus, Problem},
    limits::RetryAfter,
};

use super::{EventKey, HandshakeResult, Incoming, Verify, VerifyError, VerifyFailure};
use crate::ports::{Clock, StoreError, StoreErrorKind};

/// Settings of a receiver with the store `S`.
pub(super) struct Settings<S> {
    pub(super) source: String,
    pub(super) verifier: Arc<dyn Verify>,
    pub(super) store: S,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) memory: Duration,
    pub(super) body_limit: usize,
    pub(super) retry_after: Duration,
    pub(super) json_only: bool,
    pub(super) failure_log: Arc<dyn Fn(&StoreError) + Send + Sync>,
}

/// Outcome of [`Receiver::receive`](super::Receiver::receive) and of [`Intake`](super::Intake), for
/// logs and metrics.
///
/// The receiver puts it into the extensions of the response; the sender does not see it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ReceiveOutcome {
    /// The event is new and queued.
    Enqueued,
    /// The event was handled within the request.
    Handled,
    /// The event is a duplicate of an event that is queued or handled.
    Duplicate,
    /// The id belongs to an earlier event with another body: the sender reused it.
    Conflict,
    /// The event is claimed by another delivery that has not queued or handled it yet; the sender
    /// will retry.
    Pending {
        /// `Retry-After` of the response.
        retry_after: Duration,
    },
    /// A handshake of the sender was answered.
    HandshakeAnswered,
    /// A handshake of the sender was refused.
    HandshakeRefused,
    /// The request was not verified.
    Rejected(VerifyFailure),
    /// The method is not `POST`.
    MethodNotAllowed,
    /// The body is over the limit.
    TooLarge,
    /// The content type is not JSON.
    UnsupportedMediaType,
    /// The store failed; the sender will retry. The cause is in the [failure
    /// log](super::ReceiverBuilder::with_failure_log).
    Unavailable(StoreErrorKind),
}

/// A request that was verified, or its response.
pub(super) enum Admission {
    Event(Incoming),
    Answered(Response<Bytes>),
}

impl<S> Settings<S> {
    /// Verifies a request, and answers handshakes.
    pub(super) async fn admit(&self, head: &Parts, body: &Bytes) -> Admission {
        match self.verified(head, body).await {
            Ok(event) => Admission::Event(event),
            Err(Early::Outcome(outcome)) => Admission::Answered(self.response(outcome)),
            Err(Early::Handshake(mut response)) => {
                response
                    .extensions_mut()
                    .insert(ReceiveOutcome::HandshakeAnswered);
                Admission::Answered(*response)
            }
        }
    }

    async fn verified(&self, head: &Parts, body: &Bytes) -> Result<Incoming, Early> {
        if body.len() > self.body_limit {
            return Err(ReceiveOutcome::TooLarge.into());
        }
        let now = self.clock.now();
        Early::check(self.verifier.handshake(head.into(), body, false, now))?;
        if head.method != Method::POST {
            return Err(ReceiveOutcome::MethodNotAllowed.into());
        }
        if self.json_only && !is_json(&head.headers) {
            return Err(ReceiveOutcome::UnsupportedMediaType.into());
        }
        let evidence = self.verifier.verify_request(head.into(), body, now).await;
        let evidence = evidence.map_err(ReceiveOutcome::Rejected)?;
        Early::check(self.verifier.handshake(head.into(), body, true, now))?;
        Ok(Incoming {
            key: EventKey {
                source: self.source.clone(),
                id: evidence.id,
            },
            digest: evidence.digest,
            body: body.clone(),
            // the sum overflows only if the clock is at its maximum: then the claim expires at once
            expires_at: now.checked_add(self.memory).unwrap_or(now),
        })
    }

    /// Reports a store error to the failure log, and asks the sender to retry.
    pub(super) fn failed(&self, error: &StoreError) -> Response<Bytes> {
        (self.failure_log)(error);
        self.response(ReceiveOutcome::Unavailable(error.kind()))
    }

    /// Response to the sender, with the outcome in its extensions.
    pub(super) fn response(&self, outcome: ReceiveOutcome) -> Response<Bytes> {
        let replies = self.verifier.replies();
        let is_refused = matches!(outcome, ReceiveOutcome::HandshakeRefused)
            || matches!(outcome, ReceiveOutcome::Rejected(reason) if reason != VerifyFailure::KeyUnavailable);
        let mut response = match self.problem(outcome) {
            None => empty(replies.accepted),
            Some(_) if is_refused && replies.refused != StatusCode::BAD_REQUEST => empty(replies.refused),
            Some(problem) => problem.into_response(),
        };
        response.extensions_mut().insert(outcome);
        response
    }

    fn problem(&self, outcome: ReceiveOutcome) -> Option<Problem> {
        Some(match outcome {
            ReceiveOutcome::Enqueued
            | ReceiveOutcome::Handled
            | ReceiveOutcome::Duplicate
            | ReceiveOutcome::HandshakeAnswered => return None,
            ReceiveOutcome::Unavailable(_) | ReceiveOutcome::Rejected(VerifyFailure::KeyUnavailable) => {
                Problem::service_unavailable(RetryAfter::new(self.retry_after))
            }
            ReceiveOutcome::Rejected(_) | ReceiveOutcome::HandshakeRefused => {
                Problem::new(ErrorStatus::BAD_REQUEST).with_detail(VerifyError::PUBLIC)
            }
            ReceiveOutcome::MethodNotAllowed => Problem::method_not_allowed(&[Method::POST]),
            ReceiveOutcome::Conflict => Problem::new(ErrorStatus::CONFLICT)
                .with_detail("an event with this id and another body has been received before"),
            ReceiveOutcome::TooLarge => Problem::new(ErrorStatus::CONTENT_TOO_LARGE),
            ReceiveOutcome::UnsupportedMediaType => Problem::new(ErrorStatus::UNSUPPORTED_MEDIA_TYPE),
            ReceiveOutcome::Pending { retry_after } => {
                Problem::service_unavailable(RetryAfter::new(retry_after))
            }
        })
    }
}

impl<S> fmt::Debug for Settings<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("source", &self.source)
            .field("memory", &self.memory)
            .field("body_limit", &self.body_limit)
            .finish_non_exhaustive()
    }
}

/// Reason to answer before the claim.
enum Early {
    Outcome(ReceiveOutcome),
    /// Response to a handshake.
    Handshake(Box<Response<Bytes>>),
}

impl Early {
    fn check(result: HandshakeResult) -> Result<(), Self> {
        match result {
            HandshakeResult::NotHandshake => Ok(()),
            HandshakeResult::Accepted(response) => Err(Self::Handshake(Box::new(response))),
            HandshakeResult::Refused => Err(ReceiveOutcome::HandshakeRefused.into()),
        }
    }
}

impl From<ReceiveOutcome> for Early {
    fn from(outcome: ReceiveOutcome) -> Self {
        Self::Outcome(outcome)
    }
}

pub(super) fn empty(status: StatusCode) -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = status;
    response
}

/// Returns `true` for exactly one media type that is JSON, with any parameters.
fn is_json(headers: &HeaderMap) -> bool {
    ContentType::from_headers(headers).is_some_and(ContentType::is_json)
}
