//! The endpoint that a sender posts to.

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

/// Receives the webhooks of one sender.
///
/// | what came | answer |
/// |---|---|
/// | a verified event, new or repeated | 204, at once |
/// | anything that cannot be verified, or is too old or too new | 400, always the same |
/// | another method than `POST` | 405 with `Allow` |
/// | an id that came before with another body | 409 |
/// | more bytes than the limit | 413, before anything is hashed |
/// | no JSON, where it is required | 415 |
/// | an event that is claimed and not yet queued, or a store that cannot be reached | 503 with `Retry-After` |
///
/// Errors have a problem body. Every response carries its [`ReceiveOutcome`] in its extensions, for the log and for metrics.
/// Cloning shares everything.
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

/// Outcome of [`Receiver::receive`], in the extensions of its response; never on the wire.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ReceiveOutcome {
    /// A new event; it is in the queue.
    Enqueued,
    /// A repetition of an event that had been queued.
    Duplicate,
    /// An id that came before with another body. Something is wrong at the sender.
    Conflict,
    /// Claimed by a delivery that has not queued it yet; the sender comes again.
    Pending {
        /// After how long.
        retry_after: Duration,
    },
    /// Not verified, for this reason.
    Rejected(VerifyFailure),
    /// Not a `POST`.
    MethodNotAllowed,
    /// More bytes than the limit.
    TooLarge,
    /// Not JSON.
    UnsupportedMediaType,
    /// The store failed in this way; the sender comes again. The cause is in the
    /// [failure log](super::ReceiverBuilder::with_failure_log).
    Unavailable(StoreErrorKind),
}

impl Receiver {
    /// Begins a receiver for the sender that the host calls `source`, recognising its events by `dedupe`.
    ///
    /// Two receivers that share a source share their memory of events: during a change of scheme, for example.
    pub fn builder(
        source: &str,
        verifier: Verifier,
        dedupe: impl Dedupe + 'static,
        clock: impl Clock + 'static,
    ) -> ReceiverBuilder {
        ReceiverBuilder::new(source, verifier, Arc::new(dedupe), Arc::new(clock))
    }

    /// Answers one request; see the table above.
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
            digest: BodyDigest::of(&body),
            body,
            // only a clock at the end of time fails here, and then nothing expires any more
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

/// Whether there is one media type, and it is JSON, whatever its parameters.
fn is_json(headers: &HeaderMap) -> bool {
    ContentType::from_headers(headers).is_some_and(ContentType::is_json)
}
