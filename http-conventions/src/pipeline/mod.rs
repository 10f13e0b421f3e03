//! Pipeline that applies all conventions in one fixed order, so that every response is complete.
//!
//! [`Conventions`] are built once; the builder reports all mistakes together. Each request is an
//! [`Exchange`]. The current stage is a type parameter of the exchange, so the compiler enforces
//! the order:
//!
//! | stage | work | responses |
//! |---|---|---|
//! | [`begin`](Conventions::begin) | request id, trace context | |
//! | [`admit`](Exchange::admit) | size limits, then host, then CORS preflight, then version | 413, 414, 431; 400, 421; 204; 400, 404, 406, 410, 415 |
//! | [`check`](Exchange::check) | checks of the host: routing, authentication | 404, 405, 401, 403 |
//! | [`hold`](Exchange::hold) | concurrency limits, at any stage | 503, 429 |
//! | [`limit`](Exchange::limit) | rate limit | 429, 503; 500 without a limiter |
//! | [`run`](Exchange::run) | digest of the content, then idempotent replay, or the handler, which evaluates preconditions, within a [deadline](Exchange::with_deadline) | 400; 400, 409, 422, 500, 503, 504; 304, 412, 416, 428; response of the handler |
//!
//! Run each exchange of an unsafe method in a task of its own. A server drops the future of a
//! client that disconnects: the request may then stop between two steps, and its idempotency key is
//! held until the lease ends. The layer of `host-adapter-axum` starts this task.
//!
//! A stage that ends the exchange returns an [`EarlyResponse`]; the last stage returns a response.
//! Both are *finished*:
//!
//! - They have the request id, the CORS headers, `Vary`, the version lifecycle headers, the
//!   rate-limit fields, `Cache-Control` and, if configured, `Server-Timing`.
//! - An error is a problem with the path and the id of its request. A handler or a check returns an
//!   error type of the host as it is, if that type implements
//!   [`HostError`](crate::errors::HostError).
//!
//! [`finish`](Exchange::finish) finishes other responses, for example those of a framework.
//! [`refuse`](Conventions::refuse) finishes refusals of the server.
//!
//! ```
//! use std::{sync::Arc, time::SystemTime};
//!
//! use bytes::Bytes;
//! use http::{Request, Response};
//! use http_conventions::{
//!     cors::CorsRules,
//!     errors::{Challenge, Problem},
//!     idempotency::KeyScope,
//!     pipeline::{Conventions, EarlyResponse},
//!     ports::{OsEntropy, SystemClock},
//! };
//!
//! async fn answer(
//!     conventions: &Conventions,
//!     request: Request<Bytes>,
//! ) -> Result<Response<Bytes>, EarlyResponse> {
//!     let exchange = conventions.begin(&request).admit(&request)?;
//!     let user = exchange.check(authenticate(&request))?;
//!     let handler = async { Response::new(Bytes::from_static(b"{}")) };
//!     Ok(exchange
//!         .skip_rate_limit()
//!         .run(&request, KeyScope::new(user, "/v1/charges"), handler)
//!         .await)
//! }
//!
//! fn authenticate(request: &Request<Bytes>) -> Result<&'static str, Problem> {
//!     match request.headers().contains_key("authorization") {
//!         true => Ok("user-7"),
//!         false => Err(Problem::unauthorized(Challenge::bearer())),
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let conventions = Conventions::builder(
//!     "https://api.example.com/problems/",
//!     Arc::new(SystemClock),
//!     Arc::new(OsEntropy),
//! )
//! .with_cors(CorsRules::origins(["https://app.example.com"]))
//! .build()?;
//!
//! let request = Request::get("/v1/charges")
//!     .header("Origin", "https://app.example.com")
//!     .body(Bytes::new())?;
//! let refused = answer(&conventions, request)
//!     .await
//!     .unwrap_or_else(EarlyResponse::into_response);
//! assert_eq!(refused.status(), 401);
//! assert_eq!(
//!     refused.headers()["access-control-allow-origin"],
//!     "https://app.example.com"
//! );
//! assert_eq!(
//!     refused.headers()["content-type"],
//!     "application/problem+json"
//! );
//! assert!(refused.headers().contains_key("x-request-id"));
//! # Ok(())
//! # }
//! ```
//!
//! Another order does not compile. For example, an admitted exchange cannot run before it has
//! passed or skipped the rate limit:
//!
//! ```compile_fail,E0599
//! # use {bytes::Bytes, http::Request};
//! # use http_conventions::{idempotency::KeyScope, pipeline::{Admitted, Exchange}};
//! # async fn run(exchange: Exchange<Admitted>, request: Request<Bytes>) {
//! exchange
//!     .run(&request, KeyScope::new("user-7", "/v1/charges"), async {
//!         http::Response::new(Bytes::new())
//!     })
//!     .await;
//! # }
//! ```
//!
//! # Contract
//!
//! - Begin the exchange before reading the content. Keep a clone of it to respond to a panic
//!   outside of [`run`](Exchange::run).
//! - After [`admit`](Exchange::admit), [limit](Exchange::limit) by address, then authenticate, then
//!   limit by principal. With [pinned versions](ConventionsBuilder::with_pinned_versions),
//!   authenticate and [pin](Exchange::pin) before the first limit.
//! - [Hold](Exchange::hold) a permit of the server or the route after [`admit`](Exchange::admit),
//!   so that an overloaded server refuses before it authenticates.
//! - [Set the deadline](Exchange::with_deadline) of a route before [`run`](Exchange::run). For an
//!   unsafe method, [wait](Exchange::wait_for) for the task of the exchange: the client gets its
//!   503 in time, and the task ends what it has begun.
//! - Pass the content to [`run`](Exchange::run) as it was sent. A host that decompresses it first
//!   [checks](crate::content::check_digests) the digests itself, and removes `Content-Encoding`,
//!   `Content-Digest` and `Repr-Digest`.
//! - Evaluate [preconditions](Exchange::preconditions) in the handler. Compare the state and write
//!   it in one atomic step of the store; otherwise another request can write in between.
//!
//! # Order of the stages
//!
//! - Size limits come first, so that later stages process only requests of limited size.
//! - A preflight has no credentials and names no version. The pipeline therefore responds to it
//!   before version, authentication and rate limit.
//! - A replay comes before the preconditions: a retried write must get its first response, not a
//!   412 caused by its own change of the entity tag.
//! - Compression comes last: a response is stored under its idempotency key as it is, and a replay
//!   is compressed as its own request asks.

mod builder;
mod deadline;
mod describe;
mod early;
mod exchange;
mod finish;
mod mistakes;
mod run;

use std::{error::Error, fmt, sync::Arc, time::SystemTime};

use http::{Request, StatusCode};

pub use self::{
    builder::ConventionsBuilder,
    early::EarlyResponse,
    exchange::{Admitted, Exchange, Limited, Started},
    mistakes::{ConventionsMistake, InvalidConventions},
};
use crate::{
    content::{Compression, SizeLimits},
    cors::Cors,
    errors::{Challenge, Problem, ProblemBase, ProblemType},
    idempotency::Idempotency,
    limits::RateLimiter,
    paging::PageRules,
    ports::{Clock, Entropy},
    routing::{AllowedHosts, RequestId},
    tracing::{CallerTrust, Sampling, TraceContext},
    versions::Versions,
};

/// All conventions of one API. Cheap to clone.
#[derive(Clone)]
pub struct Conventions(Arc<Rules>);

struct Rules {
    problems: ProblemBase,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    adopts_ids: bool,
    tracing: Option<(CallerTrust, Sampling)>,
    sends_timing: bool,
    allowed_hosts: Option<AllowedHosts>,
    size_limits: SizeLimits,
    requires_digest: bool,
    compression: Option<Compression>,
    cors: Option<Cors>,
    versions: Option<Versions>,
    pins_versions: bool,
    challenge: Option<Challenge>,
    limiter: Option<RateLimiter>,
    idempotency: Option<Idempotency>,
    page_rules: Option<PageRules>,
    problem_types: Vec<ProblemType>,
    error_log: Option<Arc<ErrorLog>>,
}

/// Log of the sources of problems.
type ErrorLog = dyn Fn(&RequestId, StatusCode, &(dyn Error + 'static)) + Send + Sync;

impl Conventions {
    /// Creates a builder. `problems` is the base URI of the problem types, see
    /// [`ProblemBase::new`].
    pub fn builder(
        problems: &str,
        clock: impl Clock + 'static,
        entropy: impl Entropy + 'static,
    ) -> ConventionsBuilder {
        ConventionsBuilder::new(problems, clock, entropy)
    }

    /// Begins an exchange: assigns the request id and, if configured, the trace context. The
    /// content of the request is not needed.
    pub fn begin<B>(&self, request: &Request<B>) -> Exchange<Started> {
        let rules = &self.0;
        let id = match rules.adopts_ids {
            true => RequestId::adopt(request.headers(), &*rules.entropy),
            false => RequestId::generate(&*rules.entropy),
        };
        let trace = rules.tracing.map(|(trust, sampling)| {
            let headers = request.headers();
            Box::new(match trust {
                CallerTrust::Trusted => TraceContext::adopt_or_begin(headers, &*rules.entropy, sampling),
                CallerTrust::Untrusted => TraceContext::begin_linked(headers, &*rules.entropy, sampling),
            })
        });
        Exchange::begin(self.clone(), id, trace, request)
    }

    /// Creates the finished response to a failure outside of the pipeline, such as content that is
    /// too large or too slow, malformed HTTP, or a panic.
    ///
    /// If [`admit`](Exchange::admit) refuses the head of the request, returns that refusal instead.
    pub fn refuse<B>(&self, request: &Request<B>, status: StatusCode) -> EarlyResponse {
        let problem = match status {
            StatusCode::PAYLOAD_TOO_LARGE => self.0.size_limits.too_much_content().problem(&self.0.problems),
            status => Problem::of_status(status),
        };
        match self.begin(request).admit(request) {
            Ok(exchange) => exchange.refuse(problem),
            Err(early) => early,
        }
    }

    /// Base of the problem types.
    #[must_use]
    pub fn problems(&self) -> &ProblemBase {
        &self.0.problems
    }

    /// Returns `true` if [`Exchange::run`] applies idempotency keys; otherwise it runs the handler
    /// for each request.
    #[must_use]
    pub fn has_idempotency(&self) -> bool {
        self.0.idempotency.is_some()
    }

    /// Page sizes for handlers; `None` if they are not configured.
    #[must_use]
    pub fn page_rules(&self) -> Option<PageRules> {
        self.0.page_rules
    }

    /// Current time of the clock.
    #[must_use]
    pub fn now(&self) -> SystemTime {
        self.0.clock.now()
    }

    /// Size limits. The host creates a [meter](SizeLimits::meter) from them to count the content
    /// while it arrives.
    #[must_use]
    pub fn size_limits(&self) -> SizeLimits {
        self.0.size_limits
    }
}

impl fmt::Debug for Conventions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conventions")
            .field("problems", &self.0.problems)
            .field("size_limits", &self.0.size_limits)
            .field("cors", &self.0.cors)
            .field("versions", &self.0.versions)
            .field("limiter", &self.0.limiter)
            .field("idempotency", &self.0.idempotency)
            .finish_non_exhaustive()
    }
}
