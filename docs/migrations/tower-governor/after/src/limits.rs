//! The rate limits.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, Method};
use axum::middleware::Next;
use axum::response::Response;
use http_conventions::forwarding::TrustedProxies;
use http_conventions::limits::{HeaderProfile, MemoryRateLimitStore, OnStoreFailure, Spend, client_network};
use http_conventions::ports::SystemClock;
use http_conventions::{Policy, Quota, RateLimiter};

use crate::partners::{KEY, Partners};

pub(crate) struct Limits {
    limiter: RateLimiter,
    partners: Arc<Partners>,
    proxies: TrustedProxies,
    address: Policy,
    partner: Policy,
    orders: Policy,
    logins: Policy,
}

/// `burst` requests at once, then one after each `period`.
fn policy(name: &str, burst: u32, period: Duration) -> Result<Policy, Box<dyn Error>> {
    Ok(Policy::new(name, Quota::per(burst, burst * period)?)?)
}

impl Limits {
    /// `proxy` is the address or network of the proxies that set `X-Forwarded-For`.
    pub(crate) fn new(partners: Arc<Partners>, proxy: &str) -> Result<Arc<Self>, Box<dyn Error>> {
        let store = MemoryRateLimitStore::default();
        let limiter = RateLimiter::new(store, SystemClock, OnStoreFailure::FailOpen);
        Ok(Arc::new(Self {
            limiter: limiter.with_profile(HeaderProfile::X_UNIX),
            partners,
            proxies: TrustedProxies::new().with_network(proxy)?,
            address: policy("address", 5, Duration::from_secs(2))?,
            partner: policy("partner", 3, Duration::from_secs(2))?,
            orders: policy("orders", 2, Duration::from_secs(60))?,
            logins: policy("logins", 2, Duration::from_secs(4))?,
        }))
    }

    /// Behind a proxy, so the address is that of `X-Forwarded-For`.
    fn client(&self, peer: SocketAddr, headers: &HeaderMap) -> String {
        client_network(self.proxies.client_address(peer.ip(), headers)).to_string()
    }

    fn partner<'a>(&'a self, headers: &HeaderMap) -> Option<&'a str> {
        let key = headers.get(KEY).and_then(|key| key.to_str().ok());
        self.partners.name_of(key?)
    }
}

/// Runs the request if all buckets have a unit.
async fn run(limiter: &RateLimiter, spends: &[Spend<'_>], request: Request, next: Next) -> Response {
    match limiter.check(spends).await {
        Ok(standings) => {
            let mut response = next.run(request).await;
            standings.apply(response.headers_mut());
            response
        }
        Err(problem) => problem.into_response().map(Body::from),
    }
}

pub(crate) async fn by_address(
    State(limits): State<Arc<Limits>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
    next: Next,
) -> Response {
    let client = limits.client(peer, request.headers());
    run(&limits.limiter, &[limits.address.spend(&client)], request, next).await
}

/// By address and by partner. The limit of an unknown key is that of its address.
pub(crate) async fn by_partner(
    State(limits): State<Arc<Limits>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
    next: Next,
) -> Response {
    let client = limits.client(peer, request.headers());
    let mut spends = vec![limits.address.spend(&client)];
    spends.extend(
        limits
            .partner(request.headers())
            .map(|name| limits.partner.spend(name)),
    );
    run(&limits.limiter, &spends, request, next).await
}

/// Orders are limited, their list is not.
pub(crate) async fn of_orders(
    State(limits): State<Arc<Limits>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
    next: Next,
) -> Response {
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    let client = limits.client(peer, request.headers());
    run(&limits.limiter, &[limits.orders.spend(&client)], request, next).await
}

pub(crate) async fn of_logins(
    State(limits): State<Arc<Limits>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
    next: Next,
) -> Response {
    let peer = client_network(peer.ip()).to_string();
    let limiter = limits.limiter.clone().with_profile(HeaderProfile::NONE);
    run(&limiter, &[limits.logins.spend(&peer)], request, next).await
}
