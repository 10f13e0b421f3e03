//! The requests of the app.

use std::collections::HashMap;
use std::error::Error;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use bytes::Bytes;
use http::header::SET_COOKIE;
use http::{Method, Request, StatusCode};
use oauth_core::client::{AuthorizationParams, CallbackError, Ports, TokenResponse, accept_logout};
use oauth_core::jose::IdTokenClaims;
use oauth_core::memory::MemoryTokens;
use oauth_core::params::Params;
use oauth_core::ports::{OsEntropy, SystemClock};
use oauth_core::session::{InvalidCookie, Session, SessionSecret};
use oauth_core::store::SessionId;
use oauth_core::{Client, RemoteKeySet, SessionCookie, Sessions};

use crate::page::{Home, Page, Person, see_other};
use crate::sign_ins::{self, SignIns};

/// Number of sessions above which expired ones are removed.
const MANY: usize = 10_000;

pub(crate) struct App {
    client: Client,
    params: AuthorizationParams,
    keys: RemoteKeySet,
    ports: Ports,
    sessions: Sessions,
    /// Binds a sign-in to its browser, before there is a session.
    cookie: SessionCookie,
    sign_ins: SignIns,
    people: Mutex<HashMap<SessionId, Known>>,
}

/// A signed-in user.
struct Known {
    identity: IdTokenClaims,
    tokens: TokenResponse,
    until: SystemTime,
}

/// An error page for the browser, and its cause for the log.
struct Refusal {
    status: StatusCode,
    told: &'static str,
    cause: Option<Box<dyn Error + Send + Sync>>,
}

impl App {
    pub(crate) fn new(
        client: Client,
        params: AuthorizationParams,
        keys: RemoteKeySet,
        ports: Ports,
    ) -> Result<Self, InvalidCookie> {
        // the app listens on a loopback address, without TLS
        let cookie = |name| SessionCookie::new(name).map(SessionCookie::danger_over_plain_http);
        let sessions = Sessions::new(MemoryTokens::new(), cookie("login")?, SystemClock, OsEntropy);
        Ok(Self {
            client,
            params,
            keys,
            ports,
            sessions,
            cookie: cookie("sign-in")?,
            sign_ins: SignIns::default(),
            people: Mutex::default(),
        })
    }

    pub(crate) async fn answer(&self, request: &Request<Bytes>) -> Page {
        let answered = match (request.method(), request.uri().path()) {
            (&Method::GET, "/") => self.home(request, None).await,
            (&Method::GET, "/login") => self.login(request).await,
            (&Method::GET, "/callback") => self.callback(request).await,
            (&Method::POST, "/sign-out") => self.sign_out(request).await,
            (&Method::POST, "/backchannel-logout") => self.verify_backchannel_logout(request).await,
            _ => Err(Refusal::new(StatusCode::NOT_FOUND, "Page not found.")),
        };
        answered.unwrap_or_else(|refusal| self.refused(&refusal))
    }

    async fn home(&self, request: &Request<Bytes>, problem: Option<&str>) -> Result<Page, Refusal> {
        let session = self.session(request).await?;
        let people = self.people();
        let known = session
            .as_ref()
            .and_then(|session| people.get(&session.record.id));
        let csrf_token = session.as_ref().map(|session| session.secret.csrf_token());
        let person = known.zip(csrf_token.as_ref()).map(|(known, csrf_token)| Person {
            name: known.identity.name.as_deref().unwrap_or("you"),
            email: known.identity.email.as_deref(),
            subject: known.identity.subject.as_str(),
            scopes: known.tokens.scopes().to_string(),
            csrf_token,
        });
        let issuer = self.client.provider().issuer().as_str();
        Ok(Home {
            issuer,
            person,
            problem,
        }
        .shown(StatusCode::OK))
    }

    /// Redirects the browser to the issuer, with a pushed request if the issuer supports it.
    async fn login(&self, request: &Request<Bytes>) -> Result<Page, Refusal> {
        // before a request to the issuer
        if !self.sign_ins.has_room(self.ports.now()) {
            return Err(Refusal::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "Too many people are signing in. Try again in some minutes.",
            ));
        }
        let signing_in = self.client.sign_in(&self.params, &self.ports).await;
        let (url, pending) = signing_in.map_err(Refusal::unavailable)?;
        let secret = self.cookie.read(request.headers());
        let secret = secret.unwrap_or_else(|| SessionSecret::generate(self.ports.entropy()));
        self.sign_ins.begin(&secret, pending, self.ports.now());
        let mut page = see_other(&url);
        let cookie = self.cookie.set(&secret, sign_ins::LIFETIME);
        page.headers_mut().append(SET_COOKIE, cookie);
        Ok(page)
    }

    /// Handles the redirect from the issuer: it must answer a request of this browser.
    async fn callback(&self, request: &Request<Bytes>) -> Result<Page, Refusal> {
        let query = request.uri().query().unwrap_or_default();
        let state = Params::parse(query.as_bytes())
            .ok()
            .and_then(|params| params.optional("state")?.parse().ok());
        let browser = self.cookie.read(request.headers());
        let pending = browser
            .zip(state)
            .and_then(|(browser, state)| self.sign_ins.take(&browser, &state));
        let Some(pending) = pending else {
            return Err(Refusal::new(
                StatusCode::BAD_REQUEST,
                "The sign-in began in another browser or too long ago. Sign in again.",
            ));
        };
        let call = pending
            .finish(query, self.ports.now())
            .map_err(Refusal::callback)?;
        let tokens = call.send(&self.ports).await.map_err(Refusal::unavailable)?;
        let now = self.ports.now();
        let identity = self
            .keys
            .verify(|keys| tokens.identity(keys, now), now)
            .await
            .map_err(Refusal::unavailable)?;
        let Some(identity) = identity else {
            return Err(Refusal::new(
                StatusCode::BAD_GATEWAY,
                "The issuer sent no user identity.",
            ));
        };
        let signed_in = self
            .sessions
            .sign_in(request.headers(), &identity.subject, None)
            .await;
        let signed_in = signed_in.map_err(Refusal::unavailable)?;
        let record = signed_in.session.record;
        let mut people = self.people();
        if people.len() >= MANY {
            people.retain(|_, known| now < known.until);
        }
        people.insert(
            record.id,
            Known {
                identity,
                tokens,
                until: record.expires_at,
            },
        );
        let mut page = see_other("/");
        page.headers_mut().append(SET_COOKIE, signed_in.set_cookie);
        Ok(page)
    }

    /// Ends the session and revokes the refresh token.
    async fn sign_out(&self, request: &Request<Bytes>) -> Result<Page, Refusal> {
        let Some(session) = self.session(request).await? else {
            return Ok(see_other("/"));
        };
        let form = Params::parse(request.body()).ok();
        let token = form.as_ref().and_then(|form| form.optional("csrf_token"));
        if !token.is_some_and(|token| session.secret.is_csrf_token(token)) {
            return Err(Refusal::new(
                StatusCode::FORBIDDEN,
                "The form was not sent to this browser. Reload the page.",
            ));
        }
        let cookie = self
            .sessions
            .sign_out(request.headers())
            .await
            .map_err(Refusal::unavailable)?;
        let known = self.people().remove(&session.record.id);
        if let Some(token) = known.as_ref().and_then(|known| known.tokens.refresh_token()) {
            // the user is signed out here for any response of the issuer
            match self.client.revoke_refresh_token(token) {
                Ok(call) => call.send(&self.ports).await.unwrap_or_else(|error| log(&error)),
                Err(not_offered) => log(&not_offered),
            }
        }
        let mut page = see_other("/");
        page.headers_mut().append(SET_COOKIE, cookie);
        Ok(page)
    }

    /// Ends the sessions of a logout token, which the issuer sends when the user signed out there.
    async fn backchannel_logout(&self, request: &Request<Bytes>) -> Result<Page, Refusal> {
        let verified = self
            .client
            .verify_backchannel_logout(request, &self.keys, self.ports.now());
        let logout = match verified.await {
            Ok(logout) => logout,
            Err(error) => {
                log(&error);
                return Ok(error.response());
            }
        };
        let is_meant = |identity: &IdTokenClaims| match logout.session.as_deref() {
            Some(sid) => identity.claims.get_str("sid") == Some(sid),
            None => logout.subject.as_ref() == Some(&identity.subject),
        };
        let ended: Vec<_> = {
            let mut people = self.people();
            people.extract_if(|_, known| is_meant(&known.identity)).collect()
        };
        for (id, known) in ended {
            let ended = self.sessions.end(&known.identity.subject, &id).await;
            ended.map_err(Refusal::unavailable)?;
        }
        Ok(accept_logout())
    }

    async fn session(&self, request: &Request<Bytes>) -> Result<Option<Session>, Refusal> {
        let session = self.sessions.authenticate(request.headers()).await;
        Ok(session.map_err(Refusal::unavailable)?.ok())
    }

    fn refused(&self, refusal: &Refusal) -> Page {
        if let Some(cause) = &refusal.cause {
            log(&**cause);
        }
        let issuer = self.client.provider().issuer().as_str();
        let problem = Some(refusal.told);
        Home {
            issuer,
            person: None,
            problem,
        }
        .shown(refusal.status)
    }

    fn people(&self) -> MutexGuard<'_, HashMap<SessionId, Known>> {
        self.people.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Refusal {
    fn new(status: StatusCode, told: &'static str) -> Self {
        Self {
            status,
            told,
            cause: None,
        }
    }

    fn unavailable(cause: impl Error + Send + Sync + 'static) -> Self {
        let told = "Signing in does not work at the moment. Try again later.";
        Self {
            cause: Some(Box::new(cause)),
            ..Self::new(StatusCode::BAD_GATEWAY, told)
        }
    }

    /// The issuer, or a party in between, sent this through the browser.
    fn callback(error: CallbackError) -> Self {
        let told = match error {
            CallbackError::Refused(_) => "The sign-in was refused or cancelled at the issuer.",
            _ => "The response does not belong to your sign-in. Sign in again.",
        };
        Self {
            cause: Some(Box::new(error)),
            ..Self::new(StatusCode::BAD_REQUEST, told)
        }
    }
}

/// Logs an error with its causes: no error of this crate contains a secret.
#[expect(clippy::print_stderr, reason = "an example logs to the terminal")]
fn log(error: &(dyn Error + 'static)) {
    eprintln!("{}", program::in_one_line(error));
}
