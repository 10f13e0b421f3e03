//! Words whose grammar is a length and a set of characters.

use subtle::ConstantTimeEq;

use super::{is_vschar, word};
use crate::ports::Entropy;
use crate::random::random_text;

/// The text is no [`ClientId`].
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a client identifier: 1 to 2048 printable ASCII characters are allowed")]
pub struct InvalidClientId;

word! {
    /// Names a client, [RFC 6749 §2.2](https://www.rfc-editor.org/rfc/rfc6749#section-2.2).
    ClientId, InvalidClientId, |text| is_vschar(text, 2048)
}

/// The text is no [`State`].
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a state: 1 to 2048 printable ASCII characters are allowed")]
pub struct InvalidState;

word! {
    /// What the client sends along an authorization request and expects back unchanged,
    /// [RFC 6749 §4.1.1](https://www.rfc-editor.org/rfc/rfc6749#section-4.1.1).
    State, InvalidState, |text| is_vschar(text, 2048)
}

/// The text is no [`Nonce`].
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a nonce: 1 to 512 printable ASCII characters are allowed")]
pub struct InvalidNonce;

word! {
    /// Binds an ID token to one sign-in,
    /// [OpenID Connect Core §3.1.2.1](https://openid.net/specs/openid-connect-core-1_0.html#AuthRequest).
    Nonce, InvalidNonce, |text| is_vschar(text, 512)
}

/// The text is no [`Subject`].
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a subject: 1 to 255 printable ASCII characters are allowed")]
pub struct InvalidSubject;

word! {
    /// Names whom a token is about: the `sub` claim,
    /// [RFC 7519 §4.1.2](https://www.rfc-editor.org/rfc/rfc7519#section-4.1.2).
    Subject, InvalidSubject, |text| is_vschar(text, 255)
}

/// The text is no [`Audience`].
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not an audience: 1 to 2048 printable ASCII characters are allowed")]
pub struct InvalidAudience;

word! {
    /// Names whom a token is for: a value of the `aud` claim,
    /// [RFC 7519 §4.1.3](https://www.rfc-editor.org/rfc/rfc7519#section-4.1.3).
    Audience, InvalidAudience, |text| is_vschar(text, 2048)
}

impl State {
    /// A fresh state of 256 random bits.
    #[must_use]
    pub fn generate(entropy: &dyn Entropy) -> Self {
        Self(random_text::<32>("", entropy).as_str().into())
    }

    /// Whether `presented` is this state, in a time that does not depend on where they differ.
    #[must_use]
    pub fn matches(&self, presented: &str) -> bool {
        self.0.as_bytes().ct_eq(presented.as_bytes()).into()
    }
}

impl Nonce {
    /// A fresh nonce of 256 random bits.
    #[must_use]
    pub fn generate(entropy: &dyn Entropy) -> Self {
        Self(random_text::<32>("", entropy).as_str().into())
    }

    /// Whether `presented` is this nonce, in a time that does not depend on where they differ.
    #[must_use]
    pub fn matches(&self, presented: &str) -> bool {
        self.0.as_bytes().ct_eq(presented.as_bytes()).into()
    }
}
