//! One request on its way to its answer.

use std::{
    future::poll_fn,
    marker::PhantomData,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
};

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request, Response, Uri};

use super::{Conventions, EarlyAnswer};
use crate::{
    caching::{Preconditions, Vary},
    cors::Reader,
    errors::{ErrorStatus, Problem},
    idempotency::{KeyScope, Reply},
    limits::{Spend, Standings},
    routing::RequestId,
    versions::{ApiVersion, VersionScheme},
};

/// A request that has its id, and whose head nobody has looked at.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "a stage has no value")]
pub enum Begun {}

/// A request that is small enough, is no preflight, and means a version that there is. Next it is authenticated.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "a stage has no value")]
pub enum Admitted {}

/// A request that its callers may make now.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "a stage has no value")]
pub enum Limited {}

/// One request on its way to its answer, at this stage.
///
/// A clone can finish what the exchange itself does not come to: when a handler panics, or its future is dropped.
#[derive(Clone, Debug)]
#[must_use = "an exchange has to be finished"]
pub struct Exchange<Stage> {
    pub(super) conventions: Conventions,
    pub(super) id: RequestId,
    pub(super) target: Uri,
    pub(super) reader: Option<Reader>,
    pub(super) version: Option<ApiVersion>,
    pub(super) vary: Vary,
    pub(super) standings: Option<Standings>,
    /// What the host says in every answer.
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    stage: PhantomData<Stage>,
}

impl<Stage> Exchange<Stage> {
    /// The id of the request.
    #[must_use]
    pub const fn id(&self) -> &RequestId {
        &self.id
    }

    /// The conventions it is under.
    #[must_use]
    pub const fn conventions(&self) -> &Conventions {
        &self.conventions
    }

    /// The version that the request means; absent before it is admitted, and where there are none.
    #[must_use]
    pub const fn version(&self) -> Option<ApiVersion> {
        self.version
    }

    /// The path without a version in it: what the host routes by.
    #[must_use]
    pub fn path(&self) -> &str {
        match &self.conventions.0.versions {
            Some(versions) => versions.path(&self.target),
            None => self.target.path(),
        }
    }

    /// The answer depends on these fields of the request too, whatever it will be.
    pub fn vary_by(&mut self, vary: &Vary) {
        self.vary.extend(vary);
    }

    /// The answer has this header, whatever it will be: a refusal, a replay or what the handler makes, and in place of what that says
    /// of it; but names to expose to scripts (`Access-Control-Expose-Headers`) are added to those. It is not kept under an idempotency key.
    ///
    /// For what is found out before there is an answer, such as the nonce that a caller needs for its next proof. What the
    /// conventions write by themselves they go on writing.
    pub fn set_header(&mut self, name: HeaderName, value: HeaderValue) {
        self.headers.push((name, value));
    }

    /// Goes on with what the host found out, or ends the exchange with its refusal.
    ///
    /// # Errors
    ///
    /// The refusal, finished.
    pub fn check<T>(&self, found: Result<T, Problem>) -> Result<T, EarlyAnswer>
    where
        Stage: Clone,
    {
        found.map_err(|problem| self.clone().refuse(problem))
    }

    fn at<Next>(self) -> Exchange<Next> {
        Exchange {
            conventions: self.conventions,
            id: self.id,
            target: self.target,
            reader: self.reader,
            version: self.version,
            vary: self.vary,
            standings: self.standings,
            headers: self.headers,
            stage: PhantomData,
        }
    }

    async fn limited(mut self, spends: &[Spend<'_>]) -> Result<Exchange<Limited>, EarlyAnswer> {
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

impl Exchange<Begun> {
    pub(super) fn begin<B>(conventions: Conventions, id: RequestId, request: &Request<B>) -> Self {
        let cors = conventions.0.cors.as_ref();
        Self {
            id,
            target: request.uri().clone(),
            reader: cors.map(|cors| cors.reader(request.headers())),
            version: None,
            vary: cors.map(|cors| cors.vary()).unwrap_or_default(),
            standings: None,
            headers: Vec::new(),
            stage: PhantomData,
            conventions,
        }
    }

    /// Size limits, preflight, version: what the head says, before anybody is asked who they are.
    ///
    /// # Errors
    ///
    /// 431, 414 or 413 for what is too large; the 204 that answers a preflight; and what [`VersionError`] says of a version that
    /// is not there.
    ///
    /// [`VersionError`]: crate::versions::VersionError
    pub fn admit<B>(mut self, request: &Request<B>) -> Result<Exchange<Admitted>, EarlyAnswer> {
        let conventions = self.conventions.clone();
        let rules = &conventions.0;
        if let Err(too_large) = rules.size_limits.check_head(request.uri(), request.headers()) {
            return Err(self.refuse(too_large.problem(&rules.problems)));
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
    fn resolved<B>(mut self, request: &Request<B>, pinned: Option<ApiVersion>) -> Result<Self, EarlyAnswer> {
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
    /// A request that names no version means the one that its account is pinned to; without one, the default. Does nothing where
    /// a version is named.
    ///
    /// # Errors
    ///
    /// Where there is no such version, or no default either.
    pub fn pin<B>(self, request: &Request<B>, pinned: Option<ApiVersion>) -> Result<Self, EarlyAnswer> {
        match self.version {
            Some(_) => Ok(self),
            None => self.resolved(request, pinned),
        }
    }

    /// Takes what the request costs from all these buckets, or from none.
    ///
    /// # Errors
    ///
    /// 429 with the wait, or 503 while the store is down and the limiter fails closed; 500 where the conventions have no limiter,
    /// as nothing passes unlimited by mistake.
    pub async fn limit(self, spends: &[Spend<'_>]) -> Result<Exchange<Limited>, EarlyAnswer> {
        self.limited(spends).await
    }

    /// This request is not limited.
    pub fn unlimited(self) -> Exchange<Limited> {
        self.at()
    }
}

impl Exchange<Limited> {
    /// Takes from further buckets: from those of an address before authentication, and of a principal after it. The answer tells of
    /// both, and in the fields that have room for one, of these.
    ///
    /// # Errors
    ///
    /// As the first time.
    pub async fn limit(self, spends: &[Spend<'_>]) -> Result<Self, EarlyAnswer> {
        self.limited(spends).await
    }

    /// The preconditions of the request, for its handler to hold against the state that it loads. A replay comes before them
    /// where they are evaluated inside of what [`run`](Self::run) is given.
    #[must_use]
    pub fn preconditions<'r, B>(&self, request: &'r Request<B>) -> Preconditions<'r> {
        Preconditions::of(request, self.conventions.0.clock.now())
    }

    /// Runs the handler, or answers in its place where the request was run before; and finishes the answer.
    ///
    /// The handler is polled only where it is to run; one that panics is answered by 500, and its key is that of a
    /// [crash](crate::idempotency::AfterCrash). An error that it answers is kept as the problem that it is made into, which
    /// names the request that it was first given to.
    pub async fn run<R: Into<Reply>>(
        self,
        request: &Request<Bytes>,
        scope: KeyScope<'_>,
        handler: impl Future<Output = R>,
    ) -> Response<Bytes> {
        let handled = async { self.explained(handler.await.into()) };
        let outcome = unless_it_panics(async {
            match &self.conventions.0.idempotency {
                Some(idempotency) => {
                    let named = self.version_in_field(request);
                    idempotency.run_naming(named, request, scope, handled).await
                }
                None => handled.await.into(),
            }
        });
        let outcome = outcome.await;
        self.finish(outcome.unwrap_or_else(|| Err(Problem::new(ErrorStatus::INTERNAL_SERVER_ERROR))))
    }
}

impl<Stage> Exchange<Stage> {
    /// The version, where a field of the request names it.
    fn version_in_field<B>(&self, request: &Request<B>) -> Option<ApiVersion> {
        let versions = self.conventions.0.versions.as_ref()?;
        let is_in_field = versions.are_in_field() && versions.are_named(request.uri(), request.headers());
        self.version.filter(|_| is_in_field)
    }
}

/// What a future comes to. One that panics is not polled again, and nothing of it is used.
async fn unless_it_panics<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context)));
        // the hook of the process has told of the panic
        polled.map_or_else(|_told| std::task::Poll::Ready(None), |poll| poll.map(Some))
    })
    .await
}
