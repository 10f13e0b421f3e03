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

/// Longest label that is stored, in characters; longer labels are truncated.
const LONGEST_LABEL: usize = 256;

/// Browser sessions: sign-in, authentication, renewal, sign-out and password resets.
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
/// // after the password was verified
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
    /// Creates the operations with the default timeouts: 30 minutes idle, eight hours in total.
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

    /// Sets a callback for the audit log. Each operation calls it with the events that occur.
    #[must_use]
    pub fn with_events(self, events: impl Fn(AuthEvent) + Send + Sync + 'static) -> Self {
        Self {
            events: Some(Arc::new(events)),
            ..self
        }
    }

    /// Limits the reset messages per address by `policy`, with the counts in `store`; see
    /// [`issue_reset`](Self::issue_reset). By default there is no limit.
    #[must_use]
    pub fn with_reset_limit(self, store: impl AttemptStore + 'static, policy: AttemptPolicy) -> Self {
        Self {
            reset_limit: Some((Arc::new(store), policy)),
            ..self
        }
    }

    /// Sets the timeouts of new sessions. Existing sessions keep their timeouts.
    #[must_use]
    pub fn with_timeouts(self, timeouts: SessionTimeouts) -> Self {
        Self { timeouts, ..self }
    }

    /// Returns the session cookie.
    #[must_use]
    pub const fn cookie(&self) -> &SessionCookie {
        &self.cookie
    }

    /// Starts a session with a new secret for `subject`, after the host has authenticated this
    /// user. `headers` are those of the request. `label`, for example the `User-Agent`, is
    /// truncated to 256 characters.
    ///
    /// The method ends the previous session of the browser, and revokes its grants. If the previous
    /// session has timed out, its grants stay valid, because the user did not sign out.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer, or when the entropy source repeats itself. The
    /// previous session may have been ended.
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
                Ok(self.with_cookie(Session { secret, record }, now))
            }
            Insertion::Exists => Err(StoreError::corrupt("the entropy source repeats itself")),
        }
    }

    /// Signs `subject` in again, after the host has authenticated this user again. If the browser
    /// has an active session of the same user, this session continues with a new secret and a new
    /// `auth_time`; its grants, label and absolute timeout do not change. Otherwise the method does
    /// the same as [`sign_in`](Self::sign_in).
    ///
    /// Call it when a client requires a new authentication by `prompt=login` or `max_age`, so that
    /// the grants of other clients stay valid.
    ///
    /// # Errors
    ///
    /// See [`sign_in`](Self::sign_in).
    ///
    /// # Security
    ///
    /// The old secret no longer authenticates. Grants that the user gave before stay valid.
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

    /// Returns the session of the browser that sent these headers, and records the use. The inner
    /// result is [`SignedOut`] if the browser has no active session. The store is written at most
    /// once per tenth of the idle timeout.
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
        if session.record.needs_touch(now) {
            let outcome = self.store.touch_session(&session.record.hash, now).await?;
            if outcome != SessionOutcome::Done {
                return self.why(headers, now).await.map(Err);
            }
            session.record = session.record.touch(now).unwrap_or(session.record);
        }
        Ok(Ok(session))
    }

    /// Returns the session as [`authenticate`](Self::authenticate) does, without recording a use:
    /// for requests that an open page makes by itself, which must not keep an idle session alive.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer.
    pub async fn peek(&self, headers: &HeaderMap) -> Result<Result<Session, SignedOut>, StoreError> {
        self.find(headers, self.clock.now()).await
    }

    /// Renews the secret of the browser's session. The old secret no longer authenticates. The
    /// inner result is [`SignedOut`] if the browser has no active session.
    ///
    /// Call it when the user gains privileges. When the user authenticates again, call
    /// [`sign_in_again`](Self::sign_in_again) instead, which also renews the secret.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer. If the old secret is then invalid, the user
    /// must sign in again.
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

    /// Ends the browser's session, if it has one, and revokes its grants. Returns the `Set-Cookie`
    /// value that deletes the cookie.
    ///
    /// - The session ends even if a concurrent request renews its secret.
    /// - If the session has timed out, its grants are still revoked, unless the store has already
    ///   [purged](SessionStore::purge_sessions) the session after its absolute timeout.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer. The session may still be active.
    pub async fn sign_out(&self, headers: &HeaderMap) -> Result<HeaderValue, StoreError> {
        self.end_that_of(headers, self.clock.now()).await?;
        Ok(self.cookie.clear())
    }

    /// Returns the active sessions of `subject`, newest first, for a page that lists them.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer.
    pub async fn list(&self, subject: &Subject) -> Result<Vec<SessionRecord>, StoreError> {
        self.store.sessions_of(subject, self.clock.now()).await
    }

    /// Ends the session `id` of [`list`](Self::list), and revokes its grants. If `subject` has no
    /// active session `id`, returns `false` and changes nothing.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer. The session may still be active.
    pub async fn end(&self, subject: &Subject, id: &SessionId) -> Result<bool, StoreError> {
        // two calls of the store are safe here: the user of a session never changes
        let sessions = self.list(subject).await?;
        match sessions.iter().find(|session| session.id == *id) {
            Some(session) => self.end_one(session).await.map(|()| true),
            None => Ok(false),
        }
    }

    /// Signs `subject` out everywhere: ends all sessions, codes, token families and reset tokens of
    /// this user, except the session `keep` and its grants.
    ///
    /// Call it with [`RevocationReason::PasswordChanged`] when the user changes the password
    /// without a reset token.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer. Retrying is safe.
    ///
    /// # Security
    ///
    /// A JWT access token that a resource server verifies locally stays valid until it expires. The
    /// introspection endpoint reports it as inactive at once; a `resource::Introspection` caches
    /// the previous response for ten seconds by default.
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

    /// Returns the reason why the session is not active, after a concurrent request changed it.
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
            events(event.at(self.clock.now()));
        }
    }

    /// Renews the secret. Returns `None` if the session is no longer active, or if a concurrent
    /// request renewed it.
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
        let record = old.renew(secret.hash(), renewal, now);
        Ok(record.filter(|_| outcome == SessionOutcome::Done).map(|record| {
            let kind = match renewal {
                SessionRenewal::Escalated => AuthEventKind::SessionRenewed,
                SessionRenewal::Proven => AuthEventKind::SignedIn,
            };
            self.tell(about(kind, &record));
            self.with_cookie(Session { secret, record }, now)
        }))
    }

    fn with_cookie(&self, session: Session, now: SystemTime) -> NewSession {
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

/// Event of a sign-out everywhere.
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
