//! The limiter: one question to the store, and an answer for the client.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime},
};

use http::{HeaderMap, HeaderName, HeaderValue};

use super::{
    HeaderProfile, RateLimitDecision, RateLimitStore, Spend, State, decide,
    fields::{fields, is_list},
    passes,
};
use crate::ports::StoreError;
use crate::{
    errors::{Member, Problem},
    limits::RetryAfter,
    ports::Clock,
};

/// The problem type of a 429, registered by the draft. The extension `violated-policies` names the policies.
pub const QUOTA_EXCEEDED: &str = "https://iana.org/assignments/http-problem-types#quota-exceeded";

const STORE_RETRY: Duration = Duration::from_secs(1);

/// What passes while the store is down. There is no default: either choice hurts somebody, and only the host knows whom.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "requests pass or they do not")]
pub enum OnStoreFailure {
    /// Every request: the service stays up, without limits. Whoever can bring the store down is rid of them.
    FailOpen,
    /// None: 503. The service is down with its store.
    FailClosed,
}

/// Limits how much callers may do. Cheap to clone.
#[derive(Clone)]
pub struct RateLimiter {
    store: Arc<dyn RateLimitStore>,
    clock: Arc<dyn Clock>,
    failure_log: Arc<dyn Fn(&StoreError) + Send + Sync>,
    on_failure: OnStoreFailure,
    profile: HeaderProfile,
}

impl RateLimiter {
    /// Limits in this store, which tell clients by every [`HeaderProfile`].
    #[must_use]
    pub fn new(
        store: impl RateLimitStore + 'static,
        clock: impl Clock + 'static,
        on_failure: OnStoreFailure,
    ) -> Self {
        Self {
            store: Arc::new(store),
            clock: Arc::new(clock),
            failure_log: Arc::new(|_| {}),
            on_failure,
            profile: HeaderProfile::default(),
        }
    }

    /// Tells clients in these words.
    #[must_use]
    pub fn with_profile(mut self, profile: HeaderProfile) -> Self {
        self.profile = profile;
        self
    }

    /// Tells every failure of the store to this log.
    #[must_use]
    pub fn with_failure_log(mut self, log: impl Fn(&StoreError) + Send + Sync + 'static) -> Self {
        self.failure_log = Arc::new(log);
        self
    }

    /// In which words clients are told.
    pub(crate) const fn profile(&self) -> HeaderProfile {
        self.profile
    }

    /// What passes while the store is down.
    pub(crate) const fn on_failure(&self) -> OnStoreFailure {
        self.on_failure
    }

    /// Takes what the request costs from all these buckets, or from none. Each policy comes once.
    ///
    /// # Errors
    ///
    /// The problem to answer with, for the host to complete as it does its own: 429 with `Retry-After` and the fields of the
    /// profile, or 503 while the store is down and the limiter [fails closed](OnStoreFailure::FailClosed).
    pub async fn check(&self, spends: &[Spend<'_>]) -> Result<Standings, Problem> {
        let now = self.clock.now();
        let states = match self.store.spend(spends, now).await {
            Ok(states) => states,
            Err(error) => return self.without_store(&error),
        };
        match passes(&states, spends, now) {
            Some(after) => Ok(self.standings(spends, &after, now)),
            None => Err(self.refused(spends, &states, now)),
        }
    }

    fn standings(&self, spends: &[Spend<'_>], states: &[State], now: SystemTime) -> Standings {
        Standings {
            fields: fields(self.profile, spends, states, now),
        }
    }

    fn refused(&self, spends: &[Spend<'_>], states: &[State], now: SystemTime) -> Problem {
        let mut longest = Duration::ZERO;
        let mut violated = Vec::new();
        for (spend, state) in spends.iter().zip(states) {
            if let RateLimitDecision::Denied { wait } =
                decide(*state, spend.policy().quota(), spend.cost(), now)
            {
                longest = longest.max(wait);
                violated.push(Member::from(spend.policy().name().to_owned()));
            }
        }
        let problem = Problem::too_many_requests(RetryAfter::new(longest))
            .with_type(
                QUOTA_EXCEEDED,
                "Request cannot be satisfied as assigned quota has been exceeded",
            )
            .with_extension("violated-policies", Member::List(violated));
        self.standings(spends, states, now).tell(problem)
    }

    fn without_store(&self, error: &StoreError) -> Result<Standings, Problem> {
        (self.failure_log)(error);
        match self.on_failure {
            OnStoreFailure::FailOpen => Ok(Standings::default()),
            OnStoreFailure::FailClosed => Err(Problem::service_unavailable(RetryAfter::new(STORE_RETRY))),
        }
    }
}

impl fmt::Debug for RateLimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimiter")
            .field("on_failure", &self.on_failure)
            .field("profile", &self.profile)
            .finish_non_exhaustive()
    }
}

/// What a request that passed may tell its client, success or not. Nothing where the store was down.
#[derive(Clone, Debug, Default)]
#[must_use = "the answer should tell the client what is left"]
pub struct Standings {
    fields: Vec<(HeaderName, HeaderValue)>,
}

impl Standings {
    /// Adds the fields of the profile. Where two limiters have a say, the structured fields tell of both, and the older ones of
    /// the one that spoke first.
    pub fn apply(&self, headers: &mut HeaderMap) {
        for (name, value) in &self.fields {
            let is_told = match is_list(name) {
                true => headers.get_all(name).iter().any(|there| there == value),
                false => headers.contains_key(name),
            };
            if !is_told {
                headers.append(name, value.clone());
            }
        }
    }

    /// What two limits say, of which the other one came first: an address's, and then a principal's.
    pub(crate) fn after(mut self, earlier: Self) -> Self {
        self.fields.extend(earlier.fields);
        self
    }

    /// The same for a request that passed and came to a problem all the same.
    #[must_use]
    pub fn tell(&self, problem: Problem) -> Problem {
        self.fields.iter().fold(problem, |problem, (name, value)| {
            match is_list(name) || !problem.has_field(name) {
                true => problem.with_field(name.clone(), value.clone()),
                false => problem,
            }
        })
    }
}
