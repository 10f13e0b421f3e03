use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::{RevocationReason, SessionId};
use crate::secret::TokenHash;
use crate::session_state::SessionState;
use crate::session_timeouts::SessionTimeouts;
use crate::time::later;
use crate::vocabulary::Subject;

/// Maximum number of recorded uses within one idle timeout.
const TOUCHES: u32 = 10;

/// Session of a user in a browser.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct SessionRecord {
    /// Hash of the secret in the browser's cookie. Each renewal replaces the secret.
    pub hash: TokenHash,
    /// Hash of the secret before the last renewal. That secret no longer authenticates, but a
    /// sign-out with it still ends the session.
    pub renewed_from: Option<TokenHash>,
    /// Identifier of the session, which never changes. Grants and events refer to it.
    pub id: SessionId,
    /// Signed-in user.
    pub subject: Subject,
    /// Instant of the user's last authentication.
    pub auth_time: SystemTime,
    /// Instant of the sign-in.
    pub created_at: SystemTime,
    /// Instant of the last recorded use, which never decreases. The last use is at most a tenth of
    /// the idle timeout later.
    pub seen_at: SystemTime,
    /// Idle timeout.
    pub idle: Duration,
    /// Instant at which the session ends by its absolute timeout. It never changes.
    pub expires_at: SystemTime,
    /// Label in the user's list of sessions, for example the name of the browser.
    pub label: Option<String>,
    /// Instant and reason of the end, if the user or the host ended the session before a timeout.
    pub ended: Option<SessionEnd>,
}

/// Reason to renew the secret of a session.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum SessionRenewal {
    /// The user gained higher privileges.
    Escalated,
    /// The user authenticated again, which updates `auth_time`.
    Proven,
}

/// End of a session before a timeout.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct SessionEnd {
    /// Reason.
    pub reason: RevocationReason,
    /// Instant.
    pub at: SystemTime,
}

impl SessionEnd {
    /// Creates the end of a session for `reason` at the instant `at`.
    #[must_use]
    pub const fn new(reason: RevocationReason, at: SystemTime) -> Self {
        Self { reason, at }
    }
}

impl SessionRecord {
    /// Creates the session of `subject`, who authenticated at `now`. `hash` is the hash of the
    /// secret in the cookie.
    #[must_use]
    pub fn new(
        hash: TokenHash,
        id: SessionId,
        subject: Subject,
        timeouts: SessionTimeouts,
        now: SystemTime,
    ) -> Self {
        Self {
            hash,
            renewed_from: None,
            id,
            subject,
            auth_time: now,
            created_at: now,
            seen_at: now,
            idle: timeouts.idle(),
            expires_at: later(now, timeouts.absolute()),
            label: None,
            ended: None,
        }
    }

    /// Sets the label in the user's list of sessions.
    #[must_use]
    pub fn with_label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Returns the instant at which the session ends if it is not used again: the earlier of the
    /// idle and the absolute timeout. An end before a timeout is ignored.
    #[must_use]
    pub fn active_until(&self) -> SystemTime {
        later(self.seen_at, self.idle).min(self.expires_at)
    }

    /// Returns the instant from which the record may be deleted: the end of a session that was
    /// ended, otherwise the absolute timeout. After the idle timeout the record is kept, so that a
    /// sign-out with the cookie still revokes the grants of the session.
    #[must_use]
    pub fn kept_until(&self) -> SystemTime {
        self.ended.map_or(self.expires_at, |end| end.at)
    }

    /// Returns the state at `now`. After both timeouts, the earlier timeout determines the state.
    #[must_use]
    pub fn state(&self, now: SystemTime) -> SessionState {
        if self.ended.is_some() {
            SessionState::Revoked
        } else if now < self.active_until() {
            SessionState::Active
        } else if self.active_until() == self.expires_at {
            SessionState::AbsoluteExpired
        } else {
            SessionState::IdleExpired
        }
    }

    /// Returns `true` if the store must record a use at `now`: the session is active, and its last
    /// recorded use is at least a tenth of the idle timeout ago.
    #[must_use]
    pub fn needs_touch(&self, now: SystemTime) -> bool {
        self.state(now) == SessionState::Active && now >= later(self.seen_at, self.idle / TOUCHES)
    }

    /// Returns the record after a use at `now`; `None` if the session is not active at `now`.
    #[must_use]
    pub fn touch(&self, now: SystemTime) -> Option<Self> {
        self.active(now).map(|session| Self {
            seen_at: session.seen_at.max(now),
            ..session
        })
    }

    /// Returns the record with the `hash` of a new secret; `None` if the session is not active at
    /// `now`. The renewal counts as a use. The absolute timeout does not change.
    #[must_use]
    pub fn renew(&self, hash: TokenHash, renewal: SessionRenewal, now: SystemTime) -> Option<Self> {
        self.touch(now).map(|session| Self {
            hash,
            renewed_from: Some(session.hash),
            auth_time: match renewal {
                SessionRenewal::Escalated => session.auth_time,
                SessionRenewal::Proven => session.auth_time.max(now),
            },
            ..session
        })
    }

    /// Returns `true` if a sign-out with the secret of this hash ends this session: `hash` is that
    /// of the current secret, or of the secret before the last renewal, which a concurrent request
    /// may have sent.
    #[must_use]
    pub fn matches_secret(&self, hash: &TokenHash) -> bool {
        self.hash == *hash || self.renewed_from == Some(*hash)
    }

    /// Returns the record of the session, ended at `now`; `None` if the session was ended or timed
    /// out before.
    #[must_use]
    pub fn revoke(&self, reason: RevocationReason, now: SystemTime) -> Option<Self> {
        self.active(now).map(|session| Self {
            ended: Some(SessionEnd::new(reason, now)),
            ..session
        })
    }

    fn active(&self, now: SystemTime) -> Option<Self> {
        (self.state(now) == SessionState::Active).then(|| self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session_state::SessionTrigger;

    const MINUTE: Duration = Duration::from_secs(60);
    const NANOSECOND: Duration = Duration::from_nanos(1);

    fn start() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)
    }

    fn session() -> SessionRecord {
        let id = SessionId::from_bytes([7; 16]);
        let timeouts = SessionTimeouts::default();
        SessionRecord::new(
            TokenHash::new("cookie"),
            id,
            "ada".parse().unwrap(),
            timeouts,
            start(),
        )
    }

    /// Returns the record after `trigger`, and the instant of the trigger: `now` or the later
    /// instant of a timeout.
    fn happen(
        record: &SessionRecord,
        trigger: SessionTrigger,
        now: SystemTime,
    ) -> (SessionRecord, SystemTime) {
        let same = || record.clone();
        match trigger {
            SessionTrigger::Used => (record.touch(now).unwrap_or_else(same), now),
            SessionTrigger::Escalated => {
                let renewal = SessionRenewal::Escalated;
                let renewed = record.renew(TokenHash::new("another cookie"), renewal, now);
                (renewed.unwrap_or_else(same), now)
            }
            SessionTrigger::Revoked => {
                let revoked = record.revoke(RevocationReason::SignedOut, now);
                (revoked.unwrap_or_else(same), now)
            }
            SessionTrigger::LeftIdle => (same(), now.max(record.seen_at + record.idle)),
            SessionTrigger::GrewOld => {
                // used up to the absolute timeout
                let mut busy = same();
                busy.seen_at = busy.seen_at.max(record.expires_at - NANOSECOND);
                (busy, now.max(record.expires_at))
            }
        }
    }

    /// S6: after any five triggers, a record has the state that [`SessionState::after`] gives; an
    /// ended session never becomes active.
    #[test]
    fn a_session_follows_the_table_of_its_states() {
        let triggers = SessionTrigger::ALL;
        for history in 0..triggers.len().pow(5) {
            let (mut record, mut now, mut state) = (session(), start(), SessionState::Active);
            for place in 0..5 {
                let trigger = triggers[history / triggers.len().pow(place) % triggers.len()];
                let next = state.after(trigger);
                assert_eq!(next.is_some(), state == SessionState::Active, "{trigger:?}");
                if let Some(next) = next {
                    (record, now) = happen(&record, trigger, now);
                    state = next;
                } else {
                    assert_eq!(record.touch(now), None);
                    for renewal in [SessionRenewal::Escalated, SessionRenewal::Proven] {
                        assert_eq!(record.renew(TokenHash::new("thief"), renewal, now), None);
                    }
                    assert_eq!(record.revoke(RevocationReason::SignedOut, now), None);
                    assert!(!record.needs_touch(now));
                }
                assert_eq!(record.state(now), state, "{trigger:?} in history {history}");
            }
        }
        for state in SessionState::ALL {
            assert_eq!(
                state.after(SessionTrigger::Used).is_some(),
                state == SessionState::Active
            );
        }
    }

    /// S2, 105: timeouts are exact to the nanosecond, and the earlier timeout determines the state.
    #[test]
    fn a_session_ends_idle_or_old_at_the_exact_instant() {
        let session = session();
        let idle = start() + 30 * MINUTE;
        assert_eq!(session.state(idle - NANOSECOND), SessionState::Active);
        assert_eq!(session.state(idle), SessionState::IdleExpired);
        // an idle session stays idle after its absolute timeout
        assert_eq!(session.state(session.expires_at), SessionState::IdleExpired);
        let mut busy = session.clone();
        while let Some(used) = busy.touch(busy.seen_at + 29 * MINUTE) {
            busy = used;
        }
        assert_eq!(busy.expires_at, start() + 8 * 60 * MINUTE);
        assert_eq!(busy.state(busy.expires_at - NANOSECOND), SessionState::Active);
        assert_eq!(busy.state(busy.expires_at), SessionState::AbsoluteExpired);
    }

    /// S2, 108: a use is recorded at most once in a tenth of the idle timeout, and a clock that
    /// goes back does not decrease `seen_at`.
    #[test]
    fn a_touch_is_rare_and_only_moves_forward() {
        let session = session();
        let due = start() + 3 * MINUTE;
        assert!(!session.needs_touch(due - NANOSECOND));
        assert!(session.needs_touch(due));
        assert!(!session.needs_touch(start() + 30 * MINUTE));
        let touched = session.touch(due).unwrap();
        assert_eq!(touched.seen_at, due);
        assert_eq!(touched.touch(start()).unwrap().seen_at, due);
    }

    /// S4: a renewed session has another secret, the same identifier and the same absolute timeout;
    /// authenticating again updates `auth_time`.
    #[test]
    fn a_renewed_session_has_another_secret_and_the_same_end() {
        let session = session();
        let now = start() + MINUTE;
        let hash = TokenHash::new("another cookie");
        let escalated = session.renew(hash, SessionRenewal::Escalated, now).unwrap();
        let expected = SessionRecord {
            hash,
            renewed_from: Some(session.hash),
            seen_at: now,
            ..session.clone()
        };
        assert_eq!(escalated, expected);
        let proven = session.renew(hash, SessionRenewal::Proven, now).unwrap();
        let expected = SessionRecord {
            auth_time: now,
            ..expected
        };
        assert_eq!(proven, expected);
        // the clock went back
        let again = proven
            .renew(session.hash, SessionRenewal::Proven, start())
            .unwrap();
        assert_eq!(again.auth_time, now);
    }

    /// S1, S4: the current and the previous secret match the session, older secrets do not.
    #[test]
    fn last_two_secrets_match_session() {
        let secrets = ["cookie", "second", "third"].map(TokenHash::new);
        let mut session = session();
        for (renewals, secret) in secrets.iter().enumerate() {
            if renewals > 0 {
                session = session
                    .renew(*secret, SessionRenewal::Escalated, start())
                    .unwrap();
            }
            for (place, secret) in secrets.iter().enumerate() {
                let last_two = place == renewals || place + 1 == renewals;
                assert_eq!(
                    session.matches_secret(secret),
                    last_two,
                    "{place} after {renewals}"
                );
            }
        }
    }
}
