//! How much callers may do: by address before anything is looked at, and by principal once it is known.
//!
//! The counts are in memory: a restart forgives everybody. Guesses at secrets have counts of their own.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_conventions::problem::Problem;
use http_conventions::rate_limit::{
    HeaderProfile, MemoryRateLimitStore, OnStoreFailure, Policy, Quota, RateLimiter, Standings,
    client_network,
};

use super::App;
use super::caller::Caller;
use super::open::{OpenError, at};
use super::route::Route;
use crate::clock::DemoClock;

const MINUTE: Duration = Duration::from_secs(60);

/// Requests in each minute, all of which may come at once.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Of one address (of an IPv6 address its /64) at the API and the graph: 6,000, as many people may share one.
    pub of_address: u32,
    /// Of one principal there: 3,000.
    pub of_caller: u32,
    /// Of one address at the endpoints of the authorization server that programs ask: 600.
    pub of_token_endpoints: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            of_address: 6_000,
            of_caller: 3_000,
            of_token_endpoints: 600,
        }
    }
}

/// The limiter and its policies.
pub(super) struct Limiting {
    limiter: RateLimiter,
    address: Policy,
    caller: Policy,
    token: Policy,
}

impl Limiting {
    pub(super) fn new(limits: Limits, clock: &DemoClock) -> Result<Self, OpenError> {
        let policy = |name: &str, limit| {
            let quota = Quota::per(limit, MINUTE).map_err(at("the rate limits"))?;
            Policy::new(name, quota).map_err(at("the rate limits"))
        };
        let profile = HeaderProfile::STRUCTURED
            .and(HeaderProfile::UNIX)
            .and(HeaderProfile::X_UNIX);
        let store = Arc::new(MemoryRateLimitStore::default());
        let clock = Arc::new(clock.as_port());
        Ok(Self {
            limiter: RateLimiter::new(store, clock, OnStoreFailure::FailClosed).with_profile(profile),
            address: policy("address", limits.of_address)?,
            caller: policy("caller", limits.of_caller)?,
            token: policy("token", limits.of_token_endpoints)?,
        })
    }

    /// The policy by which a route counts addresses. Pages for people, assets and documents are free.
    fn of_route(&self, route: &Route) -> Option<&Policy> {
        match route {
            Route::Token | Route::PushedRequests | Route::Introspect | Route::Revoke => Some(&self.token),
            Route::UserInfo | Route::Graph => Some(&self.address),
            route if route.is_resource() => Some(&self.address),
            _ => None,
        }
    }
}

impl App {
    /// Counts a request by where it comes from. One without a peer comes from no server of ours, and is not counted.
    ///
    /// # Errors
    ///
    /// 429, in the words of OAuth, too, at its endpoints.
    pub(super) async fn admit_address(
        &self,
        route: &Route,
        request: &Request<Bytes>,
    ) -> Result<Standings, Problem> {
        let peer = request.extensions().get::<SocketAddr>();
        let (Some(policy), Some(peer)) = (self.limiting.of_route(route), peer) else {
            return Ok(Standings::default());
        };
        let address = client_network(peer.ip()).to_string();
        let checked = self.limiting.limiter.check(&[policy.spend(&address)]).await;
        checked.map_err(|problem| match route {
            Route::Graph => problem,
            route if route.is_resource() => problem,
            _ => problem.with_extension("error", "temporarily_unavailable"),
        })
    }

    /// Counts a request of a principal.
    ///
    /// # Errors
    ///
    /// 429.
    pub(super) async fn admit_caller(&self, caller: &Caller) -> Result<Standings, Problem> {
        let spends = [self.limiting.caller.spend(caller.subject())];
        self.limiting.limiter.check(&spends).await
    }
}

/// Tells the client of an answer, whichever it is, how it stands.
pub(super) fn told<B>(
    standings: &Standings,
    handled: Result<Response<B>, Problem>,
) -> Result<Response<B>, Problem> {
    match handled {
        Ok(mut response) => {
            standings.apply(response.headers_mut());
            Ok(response)
        }
        Err(problem) => Err(standings.tell(problem)),
    }
}
