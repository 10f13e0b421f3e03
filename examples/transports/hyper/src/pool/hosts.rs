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
const MAX_IDLE_OF_ORIGIN: usize = 16;
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
        let place = Arc::clone(&self.places).try_acquire_owned();
        match (self.current(route), place) {
            (Some(known), Ok(place)) if known.idle.len() < MAX_IDLE_OF_ORIGIN => {
                known.idle.push(Idle {
                    connection,
                    expires_at: now + IDLE,
                    _place: place,
                });
            }
            _ => connection.close(),
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
