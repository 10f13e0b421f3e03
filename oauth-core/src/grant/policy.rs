use std::time::Duration;

use super::{AccessTokenLifetime, RefreshTokenLifetime, RetryWindow};
use crate::store::RegisteredClient;

/// The longest life of an access token that resource servers check on their own: a revoked one opens their doors for
/// as long.
const MAX_JWT_LIFETIME: Duration = Duration::from_secs(15 * 60);

/// What an access token is to whoever holds it.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum AccessTokenFormat {
    /// A signed JWT, [RFC 9068](https://www.rfc-editor.org/rfc/rfc9068): resource servers check it on their own, and open their
    /// doors to a revoked one until it expires.
    #[default]
    Jwt,
    /// `at_` and 256 random bits that mean nothing: resource servers ask what it is worth
    /// ([RFC 7662](https://www.rfc-editor.org/rfc/rfc7662)), and a revoked one opens nothing at once.
    Opaque,
}

impl AccessTokenFormat {
    /// How long such a token lives unless said otherwise: 10 minutes as a JWT, 15 opaque.
    #[must_use]
    pub const fn default_lifetime(self) -> AccessTokenLifetime {
        match self {
            Self::Jwt => AccessTokenLifetime::DEFAULT,
            Self::Opaque => AccessTokenLifetime::DEFAULT_OPAQUE,
        }
    }

    /// Whether such a token may live for as long: a JWT for 15 minutes at most.
    #[must_use]
    pub fn allows(self, lifetime: AccessTokenLifetime) -> bool {
        self == Self::Opaque || lifetime.as_duration() <= MAX_JWT_LIFETIME
    }
}

/// How tokens are issued.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct TokenPolicy {
    /// How long an access token lives.
    pub access_token: AccessTokenLifetime,
    /// How long a chain of refresh tokens lives.
    pub refresh_token: RefreshTokenLifetime,
    /// What an access token is.
    pub access_token_format: AccessTokenFormat,
    /// For how long a refresh may be repeated.
    pub retry_window: RetryWindow,
}

impl TokenPolicy {
    /// A policy of these lifetimes, for JWTs and with no refresh repeated.
    #[must_use]
    pub const fn new(access_token: AccessTokenLifetime, refresh_token: RefreshTokenLifetime) -> Self {
        Self {
            access_token,
            refresh_token,
            access_token_format: AccessTokenFormat::Jwt,
            retry_window: RetryWindow::NONE,
        }
    }

    /// With access tokens of this format.
    #[must_use]
    pub const fn with_access_token_format(self, format: AccessTokenFormat) -> Self {
        Self {
            access_token_format: format,
            ..self
        }
    }

    /// With a refresh that may be repeated for as long.
    #[must_use]
    pub const fn with_retry_window(self, retry_window: RetryWindow) -> Self {
        Self { retry_window, ..self }
    }

    /// The policy for one client: its own lifetimes in place of these. One that a token of this format may not have counts for
    /// nothing.
    #[must_use]
    pub fn for_client(self, client: &RegisteredClient) -> Self {
        let access_token = client
            .access_token_lifetime
            .filter(|lifetime| self.access_token_format.allows(*lifetime));
        Self {
            access_token: access_token.unwrap_or(self.access_token),
            refresh_token: client.refresh_token_lifetime.unwrap_or(self.refresh_token),
            ..self
        }
    }
}
