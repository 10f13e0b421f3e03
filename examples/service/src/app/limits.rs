//! Limits on requests in progress and on the duration of reads, and rate limits: by address before
//! any other work, and by principal after authentication.
//!
//! The counts are in Redis, if the service has it, or in memory. Guesses at secrets are limited
//! separately, in `guesses`.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use host_ports::timer_fn;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Request, Response, StatusCode};
use http_conventions::limits::{
    ConcurrencyLimit, Deadline, OnStoreFailure, Policy, Priority, Quota, RateLimitStore, RateLimiter,
    client_network,
};
use http_conventions::pipeline::{Admitted, EarlyResponse, Exchange, Limited};

use tracing::{error, warn};

use super::App;
use super::body::to_json;
use super::caller::Caller;
use super::open::{OpenError, at};
use super::page;
use super::route::Route;
use crate::clock::DemoClock;

const MINUTE: Duration = Duration::from_secs(60);

/// Limits of the service. Rate limits are in requests per minute; a client may use its whole quota
/// in one burst.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Per address (IPv6: per /64) at the REST and GraphQL APIs; 6,000, since many people may share
    /// an address.
    pub of_address: u32,
    /// Per principal at the APIs; 3,000.
    pub of_caller: u32,
    /// Per address at the token, introspection, revocation and pushed-authorization endpoints; 600.
    pub of_token_endpoints: u32,
    /// Per address at `/authorize` and at the pages with forms; 600, since a sign-in takes five
    /// requests and many people may share an address. Each sign-in is stored for ten minutes. The
    /// address is the peer of the socket, or the client that a trusted proxy reports.
    pub of_pages: u32,
    /// Requests in progress in this process; 512. A request above it gets 503 at once. The last
    /// eighth is reserved for writes with an `Idempotency-Key`. Open streams are not counted.
    pub in_progress: usize,
    /// Longest duration of a read of the REST API, and of a GET of the GraphQL API; 10 s. Then the
    /// client gets 503. Other methods are not cut off.
    pub read_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            of_address: 6_000,
            of_caller: 3_000,
            of_token_endpoints: 600,
            of_pages: 600,
            in_progress: 512,
            read_time: Duration::from_secs(10),
        }
    }
}

/// The limits of requests in progress and of reads, and the rate-limit policies.
pub(super) struct Limiting {
    in_progress: ConcurrencyLimit,
    read_time: Deadline,
    address: Policy,
    caller: Policy,
    token: Policy,
    page: Policy,
}

/// Builds the rate limiter over `store`.
pub(super) fn limiter(store: Arc<dyn RateLimitStore>, clock: &DemoClock) -> RateLimiter {
    RateLimiter::new(store, Arc::new(clock.clone()), OnStoreFailure::FailClosed).with_failure_log(|error| {
        error!(
            error = program::in_one_line(error),
            "the store of rate limits failed"
        );
    })
}

impl Limiting {
    pub(super) fn new(limits: Limits) -> Result<Self, OpenError> {
        let policy = |name: &str, limit| {
            let quota = Quota::per(limit, MINUTE).map_err(at("the rate limits"))?;
            Policy::new(name, quota).map_err(at("the rate limits"))
        };
        let reserved = limits.in_progress / 8;
        Ok(Self {
            in_progress: ConcurrencyLimit::new(limits.in_progress).with_reserve(reserved),
            read_time: Deadline::new(timer_fn(tokio::time::sleep), limits.read_time),
            address: policy("address", limits.of_address)?,
            caller: policy("caller", limits.of_caller)?,
            token: policy("token", limits.of_token_endpoints)?,
            page: policy("page", limits.of_pages)?,
        })
    }

    /// Policy that limits a route by address, with its name. Assets and public documents are not
    /// limited.
    fn of_route(&self, route: &Route) -> Option<(&'static str, &Policy)> {
        match route {
            route if route.speaks_oauth() => Some(("token", &self.token)),
            // open pages and the explorer send more than a person who reads, and may not use up
            // the limit of sign-ins
            Route::Console(_) => Some(("address", &self.address)),
            route if route.is_for_people() => Some(("page", &self.page)),
            Route::UserInfo | Route::Graph | Route::GraphStream => Some(("address", &self.address)),
            route if route.is_resource() => Some(("address", &self.address)),
            _ => None,
        }
    }
}

impl App {
    /// Counts a request in progress, and by address. A request without a peer does not come from a
    /// server and is not counted by address.
    ///
    /// # Errors
    ///
    /// Returns 503 or 429 over the limit.
    pub(super) async fn limit_address(
        &self,
        exchange: Exchange<Admitted>,
        route: &Route,
        request: &Request<Bytes>,
    ) -> Result<Exchange<Limited>, EarlyResponse> {
        let exchange = exchange.hold(self.limiting.in_progress.acquire(Priority::of(request)))?;
        let peer = request.extensions().get::<SocketAddr>();
        let (Some((name, policy)), Some(peer)) = (self.limiting.of_route(route), peer) else {
            return Ok(exchange.skip_rate_limit());
        };
        let address = client_network(peer.ip()).to_string();
        self.count_refusal(name, exchange.limit(&[policy.spend(&address)]).await)
    }

    /// Waits for the response to a request, and for that to a read at most until the deadline.
    /// `read` is a clone of the exchange of a read.
    ///
    /// # Errors
    ///
    /// Returns 503 at the deadline.
    pub(super) async fn in_time<T>(
        &self,
        read: Option<Exchange<Limited>>,
        work: impl Future<Output = Result<T, EarlyResponse>>,
    ) -> Result<T, EarlyResponse> {
        match read {
            Some(exchange) => exchange.check(self.limiting.read_time.bound(work).await)?,
            None => work.await,
        }
    }

    /// Counts an anonymous operation on a connection from `peer` as one more request.
    ///
    /// # Errors
    ///
    /// Returns 429 over the limit.
    pub(super) async fn limit_peer(
        &self,
        exchange: Exchange<Limited>,
        peer: Option<SocketAddr>,
    ) -> Result<Exchange<Limited>, EarlyResponse> {
        let Some(peer) = peer else {
            return Ok(exchange);
        };
        let address = client_network(peer.ip()).to_string();
        let limited = exchange.limit(&[self.limiting.address.spend(&address)]).await;
        self.count_refusal("address", limited)
    }

    /// Counts a request by principal.
    ///
    /// # Errors
    ///
    /// Returns 429 over the limit.
    pub(super) async fn limit_caller(
        &self,
        exchange: Exchange<Limited>,
        caller: &Caller,
    ) -> Result<Exchange<Limited>, EarlyResponse> {
        self.limit_subject(exchange, caller.subject()).await
    }

    /// Counts a request by subject, for a user without a token.
    ///
    /// # Errors
    ///
    /// Returns 429 over the limit.
    pub(super) async fn limit_subject(
        &self,
        exchange: Exchange<Limited>,
        subject: &str,
    ) -> Result<Exchange<Limited>, EarlyResponse> {
        let limited = exchange.limit(&[self.limiting.caller.spend(subject)]).await;
        self.count_refusal("caller", limited)
    }

    /// Counts and logs a refusal by the policy.
    fn count_refusal<T>(
        &self,
        policy: &'static str,
        limited: Result<T, EarlyResponse>,
    ) -> Result<T, EarlyResponse> {
        if let Err(refused) = &limited
            && refused.status() == StatusCode::TOO_MANY_REQUESTS
        {
            self.operator.metrics.record_refusal(policy);
            warn!(policy, "too many requests");
        }
        limited
    }
}

/// Renders a 429 or 503 in the format of the route: a page, an OAuth error or a problem. The
/// status, `Retry-After` and other headers stay.
pub(super) fn render_early_response(
    route: &Route,
    request: &Request<Bytes>,
    refused: EarlyResponse,
) -> Response<Bytes> {
    match route {
        route if route.speaks_oauth() => render_oauth_error(refused),
        route if route.is_for_people() => page::limit_as_page(request, refused.into_response()),
        _ => refused.into_response(),
    }
}

/// Renders an OAuth error ([RFC 6749 §5.2](https://www.rfc-editor.org/rfc/rfc6749#section-5.2)).
/// Introspection, revocation and pushed authorization requests use the same format.
fn render_oauth_error(refused: EarlyResponse) -> Response<Bytes> {
    let error = to_json(&serde_json::json!({
        "error": "temporarily_unavailable",
        "error_description": "too many requests or temporarily unavailable; retry after the time in Retry-After",
    }));
    let mut response = refused.into_response().map(|_| error);
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}
