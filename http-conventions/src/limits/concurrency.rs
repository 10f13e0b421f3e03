//! Limits on the number of requests in progress.

use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use http::Request;

use super::RetryAfter;
use crate::{errors::Problem, idempotency::IDEMPOTENCY_KEY};

const RETRY: Duration = Duration::from_secs(1);

/// Priority of a request under a [`ConcurrencyLimit`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a request may use the reserve or not")]
pub enum Priority {
    /// The request is refused first.
    Ordinary,
    /// The request may use the [reserve](ConcurrencyLimit::with_reserve), for example a health
    /// check or a payment.
    High,
}

impl Priority {
    /// [`High`](Self::High) for an unsafe request with an `Idempotency-Key`: it is a write, such as
    /// a payment, or a retry of one, which a stored response answers at little cost.
    /// [`Ordinary`](Self::Ordinary) for other requests.
    ///
    /// # Security
    ///
    /// Before authentication any client can send a key and so use the reserve. Decide after
    /// authentication where clients are not trusted.
    #[must_use]
    pub fn of<B>(request: &Request<B>) -> Self {
        match !request.method().is_safe() && request.headers().contains_key(IDEMPOTENCY_KEY) {
            true => Self::High,
            false => Self::Ordinary,
        }
    }
}

/// Largest number of requests in progress, for example of a route or a server. Clones share their
/// count.
///
/// A request above the limit is refused at once with 503 and `Retry-After`; it does not wait.
#[derive(Clone, Debug)]
pub struct ConcurrencyLimit {
    most: usize,
    reserved: usize,
    in_flight: Arc<AtomicUsize>,
}

impl ConcurrencyLimit {
    /// Allows `most` requests in progress.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self {
            most,
            reserved: 0,
            in_flight: Arc::default(),
        }
    }

    /// Reserves the last `reserved` permits for requests of [high](Priority::High) priority.
    /// Default 0.
    #[must_use]
    pub const fn with_reserve(mut self, reserved: usize) -> Self {
        self.reserved = reserved;
        self
    }

    /// Decides if one more request may begin while `in_flight` requests are in progress.
    #[must_use]
    pub const fn admits(&self, in_flight: usize, priority: Priority) -> bool {
        in_flight
            < match priority {
                Priority::Ordinary => self.most.saturating_sub(self.reserved),
                Priority::High => self.most,
            }
    }

    /// Number of requests in progress.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Counts one more request in progress, until its permit is dropped.
    ///
    /// # Errors
    ///
    /// A 503 problem with `Retry-After: 1` if the limit is reached.
    pub fn acquire(&self, priority: Priority) -> Result<ConcurrencyPermit, Problem> {
        let more = |in_flight: usize| self.admits(in_flight, priority).then(|| in_flight + 1);
        // relaxed, because the count guards no other memory
        let counted = self
            .in_flight
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        match counted {
            Ok(_) => Ok(ConcurrencyPermit::new(Holder::Route(self.in_flight.clone()))),
            Err(_) => Err(Problem::service_unavailable(RetryAfter::new(RETRY))
                .with_detail("too many requests are in progress")),
        }
    }
}

/// Largest number of requests of one caller in progress, such as a principal or an address. Clones
/// share their counts.
///
/// A request above the limit is refused at once with 429 and `Retry-After`; it does not wait.
///
/// # Performance
///
/// Keeps one entry per caller with requests in progress.
#[derive(Clone)]
pub struct CallerConcurrency {
    most: usize,
    callers: Callers,
}

type Callers = Arc<Mutex<HashMap<Arc<str>, usize>>>;

impl CallerConcurrency {
    /// Allows `most` requests of each caller in progress.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self {
            most,
            callers: Callers::default(),
        }
    }

    /// Counts one more request of this caller in progress, until its permit is dropped.
    ///
    /// # Errors
    ///
    /// A 429 problem with `Retry-After: 1` if the limit is reached.
    pub fn acquire(&self, caller: &str) -> Result<ConcurrencyPermit, Problem> {
        let mut callers = lock(&self.callers);
        let (caller, count) = match callers.get_key_value(caller) {
            Some((caller, count)) => (caller.clone(), *count),
            None => (caller.into(), 0),
        };
        if count >= self.most {
            return Err(Problem::too_many_requests(RetryAfter::new(RETRY))
                .with_detail("too many requests of this caller are in progress"));
        }
        callers.insert(caller.clone(), count + 1);
        Ok(ConcurrencyPermit::new(Holder::Caller(
            self.callers.clone(),
            caller,
        )))
    }
}

impl fmt::Debug for CallerConcurrency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallerConcurrency")
            .field("most", &self.most)
            .finish_non_exhaustive()
    }
}

/// Permit of a request in progress. The request ends when the last clone is dropped, also by a
/// panic.
#[derive(Clone, Debug)]
#[must_use = "dropping the permit ends the request"]
pub struct ConcurrencyPermit {
    _holder: Arc<Holder>,
}

impl ConcurrencyPermit {
    fn new(holder: Holder) -> Self {
        Self {
            _holder: Arc::new(holder),
        }
    }
}

/// Count to reduce when the request ends.
enum Holder {
    Route(Arc<AtomicUsize>),
    Caller(Callers, Arc<str>),
}

impl Drop for Holder {
    fn drop(&mut self) {
        match self {
            Self::Route(in_flight) => drop(in_flight.fetch_sub(1, Ordering::Relaxed)),
            Self::Caller(callers, caller) => {
                let mut callers = lock(callers);
                match callers.get_mut(caller) {
                    Some(count) if *count > 1 => *count -= 1,
                    _ => drop(callers.remove(&**caller)),
                }
            }
        }
    }
}

impl fmt::Debug for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Route(_) => "Route",
            Self::Caller(..) => "Caller",
        })
    }
}

fn lock(callers: &Callers) -> MutexGuard<'_, HashMap<Arc<str>, usize>> {
    callers.lock().unwrap_or_else(PoisonError::into_inner)
}
