//! Asking the issuer what a token is worth, [RFC 7662](https://www.rfc-editor.org/rfc/rfc7662).

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

/// How long an answer is believed unless said otherwise.
const LIFETIME: Duration = Duration::from_secs(10);
/// The longest that one may be: a revoked token opens the API for as long.
const MAX_LIFETIME: Duration = Duration::from_secs(300);
/// How many answers are kept unless said otherwise.
const CAPACITY: usize = 10_000;
/// How many questions are under way at most; who comes with yet another token is told to come back.
const MAX_FLIGHTS: usize = 1_024;

/// Why nothing is known of a token.
#[derive(Clone, Debug)]
pub(super) enum AskError {
    /// It is not active, or not meant for this resource server.
    Inactive,
    /// The issuer gave no answer.
    Unavailable(Arc<dyn Error + Send + Sync>),
}

/// The response was no introspection response.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error(
    "the introspection endpoint answered with status {0} and no introspection response of 64 KiB at most"
)]
struct NoIntrospectionResponse(http::StatusCode);

/// So many questions are under way that no other is asked.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("as many questions as may be are under way to the introspection endpoint")]
struct TooManyQuestions;

type Told = Result<Arc<Active>, AskError>;
type Flight = Shared<BoxFuture<'static, Told>>;

/// Asks one issuer what its tokens are worth, and remembers what it said of those that are active.
///
/// Callers that come with one token at once ask once. What is remembered is bounded in number and in time: for ten seconds unless
/// said otherwise, and never beyond the end of the token. Where a revocation is known of earlier, [`forget`](Self::forget) it, and
/// the issuer is asked anew. That a token is not active is not remembered.
///
/// Cheap to clone; clones share what they remember. What is remembered is what the issuer said, and each resource server judges it for
/// itself: a token opens no audience but its own, whoever asked first.
///
/// # Security
///
/// A token passes only where the issuer says `Bearer` or `DPoP` as its `token_type`: RFC 7662 lets it leave that out, but a refresh
/// token is active, too, and would pass for an access token. For an issuer that does leave it out there is
/// [`danger_allow_untyped_tokens`](Self::danger_allow_untyped_tokens).
///
/// A token that was revoked opens the API for as long as its answer is remembered. Answers that are no answers are no permission
/// either: the caller is told to come back. So is who comes while 1024 questions are under way, so that a flood of tokens that
/// nobody knows takes bounded memory.
#[derive(Clone)]
pub struct Introspection {
    inner: Arc<Inner>,
}

struct Inner {
    manner: Manner,
    state: Mutex<State>,
}

/// Whom to ask, how, and what to make of the answers.
#[derive(Clone)]
struct Manner {
    endpoint: Endpoint,
    asker: Asker,
    transport: Arc<dyn Transport>,
    lifetime: Duration,
    capacity: usize,
    takes_untyped: bool,
}

struct State {
    cache: Cache<Active>,
    flights: HashMap<TokenHash, (u64, WeakShared<BoxFuture<'static, Told>>)>,
    /// Counts flights and revocations: an answer that was asked for before a revocation is not kept after it.
    turn: u64,
    forgotten_at: u64,
}

impl Introspection {
    /// Asks at `endpoint`, as the confidential client that speaks for this resource server: with its secret in the header.
    #[must_use]
    pub fn new(
        endpoint: Endpoint,
        client_id: ClientId,
        secret: ClientSecret,
        transport: impl Transport + 'static,
    ) -> Self {
        Self::by(Asker::of_secret(client_id, secret), endpoint, Arc::new(transport))
    }

    /// As [`new`](Self::new), as a client that proves itself in another way: by an assertion for `issuer`, another one for each question;
    /// by a secret in the form; or by the certificate that the transport shows, where its issuer wants to see it
    /// ([`introspection_endpoint_by_certificate`](crate::client::Provider::introspection_endpoint_by_certificate)). No issuer answers a
    /// client that proves nothing. The clock of the ports is not read.
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
        Self::in_manner(Manner {
            endpoint,
            asker,
            transport,
            lifetime: LIFETIME,
            capacity: CAPACITY,
            takes_untyped: false,
        })
    }

    fn in_manner(manner: Manner) -> Self {
        let state = Mutex::new(State {
            cache: Cache::new(manner.capacity),
            flights: HashMap::new(),
            turn: 0,
            forgotten_at: 0,
        });
        Self {
            inner: Arc::new(Inner { manner, state }),
        }
    }

    /// Remembers `capacity` answers at most, for `lifetime` each; more than five minutes count as five minutes, and none is remembered
    /// for no time. What was remembered before is not.
    #[must_use]
    pub fn with_cache(self, lifetime: Duration, capacity: usize) -> Self {
        Self::in_manner(Manner {
            lifetime: lifetime.min(MAX_LIFETIME),
            capacity,
            ..self.inner.manner.clone()
        })
    }

    /// Takes the tokens of an issuer that leaves `token_type` out of its answers, as
    /// [RFC 7662 §2.2](https://www.rfc-editor.org/rfc/rfc7662#section-2.2) lets it. What was remembered before is not.
    ///
    /// # Security
    ///
    /// Nothing in such an answer tells an access token from a refresh token, which is active, too, and lives longer: whoever has one
    /// may call the API with it, unless the issuer calls refresh tokens inactive to resource servers or names no audience for them. Ask
    /// it which of these it does before you turn this on. A type that is there must still be `Bearer` or `DPoP`, and a token with a
    /// `cnf` is still bound to what that says.
    #[must_use]
    pub fn danger_allow_untyped_tokens(self) -> Self {
        Self::in_manner(Manner {
            takes_untyped: true,
            ..self.inner.manner.clone()
        })
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

    /// What an active token grants at a resource server of this policy.
    pub(super) async fn granted(
        &self,
        token: &str,
        policy: &AccessTokenPolicy,
        now: SystemTime,
    ) -> Result<Arc<Granted>, AskError> {
        let hash = TokenHash::of(token);
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
        // a resource server of another policy may have asked for it
        if active.is_for(policy, now) {
            Ok(Arc::clone(active.granted()))
        } else {
            Err(AskError::Inactive)
        }
    }

    /// The question that is under way, or a new one.
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
            None if state.flights.len() >= MAX_FLIGHTS => Err(unavailable(TooManyQuestions)),
            None => Ok(self.take_off(state, (token, hash), policy, now)),
        }
    }

    /// Begins to ask. Whoever waits for the answer drives the asking; it ends when nobody does.
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
            let told = question.inner.ask(&token, now).await;
            // what opens nothing where it was asked for is asked about anew
            let useful = told.as_ref().ok().filter(|active| active.is_for(&policy, now));
            if let Some(active) = useful {
                question.keep(active, now);
            }
            told
        };
        let flight = asking.boxed().shared();
        if let Some(weak) = flight.downgrade() {
            state.flights.insert(hash, (turn, weak));
        }
        flight
    }
}

impl Inner {
    /// Nothing panics while it is held.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn ask(&self, token: &str, now: SystemTime) -> Told {
        let Manner {
            endpoint,
            asker,
            transport,
            takes_untyped,
            ..
        } = &self.manner;
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

/// What one flight asks. Its end, by an answer or because nobody waits for it any more, takes it off the list; so it must not be
/// dropped while the state is held.
struct Question {
    inner: Arc<Inner>,
    turn: u64,
    hash: TokenHash,
}

impl Question {
    /// Keeps what it brought unless something was revoked meanwhile, and not beyond the end of the token.
    fn keep(&self, active: &Arc<Active>, asked_at: SystemTime) {
        let until = later(asked_at, self.inner.manner.lifetime).min(active.expires_at());
        let mut state = self.inner.state();
        if state.forgotten_at < self.turn {
            state.cache.insert(self.hash, Arc::clone(active), asked_at, until);
        }
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        let mut state = self.inner.state();
        // the token may have been forgotten, and asked about anew
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
            .field("endpoint", &self.inner.manner.endpoint)
            .finish_non_exhaustive()
    }
}
