//! Problem details for HTTP APIs, [RFC 9457](https://www.rfc-editor.org/rfc/rfc9457): the body of
//! every error response.
//!
//! A [`Problem`] without a type has the type `about:blank`: it tells the client no more than its
//! status. Give a problem a [`ProblemType`] if clients must distinguish its causes. The type URI is
//! the [`ProblemBase`] of the host followed by the slug of the type. [`types`] lists the types of
//! this crate; a 429 has the registered type [`QUOTA_EXCEEDED`](crate::limits::QUOTA_EXCEEDED).
//!
//! Statuses that require a header have constructors with the value of that header: 401 takes a
//! challenge, 405 the allowed methods, 429 and 503 the time to wait. [`ErrorStatus`] excludes these
//! statuses. Clients parse problems with [`ReceivedProblem`].
//!
//! ```
//! use http_conventions::errors::{ErrorStatus, Problem, ProblemBase, ProblemType};
//!
//! const OUT_OF_STOCK: ProblemType = ProblemType::new(
//!     "out-of-stock",
//!     ErrorStatus::CONFLICT,
//!     "Out of stock",
//!     "The item cannot be ordered at the moment.",
//! );
//!
//! let base = ProblemBase::new("https://api.example.com/problems/")?;
//! let response = OUT_OF_STOCK
//!     .problem(&base)
//!     .with_detail("item B00027Y5QG is gone")
//!     .with_extension("stock", 0)
//!     .into_response();
//!
//! assert_eq!(response.status(), 409);
//! assert_eq!(
//!     response.headers()["content-type"],
//!     "application/problem+json"
//! );
//! assert_eq!(
//!     response.body().as_ref(),
//!     concat!(
//!         r#"{"type":"https://api.example.com/problems/out-of-stock","title":"Out of stock","#,
//!         r#""status":409,"detail":"item B00027Y5QG is gone","stock":0}"#,
//!     )
//!     .as_bytes()
//! );
//!
//! let plain = Problem::new(ErrorStatus::NOT_FOUND);
//! assert_eq!(
//!     plain.to_bytes().as_ref(),
//!     br#"{"type":"about:blank","title":"Not Found","status":404}"#
//! );
//! # Ok::<(), http_conventions::errors::InvalidProblemBase>(())
//! ```
//!
//! The error type of a host implements [`HostError`], which maps each cause to its problem.

use std::{borrow::Cow, error::Error, time::Duration};

use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, HeaderValue, Response, StatusCode,
    header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE},
};

use crate::{
    caching::CacheControl,
    limits::RetryAfter,
    routing::{Allow, RequestId},
};

mod challenge;
mod complete;
mod host_error;
mod kind;
mod member;
mod parse;
mod status;
pub mod types;
mod write;

pub use self::{
    challenge::{Challenge, InvalidChallenge},
    complete::is_problem,
    host_error::HostError,
    kind::{InvalidProblemBase, ProblemBase, ProblemType},
    member::Member,
    parse::{InvalidProblem, ReceivedProblem},
    status::{ErrorStatus, InvalidErrorStatus},
};
pub(crate) use self::{
    complete::{completed_content, explains_nothing},
    host_error::ProblemSource,
};

/// Media type of a problem document.
pub const PROBLEM_JSON: HeaderValue = HeaderValue::from_static("application/problem+json");

/// Headers that a problem writes itself. [`Problem::with_header`] ignores them.
static OWN: [HeaderName; 5] = [ALLOW, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE];

/// An error response: status, problem document and the headers that the status requires.
///
/// # Performance
///
/// A problem has the size of one pointer, so that `Result<_, Problem>` is small.
#[derive(Clone, Debug)]
pub struct Problem(Box<Parts>);

#[derive(Clone, Debug)]
struct Parts {
    type_uri: Cow<'static, str>,
    title: Cow<'static, str>,
    status: StatusCode,
    detail: Option<Cow<'static, str>>,
    instance: Option<Cow<'static, str>>,
    extensions: Vec<(&'static str, Member)>,
    challenges: Vec<Challenge>,
    allow: Option<Allow>,
    retry_after: Option<RetryAfter>,
    /// Further response headers.
    fields: Vec<(HeaderName, HeaderValue)>,
    source: Option<ProblemSource>,
}

impl Problem {
    /// Creates a problem of the type `about:blank`. Its title is the status phrase.
    #[must_use]
    pub fn new(status: ErrorStatus) -> Self {
        Self::blank(status.status())
    }

    /// Creates the problem for a status that a server or a framework chose, such as 400, 408 or
    /// 413.
    ///
    /// - 429 and 503 get `Retry-After: 1`.
    /// - A status that is not an error becomes 500.
    /// - A status that requires another header (401, 405, 407, 426) becomes 500.
    #[must_use]
    pub fn of_status(status: StatusCode) -> Self {
        match (ErrorStatus::try_from(status), status) {
            (Ok(status), _) => Self::new(status),
            (_, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) => {
                Self::blank(status).with_retry_after(RetryAfter::new(Duration::from_secs(1)))
            }
            _ => Self::new(ErrorStatus::INTERNAL_SERVER_ERROR),
        }
    }

    /// 401: the request lacks valid credentials. The challenge names the scheme.
    #[must_use]
    pub fn unauthorized(challenge: Challenge) -> Self {
        Self::challenged(StatusCode::UNAUTHORIZED, challenge)
    }

    /// Creates a problem with a challenge, [RFC 6750
    /// §3.1](https://www.rfc-editor.org/rfc/rfc6750#section-3.1).
    ///
    /// The statuses 400 and 403 are kept. Every other status becomes 401.
    #[must_use]
    pub fn challenged(status: StatusCode, challenge: Challenge) -> Self {
        let status = match status {
            StatusCode::BAD_REQUEST | StatusCode::FORBIDDEN => status,
            _ => StatusCode::UNAUTHORIZED,
        };
        Self::blank(status).with_challenge(challenge)
    }

    /// 405: the resource supports only these methods. If there are none, `Allow` is sent empty.
    #[must_use]
    pub fn method_not_allowed(allow: impl Into<Allow>) -> Self {
        let mut problem = Self::blank(StatusCode::METHOD_NOT_ALLOWED);
        problem.0.allow = Some(allow.into());
        problem
    }

    /// 429: the caller exceeded a rate limit.
    #[must_use]
    pub fn too_many_requests(retry_after: RetryAfter) -> Self {
        Self::blank(StatusCode::TOO_MANY_REQUESTS).with_retry_after(retry_after)
    }

    /// 503: the service is temporarily unavailable.
    #[must_use]
    pub fn service_unavailable(retry_after: RetryAfter) -> Self {
        Self::blank(StatusCode::SERVICE_UNAVAILABLE).with_retry_after(retry_after)
    }

    /// 500: a failure that the client cannot influence. The source is for the log of the host.
    #[must_use]
    pub fn internal(source: impl Error + Send + Sync + 'static) -> Self {
        Self::new(ErrorStatus::INTERNAL_SERVER_ERROR).with_source(source)
    }

    fn blank(status: StatusCode) -> Self {
        Self(Box::new(Parts {
            type_uri: Cow::Borrowed("about:blank"),
            title: Cow::Borrowed(phrase(status)),
            status,
            detail: None,
            instance: None,
            extensions: Vec::new(),
            challenges: Vec::new(),
            allow: None,
            retry_after: None,
            fields: Vec::new(),
            source: None,
        }))
    }

    /// Sets the type, a stable absolute URI, and the title of that type.
    ///
    /// [`ProblemType::problem`] sets both from a registry.
    #[must_use]
    pub fn with_type(
        mut self,
        uri: impl Into<Cow<'static, str>>,
        title: impl Into<Cow<'static, str>>,
    ) -> Self {
        self.0.type_uri = uri.into();
        self.0.title = title.into();
        self
    }

    /// Sets `detail`, the explanation of this occurrence for the developer of the client.
    ///
    /// # Security
    ///
    /// The client receives this text: leave out internals, stack traces and secrets.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<Cow<'static, str>>) -> Self {
        self.0.detail = Some(detail.into());
        self
    }

    /// Sets `instance`, the URI reference of this occurrence, often the path of the affected
    /// resource.
    #[must_use]
    pub fn with_instance(mut self, instance: impl Into<Cow<'static, str>>) -> Self {
        self.0.instance = Some(instance.into());
        self
    }

    /// Adds an extension member; replaces an earlier one of the same name.
    ///
    /// An extension with the name of a standard member (`type`, `title`, `status`, `detail`,
    /// `instance`) is not written.
    #[must_use]
    pub fn with_extension(mut self, name: &'static str, value: impl Into<Member>) -> Self {
        self.0.extensions.retain(|(existing, _)| *existing != name);
        self.0.extensions.push((name, value.into()));
        self
    }

    /// Adds the extension `request_id`. It leads a developer from a reported problem to the log
    /// line of the request.
    #[must_use]
    pub fn with_request_id(self, id: &RequestId) -> Self {
        self.with_extension("request_id", id.as_str().to_owned())
    }

    /// Adds a `WWW-Authenticate` challenge, for example a second challenge to a 401, or a challenge
    /// that names the missing scope to a 403.
    #[must_use]
    pub fn with_challenge(mut self, challenge: Challenge) -> Self {
        self.0.challenges.push(challenge);
        self
    }

    /// Sets `Retry-After`.
    #[must_use]
    pub fn with_retry_after(mut self, retry_after: RetryAfter) -> Self {
        self.0.retry_after = Some(retry_after);
        self
    }

    /// Adds a response header, such as `DPoP-Nonce`; replaces an earlier one of the same name.
    ///
    /// `Content-Type`, `Cache-Control`, `WWW-Authenticate`, `Allow` and `Retry-After` are ignored
    /// here: the problem writes them itself.
    ///
    /// ```
    /// use http::{HeaderName, HeaderValue};
    /// use http_conventions::errors::{Challenge, Problem};
    ///
    /// let challenge = Challenge::new("DPoP")?.with_parameter("error", "use_dpop_nonce")?;
    /// let nonce = (
    ///     HeaderName::from_static("dpop-nonce"),
    ///     HeaderValue::from_static("eyJ7S_zG.eyJH0-Z.HX4w-7v"),
    /// );
    /// let response = Problem::unauthorized(challenge)
    ///     .with_header(nonce.0, nonce.1)
    ///     .into_response();
    /// assert_eq!(response.headers()["dpop-nonce"], "eyJ7S_zG.eyJH0-Z.HX4w-7v");
    /// # Ok::<(), http_conventions::errors::InvalidChallenge>(())
    /// ```
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        if OWN.contains(&name) {
            return self;
        }
        self.0.fields.retain(|(there, _)| *there != name);
        self.with_field(name, value)
    }

    /// Sets the cause, for the [error
    /// log](crate::pipeline::ConventionsBuilder::with_error_log) of the host. It is never sent.
    #[must_use]
    pub fn with_source(mut self, source: impl Error + Send + Sync + 'static) -> Self {
        self.0.source = Some(ProblemSource::new(source));
        self
    }

    /// Appends a response header.
    pub(crate) fn with_field(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.0.fields.push((name, value));
        self
    }

    /// Returns `true` if the header was added.
    pub(crate) fn has_field(&self, name: &HeaderName) -> bool {
        self.0.fields.iter().any(|(there, _)| there == name)
    }

    /// Status of the response; also the member `status` of the problem.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.0.status
    }

    /// Problem document as JSON.
    #[must_use]
    pub fn to_bytes(&self) -> Bytes {
        write::problem(&self.0)
    }

    /// Complete response: status, body, `Content-Type`, `Cache-Control: no-store` and the added
    /// headers.
    #[must_use]
    pub fn into_response(self) -> Response<Bytes> {
        let mut response = Response::new(self.to_bytes());
        *response.status_mut() = self.0.status;
        let mut parts = self.0;
        if let Some(source) = parts.source.take() {
            response.extensions_mut().insert(source);
        }
        parts.write_headers(response.headers_mut());
        response
    }
}

impl Parts {
    fn write_headers(self, headers: &mut HeaderMap) {
        headers.insert(CONTENT_TYPE, PROBLEM_JSON);
        CacheControl::no_store().apply(headers);
        for challenge in &self.challenges {
            headers.append(WWW_AUTHENTICATE, challenge.header_value());
        }
        if let Some(allow) = self.allow {
            headers.insert(ALLOW, allow.header_value());
        }
        if let Some(retry_after) = self.retry_after {
            retry_after.apply(headers);
        }
        for (name, value) in self.fields {
            headers.append(name, value);
        }
    }
}

/// Status phrase of [RFC 9110 §15](https://www.rfc-editor.org/rfc/rfc9110#section-15); the phrases
/// of the `http` crate for 413 and 422 are older.
pub(crate) fn phrase(status: StatusCode) -> &'static str {
    match status {
        StatusCode::PAYLOAD_TOO_LARGE => "Content Too Large",
        StatusCode::UNPROCESSABLE_ENTITY => "Unprocessable Content",
        status => status.canonical_reason().unwrap_or("Error"),
    }
}
