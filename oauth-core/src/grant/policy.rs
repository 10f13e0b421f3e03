use std::time::Duration;

use super::{AccessTokenLifetime, RefreshTokenLifetime, RetryWindow};
use crate::store::RegisteredClient;

/// Longest lifetime of JWT access tokens: 15 minutes, because resource servers accept a revoked JWT
/// until it expires.
const MAX_JWT_LIFETIME: Duration = Duration::from_secs(15 * 60);

/// Format of access tokens.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum AccessTokenFormat {
    /// Signed JWT, [RFC 9068](https://www.rfc-editor.org/rfc/rfc9068). Resource servers verify it
    /// locally, and accept a revoked token until it expires.
    #[default]
    Jwt,
    /// Opaque: `at_` and 256 random bits. Resource servers validate it by introspection ([RFC
    /// 7662](https://www.rfc-editor.org/rfc/rfc7662)), and a revocation takes effect at once.
    Opaque,
}

impl AccessTokenFormat {
    /// Returns the default lifetime: 10 minutes for JWTs, 15 for opaque tokens.
    #[must_use]
    pub const fn default_lifetime(self) -> AccessTokenLifetime {
        match self {
            Self::Jwt => AccessTokenLifetime::DEFAULT,
            Self::Opaque => AccessTokenLifetime::DEFAULT_OPAQUE,
        }
    }

    /// Returns `true` if the lifetime is allowed for the format: at most 15 minutes for JWTs.
    #[must_use]
    pub fn allows(self, lifetime: AccessTokenLifetime) -> bool {
        self == Self::Opaque || lifetime.as_duration() <= MAX_JWT_LIFETIME
    }
}

/// Policy for issuing tokens. Default: JWT access tokens for 10 minutes, refresh tokens for 14 days
/// idle and 30 days in total, no retry window.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct TokenPolicy {
    /// Lifetime of access tokens.
    pub access_token: AccessTokenLifetime,
    /// Lifetime of refresh tokens.
    pub refresh_token: RefreshTokenLifetime,
    /// Format of access tokens.
    pub access_token_format: AccessTokenFormat,
    /// Window after a rotation in which the client may retry the refresh.
    pub retry_window: RetryWindow,
}

impl TokenPolicy {
    /// Creates a policy with these lifetimes, JWT access tokens and no retry window.
    #[must_use]
    pub const fn new(access_token: AccessTokenLifetime, refresh_token: RefreshTokenLifetime) -> Self {
        Self {
            access_token,
            refresh_token,
            access_token_format: AccessTokenFormat::Jwt,
            retry_window: RetryWindow::NONE,
        }
    }

    /// Sets the format of access tokens.
    #[must_use]
    pub const fn with_access_token_format(self, format: AccessTokenFormat) -> Self {
        Self {
            access_token_format: format,
            ..self
        }
    }

    /// Sets the window after a rotation in which the client may retry the refresh.
    #[must_use]
    pub const fn with_retry_window(self, retry_window: RetryWindow) -> Self {
        Self { retry_window, ..self }
    }

    /// Returns the policy for a client. Lifetimes in its registration replace those of this policy,
    /// except an access token lifetime that the format does not allow.
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
