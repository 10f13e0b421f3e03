//! Verification errors: one opaque message for the sender, the precise reason for the log.

/// Error: the message could not be verified.
///
/// `Display` is the same for every reason, so it may be shown to the sender. Log
/// [`reason`](Self::reason).
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{}", Self::PUBLIC)]
pub struct VerifyError(VerifyFailure);

/// Reason of a [`VerifyError`].
///
/// # Security
///
/// Do not send the reason to the sender: an attacker without the key could learn which part was
/// correct.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum VerifyFailure {
    /// `Webhook-Id`, `Webhook-Timestamp` or `Webhook-Signature` is missing.
    MissingHeader,
    /// `Webhook-Id` or `Webhook-Timestamp` is repeated.
    RepeatedHeader,
    /// `Webhook-Id` is not an [`EventId`](crate::event::EventId), for example because it contains a
    /// dot.
    InvalidId,
    /// `Webhook-Timestamp` is not a [`Timestamp`](crate::event::Timestamp) in canonical form.
    InvalidTimestamp,
    /// `Webhook-Signature` has more than 16 tokens or 4 KiB, or more than 4 Ed25519 signatures at
    /// an Ed25519 verifier.
    TooManySignatures,
    /// No token of `Webhook-Signature` has the tag and the encoding of the scheme. The sender
    /// probably uses another scheme.
    NoUsableSignature,
    /// No signature matches: the key or the body differs.
    Mismatch,
    /// The signature is valid, and the timestamp is older than the tolerance.
    TooOld,
    /// The signature is valid, and the timestamp is further in the future than the tolerance.
    TooNew,
    /// The signature is valid, its scheme does not sign the id, and the body has no `id`.
    MissingEnvelopeId,
    /// The signature is valid, its scheme does not sign the id, and `Webhook-Id` differs from the
    /// `id` in the body.
    IdMismatch,
}

impl VerifyError {
    /// The message of every verification error.
    pub(super) const PUBLIC: &'static str = "the webhook could not be verified";

    /// Precise reason, for logs only.
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
