use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use http::{HeaderMap, HeaderValue};

use super::{SessionCookie, SessionSecret, SessionState, SessionTimeouts};
use crate::attempts::AttemptPolicy;
use crate::event::{AuthEvent, AuthEventKind};
use crate::ports::{Clock, Entropy};
use crate::store::{
    AttemptStore, Insertion, RevocationReason, Revoked, SessionId, SessionOutcome, SessionRecord,
    SessionStore,
};
use crate::store_error::StoreError;
use crate::vocabulary::Subject;

/// Longest label that is kept, in characters.
const LONGEST_LABEL: usize = 256;

/// Signs browsers in and out, tells who is signed in, and resets passwords.
///
/// ```
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use std::{sync::Arc, time::SystemTime};
/// use http::{HeaderMap, header::COOKIE};
/// use oauth_core::memory::MemoryTokens;
/// use oauth_core::ports::OsEntropy;
/// use oauth_core::session::{SessionCookie, Sessions, SignedOut};
///
/// let store = Arc::new(MemoryTokens::new());
/// let sessions = Sessions::new(store, SessionCookie::new("session")?, SystemTime::now, OsEntropy);
///
/// // the password was right
/// let mut browser = HeaderMap::new();
/// let begun = sessions.sign_in(&browser, &"ada".parse()?, None).await?;
/// let cookie = begun.set_cookie.to_str()?.split(';').next().ok_or("no cookie")?;
///
/// // the next request
/// browser.insert(COOKIE, cookie.parse()?);
/// let session = sessions.authenticate(&browser).await??;
/// assert_eq!(session.record.subject.as_str(), "ada");
///
/// sessions.sign_out(&browser).await?;
/// assert_eq!(sessions.authenticate(&browser).await?.err(), Some(SignedOut::Revoked));
/// # Ok(())
/// # }
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(example()).unwrap();
/// ```
#[derive(Clone)]
pub struct Sessions {
    pub(super) store: Arc<dyn SessionStore>,
    cookie: SessionCookie,
    timeouts: SessionTimeouts,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) entropy: Arc<dyn Entropy>,
    pub(super) reset_limit: Option<(Arc<dyn AttemptStore>, AttemptPolicy)>,
    events: Option<Arc<dyn Fn(AuthEvent) + Send + Sync>>,
}

/// An active session, and the secret by which its browser has it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Session {
    /// The secret: for a form's [`csrf_token`](SessionSecret::csrf_token).
    pub secret: SessionSecret,
    /// Who is signed in, since when and how long.
    pub record: SessionRecord,
}

/// A session under a new secret, which its browser has yet to be told.
#[derive(Clone, Debug)]
#[non_exhaustive]
#[must_use = "a browser that is not given the cookie is not signed in"]
pub struct NewSession {
    /// The session.
    pub session: Session,
    /// The `Set-Cookie` of the answer.
    pub set_cookie: HeaderValue,
}

/// Why nobody is signed in at a browser.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SignedOut {
    /// There is no cookie, or none that could be ours.
    #[error("no session cookie")]
    NoCookie,
    /// No session is known under that secret: it was never begun, was renewed, or was over long ago.
    #[error("no such session")]
    Unknown,
    /// It was left idle too long.
    #[error("session left idle")]
    IdleExpired,
    /// It was too old.
    #[error("session too old")]
    AbsoluteExpired,
    /// It was ended; the record of the session says why.
    #[error("session ended")]
    Revoked,
}

impl Sessions {
    /// Sessions with the usual timeouts.
    #[must_use]
    pub fn new(
        store: Arc<dyn SessionStore>,
        cookie: SessionCookie,
        clock: impl Clock + 'static,
        entropy: impl Entropy + 'static,
    ) -> Self {
        Self {
            store,
            cookie,
            timeouts: SessionTimeouts::default(),
            clock: Arc::new(clock),
            entropy: Arc::new(entropy),
            reset_limit: None,
            events: None,
        }
    }

    /// Tells `events` what happens, each thing once it is done.
    #[must_use]
    pub fn with_events(self, events: impl Fn(AuthEvent) + Send + Sync + 'static) -> Self {
        Self {
            events: Some(Arc::new(events)),
            ..self
        }
    }

    /// Counts in `store` how many letters each address is sent; see [`issue_reset`](Self::issue_reset).
    #[must_use]
    pub fn with_reset_limit(self, store: Arc<dyn AttemptStore>, policy: AttemptPolicy) -> Self {
        Self {
            reset_limit: Some((store, policy)),
            ..self
        }
    }

    /// Ends sessions by other timeouts. Those that have begun keep theirs.
    #[must_use]
    pub fn with_timeouts(self, timeouts: SessionTimeouts) -> Self {
        Self { timeouts, ..self }
    }

    /// How the cookie is set and read.
    #[must_use]
    pub const fn cookie(&self) -> &SessionCookie {
        &self.cookie
    }

    /// Begins a session for `subject`, who has just proven who they are, under a secret that nobody has seen, and ends the
    /// one that the browser had. Of `label`, such as the `User-Agent`, the first 256 characters are kept.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; the browser's old session may be over then.
    pub async fn sign_in(
        &self,
        headers: &HeaderMap,
        subject: &Subject,
        label: Option<&str>,
    ) -> Result<NewSession, StoreError> {
        self.end_that_of(headers).await?;
        let now = self.clock.now();
        let secret = SessionSecret::generate(&*self.entropy);
        let id = SessionId::generate(&*self.entropy);
        let mut record = SessionRecord::new(secret.hash(), id, subject.clone(), self.timeouts, now);
        record.label = label.map(|label| label.chars().take(LONGEST_LABEL).collect());
        match self.store.insert_session(record.clone()).await? {
            Insertion::Inserted => {
                self.tell(about(AuthEventKind::SignedIn, &record));
                Ok(self.told(Session { secret, record }, now))
            }
            Insertion::Exists => Err(StoreError::corrupt("the entropy repeats itself")),
        }
    }

    /// Who is signed in at the browser that sent these headers. Counts as a use of the session, which is written about once in
    /// a tenth of its idle timeout.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer.
    pub async fn authenticate(&self, headers: &HeaderMap) -> Result<Result<Session, SignedOut>, StoreError> {
        let now = self.clock.now();
        let mut session = match self.find(headers, now).await? {
            Ok(session) => session,
            Err(signed_out) => return Ok(Err(signed_out)),
        };
        if session.record.is_to_be_touched(now) {
            let outcome = self.store.touch_session(&session.record.hash, now).await?;
            if outcome != SessionOutcome::Done {
                return self.why(headers, now).await.map(Err);
            }
            session.record = session.record.touched(now).unwrap_or(session.record);
        }
        Ok(Ok(session))
    }

    /// Puts the browser's session under another secret, as its user gains rights; the old one is worth nothing from the same
    /// step on. When they prove again who they are, [`sign_in`](Self::sign_in) does the same and more.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; the old secret may be dead then, and its user signs in again.
    pub async fn renew(&self, headers: &HeaderMap) -> Result<Result<NewSession, SignedOut>, StoreError> {
        let now = self.clock.now();
        let old = match self.find(headers, now).await? {
            Ok(session) => session.record,
            Err(signed_out) => return Ok(Err(signed_out)),
        };
        let secret = SessionSecret::generate(&*self.entropy);
        let outcome = self.store.renew_session(&old.hash, secret.hash(), now).await?;
        match old.renewed(secret.hash(), now) {
            Some(record) if outcome == SessionOutcome::Done => {
                self.tell(about(AuthEventKind::SessionRenewed, &record));
                Ok(Ok(self.told(Session { secret, record }, now)))
            }
            _ => self.why(headers, now).await.map(Err),
        }
    }

    /// Ends the browser's session, if it has one, with what was granted in it, and answers the `Set-Cookie` that takes its
    /// cookie away.
    ///
    /// # Errors
    ///
    /// [`StoreError`]: the session may live on.
    pub async fn sign_out(&self, headers: &HeaderMap) -> Result<HeaderValue, StoreError> {
        self.end_that_of(headers).await?;
        Ok(self.cookie.clear())
    }

    /// The active sessions of `subject`, the last begun first: for a page that lists them.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer.
    pub async fn of(&self, subject: &Subject) -> Result<Vec<SessionRecord>, StoreError> {
        self.store.sessions_of(subject, self.clock.now()).await
    }

    /// Ends a session from that list, with what was granted in it, and answers whether `subject` had it.
    ///
    /// # Errors
    ///
    /// [`StoreError`]: the session may live on.
    pub async fn end(&self, subject: &Subject, id: &SessionId) -> Result<bool, StoreError> {
        // whose a session is never changes
        let sessions = self.of(subject).await?;
        match sessions.iter().find(|session| session.id == *id) {
            Some(session) => self.end_one(session, self.clock.now()).await.map(|()| true),
            None => Ok(false),
        }
    }

    /// Ends everything of `subject`: sessions, but for `keep` and what was granted in it, codes, token families and reset
    /// tokens.
    ///
    /// Call it with [`RevocationReason::PasswordChanged`] when a password is changed by other means than a reset token.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer; calling again is safe.
    ///
    /// # Security
    ///
    /// JWT access tokens that a resource server verifies by itself live on until they expire; those it asks about by
    /// introspection are dead at once.
    pub async fn sign_out_everywhere(
        &self,
        subject: &Subject,
        keep: Option<&SessionId>,
        reason: RevocationReason,
    ) -> Result<Revoked, StoreError> {
        let revoked = self
            .store
            .revoke_subject(subject, keep, reason, self.clock.now())
            .await?;
        self.tell(ended(subject, keep, reason));
        Ok(revoked)
    }

    async fn find(
        &self,
        headers: &HeaderMap,
        now: SystemTime,
    ) -> Result<Result<Session, SignedOut>, StoreError> {
        let Some(secret) = self.cookie.read(headers) else {
            return Ok(Err(SignedOut::NoCookie));
        };
        let Some(record) = self.store.session(&secret.hash()).await? else {
            return Ok(Err(SignedOut::Unknown));
        };
        Ok(match record.state(now) {
            SessionState::Active => Ok(Session { secret, record }),
            SessionState::IdleExpired => Err(SignedOut::IdleExpired),
            SessionState::AbsoluteExpired => Err(SignedOut::AbsoluteExpired),
            SessionState::Revoked => Err(SignedOut::Revoked),
        })
    }

    /// What a step has found that was not so when it was decided on.
    async fn why(&self, headers: &HeaderMap, now: SystemTime) -> Result<SignedOut, StoreError> {
        Ok(self.find(headers, now).await?.err().unwrap_or(SignedOut::Unknown))
    }

    async fn end_that_of(&self, headers: &HeaderMap) -> Result<(), StoreError> {
        let now = self.clock.now();
        match self.find(headers, now).await? {
            Ok(session) => self.end_one(&session.record, now).await,
            Err(_signed_out) => Ok(()),
        }
    }

    async fn end_one(&self, session: &SessionRecord, now: SystemTime) -> Result<(), StoreError> {
        let reason = RevocationReason::SignedOut;
        let revoked = self.store.end_session(&session.id, reason, now).await?;
        if revoked.sessions > 0 {
            self.tell(about(AuthEventKind::SessionEnded, session).ended_by(reason));
        }
        Ok(())
    }

    pub(super) fn tell(&self, event: AuthEvent) {
        if let Some(events) = &self.events {
            events(event);
        }
    }

    fn told(&self, session: Session, now: SystemTime) -> NewSession {
        let max_age = session.record.expires_at.duration_since(now).unwrap_or_default();
        let set_cookie = self.cookie.set(&session.secret, max_age);
        NewSession { session, set_cookie }
    }
}

fn about(kind: AuthEventKind, session: &SessionRecord) -> AuthEvent {
    AuthEvent::new(kind)
        .about(&session.subject)
        .of_session(Some(session.id))
}

/// The end of everything of `subject`, but for what is kept.
pub(super) fn ended(subject: &Subject, keep: Option<&SessionId>, reason: RevocationReason) -> AuthEvent {
    AuthEvent::new(AuthEventKind::SignedOutEverywhere)
        .ended_by(reason)
        .about(subject)
        .of_session(keep.copied())
}

impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sessions")
            .field("cookie", &self.cookie)
            .field("timeouts", &self.timeouts)
            .finish_non_exhaustive()
    }
}
