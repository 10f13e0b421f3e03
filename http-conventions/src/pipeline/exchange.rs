//! A request while it passes through the pipeline.

use std::{marker::PhantomData, time::Duration};

use http::{HeaderName, HeaderValue, Request, Uri};

use super::{Conventions, EarlyResponse, deadline::RunningDeadline};
use crate::{
    caching::{Preconditions, Vary},
    content::{Compression, ResponseCompression},
    cors::Reader,
    errors::{ErrorStatus, HostError, Problem},
    limits::{ConcurrencyPermit, Spend, Standings},
    routing::{RequestId, Semantics},
    tracing::TraceContext,
    versions::{ApiVersion, VersionScheme},
};

/// Stage: the request has an id; its head is not checked yet.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "a stage has no value")]
pub enum Started {}

/// Stage: the request is within the size limits, is not a preflight, and names no unknown or
/// removed version. Authentication is next.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "a stage has no value")]
pub enum Admitted {}

/// Stage: the request has passed or skipped the rate limit.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "a stage has no value")]
pub enum Limited {}

/// One request at a stage of the pipeline.
///
/// Keep a clone to finish the response if the exchange itself is lost, because a handler panicked
/// or its future was dropped.
#[derive(Clone, Debug)]
#[must_use = "an exchange has to be finished"]
pub struct Exchange<Stage> {
    pub(super) conventions: Conventions,
    pub(super) id: RequestId,
    trace: Option<Box<TraceContext>>,
    /// Monotonic time of the begin, if the response has `Server-Timing`.
    pub(super) began: Option<Duration>,
    pub(super) target: Uri,
    /// The method is GET, HEAD or QUERY.
    pub(super) reads: bool,
    pub(super) reader: Option<Reader>,
    pub(super) version: Option<ApiVersion>,
    pub(super) vary: Vary,
    pub(super) standings: Option<Standings>,
    /// Headers that the host set for every response.
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    permits: Vec<ConcurrencyPermit>,
    pub(super) compression: Option<Box<ResponseCompression>>,
    pub(super) deadline: Option<Box<RunningDeadline>>,
    stage: PhantomData<Stage>,
}

impl<Stage> Exchange<Stage> {
    /// Request id.
    #[must_use]
    pub const fn id(&self) -> &RequestId {
        &self.id
    }

    /// Trace context, for the requests that the handler sends and for its log lines. `None` without
    /// [`with_trace_context`](super::ConventionsBuilder::with_trace_context).
    #[must_use]
    pub fn trace(&self) -> Option<&TraceContext> {
        self.trace.as_deref()
    }

    /// Continues the trace of a caller that the host trusts, for example of an authenticated
    /// service. Has no effect if the request names no trace.
    pub fn adopt_trace(&mut self) {
        if let Some(trace) = &mut self.trace {
            trace.adopt_link();
        }
    }

    /// Conventions of this exchange.
    #[must_use]
    pub const fn conventions(&self) -> &Conventions {
        &self.conventions
    }

    /// Resolved version of the request. `None` in these cases:
    ///
    /// - The exchange is not [admitted](Exchange::admit) yet.
    /// - The conventions have no versions.
    /// - The request names no version, and [`pin`](Exchange::pin) has not resolved it.
    #[must_use]
    pub const fn version(&self) -> Option<ApiVersion> {
        self.version
    }

    /// Path without the version, for routing.
    #[must_use]
    pub fn path(&self) -> &str {
        match &self.conventions.0.versions {
            Some(versions) => versions.path(&self.target),
            None => self.target.path(),
        }
    }

    /// Adds request fields to the `Vary` of the response.
    pub fn vary_by(&mut self, vary: &Vary) {
        self.vary.extend(vary);
    }

    /// Sets a header of every response of this exchange: refusal, replay, or response of the
    /// handler. Use it for values that are known before the response, such as the next DPoP nonce.
    ///
    /// - The value replaces the handler's value, except for `Access-Control-Expose-Headers`.
    ///   Without CORS rules, its names are added to those of the handler. With CORS rules, only
    ///   [`with_exposed_header`](crate::cors::CorsRules::with_exposed_header) exposes names to an
    ///   allowed origin.
    /// - The header is not stored under an idempotency key.
    /// - The conventions replace `X-Request-Id`, the CORS headers and the version lifecycle
    ///   headers. They keep a `Cache-Control` that is set here.
    pub fn set_header(&mut self, name: HeaderName, value: HeaderValue) {
        self.headers.push((name, value));
    }

    /// Lets the response be compressed although it sets a cookie, or its `Cache-Control` is
    /// `no-store` or `private`.
    ///
    /// # Security
    ///
    /// See [`ResponseCompression::danger_with_secrets`].
    pub fn danger_compress_secrets(&mut self) {
        let compression = self.compression.take();
        self.compression = compression.map(|compression| Box::new(compression.danger_with_secrets()));
    }

    /// Returns the value of a successful check of the host, such as authentication.
    ///
    /// # Errors
    ///
    /// The problem of a failed check, as a finished [`EarlyResponse`].
    pub fn check<T, E: HostError>(&self, found: Result<T, E>) -> Result<T, EarlyResponse>
    where
        Stage: Clone,
    {
        let problems = self.conventions.problems();
        found.map_err(|error| self.clone().refuse(error.into_problem(problems)))
    }

    /// Holds the permit of a [`ConcurrencyLimit`] or a [`CallerConcurrency`] until this exchange
    /// and its clones are finished or dropped.
    ///
    /// Hold a permit of the server or route as early as possible after
    /// [`admit`](Exchange::admit), and that of a principal after authentication.
    ///
    /// ```
    /// # use http::Request;
    /// # use http_conventions::{
    /// #     limits::{ConcurrencyLimit, Priority},
    /// #     pipeline::{Conventions, EarlyResponse, Admitted, Exchange},
    /// # };
    /// fn begin(
    ///     conventions: &Conventions,
    ///     limit: &ConcurrencyLimit,
    ///     request: &Request<()>,
    /// ) -> Result<Exchange<Admitted>, EarlyResponse> {
    ///     let exchange = conventions.begin(request).admit(request)?;
    ///     exchange.hold(limit.acquire(Priority::of(request)))
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// The problem of a reached limit, 503 or 429, as a finished [`EarlyResponse`].
    ///
    /// [`CallerConcurrency`]: crate::limits::CallerConcurrency
    /// [`ConcurrencyLimit`]: crate::limits::ConcurrencyLimit
    pub fn hold(mut self, acquired: Result<ConcurrencyPermit, Problem>) -> Result<Self, EarlyResponse> {
        match acquired {
            Ok(permit) => {
                self.permits.push(permit);
                Ok(self)
            }
            Err(problem) => Err(self.refuse(problem)),
        }
    }

    fn at<Next>(self) -> Exchange<Next> {
        Exchange {
            conventions: self.conventions,
            id: self.id,
            trace: self.trace,
            began: self.began,
            target: self.target,
            reads: self.reads,
            reader: self.reader,
            version: self.version,
            vary: self.vary,
            standings: self.standings,
            headers: self.headers,
            permits: self.permits,
            compression: self.compression,
            deadline: self.deadline,
            stage: PhantomData,
        }
    }

    async fn limited(mut self, spends: &[Spend<'_>]) -> Result<Exchange<Limited>, EarlyResponse> {
        let checked = match &self.conventions.0.limiter {
            Some(limiter) => limiter.check(spends).await,
            None => Err(Problem::new(ErrorStatus::INTERNAL_SERVER_ERROR)),
        };
        match checked {
            Ok(standings) => {
                self.standings = Some(standings.after(self.standings.take().unwrap_or_default()));
                Ok(self.at())
            }
            Err(problem) => Err(self.refuse(problem)),
        }
    }
}

impl Exchange<Started> {
    pub(super) fn begin<B>(
        conventions: Conventions,
        id: RequestId,
        trace: Option<Box<TraceContext>>,
        request: &Request<B>,
    ) -> Self {
        let rules = &conventions.0;
        let cors = rules.cors.as_ref();
        let compression = rules.compression.as_ref();
        Self {
            id,
            trace,
            began: rules.sends_timing.then(|| rules.clock.monotonic()),
            target: request.uri().clone(),
            reads: Semantics::of(request.method()).is_cacheable(),
            reader: cors.map(|cors| cors.reader(request.headers())),
            version: None,
            vary: cors.map(|cors| cors.vary()).unwrap_or_default(),
            standings: None,
            headers: Vec::new(),
            permits: Vec::new(),
            compression: compression.map(|compression| Box::new(compression.negotiate(request))),
            deadline: None,
            stage: PhantomData,
            conventions,
        }
    }

    /// Checks the head before authentication: size limits, host, preflight, version.
    ///
    /// # Errors
    ///
    /// A finished [`EarlyResponse`]:
    ///
    /// - 431, 414 or 413 if a size limit is exceeded,
    /// - 400 or 421 for a host that is invalid or not
    ///   [allowed](super::ConventionsBuilder::with_allowed_hosts),
    /// - 204 for a preflight,
    /// - the problem of [`VersionError`] for an unknown or removed version.
    ///
    /// [`VersionError`]: crate::versions::VersionError
    pub fn admit<B>(mut self, request: &Request<B>) -> Result<Exchange<Admitted>, EarlyResponse> {
        let conventions = self.conventions.clone();
        let rules = &conventions.0;
        if let Err(too_large) = rules.size_limits.check_head(request.uri(), request.headers()) {
            return Err(self.refuse(too_large.problem(&rules.problems)));
        }
        let hosts = rules.allowed_hosts.as_ref();
        if let Some(Err(refusal)) = hosts.map(|hosts| hosts.check(request)) {
            return Err(self.refuse(refusal.problem()));
        }
        let cors = rules.cors.as_ref();
        if let Some(preflight) = cors.and_then(|cors| cors.preflight(request.method(), request.headers())) {
            return Err(self.finish_preflight(preflight));
        }
        if let Some(versions) = &rules.versions {
            self.vary.extend(&versions.vary());
            let may_be_unsaid = rules.pins_versions || matches!(versions.scheme(), VersionScheme::Path);
            if !may_be_unsaid || versions.are_named(request.uri(), request.headers()) {
                return self.resolved(request, None).map(Self::at);
            }
        }
        Ok(self.at())
    }
}

impl<Stage> Exchange<Stage> {
    fn resolved<B>(
        mut self,
        request: &Request<B>,
        pinned: Option<ApiVersion>,
    ) -> Result<Self, EarlyResponse> {
        let conventions = self.conventions.clone();
        let rules = &conventions.0;
        let Some(versions) = &rules.versions else {
            return Ok(self);
        };
        match versions.resolve(request.uri(), request.headers(), pinned, rules.clock.now()) {
            Ok(resolved) => {
                self.version = Some(resolved.version());
                Ok(self)
            }
            Err(error) => Err(self.refuse(error.problem(&rules.problems))),
        }
    }
}

impl Exchange<Admitted> {
    /// Resolves the version of a request that names no version: the pin of its account, or else the
    /// default.
    ///
    /// Has no effect if the request names a version, or if the conventions have no versions.
    ///
    /// # Errors
    ///
    /// A finished [`EarlyResponse`] if the version is unknown or removed, or if there is neither a
    /// pin nor a default.
    pub fn pin<B>(self, request: &Request<B>, pinned: Option<ApiVersion>) -> Result<Self, EarlyResponse> {
        match self.version {
            Some(_) => Ok(self),
            None => self.resolved(request, pinned),
        }
    }

    /// Takes the cost of the request from all these buckets, or from none if one is exhausted.
    ///
    /// # Errors
    ///
    /// A finished [`EarlyResponse`]:
    ///
    /// - 429 with `Retry-After` if a bucket is exhausted,
    /// - 503 if the store fails and the limiter fails closed,
    /// - 500 if the conventions have no limiter, so that no request passes unlimited by mistake.
    pub async fn limit(self, spends: &[Spend<'_>]) -> Result<Exchange<Limited>, EarlyResponse> {
        self.limited(spends).await
    }

    /// Skips the rate limit for this request.
    pub fn skip_rate_limit(self) -> Exchange<Limited> {
        self.at()
    }
}

impl Exchange<Limited> {
    /// Takes the cost of the request from further buckets, for example from that of the principal
    /// after that of the address.
    ///
    /// `RateLimit` and `RateLimit-Policy` list the policies of all calls. The fields of
    /// [`HeaderProfile::UNIX`] and [`HeaderProfile::X_UNIX`] describe the last call only.
    ///
    /// [`HeaderProfile::UNIX`]: crate::limits::HeaderProfile::UNIX
    /// [`HeaderProfile::X_UNIX`]: crate::limits::HeaderProfile::X_UNIX
    ///
    /// # Errors
    ///
    /// The errors of the first [`limit`](Exchange::limit).
    pub async fn limit(self, spends: &[Spend<'_>]) -> Result<Self, EarlyResponse> {
        self.limited(spends).await
    }

    /// Preconditions of the request. The handler compares them with the state that it loads.
    ///
    /// Evaluate them inside the handler of [`run`](Self::run), so that a retry gets its stored
    /// response even if its preconditions no longer hold.
    #[must_use]
    pub fn preconditions<'r, B>(&self, request: &'r Request<B>) -> Preconditions<'r> {
        let rules = &self.conventions.0;
        let codings = rules.compression.as_ref().map(Compression::codings);
        Preconditions::of(request, rules.clock.now()).with_codings(codings.unwrap_or_default())
    }
}
