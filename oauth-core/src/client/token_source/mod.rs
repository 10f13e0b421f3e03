//! Shared tokens with single-flight refresh.

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

/// Default time before expiry at which an access token is replaced: ten seconds.
const LEEWAY: Duration = Duration::from_secs(10);

/// Age below which a token counts as new: ten seconds.
const NEW: Duration = Duration::from_secs(10);

/// Tokens of one sign-in, or of the client itself, shared by all callers of an API. The refresh is
/// single-flight: one request for all concurrent callers.
///
/// A server with rotation treats the second use of a refresh token as reuse and revokes the token
/// family. Therefore a caller that arrives during a refresh waits for it, and all waiters get its
/// outcome.
///
/// # Contract
///
/// - The refresh is polled by its waiters; there is no background task. If a waiter is dropped, the
///   next caller continues the refresh. If no caller continues it within the transport's timeout,
///   the response is lost; if the server rotates refresh tokens, the user must then sign in again.
///   A host whose handlers can be dropped, for example on a disconnect, must spawn
///   [`token`](Self::token) as a task and await the task.
/// - After a failure with an unknown outcome, the next call retries with the same refresh token.
/// - `invalid_grant` in response to a refresh is final: all later calls fail at once, and the user
///   must sign in again. A source of [`client_credentials`](super::Client::client_credentials)
///   retries instead.
/// - A panic in the transport or the sink counts as a failure.
///
/// It is cheap to clone. Clones share the tokens and the sink; each clone has its own leeway.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// use bytes::Bytes;
/// use http::{Request, Response};
/// use oauth_core::client::{Client, Ports, Provider, TokenSource};
/// use oauth_core::ports::{OsEntropy, SystemClock, transport_fn};
///
/// # let provider = Provider::new(
/// #     "https://as.example".parse()?,
/// #     "https://as.example/authorize".parse()?,
/// #     "https://as.example/token".parse()?,
/// # );
/// # let client = Client::new(provider, "demo-native".parse()?);
/// // the host's HTTP client
/// let transport = transport_fn(async |request: Request<Bytes>| {
///     assert_eq!(request.uri(), "https://as.example/token");
///     let body = br#"{"access_token":"at_2","token_type":"Bearer","refresh_token":"rt_2"}"#;
///     Ok(Response::new(Bytes::from_static(body)))
/// });
/// let ports = Ports::new(transport, OsEntropy, SystemClock);
///
/// // after a restart, with a stored token; after a sign-in, TokenSource::new(tokens, ports)
/// let stored = client.refresh(&"rt_1".parse()?, &"read:charges".parse()?);
/// let source = TokenSource::from_call(stored, ports);
/// let tokens = source.token().await?;
/// assert_eq!(tokens.access_token().expose(), "at_2");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Security
///
/// - Create one source per refresh token, not one per request: two sources would present the same
///   refresh token. A host with several machines routes each user to one machine, or holds a
///   distributed lock during the refresh.
/// - If the server rotates refresh tokens, set a [sink](Self::with_sink). Otherwise the store still
///   has an old, rotated refresh token after a restart; the server treats its use as reuse and
///   revokes the token family.
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
    /// Creates a source with the tokens of a sign-in. The sink does not save these tokens: the host
    /// stores them before it creates the source.
    #[must_use]
    pub fn new(tokens: TokenResponse, ports: Ports) -> Self {
        Self::with_state(State::having(tokens), ports)
    }

    /// Creates a source without tokens. It sends `call` when the first tokens are needed.
    ///
    /// The call is [`Client::refresh`](super::Client::refresh) with a stored refresh token, or
    /// [`Client::client_credentials`](super::Client::client_credentials). The latter is sent again
    /// whenever its token has expired, even if the response had a refresh token.
    #[must_use]
    pub fn from_call(call: Call<TokenResponse>, ports: Ports) -> Self {
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

    /// Sets the sink, which saves new tokens before any caller gets them. It applies to all clones.
    #[must_use]
    pub fn with_sink(self, sink: impl TokenSink + 'static) -> Self {
        drop(locked(&self.state, |state| state.keep_by(Arc::new(sink))));
        self
    }

    /// Sets the leeway: the source replaces an access token this long before its expiry, so that
    /// the token does not expire in transit. Default: ten seconds. A token whose lifetime is
    /// shorter than the leeway is replaced in each call.
    #[must_use]
    pub fn with_leeway(mut self, leeway: Duration) -> Self {
        Arc::make_mut(&mut self.settings).leeway = leeway;
        self
    }

    /// Returns the current tokens, refreshed if they have expired. Tokens without a known expiry
    /// are valid until they are [refused](Self::renew).
    ///
    /// # Errors
    ///
    /// [`RefreshError`] when the tokens have expired and could not be refreshed.
    pub async fn token(&self) -> Result<Arc<TokenResponse>, RefreshError> {
        self.tokens_but(None).await
    }

    /// Returns other tokens after an API refused the access token `refused` with 401. If `refused`
    /// is still the current token, the source refreshes; otherwise it returns the tokens that
    /// replaced it.
    ///
    /// # Errors
    ///
    /// [`RefreshError`] when there are no other tokens.
    pub async fn renew(&self, refused: &AccessToken) -> Result<Arc<TokenResponse>, RefreshError> {
        self.tokens_but(Some(refused)).await
    }

    /// Sends a request to an API with the access token, as [`TokenResponse::call`] does, with the
    /// same limits unless the request has others in its extensions. After a
    /// 401 with `invalid_token`, or without an error code ([RFC 6750
    /// §3](https://www.rfc-editor.org/rfc/rfc6750#section-3)), it renews the token and retries
    /// once. The method returns the response of the retry, even if it is a second 401.
    ///
    /// The method returns the first 401 without a retry if the token cannot be renewed now, or if
    /// this source received the refused token by a refresh less than ten seconds ago. This limits
    /// the refreshes that an API can cause by refusing every token.
    ///
    /// # Errors
    ///
    /// [`ApiError`] when the URL is not `https`, no token is available, the sign-in has ended, or
    /// the API did not respond.
    ///
    /// # Security
    ///
    /// The server in the URL gets the token. Call only the API for which the token was issued.
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

    /// Returns the newest tokens, for revocation at sign-out, even if they have expired or are not
    /// saved yet; `None` if the source has received none.
    #[must_use]
    pub fn current(&self) -> Option<Arc<TokenResponse>> {
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

    /// Returns the future that saves or refreshes the tokens. Its waiters poll it, and it does not
    /// keep the state alive.
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

/// Locks the state. While it is locked nothing panics, and no code of the host runs or is dropped.
fn locked<T>(state: &Mutex<State>, look: impl FnOnce(&mut State) -> T) -> T {
    look(&mut state.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Changes the state, if it still exists.
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
        // kept before anything else can fail, because the old tokens are invalid now
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

    /// Saves the tokens in the sink, if there is one. Returns the time after that.
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
