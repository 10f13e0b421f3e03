//! Terms that consist of printable ASCII characters and spaces (`VSCHAR`), with a maximum length.

use subtle::ConstantTimeEq;

use super::{is_vschar, word};
use crate::ports::Entropy;
use crate::random::random_text;

/// Error for a text that is not a [`ClientId`].
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a client identifier: 1 to 2048 printable ASCII characters are allowed")]
pub struct InvalidClientId;

word! {
    /// Client identifier, [RFC 6749 §2.2](https://www.rfc-editor.org/rfc/rfc6749#section-2.2): 1 to
    /// 2048 printable ASCII characters.
    ClientId, InvalidClientId, |text| is_vschar(text, 2048)
}

/// Error for a text that is not a [`State`].
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a state: 1 to 2048 printable ASCII characters are allowed")]
pub struct InvalidState;

word! {
    /// `state` of an authorization request, which the server returns unchanged, [RFC 6749
    /// §4.1.1](https://www.rfc-editor.org/rfc/rfc6749#section-4.1.1): 1 to 2048 printable ASCII
    /// characters.
    State, InvalidState, |text| is_vschar(text, 2048)
}

/// Error for a text that is not a [`Nonce`].
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a nonce: 1 to 512 printable ASCII characters are allowed")]
pub struct InvalidNonce;

word! {
    /// `nonce`, which binds an ID token to one sign-in, [OpenID Connect Core
    /// §3.1.2.1](https://openid.net/specs/openid-connect-core-1_0.html#AuthRequest): 1 to 512
    /// printable ASCII characters.
    Nonce, InvalidNonce, |text| is_vschar(text, 512)
}

/// Error for a text that is not a [`Subject`].
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a subject: 1 to 255 printable ASCII characters are allowed")]
pub struct InvalidSubject;

word! {
    /// Identifier of a user or client in a token: the `sub` claim, [RFC 7519
    /// §4.1.2](https://www.rfc-editor.org/rfc/rfc7519#section-4.1.2): 1 to 255 printable ASCII
    /// characters.
    Subject, InvalidSubject, |text| is_vschar(text, 255)
}

/// Error for a text that is not an [`Audience`].
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not an audience: 1 to 2048 printable ASCII characters are allowed")]
pub struct InvalidAudience;

word! {
    /// Identifier of a resource server: a value of the `aud` claim, [RFC 7519
    /// §4.1.3](https://www.rfc-editor.org/rfc/rfc7519#section-4.1.3): 1 to 2048 printable ASCII
    /// characters.
    Audience, InvalidAudience, |text| is_vschar(text, 2048)
}

impl State {
    /// Generates a state of 256 random bits.
    #[must_use]
    pub fn generate(entropy: &dyn Entropy) -> Self {
        Self(random_text::<32>("", entropy).as_str().into())
    }

    /// Returns `true` if `presented` is equal, compared in constant time.
    #[must_use]
    pub fn matches(&self, presented: &str) -> bool {
        self.0.as_bytes().ct_eq(presented.as_bytes()).into()
    }
}

impl Nonce {
    /// Generates a nonce of 256 random bits.
    #[must_use]
    pub fn generate(entropy: &dyn Entropy) -> Self {
        Self(random_text::<32>("", entropy).as_str().into())
    }

    /// Returns `true` if `presented` is equal, compared in constant time.
    #[must_use]
    pub fn matches(&self, presented: &str) -> bool {
        self.0.as_bytes().ct_eq(presented.as_bytes()).into()
    }
}
