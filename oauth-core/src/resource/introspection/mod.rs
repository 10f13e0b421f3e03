//! Asking the issuer what a token is worth, [RFC 7662](https://www.rfc-editor.org/rfc/rfc7662).

mod answer;
mod cache;

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared, WeakShared};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Method, Request};

use self::cache::Cache;
use crate::basic::BasicCredentials;
use crate::client::Endpoint;
use crate::jose::{AccessTokenClaims, AccessTokenPolicy};
use crate::params;
use crate::ports::Transport;
use crate::secret::{ClientSecret, TokenHash};
use crate::vocabulary::ClientId;

/// How long an answer is believed unless said otherwise.
const LIFETIME: Duration = Duration::from_secs(10);
/// The longest that one may be: a revoked token opens the API for as long.
const MAX_LIFETIME: Duration = Duration::from_secs(300);
/// How many answers are kept unless said otherwise.
const CAPACITY: usize = 10_000;

/// Why nothing is known of a token.
#[derive(Clone, Debug)]
pub(super) enum AskError {
    /// It is not active, or not meant for this resource server.
    Inactive,
    /// The issuer gave no answer.
    Unavailable(Arc<dyn Error + Send + Sync>),
}

/// The answer was none that says what a token is worth.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the introspection endpoint answered with status {0} and no introspection response")]
struct NoAnswer(http::StatusCode);

type Told = Result<Arc<AccessTokenClaims>, AskError>;
type Flight = Shared<BoxFuture<'static, Told>>;

/// Asks one issuer what its tokens are worth, and remembers what it said of those that are active.
///
/// Callers that come with one token at once ask once. What is remembered is bounded in number and in time: for ten seconds unless
/// said otherwise, and never beyond the end of the token. Where a revocation is known of earlier, [`forget`](Self::forget) it, and
/// the issuer is asked anew. That a token is not active is not remembered.
///
/// Cheap to clone; clones share what they remember.
///
/// # Security
///
/// A token that was revoked opens the API for as long as its answer is remembered. Answers that are no answers are no permission
/// either: the caller is told to come back.
#[derive(Clone)]
pub struct Introspection {
    inner: Arc<Inner>,
}

struct Inner {
    endpoint: Endpoint,
    authorization: HeaderValue,
    transport: Arc<dyn Transport>,
    lifetime: Duration,
    state: Mutex<State>,
}

struct State {
    cache: Cache,
    flights: HashMap<TokenHash, (u64, WeakShared<BoxFuture<'static, Told>>)>,
    /// Counts flights and revocations: an answer that was asked for before a revocation is not kept after it.
    turn: u64,
    forgotten_at: u64,
}

impl Introspection {
    /// Asks at `endpoint`, as the confidential client that speaks for this resource server.
    #[must_use]
    pub fn new(
        endpoint: Endpoint,
        client_id: ClientId,
        secret: ClientSecret,
        transport: Arc<dyn Transport>,
    ) -> Self {
        let credentials = BasicCredentials { client_id, secret };
        Self::with(endpoint, credentials.to_header(), transport, LIFETIME, CAPACITY)
    }

    fn with(
        endpoint: Endpoint,
        authorization: HeaderValue,
        transport: Arc<dyn Transport>,
        lifetime: Duration,
        capacity: usize,
    ) -> Self {
        let state = State {
            cache: Cache::new(capacity),
            flights: HashMap::new(),
            turn: 0,
            forgotten_at: 0,
        };
        Self {
            inner: Arc::new(Inner {
                endpoint,
                authorization,
                transport,
                lifetime,
                state: Mutex::new(state),
            }),
        }
    }

    /// Remembers `capacity` answers at most, for `lifetime` each; more than five minutes count as five minutes, and none is remembered
    /// for no time. What was remembered before is not.
    #[must_use]
    pub fn with_cache(self, lifetime: Duration, capacity: usize) -> Self {
        Self::with(
            self.inner.endpoint.clone(),
            self.inner.authorization.clone(),
            Arc::clone(&self.inner.transport),
            lifetime.min(MAX_LIFETIME),
            capacity,
        )
    }

    /// Forgets what was said of a token, because it was revoked: who presents it from now on is asked about anew, also if an answer
    /// is under way. The hash is that of the token as it is sent, as events of a server of this crate have it.
    pub fn forget(&self, token: &TokenHash) {
        let mut state = self.inner.state();
        state.cache.remove(token);
        state.flights.remove(token);
        state.forgotten_at = state.next_turn();
    }

    /// Forgets everything: a whole family was revoked, for instance, and nobody knows its tokens.
    pub fn forget_all(&self) {
        let mut state = self.inner.state();
        state.cache.clear();
        state.flights.clear();
        state.forgotten_at = state.next_turn();
    }

    /// What an active token says.
    pub(super) async fn claims(
        &self,
        token: &str,
        policy: &AccessTokenPolicy,
        now: SystemTime,
    ) -> Result<AccessTokenClaims, AskError> {
        let hash = TokenHash::of(token);
        let flight = {
            let mut state = self.inner.state();
            if let Some(claims) = state.cache.get(&hash, now) {
                return Ok(claims.as_ref().clone());
            }
            let under_way = state.flights.get(&hash).and_then(|(_, flight)| flight.upgrade());
            match under_way {
                Some(flight) => flight,
                None => self.take_off(&mut state, token, policy, now),
            }
        };
        flight.await.map(|claims| claims.as_ref().clone())
    }

    /// Begins to ask. Whoever waits for the answer drives the asking; it ends when nobody does.
    fn take_off(
        &self,
        state: &mut State,
        token: &str,
        policy: &AccessTokenPolicy,
        now: SystemTime,
    ) -> Flight {
        let hash = TokenHash::of(token);
        // those that nobody waits for any more
        state.flights.retain(|_, (_, flight)| flight.upgrade().is_some());
        let turn = state.next_turn();
        let (inner, policy, request) = (Arc::clone(&self.inner), policy.clone(), self.request(token));
        let asking = async move {
            let told = inner.ask(request, &policy, now).await;
            inner.land(turn, hash, told.as_ref().ok(), now);
            told
        };
        let flight = asking.boxed().shared();
        if let Some(weak) = flight.downgrade() {
            state.flights.insert(hash, (turn, weak));
        }
        flight
    }

    fn request(&self, token: &str) -> Request<Bytes> {
        let pairs = [("token", token), ("token_type_hint", "access_token")];
        let mut request = Request::new(Bytes::from(params::encode(pairs)));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.inner.endpoint.uri().clone();
        let headers = request.headers_mut();
        let form = HeaderValue::from_static("application/x-www-form-urlencoded");
        headers.insert(CONTENT_TYPE, form);
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(AUTHORIZATION, self.inner.authorization.clone());
        request
    }
}

impl Inner {
    /// Nothing panics while it is held.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn ask(&self, request: Request<Bytes>, policy: &AccessTokenPolicy, now: SystemTime) -> Told {
        let response = self.transport.send(request).await;
        let response = response.map_err(|error| AskError::Unavailable(Arc::new(error)))?;
        match answer::read(&response, policy, now) {
            Some(claims) => claims.map(Arc::new).ok_or(AskError::Inactive),
            None => Err(AskError::Unavailable(Arc::new(NoAnswer(response.status())))),
        }
    }

    /// Ends a flight, and keeps what it brought unless something was revoked meanwhile.
    fn land(
        &self,
        turn: u64,
        hash: TokenHash,
        claims: Option<&Arc<AccessTokenClaims>>,
        asked_at: SystemTime,
    ) {
        let mut state = self.state();
        if state.flights.get(&hash).is_some_and(|(own, _)| *own == turn) {
            state.flights.remove(&hash);
        }
        if let Some(claims) = claims.filter(|_| state.forgotten_at < turn) {
            state
                .cache
                .insert(hash, Arc::clone(claims), asked_at, self.lifetime);
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
            .field("endpoint", &self.inner.endpoint)
            .finish_non_exhaustive()
    }
}
