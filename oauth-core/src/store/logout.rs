use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::{SessionId, SessionStore};
use crate::ports::StoreError;
use crate::time::later;
use crate::vocabulary::{ClientId, Subject};

/// Duration of a lease: one minute.
const LEASE: Duration = Duration::from_secs(60);
/// Delay after the first failed attempt. Each further delay is three times as long.
const FIRST_DELAY: Duration = Duration::from_secs(5);
/// Longest delay between two attempts.
const LONGEST_DELAY: Duration = Duration::from_secs(10 * 60);

/// Pending back-channel logout of one client ([OpenID Connect Back-Channel
/// Logout](https://openid.net/specs/openid-connect-backchannel-1_0.html)). There is at most one per
/// client and session.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct LogoutRecord {
    /// Client that receives the logout token.
    pub client_id: ClientId,
    /// Session that ended.
    pub session: SessionId,
    /// User of the session.
    pub subject: Subject,
    /// Number of attempts that were begun since the logout was queued.
    pub attempts: u32,
    /// Fencing token: it increases with each lease and each time the logout is queued again, so
    /// that an earlier attempt cannot settle the logout.
    pub fencing_token: u32,
    /// Instant of the next attempt; during an attempt, the end of its lease.
    pub due_at: SystemTime,
    /// Expiry: no attempt begins at or after this instant, and the record may be deleted.
    pub expires_at: SystemTime,
}

impl LogoutRecord {
    /// Retry period: one hour from the end of the session.
    pub const LIFETIME: Duration = Duration::from_secs(60 * 60);

    /// Creates a logout that is due at once, for a session that ended at `now`. It expires after
    /// one hour.
    #[must_use]
    pub fn new(client_id: ClientId, session: SessionId, subject: Subject, now: SystemTime) -> Self {
        Self {
            client_id,
            session,
            subject,
            attempts: 0,
            fencing_token: 0,
            due_at: now,
            expires_at: later(now, Self::LIFETIME),
        }
    }

    /// Queues the logout again, for another end of the session's grants at `now`: it is due at
    /// once, and an attempt that is running does not settle it.
    #[must_use]
    pub fn queue_again(self, now: SystemTime) -> Self {
        Self {
            fencing_token: self.fencing_token.saturating_add(1),
            ..Self::new(self.client_id, self.session, self.subject, now)
        }
    }

    /// Leases the logout for one minute: returns the record to store, with one more attempt. `None`
    /// if the logout is not due at `now` or has expired.
    #[must_use]
    pub fn lease(self, now: SystemTime) -> Option<Self> {
        let is_due = self.due_at <= now && now < self.expires_at;
        is_due.then(|| Self {
            attempts: self.attempts.saturating_add(1),
            fencing_token: self.fencing_token.saturating_add(1),
            due_at: later(now, LEASE),
            ..self
        })
    }

    /// Returns the instant of the next attempt after an attempt that failed at `now`. The delays
    /// are 5 s, 15 s, 45 s and so on, at most 10 min. Returns `None` if the logout expires before
    /// the next attempt.
    #[must_use]
    pub fn retry_at(&self, now: SystemTime) -> Option<SystemTime> {
        let factor = 3_u32.saturating_pow(self.attempts.saturating_sub(1));
        let at = later(now, FIRST_DELAY.saturating_mul(factor).min(LONGEST_DELAY));
        (at < self.expires_at).then_some(at)
    }
}

/// Outbox of back-channel logouts, in the store of the sessions.
///
/// # Contract
///
/// In addition to the contracts of [`SessionStore`] and of the [module](super):
///
/// - **Ending sessions or grants queues logouts in the same step.** This holds for
///   [`end_session`](SessionStore::end_session),
///   [`end_session_by_secret`](SessionStore::end_session_by_secret),
///   [`revoke_subject`](SessionStore::revoke_subject),
///   [`redeem_reset_token`](SessionStore::redeem_reset_token) and
///   [`revoke_grants`](super::TokenStore::revoke_grants). The call queues one logout for each
///   client and session of the token families that it revokes, and for each client that has a
///   family, revoked before or not, of a session that the call ends. It inserts
///   [`LogoutRecord::new`], or replaces a record of the same client and session by
///   [`LogoutRecord::queue_again`]. Families without a session queue nothing.
/// - At most one of several concurrent callers leases a due logout. A store may skip logouts that
///   another caller is leasing.
/// - [`purge_sessions`](SessionStore::purge_sessions) also deletes the logouts with `expires_at <=
///   now`, and counts them.
#[async_trait]
pub trait LogoutStore: SessionStore {
    /// Leases up to `limit` logouts by [`LogoutRecord::lease`], the earliest `due_at` first, and
    /// returns the stored records.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer. Logouts that were leased are due again after
    /// their lease.
    async fn lease_logouts(&self, limit: usize, now: SystemTime) -> Result<Vec<LogoutRecord>, StoreError>;

    /// Ends the attempt of a leased logout: sets `due_at` to `retry_at`, or deletes the record if
    /// `retry_at` is `None`. Returns `false` and changes nothing if the store has no record of this
    /// client and session with the same `fencing_token` and `expires_at`: the lease was lost.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store cannot answer. Retrying is safe.
    async fn settle_logout(
        &self,
        logout: &LogoutRecord,
        retry_at: Option<SystemTime>,
    ) -> Result<bool, StoreError>;
}

#[async_trait]
impl<S: LogoutStore + ?Sized> LogoutStore for Arc<S> {
    async fn lease_logouts(&self, limit: usize, now: SystemTime) -> Result<Vec<LogoutRecord>, StoreError> {
        (**self).lease_logouts(limit, now).await
    }

    async fn settle_logout(
        &self,
        logout: &LogoutRecord,
        retry_at: Option<SystemTime>,
    ) -> Result<bool, StoreError> {
        (**self).settle_logout(logout, retry_at).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000 + seconds)
    }

    fn logout() -> LogoutRecord {
        let session = SessionId::from_bytes([7; 16]);
        LogoutRecord::new("web".parse().unwrap(), session, "ada".parse().unwrap(), at(0))
    }

    /// O34: a logout is leased from its instant on, for one minute, until it expires.
    #[test]
    fn logout_is_leased_only_while_due() {
        let nearly = |instant: SystemTime| instant - Duration::from_nanos(1);
        assert_eq!(logout().lease(nearly(at(0))), None);
        let leased = logout().lease(at(0)).unwrap();
        assert_eq!((leased.attempts, leased.due_at), (1, at(60)));
        assert_eq!(leased.clone().lease(nearly(at(60))), None);
        let again = leased.lease(at(60)).unwrap();
        assert_eq!((again.attempts, again.due_at), (2, at(120)));
        assert!(logout().lease(nearly(at(3600))).is_some());
        assert_eq!(logout().lease(at(3600)), None);
    }

    /// O34: delays grow threefold up to ten minutes, and the server gives up after an hour.
    #[test]
    fn attempts_are_spaced_until_the_logout_expires() {
        let mut now = at(0);
        let mut leased = logout().lease(now).unwrap();
        let mut delays = Vec::new();
        while let Some(retry_at) = leased.retry_at(now) {
            delays.push(retry_at.duration_since(now).unwrap().as_secs());
            now = retry_at;
            leased.due_at = retry_at;
            leased = leased.lease(now).unwrap();
        }
        assert_eq!(delays, [5, 15, 45, 135, 405, 600, 600, 600, 600]);
        assert!(now < at(3600));
        leased.attempts = u32::MAX;
        assert_eq!(leased.retry_at(at(0)), Some(at(600)));
    }

    /// O34: a logout that is queued again starts anew, with another fencing token.
    #[test]
    fn logout_queued_again_starts_anew() {
        let leased = logout().lease(at(0)).unwrap();
        let again = leased.clone().queue_again(at(30));
        assert_eq!(
            (again.attempts, again.due_at, again.expires_at),
            (0, at(30), at(3630))
        );
        assert!(again.fencing_token > leased.fencing_token);
        assert!(again.lease(at(30)).unwrap().fencing_token > leased.fencing_token + 1);
    }
}
