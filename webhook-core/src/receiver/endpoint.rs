//! HTTP endpoint of the receiver.

use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};

use super::{
    Claim, Dedupe, ReceiveOutcome, ReceiverBuilder, Verify,
    admission::{Admission, Settings},
};
use crate::ports::Clock;

/// Endpoint that receives the webhooks of one sender.
///
/// | request | response |
/// |---|---|
/// | verified event, new or duplicate | 204, or the status that the sender [expects](super::Replies), as soon as it is queued |
/// | [handshake](super::Handshake) of the sender | its response; 400 if it is refused |
/// | missing or wrong signature, timestamp out of tolerance | 400, or the status that the sender expects; the same for every reason |
/// | method other than `POST` | 405 with `Allow` |
/// | id of an earlier event with another digest | 409 |
/// | body over the limit | 413, before the body is hashed |
/// | not JSON, with [`require_json`](super::ReceiverBuilder::require_json) | 415 |
/// | event claimed but not queued yet, store unreachable, or key unavailable | 503 with `Retry-After` |
///
/// Error responses have a problem body (RFC 9457). Every response has a [`ReceiveOutcome`] in its
/// extensions, for logs and metrics. Clones share all state.
#[derive(Clone, Debug)]
pub struct Receiver(Arc<Settings<Arc<dyn Dedupe>>>);

impl Receiver {
    /// Creates a builder for the sender that the host names `source`; `dedupe` detects duplicates.
    ///
    /// Receivers with the same source share the memory of event ids, for example during a change of
    /// the signature scheme. `verifier` is a [`Verifier`](super::Verifier) or another [`Verify`] of
    /// the host.
    pub fn builder(
        source: &str,
        verifier: impl Verify + 'static,
        dedupe: impl Dedupe + 'static,
        clock: impl Clock + 'static,
    ) -> ReceiverBuilder {
        ReceiverBuilder::new(source, Arc::new(verifier), Arc::new(dedupe), Arc::new(clock))
    }

    /// Handles one request; see the table of [`Receiver`].
    pub async fn receive(&self, request: Request<Bytes>) -> Response<Bytes> {
        let (head, body) = request.into_parts();
        let event = match self.0.admit(&head, &body).await {
            Admission::Event(event) => event,
            Admission::Answered(response) => return response,
        };
        let claimed = self.0.store.claim_and_enqueue(event, self.0.clock.now()).await;
        match claimed {
            Ok(claim) => self.0.response(claim.into()),
            Err(error) => self.0.failed(&error),
        }
    }

    pub(super) fn new(settings: Settings<Arc<dyn Dedupe>>) -> Self {
        Self(Arc::new(settings))
    }
}

impl From<Claim> for ReceiveOutcome {
    fn from(claim: Claim) -> Self {
        match claim {
            Claim::Enqueued => Self::Enqueued,
            Claim::Duplicate => Self::Duplicate,
            Claim::Conflict => Self::Conflict,
            Claim::Pending { retry_after } => Self::Pending { retry_after },
        }
    }
}
