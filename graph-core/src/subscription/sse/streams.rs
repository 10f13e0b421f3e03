//! Registry of event streams. A client reserves a stream first, and opens it afterwards.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use super::stream::{End, Events, Operations, Responses};
use crate::http::EventStream;
use crate::ports::{Clock, Entropy};
use crate::subscription::OperationId;

/// Limits of [`EventStreams`]. The [module](super) lists the responses to requests above a limit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct StreamLimits {
    streams: usize,
    streams_of_one: usize,
    operations: usize,
    operation: usize,
    reservation: Duration,
}

impl Default for StreamLimits {
    /// Defaults: 10,000 streams, 32 per principal, 100 operations per stream, 256 KiB per
    /// operation, and 30 s to open a reserved stream.
    fn default() -> Self {
        Self {
            streams: 10_000,
            streams_of_one: 32,
            operations: 100,
            operation: 256 << 10,
            reservation: Duration::from_secs(30),
        }
    }
}

impl StreamLimits {
    /// Limits the total number of streams, open and reserved. Default: 10,000.
    #[must_use]
    pub fn with_streams(mut self, streams: usize) -> Self {
        self.streams = streams;
        self
    }

    /// Limits the streams of one principal. Default: 32.
    ///
    /// All anonymous clients together count as one principal.
    #[must_use]
    pub fn with_streams_of_one(mut self, streams: usize) -> Self {
        self.streams_of_one = streams;
        self
    }

    /// Limits the concurrent operations of one stream. Default: 100.
    #[must_use]
    pub fn with_operations(mut self, operations: usize) -> Self {
        self.operations = operations;
        self
    }

    /// Limits the request body that starts an operation, in bytes. Default: 256 KiB.
    ///
    /// The body limit of the engine also applies.
    #[must_use]
    pub fn with_operation(mut self, bytes: usize) -> Self {
        self.operation = bytes;
        self
    }

    /// Sets the time within which the client must open a reserved stream. Default: 30 s.
    #[must_use]
    pub fn with_reservation(mut self, reservation: Duration) -> Self {
        self.reservation = reservation;
        self
    }
}

/// Registry of the event streams of one process in single connection mode; see the [module](super).
///
/// The host creates one registry for the endpoint. Clones share the streams.
///
/// # Security
///
/// - A token is 256 random bits from [`Entropy`]. Only its hash is stored.
/// - A token alone grants nothing: each request must also be authenticated as the principal that
///   reserved the stream. A token in a log or a browser history is therefore useless to other
///   principals.
/// - All anonymous clients count as one principal, so every anonymous client that knows the token
///   of an anonymous stream can use it. Refuse anonymous requests if that is not acceptable.
#[derive(Clone)]
pub struct EventStreams {
    limits: StreamLimits,
    entropy: Arc<dyn Entropy>,
    clock: Arc<dyn Clock>,
    places: Arc<Mutex<Places>>,
}

type Places = HashMap<Key, Place>;
type Key = [u8; 32];

struct Place {
    owner: Option<String>,
    /// Deadline to open the stream; `None` if it is open.
    until: Option<SystemTime>,
    operations: Operations,
}

/// Stream token of a request, and the principal of the request.
pub(crate) struct Wanted<'w> {
    streams: &'w EventStreams,
    token: &'w str,
    owner: Option<&'w str>,
    now: SystemTime,
}

/// Reason why a stream or operation is unavailable.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Missing {
    /// The stream does not exist.
    Unknown,
    /// The stream is already open.
    Open,
    /// The stream is not open yet.
    NotOpen,
    /// An operation with this id is running.
    Runs,
    /// A limit is reached.
    TooMany,
}

impl fmt::Debug for EventStreams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventStreams")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl EventStreams {
    /// Creates an empty registry. `entropy` generates the tokens, `clock` expires reservations.
    #[must_use]
    pub fn new(limits: StreamLimits, entropy: impl Entropy + 'static, clock: impl Clock + 'static) -> Self {
        Self {
            limits,
            entropy: Arc::new(entropy),
            clock: Arc::new(clock),
            places: Arc::default(),
        }
    }

    /// Returns the number of streams, open and reserved.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places().len()
    }

    /// Returns `true` if there are no streams.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places().is_empty()
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        locked(&self.places)
    }

    /// Selects the stream of `token` for `owner`.
    pub(crate) fn wanted<'w>(&'w self, token: &'w str, owner: Option<&'w str>) -> Wanted<'w> {
        Wanted {
            streams: self,
            token,
            owner,
            now: self.clock.now(),
        }
    }
}

impl Wanted<'_> {
    /// Maximum size of an operation's request in bytes.
    pub(crate) fn operation(&self) -> usize {
        self.streams.limits.operation
    }

    /// Reserves a stream and returns its token.
    pub(crate) fn reserve(&self) -> Result<String, Missing> {
        let limits = &self.streams.limits;
        let mut random = [0; 32];
        self.streams.entropy.fill(&mut random);
        let token = BASE64_URL_SAFE_NO_PAD.encode(random);
        let mut places = self.streams.places();
        let gone: Vec<Place> = places
            .extract_if(|_, place| !place.is_there(self.now))
            .map(|(_, place)| place)
            .collect();
        let of_one = places
            .values()
            .filter(|place| place.owner.as_deref() == self.owner);
        let full = places.len() >= limits.streams || of_one.count() >= limits.streams_of_one;
        if !full {
            let place = Place {
                owner: self.owner.map(str::to_owned),
                until: Some(self.now.checked_add(limits.reservation).unwrap_or(self.now)),
                operations: Operations::default(),
            };
            places.insert(key(&token), place);
        }
        drop(places);
        drop(gone);
        if full { Err(Missing::TooMany) } else { Ok(token) }
    }

    /// Opens a reserved stream until `end`.
    pub(crate) fn open(&self, end: End) -> Result<EventStream, Missing> {
        let mut places = self.streams.places();
        let place = self.among(&mut places)?;
        if place.until.take().is_none() {
            return Err(Missing::Open);
        }
        let held = Held {
            key: key(self.token),
            places: Arc::downgrade(&self.streams.places),
        };
        let events = Events::new(place.operations.clone(), end, held);
        Ok(EventStream::events(events))
    }

    /// Checks that an operation `id` may start.
    pub(crate) fn check(&self, id: &OperationId) -> Result<(), Missing> {
        self.opened()?.check(id, self.streams.limits.operations)
    }

    /// Starts an operation.
    pub(crate) fn start(&self, id: OperationId, responses: Responses, end: End) -> Result<(), Missing> {
        let limit = self.streams.limits.operations;
        self.opened()?.start(id, limit, responses, end)
    }

    /// Stops an operation, if it runs.
    pub(crate) fn stop(&self, id: &OperationId) -> Result<(), Missing> {
        self.operations()?.stop(id);
        Ok(())
    }

    /// Operations of the stream; an error if it is not open, because no client reads its events.
    fn opened(&self) -> Result<Operations, Missing> {
        match self.among(&mut self.streams.places())? {
            Place { until: Some(_), .. } => Err(Missing::NotOpen),
            place => Ok(place.operations.clone()),
        }
    }

    /// Operations of the stream. The returned handle lets the caller use them without the lock of
    /// the registry.
    fn operations(&self) -> Result<Operations, Missing> {
        Ok(self.among(&mut self.streams.places())?.operations.clone())
    }

    fn among<'p>(&self, places: &'p mut Places) -> Result<&'p mut Place, Missing> {
        let place = places.get_mut(&key(self.token)).ok_or(Missing::Unknown)?;
        if place.owner.as_deref() != self.owner || !place.is_there(self.now) {
            return Err(Missing::Unknown);
        }
        Ok(place)
    }
}

impl Place {
    fn is_there(&self, now: SystemTime) -> bool {
        self.until.is_none_or(|until| now < until)
    }
}

/// Guard of an open stream. Removes the stream from the registry on drop.
struct Held {
    key: Key,
    places: Weak<Mutex<Places>>,
}

/// Removes the stream and its token, and drops its operations.
impl Drop for Held {
    fn drop(&mut self) {
        if let Some(places) = self.places.upgrade() {
            let place = locked(&places).remove(&self.key);
            drop(place);
        }
    }
}

fn locked(places: &Mutex<Places>) -> MutexGuard<'_, Places> {
    places.lock().unwrap_or_else(PoisonError::into_inner)
}

fn key(token: &str) -> Key {
    Sha256::digest(token).into()
}
