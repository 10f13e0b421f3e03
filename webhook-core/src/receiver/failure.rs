//! Why a message was not verified: one word for the sender, all of it for the log.

/// The message could not be verified.
///
/// Says nothing more when printed, so that it can be shown to whoever sent the message; the reason is for the log.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{}", Self::PUBLIC)]
pub struct VerifyError(VerifyFailure);

/// The reason of a [`VerifyError`].
///
/// # Security
///
/// Not for the wire: a sender without the key could otherwise find out what it got right.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum VerifyFailure {
    /// One of the three headers is missing.
    MissingHeader,
    /// `Webhook-Id` or `Webhook-Timestamp` appears twice.
    RepeatedHeader,
    /// `Webhook-Id` is not an [`EventId`](crate::event::EventId); a dot in it is the usual case.
    InvalidId,
    /// `Webhook-Timestamp` is not a [`Timestamp`](crate::event::Timestamp) in its canonical writing.
    InvalidTimestamp,
    /// `Webhook-Signature` has more than 16 tokens or 4 KiB, or more than 4 Ed25519 signatures where one is asked for.
    TooManySignatures,
    /// No token has the tag and the writing of the scheme: most often the sender speaks another one.
    NoUsableSignature,
    /// No signature is right: another key, or another body than was signed.
    Mismatch,
    /// Rightly signed, and more than the tolerance ago.
    TooOld,
    /// Rightly signed, and more than the tolerance in the future.
    TooNew,
    /// Rightly signed by a scheme that leaves the id out, and the body has no `id` of an envelope.
    MissingEnvelopeId,
    /// Rightly signed by a scheme that leaves the id out, and `Webhook-Id` is not the body's `id`.
    IdMismatch,
}

impl VerifyError {
    /// All that the sender is told.
    pub(super) const PUBLIC: &'static str = "the webhook could not be verified";

    /// The reason, for the log alone.
    #[must_use]
    pub fn reason(&self) -> VerifyFailure {
        self.0
    }
}

impl From<VerifyFailure> for VerifyError {
    fn from(reason: VerifyFailure) -> Self {
        Self(reason)
    }
}
