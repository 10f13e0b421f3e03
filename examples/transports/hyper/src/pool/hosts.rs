//! Tables of the pool.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::sync::{Mutex as AsyncMutex, OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::{IDLE, Origin, Route};
use crate::connection::{Connection, Http1, Http2};

/// Upper bound of the known origins. Connections of further ones are not kept.
const MAX_ORIGINS: usize = 4_096;
/// Upper bound of the idle HTTP/1.1 connections of an origin.
const MAX_IDLE_OF_ORIGIN: usize = 64;
/// Upper bound of the idle HTTP/1.1 connections of a pool.
const MAX_IDLE: usize = 512;

/// All origins of a pool.
pub(super) struct Hosts {
    known: HashMap<Origin, Connections>,
    places: Arc<Semaphore>,
}

impl Default for Hosts {
    fn default() -> Self {
        Self {
            known: HashMap::new(),
            places: Arc::new(Semaphore::new(MAX_IDLE)),
        }
    }
}

/// The connections of an origin to its current addresses.
struct Connections {
    addresses: Vec<SocketAddr>,
    idle: Vec<Idle>,
    shared: Option<Arc<Http2>>,
    opening: Arc<AsyncMutex<()>>,
    is_http1: bool,
    used: Instant,
}

struct Idle {
    connection: Http1,
    expires_at: Instant,
    _place: OwnedSemaphorePermit,
}

impl Hosts {
    pub(super) fn checkout(&mut self, route: &Route, now: Instant) -> Option<Connection> {
        let known = self.known_or_new(route, now)?;
        known.used = now;
        drop(known.shared.take_if(|shared| !shared.is_usable()));
        if let Some(shared) = &known.shared {
            return Some(Connection::Http2(Arc::clone(shared)));
        }
        // the most recent connection is the least likely to be closed by the server
        while let Some(Idle {
            connection,
            expires_at,
            ..
        }) = known.idle.pop()
        {
            if expires_at > now && connection.reuse() {
                return Some(Connection::Http1(connection));
            }
            connection.close();
        }
        None
    }

    /// The connections of the route. If the origin had other addresses, theirs are closed.
    fn known_or_new(&mut self, route: &Route, now: Instant) -> Option<&mut Connections> {
        let is_full = self.known.len() >= MAX_ORIGINS;
        if is_full && !self.known.contains_key(&route.origin) {
            return None;
        }
        let known = self
            .known
            .entry(route.origin.clone())
            .or_insert_with(|| Connections::new(&route.addresses, now));
        if known.addresses != route.addresses {
            let outdated = std::mem::replace(known, Connections::new(&route.addresses, now));
            outdated.close();
        }
        Some(known)
    }

    /// The connections of the route, unless the origin has got other addresses since.
    fn current(&mut self, route: &Route) -> Option<&mut Connections> {
        let known = self.known.get_mut(&route.origin)?;
        (known.addresses == route.addresses).then_some(known)
    }

    pub(super) fn opening(&mut self, route: &Route) -> Option<Arc<AsyncMutex<()>>> {
        let known = self.current(route)?;
        (route.is_https() && !known.is_http1).then(|| Arc::clone(&known.opening))
    }

    pub(super) fn note_http1(&mut self, route: &Route) {
        if let Some(known) = self.current(route) {
            known.is_http1 = true;
        }
    }

    pub(super) fn share(&mut self, route: &Route, connection: &Arc<Http2>) {
        if let Some(known) = self.current(route)
            && !known.shared.as_ref().is_some_and(|shared| shared.is_usable())
        {
            known.is_http1 = false;
            known.shared = Some(Arc::clone(connection));
        }
    }

    pub(super) fn keep(&mut self, route: &Route, connection: Http1, now: Instant) {
        let has_room = |known: &mut Connections| known.idle.len() < MAX_IDLE_OF_ORIGIN;
        if !self.current(route).is_some_and(has_room) {
            return connection.close();
        }
        if self.places.available_permits() == 0 {
            self.close_oldest();
        }
        let place = Arc::clone(&self.places).try_acquire_owned();
        match (self.current(route), place) {
            (Some(known), Ok(place)) => known.idle.push(Idle {
                connection,
                expires_at: now + IDLE,
                _place: place,
            }),
            _ => connection.close(),
        }
    }

    /// Closes the connection that has been idle for the longest time.
    fn close_oldest(&mut self) {
        let with_idle = self.known.values_mut().filter(|known| !known.idle.is_empty());
        // the first of an origin is its oldest
        let oldest = with_idle.min_by_key(|known| known.idle.first().map(|idle| idle.expires_at));
        if let Some(known) = oldest {
            known.idle.remove(0).connection.close();
        }
    }

    /// Closes expired connections and forgets unused origins. Returns the time of the next sweep.
    pub(super) fn sweep(&mut self, now: Instant) -> Option<Instant> {
        let mut next = None;
        self.known.retain(|_, known| {
            let expires_at = known.sweep(now);
            next = [next, expires_at].into_iter().flatten().min();
            expires_at.is_some()
        });
        next
    }
}

impl Connections {
    fn new(addresses: &[SocketAddr], now: Instant) -> Self {
        Self {
            addresses: addresses.to_vec(),
            idle: Vec::new(),
            shared: None,
            opening: Arc::default(),
            is_http1: false,
            used: now,
        }
    }

    /// Closes expired connections. Returns the time of the next expiry, or `None` if the origin
    /// can be forgotten.
    fn sweep(&mut self, now: Instant) -> Option<Instant> {
        let expired = self.idle.extract_if(.., |idle| idle.expires_at <= now);
        expired.for_each(|idle| idle.connection.close());
        let shared = self.shared.as_ref().map(|shared| expiry_of(shared, now));
        if shared.is_some_and(|expires_at| expires_at <= now) {
            self.shared = None;
        }
        let idle = self.idle.iter().map(|idle| idle.expires_at);
        let all = idle.chain(shared).chain([self.used + IDLE]);
        all.filter(|expires_at| *expires_at > now).min()
    }

    fn close(self) {
        for idle in self.idle {
            idle.connection.close();
        }
    }
}

/// Time at which a shared connection has been idle for long enough.
fn expiry_of(shared: &Arc<Http2>, now: Instant) -> Instant {
    if !shared.is_usable() {
        return now;
    }
    let is_idle = Arc::strong_count(shared) == 1;
    if is_idle { shared.used() + IDLE } else { now + IDLE }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use host_ports::address::AddressPolicy;
    use tokio::io::{DuplexStream, duplex};

    use super::*;
    use crate::socket::Progress;

    fn route(url: &str) -> Route {
        let target = AddressPolicy::new().vet(url).unwrap();
        Route::new(&target, &[([203, 0, 114, 1], 443).into()])
    }

    /// An idle connection, and the server's end of it.
    async fn connection() -> (Http1, DuplexStream) {
        let (client, server) = duplex(64);
        let mut connection = Http1::handshake(client, Arc::<Progress>::default())
            .await
            .unwrap();
        assert!(connection.is_reusable().await);
        (connection, server)
    }

    /// W31: a full pool closes the connection that has been idle for the longest time.
    #[tokio::test]
    async fn full_pool_closes_its_oldest_connection() {
        let mut hosts = Hosts {
            places: Arc::new(Semaphore::new(2)),
            ..Hosts::default()
        };
        let begun = Instant::now();
        let routes = [
            "https://a.example.com/",
            "https://b.example.com/",
            "https://c.example.com/",
        ]
        .map(route);
        let mut servers = Vec::new();
        for (route, second) in routes.iter().zip(0..) {
            let now = begun + Duration::from_secs(second);
            assert!(hosts.checkout(route, now).is_none());
            let (connection, server) = connection().await;
            hosts.keep(route, connection, now);
            servers.push(server);
        }
        let now = begun + Duration::from_secs(3);
        let kept = routes.map(|route| hosts.checkout(&route, now).is_some());
        assert_eq!(kept, [false, true, true]);
    }

    /// W31: connections of unknown origins, or to other addresses than the current ones, are not
    /// kept.
    #[tokio::test]
    async fn connection_of_another_route_is_not_kept() {
        let mut hosts = Hosts::default();
        let now = Instant::now();
        let current = route("https://a.example.com/");
        let outdated = Route {
            addresses: vec![([203, 0, 114, 2], 443).into()],
            ..current.clone()
        };
        assert!(hosts.checkout(&current, now).is_none());
        for other in [outdated.clone(), route("https://b.example.com/")] {
            hosts.keep(&other, connection().await.0, now);
        }
        assert!(hosts.checkout(&current, now).is_none());
        assert!(hosts.checkout(&outdated, now).is_none());
    }

    /// W31: after the last connection has expired, the origin is forgotten.
    #[tokio::test]
    async fn sweep_forgets_unused_origins() {
        let mut hosts = Hosts::default();
        let now = Instant::now();
        let route = route("https://a.example.com/");
        assert!(hosts.checkout(&route, now).is_none());
        let kept_at = now + Duration::from_secs(5);
        hosts.keep(&route, connection().await.0, kept_at);
        assert_eq!(hosts.sweep(now + Duration::from_secs(1)), Some(now + IDLE));
        assert_eq!(hosts.sweep(now + IDLE), Some(kept_at + IDLE));
        assert_eq!(hosts.sweep(kept_at + IDLE), None);
        assert!(hosts.known.is_empty());
    }
}
