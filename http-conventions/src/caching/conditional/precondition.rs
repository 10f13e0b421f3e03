//! Evaluates preconditions in the order of [RFC 9110
//! §13.2.2](https://www.rfc-editor.org/rfc/rfc9110#section-13.2.2).

use std::time::SystemTime;

use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, Method, Request, Response,
    header::{IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_UNMODIFIED_SINCE},
};

use super::{
    Validators,
    entity_tag::CurrentTag,
    field::{Comparison, TagField},
    not_modified,
};
use crate::{
    content::ContentCoding,
    errors::{Problem, ProblemBase, types},
    http_date, single_value,
};

/// Preconditions of one request. Borrows its method and headers.
#[derive(Clone, Copy, Debug)]
pub struct Preconditions<'a> {
    pub(super) method: &'a Method,
    pub(crate) headers: &'a HeaderMap,
    pub(super) now: SystemTime,
    is_required: bool,
    pub(super) codings: &'static [ContentCoding],
}

/// Decision of [`Preconditions::evaluate`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "the RFC has no further outcome for a request without a range"
)]
pub enum PreconditionDecision {
    /// Process the request.
    Proceed,
    /// Respond with 304, see [`not_modified`](super::not_modified()).
    NotModified,
    /// Respond with 412 and change nothing.
    PreconditionFailed,
    /// Respond with 428: the resource requires a precondition and the request has none.
    PreconditionRequired,
}

/// Result of a single precondition.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Evaluation {
    /// The precondition is absent, or the RFC requires the server to ignore it.
    Ignored,
    True,
    False,
}

impl PreconditionDecision {
    /// Problem to respond with; `None` for [`Proceed`](Self::Proceed) and
    /// [`NotModified`](Self::NotModified).
    #[must_use]
    pub fn problem(self, base: &ProblemBase) -> Option<Problem> {
        match self {
            Self::Proceed | Self::NotModified => None,
            Self::PreconditionFailed => Some(types::PRECONDITION_FAILED.problem(base)),
            Self::PreconditionRequired => Some(types::PRECONDITION_REQUIRED.problem(base)),
        }
    }
}

impl<'a> Preconditions<'a> {
    /// Creates the preconditions from the method and headers of a request.
    ///
    /// `now` decides the century of an HTTP-date with a two-digit year.
    #[must_use]
    pub const fn new(method: &'a Method, headers: &'a HeaderMap, now: SystemTime) -> Self {
        Self {
            method,
            headers,
            now,
            is_required: false,
            codings: &[],
        }
    }

    /// Creates the preconditions of a request. For `now` see [`new`](Self::new).
    #[must_use]
    pub fn of<B>(request: &'a Request<B>, now: SystemTime) -> Self {
        Self::new(request.method(), request.headers(), now)
    }

    /// Requires a precondition for unsafe methods.
    ///
    /// By default none is required. `If-Match`, `If-None-Match: *`, or an `If-Unmodified-Since`
    /// that can be evaluated fulfils the requirement.
    #[must_use]
    pub const fn with_required(mut self) -> Self {
        self.is_required = true;
        self
    }

    /// Also accepts the tags of the current state in these codings, in which the pipeline sends it.
    pub(crate) const fn with_codings(mut self, codings: &'static [ContentCoding]) -> Self {
        self.codings = codings;
        self
    }

    /// Completes the response to a read of an existing resource.
    ///
    /// Sets `ETag` and `Last-Modified`. Returns a 304 if the client already has the current state.
    /// A response that is not a success is returned unchanged.
    ///
    /// # Errors
    ///
    /// A 412 problem if `If-Match` or `If-Unmodified-Since` is false.
    pub fn answer_read(
        &self,
        current: &Validators,
        mut answer: Response<Bytes>,
        base: &ProblemBase,
    ) -> Result<Response<Bytes>, Problem> {
        if !answer.status().is_success() {
            return Ok(answer);
        }
        current.apply(answer.headers_mut());
        match self.evaluate(Some(current)) {
            PreconditionDecision::NotModified => Ok(not_modified(answer.into_parts().0.headers)),
            decision => decision.problem(base).map_or(Ok(answer), Err),
        }
    }

    /// Checks the preconditions of a write. `current` is `None` if the write would create the
    /// resource.
    ///
    /// # Errors
    ///
    /// - 412 if the resource is not in the state that the client expects.
    /// - 428 if a precondition is [required](Self::with_required) and absent.
    pub fn check_write(&self, current: Option<&Validators>, base: &ProblemBase) -> Result<(), Problem> {
        self.evaluate(current).problem(base).map_or(Ok(()), Err)
    }

    /// Evaluates the preconditions against the current representation. `current` is `None` if there
    /// is no representation.
    #[must_use]
    pub fn evaluate(&self, current: Option<&Validators>) -> PreconditionDecision {
        if self.ignores_preconditions() {
            return PreconditionDecision::Proceed;
        }
        let entity_tag = current.and_then(|current| current.current_tag(self.codings));
        let if_match = TagField::read(self.headers, &IF_MATCH, entity_tag, Comparison::Strong);
        let unchanged = match if_match {
            TagField::Absent => self.if_unmodified_since(current),
            field => evaluate_if_match(field, current.is_some()),
        };
        if unchanged == Evaluation::False {
            return PreconditionDecision::PreconditionFailed;
        }
        let if_none_match = self.if_none_match_field(entity_tag);
        let guards = unchanged == Evaluation::True || if_none_match == TagField::Any;
        if self.is_required && !guards && !self.reads() {
            return PreconditionDecision::PreconditionRequired;
        }
        self.evaluate_changed(if_none_match, current)
    }

    /// Steps 3 and 4 of the RFC: `If-None-Match`, and `If-Modified-Since` for reads.
    fn evaluate_changed(
        &self,
        if_none_match: TagField,
        current: Option<&Validators>,
    ) -> PreconditionDecision {
        let changed = match if_none_match {
            TagField::Absent if self.reads() => self.if_modified_since(current),
            field => self.evaluate_if_none_match(field, current.is_some()),
        };
        match changed {
            Evaluation::False if self.reads() => PreconditionDecision::NotModified,
            Evaluation::False => PreconditionDecision::PreconditionFailed,
            Evaluation::True | Evaluation::Ignored => PreconditionDecision::Proceed,
        }
    }

    fn if_none_match_field(&self, entity_tag: Option<CurrentTag<'_>>) -> TagField {
        TagField::read(self.headers, &IF_NONE_MATCH, entity_tag, Comparison::Weak)
    }

    /// A malformed `If-None-Match` fails a write; a read gets the full response.
    fn evaluate_if_none_match(&self, field: TagField, exists: bool) -> Evaluation {
        match field {
            TagField::Absent => Evaluation::Ignored,
            TagField::Any if exists => Evaluation::False,
            TagField::Any | TagField::Unlisted => Evaluation::True,
            TagField::Malformed if self.reads() => Evaluation::True,
            TagField::Listed | TagField::Malformed => Evaluation::False,
        }
    }

    fn if_unmodified_since(&self, current: Option<&Validators>) -> Evaluation {
        self.dates(&IF_UNMODIFIED_SINCE, current, |last_modified, since| {
            last_modified <= since
        })
    }

    fn if_modified_since(&self, current: Option<&Validators>) -> Evaluation {
        self.dates(&IF_MODIFIED_SINCE, current, |last_modified, since| {
            last_modified > since
        })
    }

    /// Compares the date of a field with the time of the last change. A repeated field and an
    /// invalid date are ignored, and so is every field if the time of the last change is unknown.
    fn dates(
        &self,
        name: &HeaderName,
        current: Option<&Validators>,
        holds: impl Fn(SystemTime, SystemTime) -> bool,
    ) -> Evaluation {
        let Some(last_modified) = current.and_then(Validators::last_modified) else {
            return Evaluation::Ignored;
        };
        let since = single_value(self.headers, name);
        match since.and_then(|value| http_date::parse(value.as_bytes(), self.now)) {
            Some(since) if holds(last_modified, since) => Evaluation::True,
            Some(_) => Evaluation::False,
            None => Evaluation::Ignored,
        }
    }

    /// Returns `true` if the method is GET, HEAD or QUERY; [RFC
    /// 10008](https://www.rfc-editor.org/rfc/rfc10008) treats QUERY like GET.
    fn reads(&self) -> bool {
        matches!(*self.method, Method::GET | Method::HEAD | Method::QUERY)
    }

    fn ignores_preconditions(&self) -> bool {
        matches!(*self.method, Method::CONNECT | Method::OPTIONS | Method::TRACE)
    }
}

fn evaluate_if_match(field: TagField, exists: bool) -> Evaluation {
    match field {
        TagField::Absent => Evaluation::Ignored,
        TagField::Any if exists => Evaluation::True,
        TagField::Listed => Evaluation::True,
        TagField::Any | TagField::Unlisted | TagField::Malformed => Evaluation::False,
    }
}
