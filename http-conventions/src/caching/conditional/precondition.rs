//! The one evaluator, in the order of [RFC 9110 §13.2.2](https://www.rfc-editor.org/rfc/rfc9110#section-13.2.2).

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
    errors::{Problem, ProblemBase, types},
    http_date, single_value,
};

/// The preconditions of one request; a cheap view of its head.
#[derive(Clone, Copy, Debug)]
pub struct Preconditions<'a> {
    pub(super) method: &'a Method,
    pub(super) headers: &'a HeaderMap,
    pub(super) now: SystemTime,
    is_required: bool,
}

/// Decision of [`Preconditions::evaluate`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "the RFC has no further outcome for a request without a range"
)]
pub enum PreconditionDecision {
    /// Carry the request out.
    Proceed,
    /// Answer 304, see [`not_modified`](super::not_modified()).
    NotModified,
    /// Answer 412 and change nothing.
    PreconditionFailed,
    /// Answer 428: the request states no precondition, and this resource asks for one.
    PreconditionRequired,
}

/// Result of a single precondition.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Evaluation {
    /// It is not stated, or the RFC says to ignore it.
    Ignored,
    True,
    False,
}

impl PreconditionDecision {
    /// The problem to answer with, where the decision is to refuse.
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
    /// The preconditions in these headers; `now` settles the century of dates with a two-digit year.
    #[must_use]
    pub const fn new(method: &'a Method, headers: &'a HeaderMap, now: SystemTime) -> Self {
        Self {
            method,
            headers,
            now,
            is_required: false,
        }
    }

    /// The preconditions of this request.
    #[must_use]
    pub fn of<B>(request: &'a Request<B>, now: SystemTime) -> Self {
        Self::new(request.method(), request.headers(), now)
    }

    /// Asks for a precondition that guards the current state, unless the method is safe: `If-Match`, `If-None-Match: *`,
    /// or an `If-Unmodified-Since` that can be evaluated.
    #[must_use]
    pub const fn with_required(mut self) -> Self {
        self.is_required = true;
        self
    }

    /// Answers a read of a resource that exists: sets its validators on the answer, and turns it into the 304 where the caller
    /// has this state already. An answer that is no success stays as it is.
    ///
    /// # Errors
    ///
    /// 412 where the caller asks for another state.
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

    /// Lets a write through, or not; `current` is absent where the write would create.
    ///
    /// # Errors
    ///
    /// 412 where the resource is in another state than the caller expects, 428 where the caller must say what it expects.
    pub fn check_write(&self, current: Option<&Validators>, base: &ProblemBase) -> Result<(), Problem> {
        self.evaluate(current).problem(base).map_or(Ok(()), Err)
    }

    /// Evaluates the preconditions against the current representation, which is absent where none exists.
    #[must_use]
    pub fn evaluate(&self, current: Option<&Validators>) -> PreconditionDecision {
        if self.ignores_preconditions() {
            return PreconditionDecision::Proceed;
        }
        let entity_tag = current.and_then(Validators::current_tag);
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

    /// Steps 3 and 4: does the caller already have this state?
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

    /// A malformed field must not let a write through; on a read the full answer is the safe one.
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

    /// Compares dates; a field that is repeated or no date is ignored, as is one that has nothing to compare with.
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

    /// GET and HEAD, and QUERY, which [RFC 10008](https://www.rfc-editor.org/rfc/rfc10008) treats like them.
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
