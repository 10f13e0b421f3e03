use std::fmt;

use crate::grant::{AccessTokenLifetime, TokenPolicy};
use crate::jose::{Algorithm, SigningKeys};
use crate::vocabulary::{Audience, Issuer};

/// The settings make no server.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ConfigError {
    mistakes: Vec<ConfigMistake>,
}

impl ConfigError {
    /// Every mistake that was made.
    #[must_use]
    pub fn mistakes(&self) -> &[ConfigMistake] {
        &self.mistakes
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the authorization server is not configured")?;
        self.mistakes.iter().enumerate().try_for_each(|(index, mistake)| {
            let separator = if index == 0 { ": " } else { "; " };
            write!(f, "{separator}{mistake}")
        })
    }
}

impl std::error::Error for ConfigError {}

/// One mistake in the settings of an [`AuthorizationServer`](super::AuthorizationServer).
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigMistake {
    /// A required part was not given.
    #[error("the {0} is missing")]
    Missing(&'static str),
    /// The issuer is no `https` URL without query and fragment, nor an `http` one on loopback.
    #[error("the issuer is not an https url without query and fragment")]
    InvalidIssuer,
    /// An audience is empty or has characters that a token cannot carry.
    #[error("an audience is invalid")]
    InvalidAudience,
    /// The base of the endpoints for clients with certificates is no `https` URL without query and fragment, nor an `http` one on loopback.
    #[error("the mtls endpoint aliases are not below an https url without query and fragment")]
    InvalidMtlsEndpointAliases,
    /// An access token that is a JWT may live for 15 minutes.
    #[error("a jwt access token must not live longer than 15 minutes")]
    JwtLifetimeTooLong,
    /// A retry is answered with the same signatures, and only EdDSA makes the same signature twice.
    #[error("a retry window asks for a signing key of EdDSA")]
    RetryWindowWithoutEdDsa,
    /// Two keys have one id, or there are more than 100.
    #[error("the signing keys do not go together")]
    SigningKeysConflict,
}

#[derive(Default)]
pub(super) struct Mistakes(Vec<ConfigMistake>);

impl Mistakes {
    pub(super) fn are_none(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn check(&mut self, holds: bool, mistake: ConfigMistake) {
        if !holds {
            self.0.push(mistake);
        }
    }

    pub(super) fn required<T>(&mut self, part: Option<T>, name: &'static str) -> Option<T> {
        self.check(part.is_some(), ConfigMistake::Missing(name));
        part
    }

    pub(super) fn parsed<T: std::str::FromStr>(&mut self, text: &str, mistake: ConfigMistake) -> Option<T> {
        let parsed = text.parse().ok();
        self.check(parsed.is_some(), mistake);
        parsed
    }

    pub(super) fn signing_keys(&mut self, keys: Option<SigningKeys>) -> Option<SigningKeys> {
        let keys = self.required(keys, "signing key");
        let fit = keys.as_ref().is_none_or(|keys| keys.check().is_ok());
        self.check(fit, ConfigMistake::SigningKeysConflict);
        keys
    }

    pub(super) fn mtls_base(&mut self, base: Option<&str>) -> Option<Issuer> {
        self.parsed(base?, ConfigMistake::InvalidMtlsEndpointAliases)
    }

    pub(super) fn policy(
        &mut self,
        policy: TokenPolicy,
        lifetime: Option<AccessTokenLifetime>,
        keys: Option<&SigningKeys>,
    ) -> TokenPolicy {
        let format = policy.access_token_format;
        let access_token = lifetime.unwrap_or_else(|| format.default_lifetime());
        self.check(format.allows(access_token), ConfigMistake::JwtLifetimeTooLong);
        let signs_alike = keys.is_none_or(|keys| keys.active().algorithm() == Algorithm::EdDsa);
        self.check(
            policy.retry_window.is_none() || signs_alike,
            ConfigMistake::RetryWindowWithoutEdDsa,
        );
        TokenPolicy {
            access_token,
            ..policy
        }
    }

    pub(super) fn audience(&mut self, names: &[String]) -> Vec<Audience> {
        self.required(names.first(), "audience");
        names
            .iter()
            .filter_map(|name| self.parsed(name, ConfigMistake::InvalidAudience))
            .collect()
    }
}

impl From<Mistakes> for ConfigError {
    fn from(mistakes: Mistakes) -> Self {
        Self { mistakes: mistakes.0 }
    }
}
