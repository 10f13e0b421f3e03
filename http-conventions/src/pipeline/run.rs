//! Runs the handler of an exchange.

use std::{
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
};

use bytes::Bytes;
use http::{Request, Response};

use super::{Exchange, Limited, deadline::AtDeadline};
use crate::{
    content::{check_digests, require_content_digest},
    errors::{ErrorStatus, Problem},
    idempotency::{HeldKey, IntoReply, KeyScope, Reply},
    versions::ApiVersion,
};

impl Exchange<Limited> {
    /// Runs the handler, or replays the stored response of an earlier run, and finishes the
    /// response.
    ///
    /// - Without [`with_idempotency`](super::ConventionsBuilder::with_idempotency), the handler
    ///   runs for each request, and `Idempotency-Key` is ignored.
    /// - A `Content-Digest` or `Repr-Digest` of the request is checked first.
    /// - The handler is not polled if a stored response is replayed or the request is refused.
    /// - A panic of the handler results in 500, and the request counts as
    ///   [crashed](crate::idempotency::AfterCrash).
    /// - The error of a handler is a [`HostError`](crate::errors::HostError), such as a [`Problem`]
    ///   or an error type of the host.
    /// - A problem is stored in its complete form, with the id of the first request. By default a
    ///   problem with a 5xx status is not stored, see [`Reply`].
    /// - For a deadline see [`with_deadline`](Self::with_deadline).
    pub async fn run<R: IntoReply>(
        self,
        request: &Request<Bytes>,
        scope: KeyScope<'_>,
        handler: impl Future<Output = R>,
    ) -> Response<Bytes> {
        if let Err(problem) = self.check_digest(request) {
            return self.finish(Err(problem));
        }
        let at_deadline = match request.method().is_safe() {
            true => AtDeadline::Drop,
            false => AtDeadline::Continue,
        };
        // the futures around the handler hold a reference, which is smaller than its state
        let handler = pin!(handler);
        let handled = async { self.explained(self.run_until_deadline(at_deadline, handler).await) };
        let outcome = unless_it_panics(async {
            match &self.conventions.0.idempotency {
                Some(idempotency) => {
                    let named = self.version_in_field(request);
                    idempotency.run_with_version(named, request, scope, handled).await
                }
                None => handled.await.into(),
            }
        });
        let outcome = outcome.await;
        self.finish(outcome.unwrap_or_else(|| Err(Problem::new(ErrorStatus::INTERNAL_SERVER_ERROR))))
    }

    /// Like [`run`](Self::run), for a handler that completes its key in the transaction that writes
    /// its rows. See [`Idempotency::run_in_transaction`].
    ///
    /// [`Idempotency::run_in_transaction`]: crate::idempotency::Idempotency::run_in_transaction
    pub async fn run_in_transaction<F: Future<Output = Reply>>(
        self,
        request: &Request<Bytes>,
        scope: KeyScope<'_>,
        handler: impl FnOnce(Option<HeldKey>) -> F,
    ) -> Response<Bytes> {
        if let Err(problem) = self.check_digest(request) {
            return self.finish(Err(problem));
        }
        let handler = |held: Option<HeldKey>| {
            // the transaction of a held key commits or rolls back, and the record shows which
            let at_deadline = match request.method().is_safe() || held.is_some() {
                true => AtDeadline::Drop,
                false => AtDeadline::Continue,
            };
            let explained = self.clone();
            let explanation = move |response| explained.explained_answer(response);
            let held = held.map(|held| held.explained_by(explanation));
            let exchange = &self;
            async move {
                let handled = async move { handler(held).await };
                exchange.explained(exchange.run_until_deadline(at_deadline, handled).await)
            }
        };
        let outcome = unless_it_panics(async {
            match &self.conventions.0.idempotency {
                Some(idempotency) => {
                    let named = self.version_in_field(request);
                    idempotency
                        .run_in_transaction_with_version(named, request, scope, handler)
                        .await
                }
                None => handler(None).await.into(),
            }
        });
        let outcome = outcome.await;
        self.finish(outcome.unwrap_or_else(|| Err(Problem::new(ErrorStatus::INTERNAL_SERVER_ERROR))))
    }
}

impl<Stage> Exchange<Stage> {
    fn check_digest(&self, request: &Request<Bytes>) -> Result<(), Problem> {
        let rules = &self.conventions.0;
        let check = match rules.requires_digest {
            true => require_content_digest,
            false => check_digests,
        };
        check(request.headers(), request.body()).map_err(|refusal| refusal.problem(&rules.problems))
    }

    /// Version of the request, if a header field names it.
    fn version_in_field<B>(&self, request: &Request<B>) -> Option<ApiVersion> {
        let versions = self.conventions.0.versions.as_ref()?;
        let is_in_field = versions.are_in_field() && versions.are_named(request.uri(), request.headers());
        self.version.filter(|_| is_in_field)
    }
}

/// Awaits a future; `None` if it panics. It is not polled again after a panic.
async fn unless_it_panics<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context)));
        // the panic hook has already reported the panic
        polled.map_or_else(|_panic| std::task::Poll::Ready(None), |poll| poll.map(Some))
    })
    .await
}
