use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use http::{HeaderMap, HeaderValue};

use super::{NewSession, Session, SessionCookie, SessionSecret, SessionState, SessionTimeouts, SignedOut};
use crate::attempts::AttemptPolicy;
use crate::event::{AuthEvent, AuthEventKind};
use crate::ports::StoreError;
use crate::ports::{Clock, Entropy};
use crate::store::{
    AttemptStore, Insertion, RevocationReason, Revoked, SessionId, SessionOutcome, SessionRecord,
    SessionRenewal, SessionStore,
};
use crate::vocabulary::Subject;

/// Longest label that is kept, in characters.
const LONGEST_LABEL: usize = 256;

/// Signs browsers in and out, tells who is signed in, and resets passwords.
///
/// ```
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use http::{HeaderMap, header::COOKIE};
/// use oauth_core::memory::MemoryTokens;
/// use oauth_core::ports::{OsEntropy, SystemClock};
/// use oauth_core::session::{SessionCookie, Sessions, SignedOut};
///
/// let store = MemoryTokens::new();
/// let sessions = Sessions::new(store, SessionCookie::new("session")?, SystemClock, OsEntropy);
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

impl Sessions {
    /// Sessions with the usual timeouts.
    #[must_use]
    pub fn new(
        store: impl SessionStore + 'static,
        cookie: SessionCookie,
        clock: impl Clock + 'static,
        entropy: impl Entropy + 'static,
    ) -> Self {
        Self {
            store: Arc::new(store),
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
    pub fn with_reset_limit(self, store: impl AttemptStore + 'static, policy: AttemptPolicy) -> Self {
        Self {
            reset_limit: Some((Arc::new(store), policy)),
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
    /// one that the browser had, with what was granted in it. What was granted in one that timed out goes on: nobody signed out.
    /// Of `label`, such as the `User-Agent`, the first 256 characters are kept.
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
        let now = self.clock.now();
        if !self.timed_out(headers, now).await? {
            self.end_that_of(headers, now).await?;
        }
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

    /// Signs `subject` in, who has just proven who they are, where they may be signed in already: then their session goes on
    /// under another secret, as signed in now, with what was granted in it, and lasts no longer for it. Where nobody is, or
    /// somebody else, another session begins as by [`sign_in`](Self::sign_in).
    ///
    /// For a client that wants the password again, by `prompt=login` or `max_age`: it does not sign the others out.
    ///
    /// # Errors
    ///
    /// As [`sign_in`](Self::sign_in).
    ///
    /// # Security
    ///
    /// Whoever had the old secret has nothing any more, but for what was granted to clients in the session meanwhile.
    pub async fn sign_in_again(
        &self,
        headers: &HeaderMap,
        subject: &Subject,
        label: Option<&str>,
    ) -> Result<NewSession, StoreError> {
        let now = self.clock.now();
        let theirs = self.find(headers, now).await?.ok();
        if let Some(session) = theirs.filter(|session| session.record.subject == *subject)
            && let Some(renewed) = self.renewed(&session.record, SessionRenewal::Proven, now).await?
        {
            return Ok(renewed);
        }
        self.sign_in(headers, subject, label).await
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
    /// step on. When they prove again who they are, [`sign_in_again`](Self::sign_in_again) does the same and more.
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
        match self.renewed(&old, SessionRenewal::Escalated, now).await? {
            Some(renewed) => Ok(Ok(renewed)),
            None => self.why(headers, now).await.map(Err),
        }
    }

    /// Ends the browser's session, if it has one, with what was granted in it, and answers the `Set-Cookie` that takes its
    /// cookie away. A session that another request of the browser renews meanwhile is the same session. Of one that timed out what was
    /// granted in it still ends, until it is too old and [purged](SessionStore::purge_sessions).
    ///
    /// # Errors
    ///
    /// [`StoreError`]: the session may live on.
    pub async fn sign_out(&self, headers: &HeaderMap) -> Result<HeaderValue, StoreError> {
        self.end_that_of(headers, self.clock.now()).await?;
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
            Some(session) => self.end_one(session).await.map(|()| true),
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
    /// JWT access tokens that a resource server verifies by itself live on until they expire. To whoever asks by introspection they are
    /// dead at once; an `resource::Introspection` believes its last answer for some seconds more, as configured.
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

    async fn timed_out(&self, headers: &HeaderMap, now: SystemTime) -> Result<bool, StoreError> {
        let found = self.find(headers, now).await?;
        Ok(matches!(
            found,
            Err(SignedOut::IdleExpired | SignedOut::AbsoluteExpired)
        ))
    }

    async fn end_that_of(&self, headers: &HeaderMap, now: SystemTime) -> Result<(), StoreError> {
        if let Some(secret) = self.cookie.read(headers) {
            let reason = RevocationReason::SignedOut;
            let ended = self
                .store
                .end_session_by_secret(&secret.hash(), reason, now)
                .await?;
            if let Some(session) = ended {
                self.tell(about(AuthEventKind::SessionEnded, &session).ended_by(reason));
            }
        }
        Ok(())
    }

    async fn end_one(&self, session: &SessionRecord) -> Result<(), StoreError> {
        let (reason, now) = (RevocationReason::SignedOut, self.clock.now());
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

    /// The session under another secret; `None` when it is over, or under another already.
    async fn renewed(
        &self,
        old: &SessionRecord,
        renewal: SessionRenewal,
        now: SystemTime,
    ) -> Result<Option<NewSession>, StoreError> {
        let secret = SessionSecret::generate(&*self.entropy);
        let outcome = self
            .store
            .renew_session(&old.hash, secret.hash(), renewal, now)
            .await?;
        let record = old.renewed(secret.hash(), renewal, now);
        Ok(record.filter(|_| outcome == SessionOutcome::Done).map(|record| {
            let kind = match renewal {
                SessionRenewal::Escalated => AuthEventKind::SessionRenewed,
                SessionRenewal::Proven => AuthEventKind::SignedIn,
            };
            self.tell(about(kind, &record));
            self.told(Session { secret, record }, now)
        }))
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
