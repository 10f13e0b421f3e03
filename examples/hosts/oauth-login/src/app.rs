//! The requests of the app.

use std::collections::HashMap;
use std::error::Error;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use bytes::Bytes;
use http::header::SET_COOKIE;
use http::{Method, Request, StatusCode};
use oauth_core::client::{
    AuthorizationParams, CallbackError, Ports, SignInError, SignIns, TokenResponse, accept_logout,
};
use oauth_core::jose::IdTokenClaims;
use oauth_core::memory::MemoryTokens;
use oauth_core::ports::{OsEntropy, SystemClock};
use oauth_core::session::Session;
use oauth_core::store::SessionId;
use oauth_core::{Client, RemoteKeySet, SessionCookie, Sessions};

use crate::page::{self, Home, Page, Person, see_other};

/// Number of sessions above which expired ones are removed.
const MANY: usize = 10_000;

pub(crate) struct App {
    client: Client,
    keys: RemoteKeySet,
    ports: Ports,
    sessions: Sessions,
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
    ) -> Result<Self, Box<dyn Error>> {
        // the app listens on a loopback address, without TLS
        let cookie = SessionCookie::new("login")?.danger_over_plain_http();
        let sessions = Sessions::new(MemoryTokens::new(), cookie, SystemClock, OsEntropy);
        Ok(Self {
            sign_ins: SignIns::new(client.clone(), params, sessions.clone(), ports.clone())?,
            client,
            keys,
            ports,
            sessions,
            people: Mutex::default(),
        })
    }

    pub(crate) async fn answer(&self, request: &Request<Bytes>) -> Page {
        let answered = match (request.method(), request.uri().path()) {
            (&Method::GET, "/") => self.home(request, None).await,
            (&Method::GET, "/login") => self.login(request).await,
            (&Method::GET, "/callback") => self.callback(request).await,
            (&Method::POST, "/sign-out") => self.sign_out(request).await,
            (&Method::POST, "/backchannel-logout") => self.backchannel_logout(request).await,
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
        let started = self.sign_ins.start(request.headers()).await;
        started.map(page::of).map_err(Refusal::sign_in)
    }

    /// Handles the redirect from the issuer: it must answer a request of this browser.
    async fn callback(&self, request: &Request<Bytes>) -> Result<Page, Refusal> {
        let user = self.sign_ins.finish(request.headers(), request.uri()).await;
        let user = user.map_err(Refusal::sign_in)?;
        let (identity, tokens) = (user.identity, user.tokens);
        let signed_in = self
            .sessions
            .sign_in(request.headers(), &identity.subject, None)
            .await;
        let signed_in = signed_in.map_err(Refusal::unavailable)?;
        let (record, now) = (signed_in.session.record, self.ports.now());
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
        if !self
            .sessions
            .cookie()
            .accepts_form(request.headers(), request.body())
        {
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
                return Ok(page::of(error.response()));
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
        Ok(page::of(accept_logout()))
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

    fn sign_in(error: SignInError) -> Self {
        let told = match &error {
            SignInError::TooMany => "Too many people are signing in. Try again in some minutes.",
            SignInError::Unknown => "The sign-in began in another browser or too long ago. Sign in again.",
            SignInError::Callback(CallbackError::Refused(_)) => {
                "The sign-in was refused or cancelled at the issuer."
            }
            SignInError::Callback(_) => "The response does not belong to your sign-in. Sign in again.",
            _ => "Signing in does not work at the moment. Try again later.",
        };
        let status = error.status();
        Self {
            cause: Some(Box::new(error)),
            ..Self::new(status, told)
        }
    }
}

/// Logs an error with its causes: no error of this crate contains a secret.
#[expect(clippy::print_stderr, reason = "an example logs to the terminal")]
fn log(error: &(dyn Error + 'static)) {
    eprintln!("{}", program::in_one_line(error));
}
