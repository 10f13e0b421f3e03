//! A payload one may read.

use std::time::SystemTime;

use bytes::Bytes;

use super::{VerifyError, VerifyFailure};
use crate::{
    event::{Envelope, EventId, InvalidEnvelope, Timestamp},
    signature::Scheme,
};

/// A message whose signature and time are right: the only way to its payload.
///
/// Made by [`Verifier::verify`](super::Verifier::verify) alone.
#[derive(Clone, Debug)]
pub struct Verified<'h> {
    pub(super) scheme: Scheme,
    pub(super) id: &'h str,
    pub(super) timestamp: Timestamp,
    pub(super) body: Bytes,
}

impl Verified<'_> {
    /// The bytes that were signed.
    ///
    /// # Security
    ///
    /// The sender wrote them, but what it wrote may come from others: still untrusted input.
    #[must_use]
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// Gives the bytes that were signed away.
    #[must_use]
    pub fn into_body(self) -> Bytes {
        self.body
    }

    /// When it was signed.
    #[must_use]
    pub fn timestamp(&self) -> SystemTime {
        self.timestamp.into()
    }

    /// How it was signed.
    #[must_use]
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The value of `Webhook-Id`, which [`Scheme::TimestampBodyHex`] does not sign.
    #[must_use]
    pub fn header_id(&self) -> &str {
        self.id
    }

    /// The id to recognise repetitions by: one that the signature covers.
    ///
    /// Where the scheme leaves the header out, it is the `id` inside the body, and the header must agree with it.
    ///
    /// # Errors
    ///
    /// When the body has no such `id`, or it is not the header's.
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

    /// Reads the body as an event of this suite's form.
    ///
    /// # Errors
    ///
    /// When it has another form.
    pub fn envelope(&self) -> Result<Envelope, InvalidEnvelope> {
        Envelope::parse(self.body.clone())
    }
}
