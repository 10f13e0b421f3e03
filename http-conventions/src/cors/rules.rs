//! What a host allows, checked once.

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

/// What pages of other origins may do; [`build`](Self::build) makes a [`Cors`] of it.
///
/// Unless told otherwise: the methods GET, HEAD, QUERY, POST, PUT, PATCH and DELETE; the request headers that the conventions
/// of this crate read, `Authorization`, `DPoP` and `Content-Type`; the response headers that they write, and the `DPoP-Nonce`
/// without which a client could not try again; no credentials; an hour for which a browser remembers a preflight.
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

/// The origins that may read answers.
#[derive(Clone, Debug)]
pub(super) enum Origins {
    Any,
    Listed(Vec<String>),
}

impl CorsRules {
    /// Pages of any origin, those without one included: for what is public.
    #[must_use]
    pub fn any_origin() -> Self {
        Self::new(Origins::Any)
    }

    /// Pages of these origins, each as a browser writes it: `https://app.example.com`, in lower case, with a port only where it
    /// is not the usual one, without a slash at the end.
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

    /// By these methods instead.
    #[must_use]
    pub fn with_methods(mut self, methods: impl IntoIterator<Item = Method>) -> Self {
        self.methods = methods.into_iter().collect();
        self
    }

    /// With this request header too.
    #[must_use]
    pub fn with_request_header(mut self, name: HeaderName) -> Self {
        self.request_headers.push(name);
        self
    }

    /// And may read this response header too.
    #[must_use]
    pub fn with_exposed_header(mut self, name: HeaderName) -> Self {
        self.exposed_headers.push(name);
        self
    }

    /// With cookies and other credentials that the browser adds by itself. Only for listed origins.
    #[must_use]
    pub const fn with_credentials(mut self) -> Self {
        self.allows_credentials = true;
        self
    }

    /// Pages whose origin is `null` too.
    ///
    /// # Security
    ///
    /// Any site can make a page of the origin `null`, by a sandboxed frame or a `data:` URL: it is as good as any origin, which
    /// is why it is refused beside credentials.
    #[must_use]
    pub const fn with_null_origin(mut self) -> Self {
        self.allows_null = true;
        self
    }

    /// Pages of the public internet may reach this host in a private network, as
    /// [Private Network Access](https://wicg.github.io/private-network-access/) asks in its preflights. Only for listed origins.
    #[must_use]
    pub const fn with_private_network(mut self) -> Self {
        self.allows_private_network = true;
        self
    }

    /// A browser may remember a preflight for so long. Browsers cut it down: Chromium to two hours, Firefox to a day.
    #[must_use]
    pub const fn with_max_age(mut self, max_age: Duration) -> Self {
        self.max_age = max_age;
        self
    }

    /// Checks the rules.
    ///
    /// # Errors
    ///
    /// Every mistake in them.
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

/// A list as a field value; names and methods are tokens, so it always is one.
pub(super) fn list<'a>(names: impl Iterator<Item = &'a str>) -> HeaderValue {
    let names: Vec<&str> = names.collect();
    HeaderValue::try_from(names.join(", ")).unwrap_or(HeaderValue::from_static(""))
}

/// What is wrong with the rules.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum CorsMistake {
    /// No browser writes an origin so, so that it would never match. `*` and `null` are no origins either.
    InvalidOrigin(String),
    /// No origin is allowed.
    NoOrigin,
    /// Browsers refuse `*` beside credentials, and to write back whatever origin asks would let every site act as its visitor.
    CredentialsForAnyOrigin,
    /// Any site can have the origin `null`.
    CredentialsForNullOrigin,
    /// Every site could reach into the private network.
    PrivateNetworkForAnyOrigin,
    /// No method is allowed.
    NoMethod,
    /// Browsers never send this method for a page, or it is the wildcard.
    ForbiddenMethod(Method),
    /// A wildcard that stands for every header, but beside credentials for none, and never for `Authorization`.
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
            Self::WildcardHeader => f.write_str("headers are named, not left to a wildcard"),
        }
    }
}

/// The rules contradict themselves, with every mistake.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("invalid cross-origin rules: {}", mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
pub struct InvalidCorsRules {
    mistakes: Vec<CorsMistake>,
}

impl InvalidCorsRules {
    /// All of them.
    #[must_use]
    pub fn mistakes(&self) -> &[CorsMistake] {
        &self.mistakes
    }
}
