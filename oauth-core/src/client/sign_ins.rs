//! Sign-ins of browsers: pending requests, bound to the browser by a cookie.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, LOCATION, SET_COOKIE};
use http::{HeaderMap, HeaderValue, Response, StatusCode, Uri};

use super::authorization::MAX_AGE;
use super::{
    AuthorizationParams, CallError, CallbackError, Client, PendingAuthorization, Ports, ResponseError,
    TokenError, TokenResponse,
};
use crate::jose::{IdTokenClaims, RemoteKeySet, VerifyError};
use crate::params::Params;
use crate::ports::StoreError;
use crate::secret::TokenHash;
use crate::session::{Session, SessionCookie, SessionSecret, Sessions};
use crate::time::later;
use crate::vocabulary::{OPENID, RedirectUri, State};

/// Default limit of pending sign-ins.
const CAPACITY: usize = 10_000;
/// Name of the cookie, without its prefix.
const COOKIE: &str = "sign-in";

/// Sign-in of a web application's users at one provider: the routes that start it, finish it and
/// sign the user out.
///
/// [`start`](Self::start) redirects the browser to the provider, and [`sign_in`](Self::sign_in)
/// handles its return: it starts a session of the application. In between the pending request is
/// kept in this process, bound to the browser by a cookie. A host with accounts of its own calls
/// [`finish`](Self::finish) instead, looks up its account, and starts the session itself.
///
/// Cheap to clone; clones share the pending requests. An application on several machines keeps a
/// browser on one of them, or stores the requests itself
/// ([`PendingAuthorization::into_text`]).
///
/// ```no_run
/// # async fn example(
/// #     client: oauth_core::Client,
/// #     ports: oauth_core::client::Ports,
/// #     sessions: oauth_core::Sessions,
/// #     headers: http::HeaderMap,
/// #     uri: http::Uri,
/// #     form: &[u8],
/// # ) -> Result<(), Box<dyn std::error::Error>> {
/// use oauth_core::client::{AuthorizationParams, SignIns};
///
/// let redirect_uri = "https://app.example/callback".parse()?;
/// let params = AuthorizationParams::new(redirect_uri, "openid email".parse()?);
/// let sign_ins = SignIns::new(client, params, sessions, ports)?;
///
/// // GET /login
/// let response = sign_ins.start(&headers).await?;
/// // GET /callback
/// let response = sign_ins.sign_in(&headers, &uri, "/").await?;
/// // all other pages
/// let session = sign_ins.session(&headers).await?;
/// // POST /sign-out
/// let response = sign_ins.sign_out(&headers, form, "/").await?;
/// # Ok(())
/// # }
/// ```
///
/// # Security
///
/// - A response is accepted once, from the browser that started the sign-in, within ten minutes.
///   The cookie is `HttpOnly`, `SameSite=Lax` and, unless the redirect URI is plain `http`,
///   `Secure` with the prefix `__Host-`.
/// - At most 10,000 sign-ins are pending ([`with_capacity`](Self::with_capacity)); above this limit
///   a new one is refused. A host on the internet limits `start` by address, because any client can
///   fill the capacity.
#[derive(Clone)]
pub struct SignIns {
    inner: Arc<Inner>,
    capacity: usize,
}

struct Inner {
    client: Client,
    params: AuthorizationParams,
    sessions: Sessions,
    ports: Ports,
    keys: RemoteKeySet,
    cookie: SessionCookie,
    pending: Mutex<HashMap<State, Begun>>,
}

/// A pending request, and the browser that started it.
struct Begun {
    browser: TokenHash,
    until: SystemTime,
    pending: PendingAuthorization,
}

/// Error for a provider without ID tokens: its metadata have no `jwks_uri`, or the requested scopes
/// lack `openid`.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("a sign-in needs the scope `openid`, and a provider with a `jwks_uri`")]
#[non_exhaustive]
pub struct NoIdTokens;

/// A user whom the provider has authenticated.
#[derive(Debug)]
#[non_exhaustive]
pub struct SignedInUser {
    /// Verified claims of the ID token. The pair of issuer and subject identifies the user; an
    /// email address does not.
    pub identity: IdTokenClaims,
    /// Tokens for API calls in the name of the user.
    pub tokens: TokenResponse,
}

/// Failure of a sign-in. The user can start again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SignInError {
    /// Too many sign-ins are pending.
    #[error("too many sign-ins are pending")]
    TooMany,
    /// The provider refused the pushed authorization request, or was not reached.
    #[error("the sign-in could not be started at the provider")]
    Start(#[source] CallError<ResponseError>),
    /// The browser did not start this sign-in, started it too long ago, or has already finished it.
    #[error("the sign-in began in another browser or too long ago")]
    Unknown,
    /// The authorization response is a refusal, or does not match the request.
    #[error("the provider did not sign the user in")]
    Callback(#[source] CallbackError),
    /// The code was not redeemed.
    #[error("the code was not redeemed")]
    Tokens(#[source] CallError<TokenError>),
    /// The ID token is invalid, or the keys of the provider were not fetched.
    #[error("the id token was not verified")]
    Identity(#[source] VerifyError),
    /// The provider sent no ID token.
    #[error("the provider sent no id token")]
    NoIdToken,
    /// The form was not made for this browser: its CSRF token is missing or wrong.
    #[error("the form was not made for this browser")]
    ForeignForm,
    /// The session could not be read or stored.
    #[error("the session could not be read or stored")]
    Store(#[from] StoreError),
}

impl SignInError {
    /// Returns the status of the response to the browser.
    #[must_use]
    pub const fn status(&self) -> StatusCode {
        match self {
            Self::Unknown | Self::Callback(_) => StatusCode::BAD_REQUEST,
            Self::ForeignForm => StatusCode::FORBIDDEN,
            Self::TooMany | Self::Store(_) => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::BAD_GATEWAY,
        }
    }

    /// Builds a response for the browser, as plain text without the causes: 400 or 403 if the
    /// request is at fault, 502 if the provider is, and 503 if the application is. The log needs
    /// the [causes](crate::error::diagnosis).
    #[must_use]
    pub fn into_response(self) -> Response<Bytes> {
        let text = format!("Signing in or out failed: {self}. Go back and try again.\n");
        let mut response = Response::new(text.into());
        *response.status_mut() = self.status();
        let headers = response.headers_mut();
        let plain = HeaderValue::from_static("text/plain; charset=utf-8");
        headers.insert(CONTENT_TYPE, plain);
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }
}

impl SignIns {
    /// Creates the sign-ins of `client`. The scopes of `params` must contain `openid`. `sessions`
    /// are those of the application, with their own cookie.
    ///
    /// # Errors
    ///
    /// [`NoIdTokens`] when `openid` is not requested, or the provider has no known JWKS.
    pub fn new(
        client: Client,
        params: AuthorizationParams,
        sessions: Sessions,
        ports: Ports,
    ) -> Result<Self, NoIdTokens> {
        let keys = client.provider().keys(Arc::clone(ports.transport()));
        let keys = keys
            .filter(|_| params.scopes.contains_str(OPENID))
            .ok_or(NoIdTokens)?;
        let cookie = SessionCookie::new(COOKIE).map_err(|_| NoIdTokens)?;
        let inner = Inner {
            cookie: match params.redirect_uri.as_str().starts_with("http:") {
                // browsers do not store a cookie with `Secure` from a plain page
                true => cookie.danger_over_plain_http(),
                false => cookie,
            },
            client,
            params,
            sessions,
            ports,
            keys,
            pending: Mutex::default(),
        };
        Ok(Self {
            inner: Arc::new(inner),
            capacity: CAPACITY,
        })
    }

    /// Sets the limit of pending sign-ins. Default: 10,000, which take about ten megabytes.
    #[must_use]
    pub fn with_capacity(mut self, capacity: usize) -> Self {
        self.capacity = capacity;
        self
    }

    /// Starts a sign-in, with a pushed request if the provider supports it: a redirect to the
    /// provider that sets the cookie. `headers` are those of the browser's request.
    ///
    /// # Errors
    ///
    /// - [`SignInError::TooMany`]
    /// - [`SignInError::Start`]
    pub async fn start(&self, headers: &HeaderMap) -> Result<Response<Bytes>, SignInError> {
        let Inner {
            client,
            params,
            ports,
            cookie,
            ..
        } = &*self.inner;
        // before a request to the provider
        if !self.has_room(ports.now()) {
            return Err(SignInError::TooMany);
        }
        let (url, pending) = client.sign_in(params, ports).await.map_err(SignInError::Start)?;
        // one secret for all tabs, so that a second sign-in does not end the first
        let secret = cookie.read(headers);
        let secret = secret.unwrap_or_else(|| SessionSecret::generate(ports.entropy()));
        let begun = Begun {
            browser: secret.hash(),
            until: later(ports.now(), MAX_AGE),
            pending,
        };
        let mut pending = self.inner.lock();
        // others may have begun during the request to the provider
        if pending.len() >= self.capacity {
            return Err(SignInError::TooMany);
        }
        pending.insert(begun.pending.state().clone(), begun);
        drop(pending);
        Ok(see_other(&url, cookie.set(&secret, MAX_AGE)))
    }

    /// [Finishes](Self::finish) the sign-in, starts a session of this application for the subject
    /// of the provider, and redirects the browser to `to`, a path of the application such as `/`.
    /// A previous session of the browser ends.
    ///
    /// # Errors
    ///
    /// Those of [`finish`](Self::finish), and [`SignInError::Store`].
    ///
    /// # Security
    ///
    /// - The session has the subject of the provider, without its issuer. `SignIns` of two
    ///   providers must not share sessions: a user of one provider could get the session of a user
    ///   of the other. A host with several providers calls [`finish`](Self::finish).
    /// - `to` must not come from the request, because the browser follows it to any site.
    pub async fn sign_in(
        &self,
        headers: &HeaderMap,
        uri: &Uri,
        to: &str,
    ) -> Result<Response<Bytes>, SignInError> {
        let user = self.finish(headers, uri).await?;
        let sessions = &self.inner.sessions;
        let session = sessions.sign_in(headers, &user.identity.subject, None).await?;
        Ok(see_other(to, session.set_cookie))
    }

    /// Returns the session of the browser; `None` if no user is signed in.
    ///
    /// # Errors
    ///
    /// [`SignInError::Store`]
    pub async fn session(&self, headers: &HeaderMap) -> Result<Option<Session>, SignInError> {
        Ok(self.inner.sessions.authenticate(headers).await?.ok())
    }

    /// Ends the session of the browser, and redirects it to `to`. `form` is the body of the
    /// request, with the [CSRF field](crate::session::SessionSecret::csrf_field) of the session.
    /// The user stays signed in at the provider.
    ///
    /// # Errors
    ///
    /// - [`SignInError::ForeignForm`]
    /// - [`SignInError::Store`]
    pub async fn sign_out(
        &self,
        headers: &HeaderMap,
        form: &[u8],
        to: &str,
    ) -> Result<Response<Bytes>, SignInError> {
        let sessions = &self.inner.sessions;
        if !sessions.cookie().accepts_form(headers, form) {
            return Err(SignInError::ForeignForm);
        }
        Ok(see_other(to, sessions.sign_out(headers).await?))
    }

    /// Returns the URI to which the provider sends the browser; an adapter routes its path.
    #[must_use]
    pub fn redirect_uri(&self) -> &RedirectUri {
        &self.inner.params.redirect_uri
    }

    /// Returns the sessions of the application.
    #[must_use]
    pub fn sessions(&self) -> &Sessions {
        &self.inner.sessions
    }

    /// Finishes the sign-in of this browser: checks the authorization response, redeems the code
    /// and verifies the ID token. `headers` and `uri` are those of the browser's request to the
    /// redirect URI.
    ///
    /// # Errors
    ///
    /// - [`SignInError::Unknown`]. If another browser started the sign-in, it stays pending.
    /// - [`SignInError::Callback`], [`SignInError::Tokens`], [`SignInError::Identity`] and
    ///   [`SignInError::NoIdToken`]
    pub async fn finish(&self, headers: &HeaderMap, uri: &Uri) -> Result<SignedInUser, SignInError> {
        let (ports, query) = (&self.inner.ports, uri.query().unwrap_or_default());
        let pending = self.inner.take(headers, query).ok_or(SignInError::Unknown)?;
        let call = pending
            .finish(query, ports.now())
            .map_err(SignInError::Callback)?;
        let tokens = call.send(ports).await.map_err(SignInError::Tokens)?;
        let identity = tokens.identity_with(&self.inner.keys, ports.now()).await;
        match identity.map_err(SignInError::Identity)? {
            Some(identity) => Ok(SignedInUser { identity, tokens }),
            None => Err(SignInError::NoIdToken),
        }
    }

    /// Returns `true` if another sign-in can begin.
    fn has_room(&self, now: SystemTime) -> bool {
        let mut pending = self.inner.lock();
        if pending.len() >= self.capacity {
            pending.retain(|_, begun| now < begun.until);
        }
        pending.len() < self.capacity
    }
}

impl Inner {
    /// Takes the request that this response answers, if this browser started it.
    fn take(&self, headers: &HeaderMap, query: &str) -> Option<PendingAuthorization> {
        let params = Params::parse(query.as_bytes()).ok()?;
        let state: State = params.optional("state")?.parse().ok()?;
        let browser = self.cookie.read(headers)?.hash();
        let mut pending = self.lock();
        // a link that another browser opens must not end the sign-in
        pending.get(&state).filter(|begun| begun.browser == browser)?;
        pending.remove(&state).map(|begun| begun.pending)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<State, Begun>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Redirects the browser, and sets a cookie.
fn see_other(to: &str, cookie: HeaderValue) -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::SEE_OTHER;
    let headers = response.headers_mut();
    // an endpoint with a query is a valid field value
    headers.extend(HeaderValue::try_from(to).ok().map(|to| (LOCATION, to)));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(SET_COOKIE, cookie);
    response
}

impl fmt::Debug for SignIns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignIns")
            .field("client", &self.inner.client)
            .finish_non_exhaustive()
    }
}
