//! Builder for `Conventions`: validates all settings once.

use std::{collections::HashSet, error::Error, fmt, sync::Arc};

use http::{HeaderName, StatusCode, header};

use super::{Conventions, ConventionsMistake, ErrorLog, InvalidConventions, Rules};
use crate::{
    content::{Compression, SizeLimits},
    cors::{Cors, CorsRules},
    errors::{Challenge, ProblemBase, ProblemType, types},
    idempotency::{IDEMPOTENCY_KEY, Idempotency},
    limits::RateLimiter,
    openapi::{RESERVED_NAMES, problem_name},
    paging::PageRules,
    ports::{Clock, Entropy},
    routing::{AllowedHosts, RequestId, X_REQUEST_ID},
    tracing::{CallerTrust, Sampling, TRACEPARENT, TRACESTATE},
    versions::{ApiVersion, Lifecycle, VersionMistake, VersionScheme, Versions},
};

/// Header fields that cannot name a version, because HTTP or these conventions give them another
/// meaning.
static TAKEN: [HeaderName; 10] = [
    header::ACCEPT,
    header::AUTHORIZATION,
    header::CONTENT_TYPE,
    header::HOST,
    header::IF_MATCH,
    header::ORIGIN,
    IDEMPOTENCY_KEY,
    TRACEPARENT,
    TRACESTATE,
    X_REQUEST_ID,
];

/// Builder for [`Conventions`].
///
/// | setting | default |
/// |---|---|
/// | request ids | valid ids of clients are adopted |
/// | trace context | not read |
/// | `Server-Timing` | not sent |
/// | size limits | defaults of [`SizeLimits`] |
/// | `Content-Digest` | checked if present |
/// | cross-origin requests | not allowed |
/// | compression | none |
/// | versions | none; no default version and no pins |
/// | rate limits | none |
/// | idempotency keys | none |
/// | challenge of a 401 without one | none |
/// | page sizes | none |
/// | problem types of the host | none |
/// | log of errors | none |
#[must_use]
pub struct ConventionsBuilder {
    problems: String,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    adopts_ids: bool,
    tracing: Option<(CallerTrust, Sampling)>,
    sends_timing: bool,
    allowed_hosts: Option<AllowedHosts>,
    size_limits: SizeLimits,
    requires_digest: bool,
    compression: Option<Compression>,
    cors: Option<CorsRules>,
    versions: Option<(VersionScheme, Vec<(ApiVersion, Lifecycle)>)>,
    default_version: Option<ApiVersion>,
    pins_versions: bool,
    challenge: Option<Challenge>,
    limiter: Option<RateLimiter>,
    idempotency: Option<Idempotency>,
    page_rules: Option<PageRules>,
    problem_types: Vec<ProblemType>,
    error_log: Option<Arc<ErrorLog>>,
}

impl ConventionsBuilder {
    pub(super) fn new(problems: &str, clock: impl Clock + 'static, entropy: impl Entropy + 'static) -> Self {
        Self {
            problems: problems.to_owned(),
            clock: Arc::new(clock),
            entropy: Arc::new(entropy),
            adopts_ids: true,
            tracing: None,
            sends_timing: false,
            allowed_hosts: None,
            size_limits: SizeLimits::default(),
            requires_digest: false,
            compression: None,
            cors: None,
            versions: None,
            default_version: None,
            pins_versions: false,
            challenge: None,
            limiter: None,
            idempotency: None,
            page_rules: None,
            problem_types: Vec::new(),
            error_log: None,
        }
    }

    /// Generates a new request id for each request and ignores the id that the client sent.
    ///
    /// Use it if clients are not trusted: a client could send the same id with many requests and so
    /// make log lines ambiguous.
    pub const fn with_new_request_ids(mut self) -> Self {
        self.adopts_ids = false;
        self
    }

    /// Gives each exchange a [`TraceContext`], which [`Exchange::trace`] returns. By default the
    /// fields `traceparent` and `tracestate` are not read.
    ///
    /// If some callers are trusted, pass [`CallerTrust::Untrusted`], and call
    /// [`Exchange::adopt_trace`] for those callers. Pages of another origin can send the fields
    /// only if [`CorsRules::with_request_header`] allows them.
    ///
    /// # Security
    ///
    /// See [`TraceContext`].
    ///
    /// [`Exchange::adopt_trace`]: super::Exchange::adopt_trace
    /// [`Exchange::trace`]: super::Exchange::trace
    /// [`TraceContext`]: crate::tracing::TraceContext
    pub const fn with_trace_context(mut self, trust: CallerTrust, sampling: Sampling) -> Self {
        self.tracing = Some((trust, sampling));
        self
    }

    /// Adds the metric `total` to `Server-Timing` of each response: the time from
    /// [`begin`](Conventions::begin) to the finished response. It is not stored under an
    /// idempotency key. By default the field is not sent.
    ///
    /// # Security
    ///
    /// See [`ServerTiming`](crate::tracing::ServerTiming).
    pub const fn with_server_timing(mut self) -> Self {
        self.sends_timing = true;
        self
    }

    /// Sets the size limits.
    pub const fn with_size_limits(mut self, limits: SizeLimits) -> Self {
        self.size_limits = limits;
        self
    }

    /// Requires a `Content-Digest` of each request with content. By default a digest is checked
    /// only if the request has one.
    ///
    /// A host that reads content without the pipeline, such as a stream, calls
    /// [`require_content_digest`](crate::content::require_content_digest) itself.
    pub const fn with_required_content_digest(mut self) -> Self {
        self.requires_digest = true;
        self
    }

    /// Checks the host of each request. By default the host is not checked.
    pub fn with_allowed_hosts(mut self, hosts: AllowedHosts) -> Self {
        self.allowed_hosts = Some(hosts);
        self
    }

    /// Compresses the responses of [`finish`](super::Exchange::finish), those of handlers and
    /// problems alike. By default no response is compressed.
    ///
    /// A response without `Cache-Control` gets `no-store`, and is therefore not compressed unless
    /// the host calls
    /// [`danger_compress_secrets`](super::Exchange::danger_compress_secrets).
    pub fn with_compression(mut self, compression: Compression) -> Self {
        self.compression = Some(compression);
        self
    }

    /// Sets the CORS rules. If a header field names the version, pages may send that field too.
    pub fn with_cors(mut self, rules: CorsRules) -> Self {
        self.cors = Some(rules);
        self
    }

    /// Sets the versions, in any order; see [`Versions::new`].
    ///
    /// With [`VersionScheme::Path`], the pipeline passes a path without a version, such as
    /// `/health`, to the host.
    pub fn with_versions(
        mut self,
        scheme: VersionScheme,
        versions: impl IntoIterator<Item = (ApiVersion, Lifecycle)>,
    ) -> Self {
        self.versions = Some((scheme, versions.into_iter().collect()));
        self
    }

    /// Sets the version of a request that names no version and whose account has no pin. Invalid
    /// with [`VersionScheme::Path`].
    pub const fn with_default_version(mut self, version: ApiVersion) -> Self {
        self.default_version = Some(version);
        self
    }

    /// Allows accounts to be pinned to versions: after authentication, the host calls
    /// [`Exchange::pin`], which resolves a request that names no version. Invalid with
    /// [`VersionScheme::Path`].
    ///
    /// [`Exchange::pin`]: super::Exchange::pin
    pub const fn with_pinned_versions(mut self) -> Self {
        self.pins_versions = true;
        self
    }

    /// Sets the challenge that is added to a 401 without `WWW-Authenticate`, such as the 401 of a
    /// framework.
    pub fn with_challenge(mut self, challenge: Challenge) -> Self {
        self.challenge = Some(challenge);
        self
    }

    /// Sets the limiter of [`Exchange::limit`].
    ///
    /// [`Exchange::limit`]: super::Exchange::limit
    pub fn with_rate_limiter(mut self, limiter: RateLimiter) -> Self {
        self.limiter = Some(limiter);
        self
    }

    /// Sets the idempotency middleware of [`Exchange::run`].
    ///
    /// [`Exchange::run`]: super::Exchange::run
    pub fn with_idempotency(mut self, idempotency: Idempotency) -> Self {
        self.idempotency = Some(idempotency);
        self
    }

    /// Sets the page sizes. Handlers read them with [`Conventions::page_rules`]; the OpenAPI
    /// document lists them.
    pub const fn with_page_rules(mut self, rules: PageRules) -> Self {
        self.page_rules = Some(rules);
        self
    }

    /// Adds the problem types of the host to those of the conventions.
    pub fn with_problem_types(mut self, types: impl IntoIterator<Item = ProblemType>) -> Self {
        self.problem_types.extend(types);
        self
    }

    /// Sets a callback for each problem that has a [source](crate::errors::Problem::with_source),
    /// such as the error of a handler. It receives the request id, the status of the response and
    /// the source.
    ///
    /// The source is not sent to the client. Errors of the client arrive here too, with a 4xx
    /// status. Failures of the stores of [idempotency keys](Idempotency::with_failure_log) and
    /// [rate limits](RateLimiter::with_failure_log) have callbacks of their own.
    pub fn with_error_log(
        mut self,
        log: impl Fn(&RequestId, StatusCode, &(dyn Error + 'static)) + Send + Sync + 'static,
    ) -> Self {
        self.error_log = Some(Arc::new(log));
        self
    }

    /// Validates each setting, and the combination of all settings.
    ///
    /// # Errors
    ///
    /// [`InvalidConventions`] with all mistakes.
    pub fn build(self) -> Result<Conventions, InvalidConventions> {
        let mut mistakes = Vec::new();
        let problems = self.built_problems(&mut mistakes);
        if !self.size_limits.let_something_pass() {
            mistakes.push(ConventionsMistake::NothingFits);
        }
        let cors = self.built_cors(&mut mistakes);
        let versions = self.built_versions(&mut mistakes);
        mistakes.extend(self.repeated_types());
        match problems {
            Some(problems) if mistakes.is_empty() => Ok(Conventions(Arc::new(Rules {
                problems,
                clock: self.clock,
                entropy: self.entropy,
                adopts_ids: self.adopts_ids,
                tracing: self.tracing,
                sends_timing: self.sends_timing,
                allowed_hosts: self.allowed_hosts,
                size_limits: self.size_limits,
                requires_digest: self.requires_digest,
                compression: self.compression,
                cors,
                versions,
                pins_versions: self.pins_versions,
                challenge: self.challenge,
                limiter: self.limiter,
                idempotency: self.idempotency,
                page_rules: self.page_rules,
                problem_types: self.problem_types,
                error_log: self.error_log,
            }))),
            _ => Err(InvalidConventions::new(mistakes)),
        }
    }

    /// Finds slugs that occur twice, or whose OpenAPI names are equal.
    fn repeated_types(&self) -> impl Iterator<Item = ConventionsMistake> {
        let own = types::ALL.iter().map(|kind| problem_name(kind.slug()));
        let mut taken: HashSet<String> = RESERVED_NAMES.map(str::to_owned).into_iter().chain(own).collect();
        self.problem_types.iter().filter_map(move |kind| {
            let is_new = taken.insert(problem_name(kind.slug()));
            (!is_new).then_some(ConventionsMistake::RepeatedProblemType(kind.slug()))
        })
    }

    fn built_problems(&self, mistakes: &mut Vec<ConventionsMistake>) -> Option<ProblemBase> {
        let problems = ProblemBase::new(&self.problems);
        let other = self.idempotency.as_ref().map(Idempotency::problems);
        match problems {
            Ok(problems) => {
                if other.is_some_and(|other| *other != problems) {
                    mistakes.push(ConventionsMistake::OtherProblemBase);
                }
                Some(problems)
            }
            Err(error) => {
                mistakes.push(ConventionsMistake::ProblemBase(error));
                None
            }
        }
    }

    fn built_cors(&self, mistakes: &mut Vec<ConventionsMistake>) -> Option<Cors> {
        let rules = self.cors.clone()?;
        let rules = match &self.versions {
            Some((VersionScheme::Header(name), _)) => rules.with_request_header(name.clone()),
            _ => rules,
        };
        let built = rules.build();
        built
            .inspect_err(|invalid| {
                mistakes.extend(invalid.mistakes().iter().cloned().map(ConventionsMistake::Cors));
            })
            .ok()
    }

    fn built_versions(&self, mistakes: &mut Vec<ConventionsMistake>) -> Option<Versions> {
        let Some((scheme, listed)) = &self.versions else {
            let unknown = self.default_version.map(VersionMistake::UnknownDefault);
            mistakes.extend(unknown.map(ConventionsMistake::Version));
            mistakes.extend(
                self.pins_versions
                    .then_some(ConventionsMistake::PinsWithoutVersions),
            );
            return None;
        };
        let is_unsaid = self.default_version.is_some() || self.pins_versions;
        match scheme {
            VersionScheme::Path if is_unsaid => mistakes.push(ConventionsMistake::DefaultInPath),
            VersionScheme::Header(name) if TAKEN.contains(name) => {
                mistakes.push(ConventionsMistake::VersionField(name.clone()));
            }
            _ => {}
        }
        let known = |version: &ApiVersion| listed.iter().any(|(there, _)| there == version);
        let (default, unknown) = match self.default_version {
            Some(version) if !known(&version) => (None, Some(version)),
            default => (default, None),
        };
        let unknown = unknown.map(VersionMistake::UnknownDefault);
        mistakes.extend(unknown.map(ConventionsMistake::Version));
        let built =
            Versions::new(scheme.clone(), listed.iter().cloned()).and_then(|versions| match default {
                Some(version) => versions.with_default(version),
                None => Ok(versions),
            });
        built
            .inspect_err(|invalid| {
                mistakes.extend(
                    invalid
                        .mistakes()
                        .iter()
                        .copied()
                        .map(ConventionsMistake::Version),
                );
            })
            .ok()
    }
}

impl fmt::Debug for ConventionsBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConventionsBuilder")
            .field("problems", &self.problems)
            .finish_non_exhaustive()
    }
}
