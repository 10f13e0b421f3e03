//! Idle connections, by host and vetted addresses.

mod hosts;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use host_ports::address::{Host, Target};
use http::uri::Scheme;
use tokio::sync::Mutex as AsyncMutex;
use tokio::time::{Instant, sleep_until, timeout};

use crate::connection::{Connection, Http1, Http2};
use hosts::Hosts;

/// Time after which an unused connection is closed.
const IDLE: Duration = Duration::from_secs(30);
/// Time for the rest of a request that was answered early.
const REST_OF_REQUEST: Duration = Duration::from_secs(1);

/// Origin of a URL.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Origin {
    is_https: bool,
    host: Host,
    port: u16,
}

/// The way to an origin: the addresses that the current request has resolved and vetted.
///
/// A connection is used again only for the same route. Its own address is then among those just
/// vetted.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Route {
    origin: Origin,
    /// Sorted.
    addresses: Vec<SocketAddr>,
}

impl Route {
    /// The route to a target over all its addresses, which are vetted.
    pub(crate) fn new(target: &Target, addresses: &[SocketAddr]) -> Self {
        let mut addresses = addresses.to_vec();
        addresses.sort_unstable();
        addresses.dedup();
        let origin = Origin {
            is_https: target.uri().scheme() == Some(&Scheme::HTTPS),
            host: target.host().clone(),
            port: target.port(),
        };
        Self { origin, addresses }
    }

    pub(crate) fn is_https(&self) -> bool {
        self.origin.is_https
    }
}

/// The connections of a transport and its clones that wait for the next request.
///
/// # Contract
///
/// - A connection is idle for at most 30 s.
/// - At most 64 HTTP/1.1 connections of an origin are idle: a further one is closed after its
///   exchange. At most 512 are idle in all: a further one replaces the oldest.
/// - An origin has one HTTP/2 connection.
/// - If an origin resolves to other addresses than before, its connections are not used again.
#[derive(Default)]
pub(crate) struct Pool {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    hosts: Hosts,
    has_reaper: bool,
}

impl Pool {
    /// An open connection of the route.
    pub(crate) fn checkout(&self, route: &Route) -> Option<Connection> {
        self.state().hosts.checkout(route, Instant::now())
    }

    /// A lock for the first connection of an `https` origin that is not known to speak HTTP/1.1:
    /// requests that wait for it can share an HTTP/2 connection.
    pub(crate) fn opening(&self, route: &Route) -> Option<Arc<AsyncMutex<()>>> {
        self.state().hosts.opening(route)
    }

    /// Notes that the origin speaks HTTP/1.1 alone, so that it gets concurrent connections.
    pub(crate) fn note_http1(&self, route: &Route) {
        self.state().hosts.note_http1(route);
    }

    /// Shares a new connection with other requests of the route.
    pub(crate) fn share(self: &Arc<Self>, route: &Route, connection: &Arc<Http2>) {
        self.state().hosts.share(route, connection);
        self.start_reaper();
    }

    /// Keeps a connection whose response was read to its end.
    pub(crate) fn put_back(self: &Arc<Self>, route: Route, mut connection: Http1) {
        match connection.is_reusable_now() {
            Some(true) => self.keep(&route, connection),
            Some(false) => {}
            None => {
                let pool = Arc::downgrade(self);
                tokio::spawn(async move {
                    let reusable = timeout(REST_OF_REQUEST, connection.is_reusable()).await;
                    if let (Ok(true), Some(pool)) = (reusable, pool.upgrade()) {
                        pool.keep(&route, connection);
                    }
                });
            }
        }
    }

    fn keep(self: &Arc<Self>, route: &Route, connection: Http1) {
        self.state().hosts.keep(route, connection, Instant::now());
        self.start_reaper();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start_reaper(self: &Arc<Self>) {
        if !std::mem::replace(&mut self.state().has_reaper, true) {
            tokio::spawn(reap(Reaper(Arc::downgrade(self))));
        }
    }

    /// Closes expired connections. Returns the time of the next expiry, or `None` if the pool is
    /// empty, which ends the reaper.
    fn sweep(&self) -> Option<Instant> {
        let mut state = self.state();
        let next = state.hosts.sweep(Instant::now());
        state.has_reaper = next.is_some();
        next
    }
}

/// The task that closes expired connections of a pool.
struct Reaper(Weak<Pool>);

impl Drop for Reaper {
    /// The runtime of the task may end before the pool.
    fn drop(&mut self) {
        if let Some(pool) = self.0.upgrade() {
            pool.state().has_reaper = false;
        }
    }
}

async fn reap(mut reaper: Reaper) {
    loop {
        let next = reaper.0.upgrade().and_then(|pool| pool.sweep());
        let Some(next) = next else {
            // another reaper may have started since
            reaper.0 = Weak::new();
            return;
        };
        sleep_until(next).await;
    }
}
