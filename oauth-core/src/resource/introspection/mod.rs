//! Introspection client with cache, [RFC 7662](https://www.rfc-editor.org/rfc/rfc7662).

mod asker;
mod response;

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared, WeakShared};
use zeroize::Zeroizing;

use self::asker::Asker;
use self::response::Active;
use super::authenticated_token::Granted;
use super::cache::Cache;
use crate::client::{ClientCredentials, Ports};
use crate::exchange::{contained, exchange};
use crate::jose::AccessTokenPolicy;
use crate::ports::Transport;
use crate::secret::{ClientSecret, TokenHash};
use crate::time::later;
use crate::vocabulary::{ClientId, Endpoint, Issuer};

/// Default lifetime of a cached response: ten seconds.
const LIFETIME: Duration = Duration::from_secs(10);
/// Maximum lifetime of a cached response: five minutes. A revoked token is accepted until then.
const MAX_LIFETIME: Duration = Duration::from_secs(300);
/// Default number of cached responses.
const CAPACITY: usize = 10_000;
/// Maximum number of concurrent introspection requests. Further requests fail with 503.
const MAX_FLIGHTS: usize = 1_024;

/// Failure of an introspection.
#[derive(Clone, Debug)]
pub(super) enum AskError {
    /// The token is inactive, or not for this resource server.
    Inactive,
    /// The request could not be signed or sent, too many requests are in progress, or the issuer
    /// did not send a valid response.
    Unavailable(Arc<dyn Error + Send + Sync>),
}

/// Error for a response that is not an introspection response.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the introspection endpoint responded with status {0} and without a valid response of up to 64 KiB")]
struct NoIntrospectionResponse(http::StatusCode);

/// Error for reaching the limit of concurrent introspection requests.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("too many concurrent introspection requests: the limit is 1024")]
struct TooManyRequests;

type IntrospectionResult = Result<Arc<Active>, AskError>;
type Flight = Shared<BoxFuture<'static, IntrospectionResult>>;

/// Introspection client for the opaque tokens of one issuer ([RFC
/// 7662](https://www.rfc-editor.org/rfc/rfc7662)), with a cache.
///
/// - Requests are single-flight: concurrent callers with the same token share one request.
/// - Responses for active tokens are cached for ten seconds by default, and never beyond the expiry
///   of the token. Responses for inactive tokens are not cached.
/// - The cache has at most 10,000 responses by default.
/// - [`forget`](Self::forget) removes a token that the host knows to be revoked.
/// - At most 1,024 introspection requests are in progress at a time, so that a flood of unknown
///   tokens takes bounded memory. Beyond the limit, API requests with other tokens get 503.
///
/// Cheap to clone; clones share the cache. Several resource servers can share one client: the cache
/// keeps the issuer's responses, and each resource server checks its own audience.
///
/// # Security
///
/// - A token is accepted only if `token_type` of the response is `Bearer` or `DPoP`. RFC 7662 makes
///   this member optional, but without it an active refresh token would be accepted as an access
///   token. For issuers that omit `token_type`, see
///   [`danger_allow_untyped_tokens`](Self::danger_allow_untyped_tokens).
/// - A revoked token is accepted while its response is cached.
/// - A malformed response is a failure (503). The token is not accepted.
#[derive(Clone)]
pub struct Introspection {
    inner: Arc<Inner>,
}

struct Inner {
    settings: Settings,
    state: Mutex<State>,
}

/// Settings of the requests and the cache.
#[derive(Clone)]
struct Settings {
    endpoint: Endpoint,
    asker: Asker,
    transport: Arc<dyn Transport>,
    lifetime: Duration,
    capacity: usize,
    takes_untyped: bool,
}

struct State {
    cache: Cache<Active>,
    /// Number and future of the request in progress for each token.
    flights: HashMap<TokenHash, (u64, WeakShared<BoxFuture<'static, IntrospectionResult>>)>,
    /// Number of the last request or revocation. Both are numbered in one sequence, because the
    /// response to a request that started before a revocation must not be cached.
    turn: u64,
    /// Number of the last revocation.
    forgotten_at: u64,
}

impl Introspection {
    /// Creates a client of the introspection endpoint that authenticates by `client_secret_basic`.
    #[must_use]
    pub fn new(
        endpoint: Endpoint,
        client_id: ClientId,
        secret: ClientSecret,
        transport: impl Transport + 'static,
    ) -> Self {
        Self::by(Asker::of_secret(client_id, secret), endpoint, Arc::new(transport))
    }

    /// Creates a client of the introspection endpoint that authenticates by any
    /// [`ClientCredentials`].
    ///
    /// - With a private key, each request contains a new assertion whose audience is `issuer`.
    /// - With a certificate, `endpoint` must be the issuer's [mTLS
    ///   alias](crate::client::Provider::introspection_endpoint_by_certificate).
    /// - Issuers refuse [`ClientCredentials::None`].
    /// - The clock of `ports` is not used.
    #[must_use]
    pub fn of_client(
        endpoint: Endpoint,
        client_id: ClientId,
        credentials: ClientCredentials,
        issuer: Issuer,
        ports: &Ports,
    ) -> Self {
        let asker = Asker::Client {
            id: client_id,
            credentials,
            issuer,
            entropy: ports.shared_entropy(),
        };
        Self::by(asker, endpoint, Arc::clone(ports.transport()))
    }

    fn by(asker: Asker, endpoint: Endpoint, transport: Arc<dyn Transport>) -> Self {
        Self::with_settings(Settings {
            endpoint,
            asker,
            transport,
            lifetime: LIFETIME,
            capacity: CAPACITY,
            takes_untyped: false,
        })
    }

    fn with_settings(settings: Settings) -> Self {
        let state = Mutex::new(State {
            cache: Cache::new(settings.capacity),
            flights: HashMap::new(),
            turn: 0,
            forgotten_at: 0,
        });
        Self {
            inner: Arc::new(Inner { settings, state }),
        }
    }

    /// Sets the lifetime of cached responses and their maximum number. Default: ten seconds and
    /// 10,000 responses. A longer lifetime is reduced to five minutes. A lifetime of zero, or a
    /// capacity below 2, disables the cache. The cache starts empty.
    #[must_use]
    pub fn with_cache(self, lifetime: Duration, capacity: usize) -> Self {
        Self::with_settings(Settings {
            lifetime: lifetime.min(MAX_LIFETIME),
            capacity,
            ..self.inner.settings.clone()
        })
    }

    /// Accepts responses without `token_type`, which [RFC 7662
    /// §2.2](https://www.rfc-editor.org/rfc/rfc7662#section-2.2) allows. The cache starts empty.
    ///
    /// # Security
    ///
    /// Without a type, an active refresh token looks like an access token, so a client could call
    /// the API with a refresh token, which lives longer. Enable this only if the issuer reports
    /// refresh tokens to resource servers as inactive or without an audience. A `token_type` that
    /// is present must still be `Bearer` or `DPoP`, and a token with `cnf` is still bound.
    #[must_use]
    pub fn danger_allow_untyped_tokens(self) -> Self {
        Self::with_settings(Settings {
            takes_untyped: true,
            ..self.inner.settings.clone()
        })
    }

    /// Removes a revoked token from the cache. The next API request with this token causes a new
    /// introspection request, even while an older one is in progress. `token` is the hash of the
    /// whole token; the events of this crate's authorization server contain it.
    pub fn forget(&self, token: &TokenHash) {
        let mut state = self.inner.state();
        state.cache.remove(token);
        state.flights.remove(token);
        state.forgotten_at = state.next_turn();
    }

    /// Clears the cache, for example after the revocation of a token family whose access tokens are
    /// unknown to the host. Responses to requests in progress are not cached.
    pub fn forget_all(&self) {
        let mut state = self.inner.state();
        state.cache.clear();
        state.flights.clear();
        state.forgotten_at = state.next_turn();
    }

    /// Returns the content of `token` if the token is active and valid under `policy`.
    pub(super) async fn granted(
        &self,
        token: &str,
        policy: &AccessTokenPolicy,
        now: SystemTime,
    ) -> Result<Arc<Granted>, AskError> {
        let hash = TokenHash::new(token);
        let known = {
            let mut state = self.inner.state();
            match state.cache.get(&hash, now) {
                Some(active) => Ok(active),
                None => Err(self.flight(&mut state, (token, hash), policy, now)?),
            }
        };
        let active = match known {
            Ok(active) => active,
            Err(flight) => flight.await?,
        };
        // a resource server with another policy may have sent the request
        if active.is_for(policy, now) {
            Ok(Arc::clone(active.granted()))
        } else {
            Err(AskError::Inactive)
        }
    }

    /// Returns the request in progress for this token, or starts one.
    fn flight(
        &self,
        state: &mut State,
        (token, hash): (&str, TokenHash),
        policy: &AccessTokenPolicy,
        now: SystemTime,
    ) -> Result<Flight, AskError> {
        let under_way = state.flights.get(&hash).and_then(|(_, flight)| flight.upgrade());
        match under_way {
            Some(flight) => Ok(flight),
            None if state.flights.len() >= MAX_FLIGHTS => Err(unavailable(TooManyRequests)),
            None => Ok(self.take_off(state, (token, hash), policy, now)),
        }
    }

    /// Starts a request, which is polled by the waiting callers. If all of them are dropped, the
    /// request is cancelled.
    fn take_off(
        &self,
        state: &mut State,
        (token, hash): (&str, TokenHash),
        policy: &AccessTokenPolicy,
        now: SystemTime,
    ) -> Flight {
        let turn = state.next_turn();
        let question = Question {
            inner: Arc::clone(&self.inner),
            turn,
            hash,
        };
        let (policy, token) = (policy.clone(), Zeroizing::new(token.to_owned()));
        let asking = async move {
            let result = question.inner.ask(&token, now).await;
            // a response that `policy` refuses is not cached
            let useful = result.as_ref().ok().filter(|active| active.is_for(&policy, now));
            if let Some(active) = useful {
                question.keep(active, now);
            }
            result
        };
        let flight = asking.boxed().shared();
        if let Some(weak) = flight.downgrade() {
            state.flights.insert(hash, (turn, weak));
        }
        flight
    }
}

impl Inner {
    /// Locks the state. Poisoning is ignored, because no code panics while it holds the lock.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn ask(&self, token: &str, now: SystemTime) -> IntrospectionResult {
        let Settings {
            endpoint,
            asker,
            transport,
            takes_untyped,
            ..
        } = &self.settings;
        let asking = async {
            let request = asker.request(endpoint, token, now).map_err(unavailable)?;
            exchange(&*transport, request).await.map_err(unavailable)
        };
        let response = contained(asking).await.map_err(unavailable)??;
        match response::read(&response, *takes_untyped) {
            Some(active) => active.map(Arc::new).ok_or(AskError::Inactive),
            None => Err(unavailable(NoIntrospectionResponse(response.status()))),
        }
    }
}

fn unavailable(fault: impl Error + Send + Sync + 'static) -> AskError {
    AskError::Unavailable(Arc::new(fault))
}

/// Guard of one introspection request. It is dropped when the request ends or is cancelled. Its
/// `drop` locks the state and removes the request from `flights`, so it must not be dropped while
/// the state is locked.
struct Question {
    inner: Arc<Inner>,
    turn: u64,
    hash: TokenHash,
}

impl Question {
    /// Caches the response, at most until the token expires. After a revocation since the start of
    /// the request it does nothing.
    fn keep(&self, active: &Arc<Active>, asked_at: SystemTime) {
        let until = later(asked_at, self.inner.settings.lifetime).min(active.expires_at());
        let mut state = self.inner.state();
        if state.forgotten_at < self.turn {
            state.cache.insert(self.hash, Arc::clone(active), asked_at, until);
        }
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        let mut state = self.inner.state();
        // after `forget`, a newer request for this token may have replaced this one
        if state
            .flights
            .get(&self.hash)
            .is_some_and(|(own, _)| *own == self.turn)
        {
            state.flights.remove(&self.hash);
        }
    }
}

impl State {
    const fn next_turn(&mut self) -> u64 {
        self.turn = self.turn.wrapping_add(1);
        self.turn
    }
}

impl fmt::Debug for Introspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Introspection")
            .field("endpoint", &self.inner.settings.endpoint)
            .finish_non_exhaustive()
    }
}
