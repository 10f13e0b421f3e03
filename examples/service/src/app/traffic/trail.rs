//! The stage of the pipeline that ended a request.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::{Request, StatusCode};

/// A stage of the pipeline, in the order of the requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) enum Stage {
    /// Request id, size limits, CORS, version.
    Admit,
    /// Route and method.
    Route,
    /// Rate limit of the address.
    Limit,
    /// Access token, rate limit of the caller and scope.
    Authorize,
    /// Replay of a stored response.
    Idempotency,
    /// `If-Match` and `If-None-Match`.
    Preconditions,
    /// The work itself.
    Handler,
}

/// Every stage, in order.
pub(in super::super) const STAGES: [Stage; 7] = [
    Stage::Admit,
    Stage::Route,
    Stage::Limit,
    Stage::Authorize,
    Stage::Idempotency,
    Stage::Preconditions,
    Stage::Handler,
];

impl Stage {
    pub(in super::super) const fn name(self) -> &'static str {
        match self {
            Self::Admit => "Admit",
            Self::Route => "Route",
            Self::Limit => "Limit",
            Self::Authorize => "Authorize",
            Self::Idempotency => "Idempotency",
            Self::Preconditions => "Preconditions",
            Self::Handler => "Handler",
        }
    }

    /// Question that the stage decides.
    pub(in super::super) const fn question(self) -> &'static str {
        match self {
            Self::Admit => "Request id, size, cross-origin rules and version.",
            Self::Route => "Is there such a resource, and does it have this method?",
            Self::Limit => "Has the address requests left?",
            Self::Authorize => "Is the token valid, has its caller requests left, does it have the scope?",
            Self::Idempotency => "Was this idempotency key used before?",
            Self::Preconditions => "Is the resource as the request expects it?",
            Self::Handler => "The work itself.",
        }
    }
}

/// The stage that a request has reached; part of the request's extensions.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Trail(Arc<AtomicUsize>);

impl Trail {
    /// Records that the request has reached a stage.
    pub(in super::super) fn reach<B>(request: &Request<B>, stage: Stage) {
        if let Some(trail) = request.extensions().get::<Self>() {
            let index = STAGES.iter().position(|known| *known == stage);
            trail.0.fetch_max(index.unwrap_or(0), Ordering::Relaxed);
        }
    }

    /// Stage that ended the request. The handler evaluates preconditions, so its status tells.
    pub(super) fn ended_by(&self, status: StatusCode, is_replay: bool) -> Stage {
        let reached = STAGES.get(self.0.load(Ordering::Relaxed)).copied();
        match (reached.unwrap_or(Stage::Handler), status.as_u16()) {
            (Stage::Idempotency, _) => Stage::Idempotency,
            (_, _) if is_replay => Stage::Idempotency,
            (Stage::Handler, 304 | 412 | 428) => Stage::Preconditions,
            (reached, _) => reached,
        }
    }
}
