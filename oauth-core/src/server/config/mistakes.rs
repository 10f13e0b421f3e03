use std::fmt;

use super::super::issuer_keys::IssuerKeys;
use super::super::{Options, scope_shape};
use crate::grant::{AccessTokenLifetime, TokenPolicy};
use crate::jose::{Algorithm, SigningKeys};
use crate::vocabulary::{Audience, Issuer, Scopes};

/// The settings of the server are incomplete or invalid.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ConfigError {
    mistakes: Vec<ConfigMistake>,
}

impl ConfigError {
    /// Returns all mistakes in the settings.
    #[must_use]
    pub fn mistakes(&self) -> &[ConfigMistake] {
        &self.mistakes
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the configuration of the authorization server is invalid")?;
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
    /// A required setting, with this name, is missing.
    #[error("the {0} is missing")]
    Missing(&'static str),
    /// The issuer is neither an `https` URL nor a loopback `http` URL, or has a query or fragment.
    #[error("the issuer is not an https url without query and fragment, nor a loopback http url")]
    InvalidIssuer,
    /// An audience is not 1 to 2048 printable ASCII characters.
    #[error("an audience is not 1 to 2048 printable ascii characters")]
    InvalidAudience,
    /// The base of the mTLS endpoint aliases is neither an `https` URL nor a loopback `http` URL,
    /// or has a query or fragment.
    #[error("the base of the mtls endpoint aliases is not an https url without query and fragment")]
    InvalidMtlsEndpointAliases,
    /// A published scope is not `<verb>:<noun>`, and the server requires this shape.
    #[error("a scope is neither `<verb>:<noun>` nor a scope of OpenID Connect")]
    ScopeShape,
    /// The path of the endpoint with this name does not begin with one slash, or has a query, a
    /// fragment, an empty or a dot segment.
    #[error("the path of the endpoint `{0}` is not a plain path, for example /oauth/token")]
    InvalidPath(&'static str),
    /// Two endpoints have the same path, or one has the path of the metadata.
    #[error("two endpoints have the same path")]
    PathsConflict,
    /// The lifetime of JWT access tokens exceeds 15 minutes.
    #[error("the lifetime of jwt access tokens exceeds 15 minutes: shorten it, or use opaque tokens")]
    JwtLifetimeTooLong,
    /// A retry window is set, but the signatures of an active key are not deterministic: its
    /// algorithm is neither EdDSA nor RS256, RS384 or RS512.
    #[error("a retry window needs EdDSA or RS256 signing keys, because other signatures differ each time")]
    RetryWindowWithoutDeterministicKeys,
    /// Two signing keys have the same `kid`, two sets of signing keys have one algorithm, or there
    /// are more than 100 signing keys.
    #[error("two signing keys have one kid, two sets have one algorithm, or there are more than 100 keys")]
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

    pub(super) fn signing_keys(
        &mut self,
        access_tokens: Option<SigningKeys>,
        id_tokens: Vec<SigningKeys>,
    ) -> Option<IssuerKeys> {
        let keys = IssuerKeys::new(self.required(access_tokens, "signing key")?, id_tokens);
        self.check(keys.is_ok(), ConfigMistake::SigningKeysConflict);
        keys.ok()
    }

    pub(super) fn options(&mut self, scopes: &Scopes, options: &Options) {
        if let Some(name) = options.paths.first_invalid() {
            self.0.push(ConfigMistake::InvalidPath(name));
        }
        self.check(!options.paths.conflict(), ConfigMistake::PathsConflict);
        let fit = !options.scopes_are_verb_noun || scopes.iter().all(scope_shape::is_verb_noun);
        self.check(fit, ConfigMistake::ScopeShape);
    }

    pub(super) fn mtls_base(&mut self, base: Option<&str>) -> Option<Issuer> {
        self.parsed(base?, ConfigMistake::InvalidMtlsEndpointAliases)
    }

    pub(super) fn policy(
        &mut self,
        policy: TokenPolicy,
        lifetime: Option<AccessTokenLifetime>,
        keys: Option<&IssuerKeys>,
    ) -> TokenPolicy {
        let format = policy.access_token_format;
        let access_token = lifetime.unwrap_or_else(|| format.default_lifetime());
        self.check(format.allows(access_token), ConfigMistake::JwtLifetimeTooLong);
        let signs_alike = |keys: &IssuerKeys| keys.algorithms().into_iter().all(Algorithm::is_deterministic);
        self.check(
            policy.retry_window.is_none() || keys.is_none_or(signs_alike),
            ConfigMistake::RetryWindowWithoutDeterministicKeys,
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
