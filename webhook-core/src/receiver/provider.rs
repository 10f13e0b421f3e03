//! A sender with its signature scheme and handshake.

use http::StatusCode;

use super::{Handshake, Registration, Replies, Verifier, keys::Keys};
use crate::{
    secret::InvalidSecret,
    signature::{
        SignerScheme,
        scheme::{RequestSigner, Scheme},
    },
};

/// Sender of webhooks: its name, its signature scheme and its handshake.
///
/// Predefined providers are in [`providers`](super::providers).
///
/// ```
/// use webhook_core::receiver::providers;
///
/// let verifier = providers::STRIPE.verifier(["whsec_a_secret_of_the_dashboard"])?;
/// // during a rotation
/// let verifier = providers::GITHUB.verifier(["the new secret", "the old secret"])?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Provider {
    pub(crate) name: &'static str,
    pub(crate) scheme: &'static Scheme,
    pub(crate) handshake: Handshake,
    pub(crate) is_lenient: bool,
    replies: Replies,
}

impl Provider {
    /// Creates a sender without a handshake, which expects 200 for an event and 400 for an error.
    #[must_use]
    pub const fn new(name: &'static str, scheme: &'static Scheme) -> Self {
        Self {
            name,
            scheme,
            handshake: Handshake::None,
            is_lenient: false,
            replies: Replies {
                accepted: StatusCode::OK,
                refused: StatusCode::BAD_REQUEST,
            },
        }
    }

    /// Sets the handshake.
    #[must_use]
    pub const fn with_handshake(self, handshake: Handshake) -> Self {
        Self { handshake, ..self }
    }

    /// Sets the status codes that the sender expects.
    #[must_use]
    pub const fn with_replies(self, replies: Replies) -> Self {
        Self { replies, ..self }
    }

    /// Also accepts what the reference libraries of Standard Webhooks accept: base64 secrets
    /// without padding, and ids with dots.
    ///
    /// # Security
    ///
    /// The signed text is `id.timestamp.body`. An id with dots can move the boundary between the
    /// three, unless every body is a JSON object.
    #[must_use]
    pub const fn lenient(self) -> Self {
        Self {
            is_lenient: true,
            ..self
        }
    }

    /// Name in lower case, with hyphens.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Signature scheme.
    #[must_use]
    pub const fn scheme(&self) -> &'static Scheme {
        self.scheme
    }

    /// Handshake that the receiver answers.
    #[must_use]
    pub const fn handshake(&self) -> Handshake {
        self.handshake
    }

    /// Status codes that the sender expects.
    #[must_use]
    pub const fn replies(&self) -> Replies {
        self.replies
    }

    /// Creates a verifier with one to eight secrets or public keys, as the sender hands them out;
    /// any of them may have signed.
    ///
    /// # Errors
    ///
    /// [`InvalidSecret`] if a key does not have the form of [`Scheme::key`], there are no keys or
    /// more than eight, or the scheme protects nothing.
    pub fn verifier(
        &self,
        keys: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Result<Verifier, InvalidSecret> {
        if let Some(fault) = self.scheme.fault() {
            return Err(InvalidSecret(fault));
        }
        let keys = Keys::parse(self.scheme, self.is_lenient, keys)?;
        Ok(Verifier::with_keys(*self, keys))
    }

    /// Creates a verifier whose secret arrives in the handshake, as at Asana and Notion.
    ///
    /// # Errors
    ///
    /// [`InvalidSecret`] if the scheme protects nothing.
    pub fn verifier_by_registration(&self, registration: Registration) -> Result<Verifier, InvalidSecret> {
        match self.scheme.fault() {
            Some(fault) => Err(InvalidSecret(fault)),
            None => Ok(Verifier::with_keys(*self, Keys::none()).with_registration(registration)),
        }
    }

    /// Creates a signer with a secret of this provider, for tests and tools.
    ///
    /// # Errors
    ///
    /// [`InvalidSecret`] if the secret does not have the form of [`Scheme::key`], or the provider
    /// signs with a key pair.
    pub fn signer(&self, secret: &str) -> Result<RequestSigner, InvalidSecret> {
        RequestSigner::new(self.scheme, self.is_lenient, secret)
    }

    /// This suite's own sender.
    pub(super) fn own(scheme: SignerScheme) -> Self {
        Self::new(scheme.as_str(), scheme.verified_by()).with_replies(Replies::default())
    }
}
