//! Errors of a host as problems.

use std::{error::Error, fmt, sync::Arc, time::Duration};

use http::Extensions;

use super::{ErrorStatus, Problem, ProblemBase};
use crate::{
    limits::RetryAfter,
    ports::{StoreError, StoreErrorKind},
};

/// Time after which a client may try an unavailable store again.
const STORE_RETRY: Duration = Duration::from_secs(1);

/// Error type of a host that maps each of its causes to a problem.
///
/// Handlers return it: the pipeline converts the `Err` of a handler and of a
/// [check](crate::pipeline::Exchange::check) to the finished problem. The error itself becomes the
/// [`source`](Error::source) of the problem. It goes to the [error
/// log](crate::pipeline::ConventionsBuilder::with_error_log) of the host, and never to the client.
///
/// ```
/// use http_conventions::{
///     errors::{ErrorStatus, HostError, Problem, ProblemBase, ProblemType},
///     ports::StoreError,
/// };
/// use thiserror::Error;
///
/// const ALREADY_REFUNDED: ProblemType = ProblemType::new(
///     "already-refunded",
///     ErrorStatus::CONFLICT,
///     "Already refunded",
///     "The charge was refunded before. Read it again.",
/// );
///
/// #[derive(Debug, Error)]
/// enum DeskError {
///     #[error("no such charge")]
///     NotFound,
///     #[error("the charge is refunded")]
///     AlreadyRefunded,
///     #[error("the amount is negative")]
///     NegativeAmount,
///     /// A refusal of this crate, such as a 412.
///     #[error(transparent)]
///     Refused(#[from] Problem),
///     #[error("the store failed")]
///     Store(#[from] StoreError),
///     #[error("the key of the mail service is missing")]
///     NoMailKey,
/// }
///
/// impl HostError for DeskError {
///     fn problem(&self, problems: &ProblemBase) -> Problem {
///         match self {
///             Self::NotFound => Problem::new(ErrorStatus::NOT_FOUND),
///             Self::AlreadyRefunded => ALREADY_REFUNDED.problem(problems),
///             Self::NegativeAmount => Problem::new(ErrorStatus::UNPROCESSABLE_CONTENT)
///                 .with_detail("amount must not be negative"),
///             Self::Refused(problem) => problem.clone(),
///             // 503 with `Retry-After`, or 500
///             Self::Store(error) => error.problem(problems),
///             Self::NoMailKey => Problem::new(ErrorStatus::INTERNAL_SERVER_ERROR),
///         }
///     }
/// }
///
/// let problems = ProblemBase::new("https://api.example.com/problems/")?;
/// let lost = DeskError::from(StoreError::unavailable("10.0.0.7: connection reset"));
/// let response = lost.into_problem(&problems).into_response();
/// assert_eq!(response.status(), 503);
/// assert_eq!(response.headers()["retry-after"], "1");
/// assert_eq!(
///     response.body().as_ref(),
///     br#"{"type":"about:blank","title":"Service Unavailable","status":503}"#
/// );
/// # Ok::<(), http_conventions::errors::InvalidProblemBase>(())
/// ```
///
/// # Contract
///
/// - A cause that the client can remove maps to a 4xx status. A 5xx makes clients retry and alerts
///   an operator.
/// - A 5xx has no detail: the client cannot act on it, and it can contain internals.
///
/// | cause | status |
/// |---|---|
/// | the request is malformed | 400 |
/// | the resource does not exist, or is hidden from the caller | 404 |
/// | the request conflicts with the state | 409 |
/// | the client has read an older state | 412 |
/// | well-formed content has invalid values | 422 |
/// | a store or an upstream service is unavailable | 503 with `Retry-After` |
/// | any other cause | 500 |
pub trait HostError: Error + Send + Sync + 'static {
    /// Maps this cause to a problem. `problems` is the base of the problem types.
    ///
    /// By default every cause is a 500 without detail.
    #[must_use]
    fn problem(&self, problems: &ProblemBase) -> Problem {
        let _unused = problems;
        Problem::new(ErrorStatus::INTERNAL_SERVER_ERROR)
    }

    /// Converts the error to its problem, with the error as the source.
    #[must_use]
    fn into_problem(self, problems: &ProblemBase) -> Problem
    where
        Self: Sized,
    {
        self.problem(problems).with_source(self)
    }
}

/// An unavailable store is a 503 with `Retry-After: 1`; every other failure is a 500.
impl HostError for StoreError {
    fn problem(&self, _problems: &ProblemBase) -> Problem {
        of_store(self)
    }
}

impl HostError for Problem {
    fn problem(&self, _problems: &ProblemBase) -> Problem {
        self.clone()
    }

    /// Returns the problem unchanged.
    fn into_problem(self, _problems: &ProblemBase) -> Problem {
        self
    }
}

/// Converts as [`HostError`] does: a 503 with `Retry-After: 1`, or a 500.
impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        of_store(&error).with_source(error)
    }
}

fn of_store(error: &StoreError) -> Problem {
    match error.kind() {
        StoreErrorKind::Unavailable => Problem::service_unavailable(RetryAfter::new(STORE_RETRY)),
        _ => Problem::new(ErrorStatus::INTERNAL_SERVER_ERROR),
    }
}

/// Status and title, for a log: `problem 412: Precondition failed`.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "problem {}: {}", self.0.status.as_u16(), self.0.title)
    }
}

impl Error for Problem {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source.as_ref().map(ProblemSource::error)
    }
}

/// Cause of a problem. It is not sent: an extension of the response carries it to the pipeline.
#[derive(Clone)]
pub(crate) struct ProblemSource(Arc<dyn Error + Send + Sync>);

impl ProblemSource {
    pub(super) fn new(error: impl Error + Send + Sync + 'static) -> Self {
        Self(Arc::new(error))
    }

    pub(crate) fn error(&self) -> &(dyn Error + 'static) {
        &*self.0
    }

    /// Takes the source out of a response, so that it is reported once.
    pub(crate) fn take(extensions: &mut Extensions) -> Option<Self> {
        extensions.remove()
    }
}

/// Shows the message alone; the `Debug` of an error may show a secret.
impl fmt::Debug for ProblemSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0.to_string())
    }
}
