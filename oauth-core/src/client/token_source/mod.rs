//! Tokens that live, however many ask for them.

mod error;
mod sink;
mod state;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_util::FutureExt as _;
use http::{Request, Response, StatusCode};

pub use self::error::{ApiError, RefreshError};
pub use self::sink::TokenSink;
use self::state::{Errand, Flight, Renewed, State, Step, outlives};
use super::challenge::wants_another_token;
use super::{Call, CallError, Ports, TokenError, TokenResponse};
use crate::exchange::contained;
use crate::ports::StoreError;
use crate::secret::AccessToken;
use crate::time::later;

/// How long before its end an access token is replaced, unless said otherwise.
const LEEWAY: Duration = Duration::from_secs(10);

/// For how long a token is new.
const NEW: Duration = Duration::from_secs(10);

/// The tokens of one sign-in, or of a client itself, for all who call APIs with them: refreshed when they end, and by one request
/// however many ask at once.
///
/// A rotating server takes the second use of a refresh token for a theft, and ends the sign-in. So whoever comes while a refresh is on its
/// way waits for that one, and all have its outcome. Nothing runs in the background: callers who wait drive the asking. A caller
/// who goes away, even the one who began it, leaves what was begun here, and the next takes it over: as long as the transport's deadline
/// allows. After that its answer is lost, and with a rotating server the sign-in: a host whose handlers are dropped spawns
/// [`token`](Self::token) as a task, and waits for that.
///
/// After a failure whose outcome is unknown the next call asks again, with the same refresh token. `invalid_grant` is final: whoever
/// asks from then on is told at once, and the person must sign in again. A transport or a sink that panics has failed.
///
/// Cheap to clone; clones share the tokens and the sink. Each has its own leeway.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// use bytes::Bytes;
/// use http::{Request, Response};
/// use oauth_core::client::{Client, Ports, Provider, TokenSource};
/// use oauth_core::ports::{OsEntropy, SystemClock, transport_fn};
///
/// # let provider = Provider::new("https://as.example".parse()?, "https://as.example/authorize".parse()?, "https://as.example/token".parse()?);
/// # let client = Client::new(provider, "demo-native".parse()?);
/// // the host's HTTP client
/// let transport = transport_fn(async |request: Request<Bytes>| {
///     assert_eq!(request.uri(), "https://as.example/token");
///     let body = br#"{"access_token":"at_2","token_type":"Bearer","expires_in":600,"refresh_token":"rt_2"}"#;
///     Ok(Response::new(Bytes::from_static(body)))
/// });
/// let ports = Ports::new(transport, OsEntropy, SystemClock);
///
/// // after a restart: by what the host has stored; after a sign-in, TokenSource::new(tokens, ports)
/// let stored = client.refresh(&"rt_1".parse()?, &"read:charges".parse()?);
/// let source = TokenSource::asking(stored, ports);
/// let tokens = source.token().await?;
/// assert_eq!(tokens.access_token().expose(), "at_2");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Security
///
/// - Have one source for a refresh token, not one for each request: two know nothing of each other, and spend it twice. A host of several
///   machines keeps a person on one of them, or holds a lock of its own.
/// - Where the server rotates and the process may end, set a [sink](Self::with_sink): a refresh token that was spent here and
///   stored there signs the person out.
#[derive(Clone)]
pub struct TokenSource {
    settings: Arc<Settings>,
    state: Arc<Mutex<State>>,
}

#[derive(Clone)]
struct Settings {
    ports: Ports,
    leeway: Duration,
}

impl TokenSource {
    /// Begins with the tokens of a sign-in, which the host has stored already if it stores them.
    #[must_use]
    pub fn new(tokens: TokenResponse, ports: Ports) -> Self {
        Self::with_state(State::having(tokens), ports)
    }

    /// Begins with nothing: this call brings the first tokens when they are needed.
    ///
    /// It is [`Client::refresh`](super::Client::refresh) with a refresh token that was stored, or
    /// [`Client::client_credentials`](super::Client::client_credentials), which is sent again whenever its token has ended,
    /// also where a refresh token came with it.
    #[must_use]
    pub fn asking(call: Call<TokenResponse>, ports: Ports) -> Self {
        Self::with_state(State::asking(call), ports)
    }

    fn with_state(state: State, ports: Ports) -> Self {
        let settings = Settings {
            ports,
            leeway: LEEWAY,
        };
        Self {
            settings: Arc::new(settings),
            state: Arc::new(Mutex::new(state)),
        }
    }

    /// Has tokens that a server sends from now on kept by `sink` before anybody is given them, whichever clone they are asked from.
    #[must_use]
    pub fn with_sink(self, sink: impl TokenSink + 'static) -> Self {
        drop(locked(&self.state, |state| state.keep_by(Arc::new(sink))));
        self
    }

    /// Sets how long before its end an access token is replaced, so that it is still good when it arrives: ten seconds if not set. A token
    /// that lives no longer than that is replaced each time.
    #[must_use]
    pub fn with_leeway(mut self, leeway: Duration) -> Self {
        Arc::make_mut(&mut self.settings).leeway = leeway;
        self
    }

    /// The present tokens while they live, else fresh ones. Where the server did not say how long that is, they live until they are
    /// [refused](Self::renew).
    ///
    /// # Errors
    ///
    /// They have ended, and there are no others.
    pub async fn token(&self) -> Result<Arc<TokenResponse>, RefreshError> {
        self.tokens_but(None).await
    }

    /// Other tokens than the one that an API answered with 401: fresh ones, if it is still the present one. Whoever comes late with a
    /// token that was replaced meanwhile gets the present one.
    ///
    /// # Errors
    ///
    /// There are no others.
    pub async fn renew(&self, refused: &AccessToken) -> Result<Arc<TokenResponse>, RefreshError> {
        self.tokens_but(Some(refused)).await
    }

    /// Sends a request to an API with the access token, as [`TokenResponse::call`] does, and once more with another after a 401 that says
    /// `invalid_token`, or no reason ([RFC 6750 §3](https://www.rfc-editor.org/rfc/rfc6750#section-3)). What the API answers then is the
    /// host's to read, a second 401 included.
    ///
    /// So is the first one where there is no other token for now, and where the one that was refused came from its server less than ten
    /// seconds ago: an API that refuses everything causes no more refreshes than that.
    ///
    /// # Errors
    ///
    /// The request is for no place that a token may be sent to, there is no token, the sign-in has ended, or there was no answer.
    ///
    /// # Security
    ///
    /// Whoever is asked gets the token: ask nobody but the API that it is for.
    pub async fn call(&self, request: Request<Bytes>) -> Result<Response<Bytes>, ApiError> {
        let ports = &self.settings.ports;
        let tokens = self.token().await?;
        let response = tokens.call(request.clone())?.send(ports).await?;
        let (refused, now) = (tokens.access_token(), ports.now());
        let another_may_do =
            response.status() == StatusCode::UNAUTHORIZED && wants_another_token(response.headers());
        if !another_may_do || locked(&self.state, |state| state.is_new(refused, NEW, now)) {
            return Ok(response);
        }
        match self.renew(refused).await {
            Ok(renewed) => Ok(renewed.call(request)?.send(ports).await?),
            Err(ended @ RefreshError::Ended(_)) => Err(ended.into()),
            Err(_) => Ok(response),
        }
    }

    /// The newest tokens, however old they are, and though they may not be saved yet: for revoking them when the person signs out. None
    /// before the first have come.
    #[must_use]
    pub fn present(&self) -> Option<Arc<TokenResponse>> {
        locked(&self.state, |state| state.tokens())
    }

    async fn tokens_but(&self, refused: Option<&AccessToken>) -> Renewed {
        let instant = later(self.settings.ports.now(), self.settings.leeway);
        let begin = |errand| self.flight(errand);
        let step = locked(&self.state, |state| state.next(refused, instant, begin))?;
        match step {
            Step::Have(tokens) => Ok(tokens),
            Step::Wait(flight) => flight.await,
        }
    }

    /// An errand that whoever waits drives, and that holds no state alive itself.
    fn flight(&self, errand: Errand) -> Flight {
        let (settings, state) = (Arc::clone(&self.settings), Arc::downgrade(&self.state));
        let flight = async move {
            let done = settings.run(errand, &state).await;
            drop(note(&state, State::land));
            done
        };
        flight.boxed().shared()
    }
}

/// Nothing panics while it is held, and no code of the host's runs or is dropped.
fn locked<T>(state: &Mutex<State>, look: impl FnOnce(&mut State) -> T) -> T {
    look(&mut state.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Tells the state, if anybody has it still.
fn note<T>(state: &Weak<Mutex<State>>, change: impl FnOnce(&mut State) -> T) -> Option<T> {
    state.upgrade().map(|state| locked(&state, change))
}

impl Settings {
    async fn run(&self, errand: Errand, state: &Weak<Mutex<State>>) -> Renewed {
        if let Some(tokens) = errand.unsaved {
            let now = self.save(&tokens, state).await?;
            note(state, State::saved);
            if outlives(&tokens, later(now, self.leeway)) {
                return Ok(tokens);
            }
        }
        let call = errand.call.ok_or(RefreshError::NoRefreshToken)?;
        let tokens = match self.send(call).await {
            Ok(tokens) => Arc::new(tokens),
            Err(error) => {
                if let RefreshError::Ended(answer) = &error {
                    note(state, |state| state.end(answer.clone()));
                }
                return Err(error);
            }
        };
        // before anything else can fail: the ones of before are spent
        let now = self.ports.now();
        drop(note(state, |state| state.take(Arc::clone(&tokens), now)));
        self.save(&tokens, state).await?;
        note(state, State::saved);
        Ok(tokens)
    }

    async fn send(&self, call: Call<TokenResponse>) -> Result<TokenResponse, RefreshError> {
        let is_standing = call.is_standing();
        let sending = async { call.send(&self.ports).await };
        let sent = contained(sending)
            .await
            .unwrap_or_else(|panicked| Err(panicked.into()));
        sent.map_err(|error| match error {
            CallError::Response(TokenError::Refused(answer))
                if answer.code() == "invalid_grant" && !is_standing =>
            {
                RefreshError::Ended(answer)
            }
            error => RefreshError::Failed(Arc::new(error)),
        })
    }

    /// Has the tokens saved; when they were.
    async fn save(
        &self,
        tokens: &TokenResponse,
        state: &Weak<Mutex<State>>,
    ) -> Result<SystemTime, RefreshError> {
        let sink = note(state, |state| state.sink()).flatten();
        let saving = async {
            if let Some(sink) = &sink {
                sink.save(tokens).await?;
            }
            Ok(self.ports.now())
        };
        let saved = contained(saving).await;
        let saved = saved.unwrap_or_else(|panicked| Err(StoreError::unavailable(panicked)));
        saved.map_err(|error| RefreshError::Unsaved(Arc::new(error)))
    }
}

impl fmt::Debug for TokenSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenSource")
            .field("leeway", &self.settings.leeway)
            .finish_non_exhaustive()
    }
}
