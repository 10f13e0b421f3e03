//! Verified messages.

use std::{borrow::Cow, sync::Arc, time::SystemTime};

use bytes::Bytes;
use sha2::{Digest, Sha256};

use super::{BodyDigest, Head, Provider, VerifyError, VerifyFailure};
use crate::{
    event::{Envelope, EventId, InvalidEnvelope, Timestamp},
    signature::{
        mac::write_hex,
        scheme::{IdSource, Message, text_at},
    },
};

/// Prefix of an id that is a digest.
const DIGEST: &str = "sha256:";

/// Message with a valid signature and timestamp; the only access to the payload.
///
/// Only [`Verifier::verify`](super::Verifier::verify) creates it.
#[derive(Clone, Debug)]
pub struct Verified<'h> {
    pub(super) provider: Provider,
    pub(super) header_id: Option<&'h str>,
    pub(super) timestamp: Option<Timestamp>,
    pub(super) url: Option<Arc<str>>,
    pub(super) head: Head<'h>,
    pub(super) body: Bytes,
}

impl<'h> Verified<'h> {
    /// Bytes of the body, which the signature covers.
    ///
    /// # Security
    ///
    /// The signature authenticates the sender. The body may contain text of the sender's users:
    /// treat it as untrusted input.
    #[must_use]
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// Converts the message into the bytes of its body.
    #[must_use]
    pub fn into_body(self) -> Bytes {
        self.body
    }

    /// Time at which the sender signed the message; `None` if its scheme signs no time.
    #[must_use]
    pub fn timestamp(&self) -> Option<SystemTime> {
        self.timestamp.map(SystemTime::from)
    }

    /// Sender whose scheme the message was verified by.
    #[must_use]
    pub fn provider(&self) -> &Provider {
        &self.provider
    }

    /// Value of the id header that the scheme reads, such as `Webhook-Id`.
    ///
    /// [`IdSource::EnvelopeId`] does not sign it. Other ids that a sender puts into unsigned
    /// headers are not reported here.
    #[must_use]
    pub fn header_id(&self) -> Option<&'h str> {
        self.header_id
    }

    /// Id for the detection of duplicates, covered by the signature.
    ///
    /// - [`IdSource::Header`]: the header.
    /// - [`IdSource::EnvelopeId`]: the `id` inside the body, which must equal the header.
    /// - [`IdSource::JsonPointer`]: the string or number in the body.
    /// - [`IdSource::SignedContent`], and a body without an id: `sha256:` and the digest of the
    ///   provider's name and the signed text without the timestamp.
    ///
    /// An id that is not an [`EventId`] becomes `sha256:` and its digest.
    ///
    /// # Errors
    ///
    /// [`VerifyError`] if the scheme is [`IdSource::EnvelopeId`], and the body has no `id` or
    /// another one than the header.
    pub fn authenticated_id(&self) -> Result<EventId, VerifyError> {
        match self.provider.scheme.id {
            IdSource::Header(_) => Ok(self.event_id(self.header_id.unwrap_or_default())),
            IdSource::EnvelopeId { .. } => {
                let id = Envelope::id_in(&self.body).map_err(|_| VerifyFailure::MissingEnvelopeId)?;
                if Some(id.as_str()) == self.header_id {
                    Ok(id)
                } else {
                    Err(VerifyFailure::IdMismatch.into())
                }
            }
            IdSource::JsonPointer(pointer) => match self.text_at(pointer) {
                Some(id) => Ok(self.event_id(&id)),
                None => self.content_id(),
            },
            IdSource::SignedContent => self.content_id(),
        }
    }

    /// Digest that two deliveries of one event share.
    ///
    /// It is the digest of the body. A sender with [`IdSource::JsonPointer`] may change other
    /// members of the body between two attempts, as Stripe does; its digest covers the id alone.
    #[must_use]
    pub fn digest(&self) -> BodyDigest {
        match self.provider.scheme.id {
            IdSource::JsonPointer(pointer) => match self.text_at(pointer) {
                Some(id) => BodyDigest::compute(id.as_bytes()),
                None => BodyDigest::compute(&self.body),
            },
            _ => BodyDigest::compute(&self.body),
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

    fn text_at(&self, pointer: &'static str) -> Option<Cow<'_, str>> {
        text_at(&self.body, pointer).filter(|id| !id.is_empty())
    }

    /// The id, or its digest if it is not an [`EventId`].
    fn event_id(&self, id: &str) -> EventId {
        id.parse().unwrap_or_else(|_| self.hashed(&[id.as_bytes()]))
    }

    fn content_id(&self) -> Result<EventId, VerifyError> {
        let scheme = self.provider.scheme;
        let (message, _) = Message::read(scheme, self.url.as_deref(), self.head, &self.body)?;
        Ok(self.hashed(message.signed(scheme, false).as_slice()))
    }

    /// `sha256:` and the digest of the provider's name and these pieces, each with its length.
    fn hashed(&self, pieces: &[&[u8]]) -> EventId {
        let mut hash = Sha256::new();
        for piece in [&self.provider.name.as_bytes()].into_iter().chain(pieces) {
            let length = u64::try_from(piece.len()).unwrap_or(u64::MAX);
            hash.update(length.to_be_bytes());
            hash.update(piece);
        }
        let mut text = DIGEST.to_owned();
        write_hex(&hash.finalize(), &mut text);
        #[expect(clippy::expect_used, reason = "a prefix and hexadecimal digits are an id")]
        text.parse().expect("a prefix and hexadecimal digits are an id")
    }
}
