//! The keys of another issuer, where it publishes them.

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

/// How long a set is used before it is fetched again, unless said otherwise.
const LIFETIME: Duration = Duration::from_secs(3600);
/// How long a set is used at most while it cannot be fetched again, and the longest lifetime.
const LAST_USE: Duration = Duration::from_secs(24 * 3600);
/// How long no strange name has it fetched again after one had, unless said otherwise.
const COOL_DOWN: Duration = Duration::from_secs(60);
const SECOND: Duration = Duration::from_secs(1);

/// There are no keys: none could be fetched, or those that were are too old.
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
        f.write_str("the keys of the issuer could not be fetched")
    }
}

impl Error for KeysUnavailable {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.source)
    }
}

/// Why a token is not believed whose keys are fetched.
#[non_exhaustive]
#[derive(Clone, Debug, thiserror::Error)]
pub enum VerifyError {
    /// The token is not valid.
    #[error("the token is refused")]
    Refused(#[source] JwtError),
    /// Whether it is could not be found out: there are no keys. A later attempt may succeed.
    #[error("there are no keys to verify the token with")]
    KeysUnavailable(#[source] KeysUnavailable),
}

/// The keys of another issuer, fetched when they are needed, and kept.
///
/// A set is used for an hour, or for less where the answer says so by `Cache-Control: max-age`, and then fetched again. A token of a key
/// that is not in it has it fetched at once, so that the issuer may rotate its keys at any time; but only once a minute
/// ([`with_cool_down`](Self::with_cool_down)), because anybody can make up a name of a key. An issuer whose keys have no names (`kid`) may
/// rotate them too, with three at once of one algorithm at most: a token that names none is tried with each of those that have none, and
/// while there is one, a token whose signature does not match counts as one of an unknown key.
///
/// However many callers come at once, the issuer is asked once. Nothing runs in the background: callers who wait drive the asking. At the
/// end of the lifetime one caller waits for the new set and the others go on with the set of before until it has come. A caller who goes
/// away stops nobody: the next takes over what it began, and waits in its place.
///
/// While the issuer does not answer, or with anything but a set of keys, the set of before is used on, for a day at most
/// ([`with_last_use`](Self::with_last_use)), and the issuer asked again every five seconds. An empty set is a set: an issuer
/// that takes back all its keys is believed.
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
/// A key that the issuer takes out of its set opens doors here until the set is fetched again: up to the lifetime and the time that the
/// fetching takes, and up to the last use where nobody can reach the issuer.
///
/// Whoever makes up a name of a key spends the one fetch of that minute. An issuer should publish a key a minute, or however long the
/// cool-down is, before it signs with it, and better the whole lifetime: then no stranger keeps anybody waiting.
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
    /// The keys at `jwks_uri`, as the metadata of their issuer name it
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

    /// Sets how long a set is used before it is fetched again: an hour if not set, a second at least and a day at most. What was
    /// fetched before is forgotten.
    #[must_use]
    pub fn with_lifetime(self, lifetime: Duration) -> Self {
        self.with_times(|times| times.lifetime = lifetime.clamp(SECOND, LAST_USE))
    }

    /// Sets how long a set is used, from the time it was asked for, while it cannot be fetched again: a day if not set, and at most. What
    /// was fetched before is forgotten.
    #[must_use]
    pub fn with_last_use(self, last_use: Duration) -> Self {
        self.with_times(|times| times.last_use = last_use.min(LAST_USE))
    }

    /// Sets how long no token of an unknown key has the set fetched again after one had: a minute if not set; less than a second counts
    /// as a second. What was fetched before is forgotten. Issuers should publish a key that long before it signs.
    #[must_use]
    pub fn with_cool_down(self, cool_down: Duration) -> Self {
        self.with_times(|times| times.cool_down = cool_down.max(SECOND))
    }

    /// The keys as they are known at `now`. Waits for nothing while they are in their lifetime.
    ///
    /// # Errors
    ///
    /// None are known, and none could be fetched just now or a moment ago.
    pub async fn keys(&self, now: SystemTime) -> Result<KeySet, KeysUnavailable> {
        self.known(now).await.map(|(kept, _)| kept.keys)
    }

    /// Verifies a token: `check` is asked with the keys that are known, and where it answers [`JwtError::UnknownKey`] once more with
    /// newer ones, if there are any; so too for [`JwtError::SignatureMismatch`] while a key has no name.
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
    /// The token is refused, or there are no keys.
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

    /// The keys, and whether they are as new as can be had: whether this caller waited for the issuer.
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
            // somebody waits for them already, and these will do meanwhile, unless the others are there
            Some(kept) if is_awaited => match flight.now_or_never() {
                Some(fetched) => fetched,
                None => return Ok((kept.clone(), false)),
            },
            _ => flight.await,
        };
        let kept = fetched.or_else(|fault| known.ok_or(fault))?;
        Ok((kept, true))
    }

    /// The keys that the issuer has published since it was asked for these, which lack one.
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

    /// Begins to fetch. The flight stays in the state until it lands, whoever waits for it, so that nobody keeps the others from new
    /// keys by going away; it holds no set alive itself.
    fn take_off(&self, state: &mut State, now: SystemTime) -> Flight {
        let (inner, transport) = (Arc::downgrade(&self.inner), Arc::clone(&self.inner.transport));
        let (request, times) = (self.inner.request(), self.inner.times);
        state.take_off(now, |turn, given_up| async move {
            // its end is the host's code, which has no business under the lock
            drop(given_up);
            let asked = contained(exchange(&transport, request)).await;
            let fetched = response::read(asked.and_then(|answer| answer)).map(|(keys, max_age)| {
                // who forbids to keep them is asked no more often than a stranger could ask
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

/// Whether newer keys may verify what these refuse for this reason. Without names, the key of before is taken for the one that signed.
fn may_be_of_another_key(fault: JwtError, keys: &KeySet) -> bool {
    match fault {
        JwtError::UnknownKey => true,
        JwtError::SignatureMismatch => keys.iter().any(|key| key.key_id().is_none()),
        _ => false,
    }
}

impl Inner {
    /// Nothing panics while it is held.
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
