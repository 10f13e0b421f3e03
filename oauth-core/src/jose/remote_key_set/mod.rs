//! JWKS client: fetches and caches the keys of another issuer.

mod response;
mod state;

use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_util::FutureExt as _;
use http::header::ACCEPT;
use http::{HeaderValue, Request};

use self::state::{Flight, Kept, State};
use super::jwt::JwtError;
use super::key_set::KeySet;
use crate::exchange::{contained, exchange};
use crate::ports::Transport;
use crate::vocabulary::Endpoint;

/// Default lifetime of a cached set: one hour.
const LIFETIME: Duration = Duration::from_secs(3600);
/// Maximum age of a cached set while fetches fail, and maximum lifetime: one day.
const LAST_USE: Duration = Duration::from_secs(24 * 3600);
/// Default minimum time between fetches for unknown keys: one minute.
const COOL_DOWN: Duration = Duration::from_secs(60);
const SECOND: Duration = Duration::from_secs(1);

/// Error for missing keys: the fetch failed, and there is no cached set, or the cached set is too
/// old.
#[derive(Clone, Debug)]
pub struct KeysUnavailable {
    source: Arc<dyn Error + Send + Sync>,
}

impl KeysUnavailable {
    fn new(source: impl Error + Send + Sync + 'static) -> Self {
        Self {
            source: Arc::new(source),
        }
    }
}

impl fmt::Display for KeysUnavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the key set of the issuer could not be fetched")
    }
}

impl Error for KeysUnavailable {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.source)
    }
}

/// Failure to verify a token with fetched keys.
#[non_exhaustive]
#[derive(Clone, Debug, thiserror::Error)]
pub enum VerifyError {
    /// The token is invalid.
    #[error("the token was refused")]
    Refused(#[source] JwtError),
    /// The keys could not be fetched. A retry may succeed.
    #[error("the keys to verify the token are unavailable")]
    KeysUnavailable(#[source] KeysUnavailable),
}

/// JWKS client: fetches the keys of another issuer when they are needed, and caches them.
///
/// - **Lifetime.** A set is cached for one hour, or for the `Cache-Control: max-age` of the
///   response if that is shorter, but at least for the cool-down of one minute.
/// - **Rotation.** A token with an unknown `kid` causes a fetch at once, so the issuer may rotate
///   its keys at any time. Such fetches are limited to one per minute
///   ([`with_cool_down`](Self::with_cool_down)), because an attacker can invent `kid`s.
/// - **Keys without `kid`.** At most three keys of one algorithm may have no `kid`. A token without
///   `kid` is verified with each of them. While the set has such a key, a signature mismatch counts
///   as an unknown key.
/// - **Single-flight.** Concurrent callers share one fetch, which is polled by the waiting callers.
///   There is no background task. When a lifetime ends, one caller waits for the new set, and the
///   others use the previous set. If the waiting callers are dropped, the next caller continues
///   their fetch. A fetch is abandoned after one minute.
/// - **Failures.** If a fetch fails, the previous set is used until it is one day old
///   ([`with_last_use`](Self::with_last_use)), and callers retry at most every five seconds. An
///   empty set is not a failure: it means that the issuer withdrew all keys.
///
/// Cheap to clone; clones share the keys.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// use std::time::SystemTime;
/// use bytes::Bytes;
/// use http::{Request, Response};
/// use oauth_core::jose::{KeySet, RemoteKeySet, SigningKey};
/// use oauth_core::ports::{OsEntropy, transport_fn};
///
/// # let published = SigningKey::generate_es256(&OsEntropy)?.public_key().clone();
/// # let published = KeySet::new([published])?.to_json();
/// // the host's HTTP client
/// let transport = transport_fn(move |request: Request<Bytes>| {
///     assert_eq!(request.uri(), "https://as.example/.well-known/jwks.json");
///     let answer = Response::new(published.clone().into());
///     async { Ok(answer) }
/// });
///
/// let uri = "https://as.example/.well-known/jwks.json".parse()?;
/// let keys = RemoteKeySet::new(uri, transport);
/// assert_eq!(keys.keys(SystemTime::now()).await?.iter().count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Security
///
/// This client accepts a key that the issuer has withdrawn until the next successful fetch: at most
/// one lifetime, or the maximum age of [`with_last_use`](Self::with_last_use) if the issuer cannot
/// be reached.
///
/// An attacker who invents a `kid` uses up the one fetch of that cool-down. Until the cool-down
/// ends, tokens that are signed with a newly published key are refused. An issuer prevents this by
/// publishing each key at least one cool-down, or better one lifetime, before it signs with the
/// key.
#[derive(Clone)]
pub struct RemoteKeySet {
    inner: Arc<Inner>,
}

struct Inner {
    uri: Endpoint,
    transport: Arc<dyn Transport>,
    times: Times,
    state: Mutex<State>,
}

#[derive(Clone, Copy)]
struct Times {
    lifetime: Duration,
    last_use: Duration,
    cool_down: Duration,
}

impl RemoteKeySet {
    /// Creates a client of the JWKS at `jwks_uri`, from the metadata of the issuer
    /// ([`Provider::keys`](crate::client::Provider::keys)).
    #[must_use]
    pub fn new(jwks_uri: Endpoint, transport: impl Transport + 'static) -> Self {
        let times = Times {
            lifetime: LIFETIME,
            last_use: LAST_USE,
            cool_down: COOL_DOWN,
        };
        Self::with(jwks_uri, Arc::new(transport), times)
    }

    fn with(uri: Endpoint, transport: Arc<dyn Transport>, times: Times) -> Self {
        let inner = Inner {
            uri,
            transport,
            times,
            state: Mutex::default(),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    fn with_times(&self, change: impl FnOnce(&mut Times)) -> Self {
        let mut times = self.inner.times;
        change(&mut times);
        let transport = Arc::clone(&self.inner.transport);
        Self::with(self.inner.uri.clone(), transport, times)
    }

    /// Sets the lifetime of a cached set. Default: one hour. Values are limited to one second to
    /// one day. The cache starts empty.
    #[must_use]
    pub fn with_lifetime(self, lifetime: Duration) -> Self {
        self.with_times(|times| times.lifetime = lifetime.clamp(SECOND, LAST_USE))
    }

    /// Sets the maximum age of a cached set while fetches fail, counted from the start of the fetch
    /// that returned the set. Default and maximum: one day. The cache starts empty.
    #[must_use]
    pub fn with_last_use(self, last_use: Duration) -> Self {
        self.with_times(|times| times.last_use = last_use.min(LAST_USE))
    }

    /// Sets the cool-down: the minimum time between fetches that unknown keys cause. Default: one
    /// minute. Minimum: one second. The cache starts empty. Issuers should publish a key at least
    /// this long before they sign with it.
    #[must_use]
    pub fn with_cool_down(self, cool_down: Duration) -> Self {
        self.with_times(|times| times.cool_down = cool_down.max(SECOND))
    }

    /// Returns the keys at `now`. It completes without waiting while the cached set is within its
    /// lifetime.
    ///
    /// # Errors
    ///
    /// [`KeysUnavailable`] when no usable set is cached and the fetch failed, now or in the last
    /// five seconds.
    pub async fn keys(&self, now: SystemTime) -> Result<KeySet, KeysUnavailable> {
        self.known(now).await.map(|(kept, _)| kept.keys)
    }

    /// Verifies a token: calls `check` with the cached keys. If `check` returns
    /// [`JwtError::UnknownKey`], or [`JwtError::SignatureMismatch`] while a key has no `kid`, it
    /// fetches the keys again, at most once per cool-down, and calls `check` with the newer set.
    ///
    /// ```no_run
    /// # use std::time::SystemTime;
    /// # use oauth_core::jose::{IdTokenClaims, IdTokenPolicy, RemoteKeySet, VerifyError};
    /// # async fn example(
    /// #     keys: RemoteKeySet, token: &str, policy: IdTokenPolicy, now: SystemTime,
    /// # ) -> Result<IdTokenClaims, VerifyError> {
    /// keys.verify(|keys| IdTokenClaims::verify(token, keys, &policy, now), now).await
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`VerifyError`] when the token is refused or there are no keys.
    pub async fn verify<T>(
        &self,
        check: impl Fn(&KeySet) -> Result<T, JwtError>,
        now: SystemTime,
    ) -> Result<T, VerifyError> {
        let (known, is_newest) = self.known(now).await.map_err(VerifyError::KeysUnavailable)?;
        let checked = match check(&known.keys) {
            Err(fault) if !is_newest && may_be_of_another_key(fault, &known.keys) => {
                match self.newer_than(&known, now).await {
                    Some(newer) => check(&newer.keys),
                    None => Err(fault),
                }
            }
            checked => checked,
        };
        checked.map_err(VerifyError::Refused)
    }

    /// Returns the keys, and `true` if this call waited for a fetch. Then another fetch would
    /// return no newer keys.
    async fn known(&self, now: SystemTime) -> Result<(Kept, bool), KeysUnavailable> {
        let (known, flight, is_awaited) = {
            let mut state = self.inner.state();
            let known = state.usable(self.inner.times.last_use, now);
            if let Some(fresh) = known.clone().filter(|kept| kept.is_fresh(now)) {
                return Ok((fresh, false));
            }
            let others_wait = state.is_awaited();
            let (flight, is_awaited) = match state.under_way(now) {
                Some(flight) => (flight, others_wait),
                None => match state.fault(now) {
                    Some(fault) => return known.map(|kept| (kept, false)).ok_or(fault),
                    None => (self.take_off(&mut state, now), false),
                },
            };
            (known, flight, is_awaited)
        };
        let fetched = match &known {
            // another caller waits for the new set, so use the previous set unless the fetch is
            // done
            Some(kept) if is_awaited => match flight.now_or_never() {
                Some(fetched) => fetched,
                None => return Ok((kept.clone(), false)),
            },
            _ => flight.await,
        };
        let kept = fetched.or_else(|fault| known.ok_or(fault))?;
        Ok((kept, true))
    }

    /// Returns a newer set than `known`, which lacks the key of a token: the cached set if it is
    /// newer, otherwise the result of a fetch. `None` if the fetch fails or the cool-down forbids
    /// it.
    async fn newer_than(&self, known: &Kept, now: SystemTime) -> Option<Kept> {
        let cool_down = self.inner.times.cool_down;
        let flight = {
            let mut state = self.inner.state();
            if let Some(newer) = state.newer_than(known) {
                return Some(newer);
            }
            match state.under_way(now) {
                Some(flight) => flight,
                None if state.may_refetch(cool_down, now) => self.take_off(&mut state, now),
                None => return None,
            }
        };
        flight.await.ok()
    }

    /// Starts a fetch. The state keeps the fetch until it ends, so that another caller can continue
    /// it. The fetch holds only a weak reference to the state.
    fn take_off(&self, state: &mut State, now: SystemTime) -> Flight {
        let (inner, transport) = (Arc::downgrade(&self.inner), Arc::clone(&self.inner.transport));
        let (request, times) = (self.inner.request(), self.inner.times);
        state.take_off(now, |turn, given_up| async move {
            // dropped here, because the drop may run code of the host, which must not run under the
            // lock
            drop(given_up);
            let asked = contained(exchange(&transport, request)).await;
            let fetched = response::read(asked.and_then(|answer| answer)).map(|(keys, max_age)| {
                // a set that must not be cached is fetched at most once per cool-down
                let shortest = times.cool_down.min(times.lifetime);
                let lifetime = max_age.map_or(times.lifetime, |age| age.clamp(shortest, times.lifetime));
                Kept::new(keys, turn, now, lifetime)
            });
            if let Some(inner) = inner.upgrade() {
                inner.state().land(turn, &fetched, now);
            }
            fetched
        })
    }
}

/// Returns `true` if a newer key set may verify a token that was refused for this reason.
fn may_be_of_another_key(fault: JwtError, keys: &KeySet) -> bool {
    match fault {
        JwtError::UnknownKey => true,
        JwtError::SignatureMismatch => keys.iter().any(|key| key.key_id().is_none()),
        _ => false,
    }
}

impl Inner {
    /// Locks the state. Poisoning is ignored, because no code panics while it holds the lock.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn request(&self) -> Request<Bytes> {
        let mut request = Request::new(Bytes::new());
        *request.uri_mut() = self.uri.uri().clone();
        let accept = HeaderValue::from_static("application/jwk-set+json, application/json");
        request.headers_mut().insert(ACCEPT, accept);
        request
    }
}

impl fmt::Debug for RemoteKeySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteKeySet")
            .field("uri", &self.inner.uri)
            .finish_non_exhaustive()
    }
}
