//! How much callers may do: by address before anything is looked at, and by principal once it is known.
//!
//! The counts are in memory: a restart forgives everybody. Guesses at secrets have counts of their own.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Request, Response};
use http_conventions::limits::{
    MemoryRateLimitStore, OnStoreFailure, Policy, Quota, RateLimiter, client_network,
};
use http_conventions::pipeline::{Admitted, EarlyAnswer, Exchange, Limited};

use super::body::to_json;
use super::caller::Caller;
use super::open::{OpenError, at};
use super::page;
use super::route::Route;
use super::{App, Log};
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
    /// Of one address at `/authorize` and at the pages with forms: 600, as a sign-in takes five and many people may share an address.
    /// Each request for a sign-in is kept for ten minutes. The address is the socket's peer, behind a proxy that of everybody.
    pub of_pages: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            of_address: 6_000,
            of_caller: 3_000,
            of_token_endpoints: 600,
            of_pages: 600,
        }
    }
}

/// The policies.
pub(super) struct Limiting {
    address: Policy,
    caller: Policy,
    token: Policy,
    page: Policy,
}

/// What the policies count by.
pub(super) fn limiter(clock: &DemoClock, log: &Log) -> RateLimiter {
    let store = Arc::new(MemoryRateLimitStore::default());
    let log = Arc::clone(log);
    RateLimiter::new(store, Arc::new(clock.clone()), OnStoreFailure::FailClosed)
        .with_failure_log(move |error| log(&format!("rate limits: {}", failure::in_one_line(error))))
}

impl Limiting {
    pub(super) fn new(limits: Limits) -> Result<Self, OpenError> {
        let policy = |name: &str, limit| {
            let quota = Quota::per(limit, MINUTE).map_err(at("the rate limits"))?;
            Policy::new(name, quota).map_err(at("the rate limits"))
        };
        Ok(Self {
            address: policy("address", limits.of_address)?,
            caller: policy("caller", limits.of_caller)?,
            token: policy("token", limits.of_token_endpoints)?,
            page: policy("page", limits.of_pages)?,
        })
    }

    /// The policy by which a route counts addresses. Assets and documents, which are the same for everybody, are free.
    fn of_route(&self, route: &Route) -> Option<&Policy> {
        match route {
            route if route.speaks_oauth() => Some(&self.token),
            route if route.is_for_people() => Some(&self.page),
            Route::UserInfo | Route::Graph | Route::GraphStream => Some(&self.address),
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
    /// 429.
    pub(super) async fn limit_address(
        &self,
        exchange: Exchange<Admitted>,
        route: &Route,
        request: &Request<Bytes>,
    ) -> Result<Exchange<Limited>, EarlyAnswer> {
        let peer = request.extensions().get::<SocketAddr>();
        let (Some(policy), Some(peer)) = (self.limiting.of_route(route), peer) else {
            return Ok(exchange.unlimited());
        };
        let address = client_network(peer.ip()).to_string();
        exchange.limit(&[policy.spend(&address)]).await
    }

    /// Counts what somebody anonymous asks for over a connection from `peer` as another request from there.
    ///
    /// # Errors
    ///
    /// 429.
    pub(super) async fn limit_peer(
        &self,
        exchange: Exchange<Limited>,
        peer: Option<SocketAddr>,
    ) -> Result<Exchange<Limited>, EarlyAnswer> {
        let Some(peer) = peer else {
            return Ok(exchange);
        };
        let address = client_network(peer.ip()).to_string();
        exchange.limit(&[self.limiting.address.spend(&address)]).await
    }

    /// Counts a request of a principal.
    ///
    /// # Errors
    ///
    /// 429.
    pub(super) async fn limit_caller(
        &self,
        exchange: Exchange<Limited>,
        caller: &Caller,
    ) -> Result<Exchange<Limited>, EarlyAnswer> {
        exchange
            .limit(&[self.limiting.caller.spend(caller.subject())])
            .await
    }
}

/// A 429 or 503 in the words of who asked there. Its status, its wait and the other fields stay what they are.
pub(super) fn told_at(route: &Route, request: &Request<Bytes>, refused: EarlyAnswer) -> Response<Bytes> {
    match route {
        route if route.speaks_oauth() => told_to_clients(refused),
        route if route.is_for_people() => page::hurried(request, refused.into_response()),
        _ => refused.into_response(),
    }
}

/// In the words of the authorization server's endpoints, whose clients read `error`
/// ([RFC 6749 §5.2](https://www.rfc-editor.org/rfc/rfc6749#section-5.2), which the endpoints for introspection, revocation and
/// pushed requests refer to).
fn told_to_clients(refused: EarlyAnswer) -> Response<Bytes> {
    let error = to_json(&serde_json::json!({
        "error": "temporarily_unavailable",
        "error_description": "come again after the time in Retry-After",
    }));
    let mut response = refused.into_response().map(|_| error);
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}
