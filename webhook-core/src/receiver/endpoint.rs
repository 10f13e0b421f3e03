//! HTTP endpoint of the receiver.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use host_ports::ContentType;
use http::{HeaderMap, Method, Request, Response, StatusCode, request::Parts};
use http_conventions::{
    errors::{ErrorStatus, Problem},
    limits::RetryAfter,
};

use super::{
    BodyDigest, Claim, Dedupe, EventKey, Incoming, ReceiverBuilder, Verifier, VerifyError, VerifyFailure,
};
use crate::ports::{Clock, StoreError, StoreErrorKind};

/// Endpoint that receives the webhooks of one sender.
///
/// | request | response |
/// |---|---|
/// | verified event, new or duplicate | 204, as soon as it is queued |
/// | missing or wrong signature, timestamp out of tolerance | 400, the same for every reason |
/// | method other than `POST` | 405 with `Allow` |
/// | id of an earlier event with another body | 409 |
/// | body over the limit | 413, before the body is hashed |
/// | not JSON, with [`require_json`](super::ReceiverBuilder::require_json) | 415 |
/// | event claimed but not queued yet, or store unreachable | 503 with `Retry-After` |
///
/// Error responses have a problem body (RFC 9457). Every response has a [`ReceiveOutcome`] in its
/// extensions, for logs and metrics. Clones share all state.
#[derive(Clone, Debug)]
pub struct Receiver(Arc<Settings>);

pub(super) struct Settings {
    pub(super) source: String,
    pub(super) verifier: Verifier,
    pub(super) dedupe: Arc<dyn Dedupe>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) memory: Duration,
    pub(super) body_limit: usize,
    pub(super) retry_after: Duration,
    pub(super) json_only: bool,
    pub(super) failure_log: Arc<dyn Fn(&StoreError) + Send + Sync>,
}

/// Outcome of [`Receiver::receive`], for logs and metrics.
///
/// The receiver puts it into the extensions of the response; the sender does not see it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ReceiveOutcome {
    /// The event is new and queued.
    Enqueued,
    /// The event is a duplicate of a queued event.
    Duplicate,
    /// The id belongs to an earlier event with another body: the sender reused it.
    Conflict,
    /// The event is claimed by another delivery that has not queued it yet; the sender will retry.
    Pending {
        /// `Retry-After` of the response.
        retry_after: Duration,
    },
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

impl Receiver {
    /// Creates a builder for the sender that the host names `source`; `dedupe` detects duplicates.
    ///
    /// Receivers with the same source share the memory of event ids, for example during a change of
    /// the signature scheme.
    pub fn builder(
        source: &str,
        verifier: Verifier,
        dedupe: impl Dedupe + 'static,
        clock: impl Clock + 'static,
    ) -> ReceiverBuilder {
        ReceiverBuilder::new(source, verifier, Arc::new(dedupe), Arc::new(clock))
    }

    /// Handles one request; see the table of [`Receiver`].
    pub async fn receive(&self, request: Request<Bytes>) -> Response<Bytes> {
        let (head, body) = request.into_parts();
        let outcome = self.process(&head, body).await;
        let mut response = self.render(outcome);
        response.extensions_mut().insert(outcome);
        response
    }

    pub(super) fn new(settings: Settings) -> Self {
        Self(Arc::new(settings))
    }

    async fn process(&self, head: &Parts, body: Bytes) -> ReceiveOutcome {
        if head.method != Method::POST {
            return ReceiveOutcome::MethodNotAllowed;
        }
        if body.len() > self.0.body_limit {
            return ReceiveOutcome::TooLarge;
        }
        if self.0.json_only && !is_json(&head.headers) {
            return ReceiveOutcome::UnsupportedMediaType;
        }
        let now = self.0.clock.now();
        let event = match self.verify(&head.headers, body, now) {
            Ok(event) => event,
            Err(error) => return ReceiveOutcome::Rejected(error.reason()),
        };
        match self.0.dedupe.claim_and_enqueue(event, now).await {
            Ok(Claim::Enqueued) => ReceiveOutcome::Enqueued,
            Ok(Claim::Duplicate) => ReceiveOutcome::Duplicate,
            Ok(Claim::Conflict) => ReceiveOutcome::Conflict,
            Ok(Claim::Pending { retry_after }) => ReceiveOutcome::Pending { retry_after },
            Err(error) => {
                (self.0.failure_log)(&error);
                ReceiveOutcome::Unavailable(error.kind())
            }
        }
    }

    fn verify(&self, headers: &HeaderMap, body: Bytes, now: SystemTime) -> Result<Incoming, VerifyError> {
        let verified = self.0.verifier.verify(headers, body, now)?;
        let id = verified.authenticated_id()?;
        let body = verified.into_body();
        Ok(Incoming {
            key: EventKey {
                source: self.0.source.clone(),
                id,
            },
            digest: BodyDigest::compute(&body),
            body,
            // the sum overflows only if the clock is at its maximum: then the claim expires at once
            expires_at: now.checked_add(self.0.memory).unwrap_or(now),
        })
    }

    fn render(&self, outcome: ReceiveOutcome) -> Response<Bytes> {
        let problem = match outcome {
            ReceiveOutcome::Enqueued | ReceiveOutcome::Duplicate => return no_content(),
            ReceiveOutcome::Rejected(_) => {
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
            ReceiveOutcome::Unavailable(_) => {
                Problem::service_unavailable(RetryAfter::new(self.0.retry_after))
            }
        };
        problem.into_response()
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("source", &self.source)
            .field("verifier", &self.verifier)
            .field("memory", &self.memory)
            .field("body_limit", &self.body_limit)
            .finish_non_exhaustive()
    }
}

fn no_content() -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}

/// Returns `true` for exactly one media type that is JSON, with any parameters.
fn is_json(headers: &HeaderMap) -> bool {
    ContentType::from_headers(headers).is_some_and(ContentType::is_json)
}
