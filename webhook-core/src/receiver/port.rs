//! Port for verification that no scheme can describe.

use std::{sync::Arc, time::SystemTime};

use async_trait::async_trait;
use bytes::Bytes;

use http::StatusCode;

use super::{BodyDigest, HandshakeResult, Head, Verifier, VerifyFailure};
use crate::event::EventId;

/// Verifies the requests of a sender.
///
/// [`Verifier`] implements it. A host implements it for a sender whose verification needs more than
/// a [`Scheme`](crate::signature::scheme::Scheme): certificates that are downloaded (AWS SNS,
/// PayPal), or a JSON Web Token.
///
/// # Contract
///
/// - [`verify_request`](Self::verify_request) returns [`Evidence`] only if the sender proved the
///   whole body.
/// - The signature covers [`Evidence::id`]; otherwise a captured request can be replayed under
///   another id.
/// - If a key is temporarily unavailable, return [`VerifyFailure::KeyUnavailable`]: the sender gets
///   a 503 and retries.
#[async_trait]
pub trait Verify: Send + Sync {
    /// Verifies the exact bytes of a request.
    ///
    /// # Errors
    ///
    /// The reason, for logs. The response does not contain it.
    async fn verify_request(
        &self,
        head: Head<'_>,
        body: &Bytes,
        now: SystemTime,
    ) -> Result<Evidence, VerifyFailure>;

    /// Responds to a handshake of the sender. The receiver calls it before the verification, and
    /// again after it with `is_verified`.
    fn handshake(&self, head: Head<'_>, body: &Bytes, is_verified: bool, now: SystemTime) -> HandshakeResult {
        let _ = (head, body, is_verified, now);
        HandshakeResult::NotHandshake
    }

    /// Status codes that the sender expects.
    fn replies(&self) -> Replies {
        Replies::default()
    }
}

/// Status codes that a sender expects. Default: 204 and 400.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Replies {
    /// Status for a verified event, new or duplicate. The body is empty.
    pub accepted: StatusCode,
    /// Status for a request that is not verified. The body is a problem for 400, and empty for
    /// another status.
    pub refused: StatusCode,
}

impl Default for Replies {
    fn default() -> Self {
        Self {
            accepted: StatusCode::NO_CONTENT,
            refused: StatusCode::BAD_REQUEST,
        }
    }
}

/// Proof of a verified request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Evidence {
    /// Id for the detection of duplicates.
    pub id: EventId,
    /// Digest that two deliveries of this event share; another digest under the same id is a
    /// conflict.
    pub digest: BodyDigest,
}

#[async_trait]
impl Verify for Verifier {
    async fn verify_request(
        &self,
        head: Head<'_>,
        body: &Bytes,
        now: SystemTime,
    ) -> Result<Evidence, VerifyFailure> {
        let evidence = || {
            let verified = self.verify(head, body.clone(), now)?;
            Ok(Evidence {
                id: verified.authenticated_id()?,
                digest: verified.digest(),
            })
        };
        evidence().map_err(|error: super::VerifyError| error.reason())
    }

    fn handshake(&self, head: Head<'_>, body: &Bytes, is_verified: bool, now: SystemTime) -> HandshakeResult {
        if is_verified {
            self.signed_handshake(body)
        } else {
            self.unsigned_handshake(head, body, now)
        }
    }

    fn replies(&self) -> Replies {
        self.provider().replies()
    }
}

#[async_trait]
impl<V: Verify + ?Sized> Verify for Arc<V> {
    async fn verify_request(
        &self,
        head: Head<'_>,
        body: &Bytes,
        now: SystemTime,
    ) -> Result<Evidence, VerifyFailure> {
        (**self).verify_request(head, body, now).await
    }

    fn handshake(&self, head: Head<'_>, body: &Bytes, is_verified: bool, now: SystemTime) -> HandshakeResult {
        (**self).handshake(head, body, is_verified, now)
    }

    fn replies(&self) -> Replies {
        (**self).replies()
    }
}
