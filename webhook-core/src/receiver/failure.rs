//! Verification errors: one opaque message for the sender, the precise reason for the log.

use std::fmt;

/// Error: the message could not be verified.
///
/// `Display` is the same for every reason, so it may be shown to the sender. Log
/// [`reason`](Self::reason).
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{}", Self::PUBLIC)]
pub struct VerifyError(VerifyFailure);

/// Reason of a [`VerifyError`]; `Display` describes it in words for a log.
///
/// # Security
///
/// Do not send the reason to the sender: an attacker without the key could learn which part was
/// correct.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum VerifyFailure {
    /// A header of the scheme is missing: the signature, the timestamp or the id.
    MissingHeader,
    /// The timestamp or the id is repeated.
    RepeatedHeader,
    /// The header of the id is not an [`EventId`](crate::event::EventId), for example because it
    /// contains a dot.
    InvalidId,
    /// The timestamp is missing in the signature field or the body, or is not in the unit and the
    /// form of the scheme.
    InvalidTimestamp,
    /// There are more than 16 signatures or 4 KiB of them, or more than 4 of a public key.
    TooManySignatures,
    /// No signature has the tag and the encoding of the scheme. The sender probably uses another
    /// scheme.
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
    /// The scheme signs the URL, and the host has not set
    /// [`Verifier::with_url`](super::Verifier::with_url).
    NoUrl,
    /// A [`Verify`](super::Verify) of the host could not get a key. The sender is asked to retry.
    KeyUnavailable,
}

impl fmt::Display for VerifyFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MissingHeader => "a header is missing",
            Self::RepeatedHeader => "a header appears twice",
            Self::InvalidId => "the id is malformed",
            Self::InvalidTimestamp => "the timestamp is malformed",
            Self::TooManySignatures => "there are too many signatures",
            Self::NoUsableSignature => "no signature has the form of the scheme",
            Self::Mismatch => "no signature matches",
            Self::TooOld => "signature valid, but the timestamp is too old",
            Self::TooNew => "signature valid, but the timestamp is in the future",
            Self::MissingEnvelopeId => "signature valid, but the body has no id",
            Self::IdMismatch => "signature valid, but the body has another id",
            Self::NoUrl => "the scheme signs the URL, and the receiver has none",
            Self::KeyUnavailable => "the key could not be fetched",
        })
    }
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
