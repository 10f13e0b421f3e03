//! The streams of all clients, each reserved first and opened then.

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

/// The bounds of [`EventStreams`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct StreamLimits {
    streams: usize,
    streams_of_one: usize,
    operations: usize,
    operation: usize,
    reservation: Duration,
}

impl Default for StreamLimits {
    /// 10,000 streams, 32 of one principal, 100 operations a stream, 256 KiB an operation, 30 s from the reservation to the stream.
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
    /// How many streams there may be, open ones and reserved ones.
    #[must_use]
    pub fn with_streams(mut self, streams: usize) -> Self {
        self.streams = streams;
        self
    }

    /// How many streams one principal may have; all who are anonymous are one, and so can lock each other out.
    #[must_use]
    pub fn with_streams_of_one(mut self, streams: usize) -> Self {
        self.streams_of_one = streams;
        self
    }

    /// How many operations may run on one stream.
    #[must_use]
    pub fn with_operations(mut self, operations: usize) -> Self {
        self.operations = operations;
        self
    }

    /// How many bytes the request of an operation may have; the limit of every body applies, too.
    #[must_use]
    pub fn with_operation(mut self, bytes: usize) -> Self {
        self.operation = bytes;
        self
    }

    /// How long a stream stays reserved without being opened.
    #[must_use]
    pub fn with_reservation(mut self, reservation: Duration) -> Self {
        self.reservation = reservation;
        self
    }
}

/// The streams of single connection mode that one process serves; see the [module](super). One value for as long as the host runs.
///
/// # Security
///
/// A token is 256 bits of the host's randomness, and is kept as its hash. It opens nothing by itself: each request with it must act
/// for the principal who reserved the stream, so that a token in a log or in the history of a browser is worth nothing.
///
/// All who are anonymous are one: a token that was reserved anonymously works for every anonymous caller who has it, and is a secret
/// of its client. A host whose anonymous streams must not be shared authenticates the endpoint.
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
    /// Until when it must be opened; `None`: it is open.
    until: Option<SystemTime>,
    operations: Operations,
}

/// A stream as a request names it, and who asks.
pub(crate) struct Wanted<'w> {
    streams: &'w EventStreams,
    token: &'w str,
    owner: Option<&'w str>,
    now: SystemTime,
}

/// Why there is no stream or no operation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Missing {
    /// There is no such stream.
    Unknown,
    /// It is open already.
    Open,
    /// It is not open yet.
    NotOpen,
    /// An operation with the id runs on it.
    Runs,
    /// There are too many.
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
    /// No streams yet; `entropy` makes their tokens, and reservations end by `clock`.
    #[must_use]
    pub fn new(limits: StreamLimits, entropy: impl Entropy + 'static, clock: impl Clock + 'static) -> Self {
        Self {
            limits,
            entropy: Arc::new(entropy),
            clock: Arc::new(clock),
            places: Arc::default(),
        }
    }

    /// How many streams there are, open ones and reserved ones.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places().len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places().is_empty()
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        locked(&self.places)
    }

    /// The stream of `token`, for `owner`.
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
    /// How many bytes the request of an operation may have.
    pub(crate) fn operation(&self) -> usize {
        self.streams.limits.operation
    }

    /// A token for a new stream.
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

    /// The events of a reserved stream, until `end`.
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
        Ok(EventStream::new(events))
    }

    /// Whether an operation `id` may be started.
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

    /// The operations of a stream that is open: what nobody listens to is not kept.
    fn opened(&self) -> Result<Operations, Missing> {
        match self.among(&mut self.streams.places())? {
            Place { until: Some(_), .. } => Err(Missing::NotOpen),
            place => Ok(place.operations.clone()),
        }
    }

    /// The operations of the stream, to be looked at when the streams are free for others again.
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

/// The place of an open stream.
struct Held {
    key: Key,
    places: Weak<Mutex<Places>>,
}

/// The stream is over: its operations are dropped, and its token is no longer known.
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
