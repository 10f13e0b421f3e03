//! Finishes every response.

use bytes::Bytes;
use http::{
    HeaderMap, HeaderValue, Response, StatusCode,
    header::{ACCESS_CONTROL_EXPOSE_HEADERS, CACHE_CONTROL, CONTENT_TYPE, ETAG, LAST_MODIFIED},
};

use super::{EarlyResponse, Exchange};
use crate::{
    caching::CacheControl,
    errors::{self, Problem, ProblemSource},
    idempotency::{IDEMPOTENCY_REPLAYED, Reply},
    routing::X_REQUEST_ID,
    tracing::{self, ServerTiming},
};

impl<Stage> Exchange<Stage> {
    /// Finishes a response from any source.
    ///
    /// - Sets the request id, CORS headers, `Vary`, version lifecycle headers and rate-limit
    ///   fields.
    /// - Adds the metric `total` to `Server-Timing`, if
    ///   [configured](super::ConventionsBuilder::with_server_timing).
    /// - Sets `Cache-Control` if the response has none: `private, no-cache` for a 200, 206 or 304
    ///   to a GET, HEAD or QUERY with `ETag` or `Last-Modified`, so that the client can revalidate
    ///   it, and `no-store` for every other response.
    /// - Passes the source of a problem to the [error
    ///   log](super::ConventionsBuilder::with_error_log).
    /// - Completes a problem with `request_id`, and with the path as `instance` if it has none.
    /// - Replaces the content of an error that is empty or plain text by the problem of its status.
    ///   Frameworks send 404, 405, 413 and 415 in this form. The headers stay.
    /// - Sets `Content-Type: application/octet-stream` for content without a type ([RFC 9110
    ///   §8.3](https://www.rfc-editor.org/rfc/rfc9110#section-8.3)), so that clients do not guess.
    ///
    /// - Compresses the content, if [configured](super::ConventionsBuilder::with_compression).
    ///
    /// A clone of the exchange can finish the response again without changing it, for example in a
    /// layer around a service.
    #[must_use]
    pub fn finish(mut self, outcome: Result<Response<Bytes>, Problem>) -> Response<Bytes> {
        let outcome = outcome.map(
            |answer| match answer.headers().contains_key(IDEMPOTENCY_REPLAYED) {
                // replays the first response byte for byte
                true => answer,
                false => errors::completed_content(answer, &self.target, &self.id),
            },
        );
        let compression = self.compression.take();
        let finished = typed(self.finish_as(outcome, |content| content));
        match compression {
            Some(compression) => compression.apply(finished),
            None => finished,
        }
    }

    /// Finishes a response whose content is a stream or a type of the framework. `content` converts
    /// the content of a problem to that type.
    ///
    /// Does not set `Content-Type`: the exchange cannot see whether a stream has content. Does not
    /// compress the content.
    #[must_use]
    pub fn finish_as<B>(
        self,
        outcome: Result<Response<B>, Problem>,
        content: impl FnOnce(Bytes) -> B,
    ) -> Response<B> {
        let mut answer = match outcome {
            Ok(answer) if errors::explains_nothing(&answer) => {
                let explanation = self.explanation(&answer);
                explanation.replace_content(answer).map(content)
            }
            Ok(answer) => answer,
            Err(problem) => problem
                .completed(&self.target, &self.id)
                .into_response()
                .map(content),
        };
        self.log_source(&mut answer);
        self.write(answer.status(), answer.headers_mut());
        answer
    }

    /// Passes the source of a problem to the error log.
    fn log_source<B>(&self, answer: &mut Response<B>) {
        let source = ProblemSource::take(answer.extensions_mut());
        if let (Some(source), Some(log)) = (source, &self.conventions.0.error_log) {
            log(&self.id, answer.status(), source.error());
        }
    }

    /// Ends the exchange with a problem.
    pub fn refuse(self, problem: Problem) -> EarlyResponse {
        EarlyResponse::new(self.finish(Err(problem)))
    }

    /// Finishes a preflight response, which has its own CORS headers.
    pub(super) fn finish_preflight(mut self, preflight: Response<Bytes>) -> EarlyResponse {
        self.reader = None;
        EarlyResponse::new(self.finish(Ok(preflight)))
    }

    /// Completes the problems in a reply before it is stored.
    pub(super) fn explained(&self, reply: Reply) -> Reply {
        match reply {
            Reply::Final(answer) => Reply::Final(self.explained_answer(answer)),
            Reply::Unkept(answer) => Reply::Unkept(self.explained_answer(answer)),
            // is stored already, in the form in which it is sent
            Reply::Completed(..)
            // are not stored; they are completed when they are sent
            | Reply::NothingHappened(_)
            | Reply::OutcomeUnknown(_) => reply,
        }
    }

    pub(super) fn explained_answer(&self, answer: Response<Bytes>) -> Response<Bytes> {
        match errors::explains_nothing(&answer) {
            true => self.explanation(&answer).replace_content(answer),
            false => errors::completed_content(answer, &self.target, &self.id),
        }
    }

    fn explanation<B>(&self, answer: &Response<B>) -> Problem {
        let challenge = self.conventions.0.challenge.as_ref();
        Problem::explaining(answer, challenge).completed(&self.target, &self.id)
    }

    fn write(self, status: StatusCode, headers: &mut HeaderMap) {
        let rules = &self.conventions.0;
        for (name, value) in self.headers {
            match name {
                // scripts may also read the headers that the handler exposes
                ACCESS_CONTROL_EXPOSE_HEADERS => headers.append(name, value),
                _ => headers.insert(name, value).is_some(),
            };
        }
        self.vary.apply(headers);
        if let (Some(cors), Some(reader)) = (&rules.cors, self.reader) {
            cors.apply_for(reader, headers);
        }
        let versions = rules.versions.as_ref().zip(self.version);
        if let Some(lifecycle) = versions.and_then(|(versions, version)| versions.lifecycle(version)) {
            lifecycle.apply(headers);
        }
        if let Some(standings) = &self.standings {
            standings.apply(headers);
        }
        if let Some(began) = self.began
            && !tracing::has_metric(headers, "total")
        {
            let now = rules.clock.monotonic();
            ServerTiming::total(now.saturating_sub(began)).apply(headers);
        }
        if !headers.contains_key(CACHE_CONTROL) {
            let is_revalidated = self.reads && is_current(status, headers);
            let policy = match is_revalidated {
                true => CacheControl::private_no_cache(),
                false => CacheControl::no_store(),
            };
            policy.apply(headers);
        }
        headers.insert(X_REQUEST_ID, self.id.into_header_value());
    }
}

/// Returns `true` if the response shows a state that a cache can revalidate. A 206 and a 304 have
/// the policy of the 200.
fn is_current(status: StatusCode, headers: &HeaderMap) -> bool {
    let has_validator = headers.contains_key(ETAG) || headers.contains_key(LAST_MODIFIED);
    let shows_state = matches!(
        status,
        StatusCode::OK | StatusCode::PARTIAL_CONTENT | StatusCode::NOT_MODIFIED
    );
    has_validator && shows_state
}

/// Sets `Content-Type` if there is content.
fn typed(mut answer: Response<Bytes>) -> Response<Bytes> {
    if !answer.body().is_empty() && !answer.headers().contains_key(CONTENT_TYPE) {
        let unknown = HeaderValue::from_static("application/octet-stream");
        answer.headers_mut().insert(CONTENT_TYPE, unknown);
    }
    answer
}
