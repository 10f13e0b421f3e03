//! CORS rules of a host, validated once.

use std::{fmt, time::Duration};

use http::{HeaderName, HeaderValue, Method, header};

use super::{Cors, origin::is_serialized};
use crate::{
    idempotency::{IDEMPOTENCY_KEY, IDEMPOTENCY_REPLAYED},
    limits::{
        RATE_LIMIT, RATE_LIMIT_POLICY,
        rate_limit::{PLAIN, PREFIXED},
    },
    routing::X_REQUEST_ID,
    versions::{DEPRECATION, SUNSET},
};

/// Builder for [`Cors`], the cross-origin rules of a host.
///
/// | rule | default |
/// |---|---|
/// | methods | GET, HEAD, QUERY, POST, PUT, PATCH, DELETE |
/// | request headers | `Authorization`, `Content-Type`, `DPoP`, and the request headers that this crate reads |
/// | response headers | the response headers that this crate writes, and `DPoP-Nonce` |
/// | credentials | not allowed |
/// | lifetime of a preflight | 1 hour |
#[derive(Clone, Debug)]
pub struct CorsRules {
    pub(super) origins: Origins,
    pub(super) methods: Vec<Method>,
    pub(super) request_headers: Vec<HeaderName>,
    pub(super) exposed_headers: Vec<HeaderName>,
    pub(super) allows_null: bool,
    pub(super) allows_credentials: bool,
    pub(super) allows_private_network: bool,
    pub(super) max_age: Duration,
}

/// Origins that may read responses.
#[derive(Clone, Debug)]
pub(super) enum Origins {
    Any,
    Listed(Vec<String>),
}

impl CorsRules {
    /// Allows pages of any origin, including `null`. Use it for public data only.
    #[must_use]
    pub fn any_origin() -> Self {
        Self::new(Origins::Any)
    }

    /// Allows pages of these origins.
    ///
    /// Write each origin as a browser sends it, for example `https://app.example.com`: in lower
    /// case, without a default port and without a trailing slash.
    #[must_use]
    pub fn origins<S: Into<String>>(origins: impl IntoIterator<Item = S>) -> Self {
        Self::new(Origins::Listed(origins.into_iter().map(Into::into).collect()))
    }

    fn new(origins: Origins) -> Self {
        let name = HeaderName::from_static;
        Self {
            origins,
            methods: vec![
                Method::GET,
                Method::HEAD,
                Method::QUERY,
                Method::POST,
                Method::PUT,
                Method::PATCH,
                Method::DELETE,
            ],
            request_headers: vec![
                header::AUTHORIZATION,
                header::CONTENT_TYPE,
                name("dpop"),
                IDEMPOTENCY_KEY,
                header::IF_MATCH,
                header::IF_NONE_MATCH,
                header::IF_MODIFIED_SINCE,
                header::IF_UNMODIFIED_SINCE,
                X_REQUEST_ID,
            ],
            exposed_headers: [
                header::ETAG,
                header::LINK,
                header::LOCATION,
                header::RETRY_AFTER,
                header::WWW_AUTHENTICATE,
                X_REQUEST_ID,
                DEPRECATION,
                name("dpop-nonce"),
                IDEMPOTENCY_REPLAYED,
                RATE_LIMIT,
                RATE_LIMIT_POLICY,
                SUNSET,
            ]
            .into_iter()
            .chain(PLAIN)
            .chain(PREFIXED)
            .collect(),
            allows_null: false,
            allows_credentials: false,
            allows_private_network: false,
            max_age: Duration::from_secs(3600),
        }
    }

    /// Replaces the allowed methods.
    #[must_use]
    pub fn with_methods(mut self, methods: impl IntoIterator<Item = Method>) -> Self {
        self.methods = methods.into_iter().collect();
        self
    }

    /// Allows one more request header.
    #[must_use]
    pub fn with_request_header(mut self, name: HeaderName) -> Self {
        self.request_headers.push(name);
        self
    }

    /// Exposes one more response header.
    #[must_use]
    pub fn with_exposed_header(mut self, name: HeaderName) -> Self {
        self.exposed_headers.push(name);
        self
    }

    /// Allows cookies and other credentials that the browser adds. Requires listed origins.
    #[must_use]
    pub const fn with_credentials(mut self) -> Self {
        self.allows_credentials = true;
        self
    }

    /// Allows pages whose origin is `null`.
    ///
    /// # Security
    ///
    /// Any site can create a page with the origin `null`, by a sandboxed frame or a `data:` URL.
    /// The rule is therefore as open as [`any_origin`](Self::any_origin) and cannot be combined
    /// with credentials.
    #[must_use]
    pub const fn with_null_origin(mut self) -> Self {
        self.allows_null = true;
        self
    }

    /// Allows pages of the public internet to reach this host in a private network, by [Private
    /// Network Access](https://wicg.github.io/private-network-access/). Requires listed origins.
    #[must_use]
    pub const fn with_private_network(mut self) -> Self {
        self.allows_private_network = true;
        self
    }

    /// Sets the time for which a browser caches the response to a preflight, default 1 hour.
    /// Chromium caps it at 2 hours, Firefox at 24 hours.
    #[must_use]
    pub const fn with_max_age(mut self, max_age: Duration) -> Self {
        self.max_age = max_age;
        self
    }

    /// Validates the rules.
    ///
    /// # Errors
    ///
    /// [`InvalidCorsRules`] with all mistakes.
    pub fn build(self) -> Result<Cors, InvalidCorsRules> {
        let mistakes = self.mistakes();
        match mistakes.is_empty() {
            true => Ok(Cors::of(&self)),
            false => Err(InvalidCorsRules { mistakes }),
        }
    }

    fn mistakes(&self) -> Vec<CorsMistake> {
        let mut mistakes = Vec::new();
        match &self.origins {
            Origins::Listed(origins) => {
                let malformed = origins.iter().filter(|origin| !is_serialized(origin));
                mistakes.extend(malformed.cloned().map(CorsMistake::InvalidOrigin));
                if origins.is_empty() && !self.allows_null {
                    mistakes.push(CorsMistake::NoOrigin);
                }
            }
            Origins::Any => {
                let cases = [
                    (self.allows_credentials, CorsMistake::CredentialsForAnyOrigin),
                    (
                        self.allows_private_network,
                        CorsMistake::PrivateNetworkForAnyOrigin,
                    ),
                ];
                mistakes.extend(
                    cases
                        .into_iter()
                        .filter_map(|(holds, mistake)| holds.then_some(mistake)),
                );
            }
        }
        if self.allows_null && self.allows_credentials {
            mistakes.push(CorsMistake::CredentialsForNullOrigin);
        }
        if self.methods.is_empty() {
            mistakes.push(CorsMistake::NoMethod);
        }
        let forbidden =
            |method: &&Method| matches!(**method, Method::CONNECT | Method::TRACE) || method.as_str() == "*";
        let forbidden = self.methods.iter().filter(forbidden).cloned();
        mistakes.extend(forbidden.map(CorsMistake::ForbiddenMethod));
        let names = self.request_headers.iter().chain(&self.exposed_headers);
        if names.into_iter().any(|name| name.as_str() == "*") {
            mistakes.push(CorsMistake::WildcardHeader);
        }
        mistakes
    }
}

/// Joins names to a field value; names and methods are tokens, so this cannot fail.
pub(super) fn list<'a>(names: impl Iterator<Item = &'a str>) -> HeaderValue {
    let names: Vec<&str> = names.collect();
    HeaderValue::try_from(names.join(", ")).unwrap_or(HeaderValue::from_static(""))
}

/// A mistake in [`CorsRules`].
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum CorsMistake {
    /// An origin that is not in the form that browsers send, so it would never match. For `*` use
    /// [`CorsRules::any_origin`], for `null` [`CorsRules::with_null_origin`].
    InvalidOrigin(String),
    /// No origin is allowed.
    NoOrigin,
    /// Credentials with any origin: browsers refuse `*` with credentials, and echoing the origin
    /// would let every site act as the user.
    CredentialsForAnyOrigin,
    /// Credentials with the origin `null`, which any site can have.
    CredentialsForNullOrigin,
    /// Private network access for any origin: every site could reach hosts in the private network.
    PrivateNetworkForAnyOrigin,
    /// No method is allowed.
    NoMethod,
    /// A method that browsers do not let pages send, or the wildcard `*`.
    ForbiddenMethod(Method),
    /// The wildcard `*` as a header: it never covers `Authorization`, and with credentials it
    /// covers no header at all.
    WildcardHeader,
}

impl fmt::Display for CorsMistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidOrigin(origin) => write!(f, "{origin:?} is not an origin as browsers write it"),
            Self::NoOrigin => f.write_str("no origin is allowed"),
            Self::CredentialsForAnyOrigin => f.write_str("credentials are for listed origins only"),
            Self::CredentialsForNullOrigin => f.write_str("credentials are not for the null origin"),
            Self::PrivateNetworkForAnyOrigin => f.write_str("the private network is for listed origins only"),
            Self::NoMethod => f.write_str("no method is allowed"),
            Self::ForbiddenMethod(method) => write!(f, "browsers do not send {method}"),
            Self::WildcardHeader => f.write_str("a wildcard cannot stand for headers: list their names"),
        }
    }
}

/// Error for invalid CORS rules. Contains all mistakes.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("invalid cross-origin rules: {}", mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
pub struct InvalidCorsRules {
    mistakes: Vec<CorsMistake>,
}

impl InvalidCorsRules {
    /// All mistakes.
    #[must_use]
    pub fn mistakes(&self) -> &[CorsMistake] {
        &self.mistakes
    }
}
