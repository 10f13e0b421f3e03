//! Verified messages.

use std::time::SystemTime;

use bytes::Bytes;

use super::{VerifyError, VerifyFailure};
use crate::{
    event::{Envelope, EventId, InvalidEnvelope, Timestamp},
    signature::Scheme,
};

/// Message with a valid signature and timestamp; the only access to the payload.
///
/// Only [`Verifier::verify`](super::Verifier::verify) creates it.
#[derive(Clone, Debug)]
pub struct Verified<'h> {
    pub(super) scheme: Scheme,
    pub(super) id: &'h str,
    pub(super) timestamp: Timestamp,
    pub(super) body: Bytes,
}

impl Verified<'_> {
    /// Bytes that were signed.
    ///
    /// # Security
    ///
    /// The signature authenticates the sender. The body may contain text of the sender's users:
    /// treat it as untrusted input.
    #[must_use]
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// Converts the message into the bytes that were signed.
    #[must_use]
    pub fn into_body(self) -> Bytes {
        self.body
    }

    /// Time at which the sender signed the message.
    #[must_use]
    pub fn timestamp(&self) -> SystemTime {
        self.timestamp.into()
    }

    /// Scheme of the signature.
    #[must_use]
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Value of `Webhook-Id`. [`Scheme::TimestampBodyHex`] does not sign it.
    #[must_use]
    pub fn header_id(&self) -> &str {
        self.id
    }

    /// Id for the detection of duplicates, covered by the signature.
    ///
    /// If the scheme does not sign the header, this is the `id` inside the body, which must equal
    /// the header.
    ///
    /// # Errors
    ///
    /// [`VerifyError`] if the body has no `id`, or the `id` differs from the header.
    pub fn authenticated_id(&self) -> Result<EventId, VerifyError> {
        if self.scheme.signs_id() {
            return Ok(self.id.parse().map_err(|_| VerifyFailure::InvalidId)?);
        }
        let id = Envelope::id_in(&self.body).map_err(|_| VerifyFailure::MissingEnvelopeId)?;
        if id.as_str() == self.id {
            Ok(id)
        } else {
            Err(VerifyFailure::IdMismatch.into())
        }
    }

    /// Parses the body as an event envelope.
    ///
    /// # Errors
    ///
    /// [`InvalidEnvelope`] if the body has another format.
    pub fn envelope(&self) -> Result<Envelope, InvalidEnvelope> {
        Envelope::parse(self.body.clone())
    }
}
