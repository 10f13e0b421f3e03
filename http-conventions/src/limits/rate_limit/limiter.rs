//! Rate limiter: calls the store once, and creates the header fields or the problem for the client.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime},
};

use http::{HeaderMap, HeaderName, HeaderValue};

use super::{
    HeaderProfile, RateLimitDecision, RateLimitStore, Spend, State, decide, decide_all,
    fields::{fields, is_list},
};
use crate::ports::StoreError;
use crate::{
    errors::{Member, Problem},
    limits::RetryAfter,
    ports::Clock,
};

/// Problem type of a 429, registered with IANA by the draft. The extension `violated-policies`
/// lists the names of the exhausted policies.
pub const QUOTA_EXCEEDED: &str = "https://iana.org/assignments/http-problem-types#quota-exceeded";

const STORE_RETRY: Duration = Duration::from_secs(1);

/// Behaviour while the store fails. There is no default, because only the host knows which
/// behaviour does less harm.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "requests pass or they do not")]
pub enum OnStoreFailure {
    /// All requests pass: the service stays available without limits.
    ///
    /// # Security
    ///
    /// A caller that can overload the store disables the limits.
    FailOpen,
    /// All requests are refused with 503: the service is unavailable while the store is.
    FailClosed,
}

/// Checks requests against rate limits. Cheap to clone.
#[derive(Clone)]
pub struct RateLimiter {
    store: Arc<dyn RateLimitStore>,
    clock: Arc<dyn Clock>,
    failure_log: Arc<dyn Fn(&StoreError) + Send + Sync>,
    on_failure: OnStoreFailure,
    profile: HeaderProfile,
}

impl RateLimiter {
    /// Creates a limiter over a store. By default it sends the fields of all profiles.
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

    /// Sets the header fields to send, default all profiles.
    #[must_use]
    pub fn with_profile(mut self, profile: HeaderProfile) -> Self {
        self.profile = profile;
        self
    }

    /// Sets a callback for every failure of the store. By default failures are not logged.
    #[must_use]
    pub fn with_failure_log(mut self, log: impl Fn(&StoreError) + Send + Sync + 'static) -> Self {
        self.failure_log = Arc::new(log);
        self
    }

    /// Header fields to send.
    pub(crate) const fn profile(&self) -> HeaderProfile {
        self.profile
    }

    /// Behaviour while the store fails.
    pub(crate) const fn on_failure(&self) -> OnStoreFailure {
        self.on_failure
    }

    /// Takes the cost of the request from all these buckets, or from none if one is exhausted. Pass
    /// each policy at most once.
    ///
    /// # Errors
    ///
    /// - 429 with `Retry-After` and the rate-limit fields if a bucket is exhausted.
    /// - 503 with `Retry-After: 1` if the store fails and the behaviour is
    ///   [`FailClosed`](OnStoreFailure::FailClosed).
    ///
    /// The host adds the path and the request id to the problem, as it does to its own problems.
    pub async fn check(&self, spends: &[Spend<'_>]) -> Result<Standings, Problem> {
        let now = self.clock.now();
        let states = match self.store.spend(spends, now).await {
            Ok(states) => states,
            Err(error) => return self.without_store(&error),
        };
        match decide_all(&states, spends, now) {
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
        self.standings(spends, states, now).add_to_problem(problem)
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

/// Rate-limit fields of an allowed request, for success and error responses. Empty if the store
/// failed and the limiter fails open.
#[derive(Clone, Debug, Default)]
#[must_use = "the response should carry the remaining quota"]
pub struct Standings {
    fields: Vec<(HeaderName, HeaderValue)>,
}

impl Standings {
    /// Adds the fields of the profile.
    ///
    /// With two limiters, the structured fields list the policies of both. The fields of
    /// [`HeaderProfile::UNIX`] and [`HeaderProfile::X_UNIX`] are those of the limiter that is
    /// applied first.
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

    /// Appends the fields of a limiter that ran earlier, for example of a limiter by address that
    /// ran before a limiter by principal.
    pub(crate) fn after(mut self, earlier: Self) -> Self {
        self.fields.extend(earlier.fields);
        self
    }

    /// Adds the fields of the profile to a problem.
    #[must_use]
    pub fn add_to_problem(&self, problem: Problem) -> Problem {
        self.fields.iter().fold(problem, |problem, (name, value)| {
            match is_list(name) || !problem.has_field(name) {
                true => problem.with_field(name.clone(), value.clone()),
                false => problem,
            }
        })
    }
}
