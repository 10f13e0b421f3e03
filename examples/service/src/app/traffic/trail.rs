//! The stages of the pipeline that a request passed, and the one that ended it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

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

/// The stages that a request has reached, with their times; part of the request's extensions.
#[derive(Clone, Debug)]
pub(in super::super) struct Trail(Arc<Reached>);

#[derive(Debug)]
struct Reached {
    began: Instant,
    last: AtomicUsize,
    /// Nanoseconds from the begin to the first time that each stage was reached; 0 for others.
    at: [AtomicU64; STAGES.len()],
}

impl Trail {
    /// Begins with the first stage.
    pub(super) fn begin() -> Self {
        Self(Arc::new(Reached {
            began: Instant::now(),
            last: AtomicUsize::new(0),
            at: std::array::from_fn(|_| AtomicU64::new(0)),
        }))
    }

    /// Records that the request has reached a stage.
    pub(in super::super) fn reach<B>(request: &Request<B>, stage: Stage) {
        if let Some(Self(trail)) = request.extensions().get::<Self>() {
            let index = STAGES.iter().position(|known| *known == stage).unwrap_or(0);
            trail.last.fetch_max(index, Ordering::Relaxed);
            if let Some(at) = trail.at.get(index) {
                // fails if the stage was reached before
                let now = trail.elapsed().max(1);
                let _first = at.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
            }
        }
    }

    /// Stage that ended the request. The handler evaluates preconditions, so its status tells.
    pub(super) fn ended_by(&self, status: StatusCode, is_replay: bool) -> Stage {
        let reached = STAGES.get(self.0.last.load(Ordering::Relaxed)).copied();
        match (reached.unwrap_or(Stage::Handler), status.as_u16()) {
            (Stage::Idempotency, _) => Stage::Idempotency,
            (_, _) if is_replay => Stage::Idempotency,
            (Stage::Handler, 304 | 412 | 428) => Stage::Preconditions,
            (reached, _) => reached,
        }
    }

    /// Duration of each stage that was reached, until the next one or until now. The handler
    /// evaluates preconditions, so they have no duration of their own.
    pub(super) fn durations(&self) -> [Option<Duration>; STAGES.len()] {
        let mut until = self.0.elapsed();
        let mut durations = [None; STAGES.len()];
        for (index, (duration, at)) in durations.iter_mut().zip(&self.0.at).enumerate().rev() {
            let at = at.load(Ordering::Relaxed);
            if at > 0 || index == 0 {
                *duration = Some(Duration::from_nanos(until.saturating_sub(at)));
                until = at;
            }
        }
        durations
    }
}

impl Reached {
    fn elapsed(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// X9: a stage lasts until the next one that was reached, and those after the end have none.
    #[test]
    fn stages_have_durations_until_the_next_one() {
        let mut request = Request::new(());
        let trail = Trail::begin();
        request.extensions_mut().insert(trail.clone());
        for stage in [Stage::Route, Stage::Limit, Stage::Authorize, Stage::Limit] {
            Trail::reach(&request, stage);
        }
        let durations = trail.durations();
        let known = durations.map(|duration| duration.is_some());
        assert_eq!(known, [true, true, true, true, false, false, false]);
        let sum: Duration = durations.iter().flatten().sum();
        assert!(sum <= trail.0.began.elapsed());
        assert_eq!(trail.ended_by(StatusCode::UNAUTHORIZED, false), Stage::Authorize);
    }
}
