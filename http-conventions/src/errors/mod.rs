//! Problem details, [RFC 9457](https://www.rfc-editor.org/rfc/rfc9457): what every error answer carries.
//!
//! A [`Problem`] without a type is `about:blank`: its status says it all. Where clients must tell causes apart, give it a
//! [`ProblemType`]: a slug that, put behind the host's [`ProblemBase`], is the stable URI clients switch on. The types this
//! crate itself sends are listed in [`types`]; a host serves their descriptions where their URIs point.
//!
//! An answer that owes a header cannot be made without it: a 401 takes its challenge, a 405 its methods, a 429 and a 503
//! their wait, and [`ErrorStatus`] is no way around that. Clients read answers with [`ReceivedProblem`].
//!
//! ```
//! use http_conventions::errors::{ErrorStatus, Problem, ProblemBase, ProblemType};
//!
//! const OUT_OF_STOCK: ProblemType =
//!     ProblemType::new("out-of-stock", ErrorStatus::CONFLICT, "Out of stock", "The item cannot be ordered at the moment.");
//!
//! let base = ProblemBase::new("https://api.example.com/problems/")?;
//! let response = OUT_OF_STOCK.problem(&base).with_detail("item B00027Y5QG is gone").with_extension("stock", 0).into_response();
//!
//! assert_eq!(response.status(), 409);
//! assert_eq!(response.headers()["content-type"], "application/problem+json");
//! assert_eq!(
//!     response.body().as_ref(),
//!     br#"{"type":"https://api.example.com/problems/out-of-stock","title":"Out of stock","status":409,"detail":"item B00027Y5QG is gone","stock":0}"#
//! );
//!
//! let plain = Problem::new(ErrorStatus::NOT_FOUND);
//! assert_eq!(plain.to_bytes().as_ref(), br#"{"type":"about:blank","title":"Not Found","status":404}"#);
//! # Ok::<(), http_conventions::errors::InvalidProblemBase>(())
//! ```

use std::{borrow::Cow, time::Duration};

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
mod kind;
mod member;
mod parse;
mod status;
pub mod types;
mod write;

pub(crate) use self::complete::{completed_content, explains_nothing};
pub use self::{
    challenge::{Challenge, InvalidChallenge},
    complete::is_problem,
    kind::{InvalidProblemBase, ProblemBase, ProblemType},
    member::Member,
    parse::{InvalidProblem, ReceivedProblem},
    status::{ErrorStatus, InvalidErrorStatus},
};

/// The media type of a problem body.
pub const PROBLEM_JSON: HeaderValue = HeaderValue::from_static("application/problem+json");

/// The headers that a problem writes by itself, each of which has a way of its own into it.
static OWN: [HeaderName; 5] = [ALLOW, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE];

/// One error answer: its status, its body and the headers that status owes.
///
/// One pointer wide, so that a `Result<_, Problem>` costs nothing where all goes well.
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
    /// Further fields that the answer owes.
    fields: Vec<(HeaderName, HeaderValue)>,
}

impl Problem {
    /// A problem that its status explains: type `about:blank`, the status phrase as title.
    #[must_use]
    pub fn new(status: ErrorStatus) -> Self {
        Self::blank(status.status())
    }

    /// The problem of a status that a server or a framework chose by itself: a request too large, too slow or unreadable.
    ///
    /// A 429 and a 503 ask for a second of patience. What is no error, or owes a header that the status alone does not say,
    /// becomes a 500.
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

    /// 401: the caller must prove who it is, in the way the challenge says.
    #[must_use]
    pub fn unauthorized(challenge: Challenge) -> Self {
        Self::challenged(StatusCode::UNAUTHORIZED, challenge)
    }

    /// A refusal with its challenge, as a resource server has it
    /// ([RFC 6750 §3.1](https://www.rfc-editor.org/rfc/rfc6750#section-3.1)): 400, 403, and 401 for every other status.
    #[must_use]
    pub fn challenged(status: StatusCode, challenge: Challenge) -> Self {
        let status = match status {
            StatusCode::BAD_REQUEST | StatusCode::FORBIDDEN => status,
            _ => StatusCode::UNAUTHORIZED,
        };
        Self::blank(status).with_challenge(challenge)
    }

    /// 405: the resource is there, and takes only these methods; none means none.
    #[must_use]
    pub fn method_not_allowed(allow: impl Into<Allow>) -> Self {
        let mut problem = Self::blank(StatusCode::METHOD_NOT_ALLOWED);
        problem.0.allow = Some(allow.into());
        problem
    }

    /// 429: the caller must slow down.
    #[must_use]
    pub fn too_many_requests(retry_after: RetryAfter) -> Self {
        Self::blank(StatusCode::TOO_MANY_REQUESTS).with_retry_after(retry_after)
    }

    /// 503: the service cannot answer at the moment.
    #[must_use]
    pub fn service_unavailable(retry_after: RetryAfter) -> Self {
        Self::blank(StatusCode::SERVICE_UNAVAILABLE).with_retry_after(retry_after)
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
        }))
    }

    /// Names the kind of problem by an absolute URI that stays the same, and a title that goes with it.
    ///
    /// [`ProblemType::problem`] does this for a type of a registry.
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

    /// Explains this occurrence, in words that help the client's developer.
    ///
    /// # Security
    ///
    /// The caller reads this: no internals, no stack traces, no secrets.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<Cow<'static, str>>) -> Self {
        self.0.detail = Some(detail.into());
        self
    }

    /// Names this occurrence, as a URI reference: often the path of the affected resource.
    #[must_use]
    pub fn with_instance(mut self, instance: impl Into<Cow<'static, str>>) -> Self {
        self.0.instance = Some(instance.into());
        self
    }

    /// Adds a member of the problem's own, in place of an earlier one of that name.
    ///
    /// The five standard members keep their meaning: an extension that bears one of their names is not written.
    #[must_use]
    pub fn with_extension(mut self, name: &'static str, value: impl Into<Member>) -> Self {
        self.0.extensions.retain(|(existing, _)| *existing != name);
        self.0.extensions.push((name, value.into()));
        self
    }

    /// Adds the extension `request_id`, so that a pasted body leads to the log line.
    #[must_use]
    pub fn with_request_id(self, id: &RequestId) -> Self {
        self.with_extension("request_id", id.as_str().to_owned())
    }

    /// Adds a `WWW-Authenticate` challenge: a further one to a 401, or the missing scope to a 403.
    #[must_use]
    pub fn with_challenge(mut self, challenge: Challenge) -> Self {
        self.0.challenges.push(challenge);
        self
    }

    /// Says when to come back.
    #[must_use]
    pub fn with_retry_after(mut self, retry_after: RetryAfter) -> Self {
        self.0.retry_after = Some(retry_after);
        self
    }

    /// Adds a header of the host's own to the answer, in place of an earlier one of that name: a `DPoP-Nonce` beside its challenge,
    /// for instance.
    ///
    /// The headers that the problem writes by itself keep their values: `Content-Type`, `Cache-Control`, `WWW-Authenticate`, `Allow`
    /// and `Retry-After` are not taken here.
    ///
    /// ```
    /// use http::{HeaderName, HeaderValue};
    /// use http_conventions::errors::{Challenge, Problem};
    ///
    /// let challenge = Challenge::new("DPoP")?.with_parameter("error", "use_dpop_nonce")?;
    /// let nonce = (HeaderName::from_static("dpop-nonce"), HeaderValue::from_static("eyJ7S_zG.eyJH0-Z.HX4w-7v"));
    /// let response = Problem::unauthorized(challenge).with_header(nonce.0, nonce.1).into_response();
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

    /// Adds a field that the answer owes.
    pub(crate) fn with_field(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.0.fields.push((name, value));
        self
    }

    /// Whether the answer owes this field already.
    pub(crate) fn has_field(&self, name: &HeaderName) -> bool {
        self.0.fields.iter().any(|(there, _)| there == name)
    }

    /// The status of the answer, which is also the member `status`.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.0.status
    }

    /// The problem as JSON.
    #[must_use]
    pub fn to_bytes(&self) -> Bytes {
        write::problem(&self.0)
    }

    /// The whole answer: status, body, `Content-Type`, `Cache-Control: no-store`, and the headers that were given.
    #[must_use]
    pub fn into_response(self) -> Response<Bytes> {
        let mut response = Response::new(self.to_bytes());
        *response.status_mut() = self.0.status;
        self.0.write_headers(response.headers_mut());
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

/// The status phrase of [RFC 9110 §15](https://www.rfc-editor.org/rfc/rfc9110#section-15); `http` has two of an older one.
pub(crate) fn phrase(status: StatusCode) -> &'static str {
    match status {
        StatusCode::PAYLOAD_TOO_LARGE => "Content Too Large",
        StatusCode::UNPROCESSABLE_ENTITY => "Unprocessable Content",
        status => status.canonical_reason().unwrap_or("Error"),
    }
}
