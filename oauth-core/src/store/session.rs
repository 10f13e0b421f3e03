use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::{RevocationReason, SessionId};
use crate::secret::TokenHash;
use crate::session_state::SessionState;
use crate::session_timeouts::SessionTimeouts;
use crate::time::later;
use crate::vocabulary::Subject;

/// A session is written to the store at most this many times within its idle timeout.
const TOUCHES: u32 = 10;

/// The session of one user in one browser.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct SessionRecord {
    /// The hash of the secret in the browser's cookie. Another one after each renewal.
    pub hash: TokenHash,
    /// The hash of the secret before the last renewal: it opens nothing, but whoever signs out by it means this session.
    pub renewed_from: Option<TokenHash>,
    /// Its name, which stays: for lists, for what was granted in it, and for events.
    pub id: SessionId,
    /// Who is signed in.
    pub subject: Subject,
    /// When they proved it last.
    pub auth_time: SystemTime,
    /// When it began.
    pub created_at: SystemTime,
    /// When it was last used, give or take a tenth of the idle timeout. Only grows.
    pub seen_at: SystemTime,
    /// How long it may go unused.
    pub idle: Duration,
    /// The instant from which it opens nothing, however busy it was. Never moves.
    pub expires_at: SystemTime,
    /// What a list of sessions calls it, the browser's name for instance.
    pub label: Option<String>,
    /// Whether, when and why it ended early.
    pub ended: Option<SessionEnd>,
}

/// Why a session goes on under another secret.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum SessionRenewal {
    /// Its user gained higher rights.
    Escalated,
    /// Its user proved anew who they are: that counts as their sign-in from now on.
    Proven,
}

/// The end of a session before its time.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store must notice a field that it does not keep"
)]
pub struct SessionEnd {
    /// Why.
    pub reason: RevocationReason,
    /// When.
    pub at: SystemTime,
}

impl SessionEnd {
    /// An end for `reason` at `at`.
    #[must_use]
    pub const fn new(reason: RevocationReason, at: SystemTime) -> Self {
        Self { reason, at }
    }
}

impl SessionRecord {
    /// The session of `subject`, who has just proven who they are, under the cookie of this hash.
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

    /// Calls the session `label` in lists.
    #[must_use]
    pub fn with_label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// The instant of the earlier of its two ends, as it was used so far.
    #[must_use]
    pub fn active_until(&self) -> SystemTime {
        later(self.seen_at, self.idle).min(self.expires_at)
    }

    /// The instant from which the record may be forgotten. One that was left idle is kept until it is too old, which is how long its
    /// browser keeps the cookie: whoever signs out by it then ends what was granted in it.
    #[must_use]
    pub fn kept_until(&self) -> SystemTime {
        self.ended.map_or(self.expires_at, |end| end.at)
    }

    /// Where the session stands at `now`. Of two limits the one that came first counts.
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

    /// Whether a use at `now` is to be written down: the session is active, and was last seen a while ago.
    #[must_use]
    pub fn is_to_be_touched(&self, now: SystemTime) -> bool {
        self.state(now) == SessionState::Active && now >= later(self.seen_at, self.idle / TOUCHES)
    }

    /// The session after a use at `now`; `None` when it is over.
    #[must_use]
    pub fn touched(&self, now: SystemTime) -> Option<Self> {
        self.active(now).map(|session| Self {
            seen_at: session.seen_at.max(now),
            ..session
        })
    }

    /// The session under a new secret from `now` on; `None` when it is over. It lasts no longer for it.
    #[must_use]
    pub fn renewed(&self, hash: TokenHash, renewal: SessionRenewal, now: SystemTime) -> Option<Self> {
        self.touched(now).map(|session| Self {
            hash,
            renewed_from: Some(session.hash),
            auth_time: match renewal {
                SessionRenewal::Escalated => session.auth_time,
                SessionRenewal::Proven => session.auth_time.max(now),
            },
            ..session
        })
    }

    /// Whether whoever signs out by the secret of this hash means this session: its secret, or the one before the last
    /// renewal, which a request may have had on the way.
    #[must_use]
    pub fn is_meant_by(&self, hash: &TokenHash) -> bool {
        self.hash == *hash || self.renewed_from == Some(*hash)
    }

    /// The session, ended at `now`; `None` when it was over before.
    #[must_use]
    pub fn revoked(&self, reason: RevocationReason, now: SystemTime) -> Option<Self> {
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
            TokenHash::of("cookie"),
            id,
            "ada".parse().unwrap(),
            timeouts,
            start(),
        )
    }

    /// What a record becomes by each trigger, and when that is.
    fn happen(
        record: &SessionRecord,
        trigger: SessionTrigger,
        now: SystemTime,
    ) -> (SessionRecord, SystemTime) {
        let same = || record.clone();
        match trigger {
            SessionTrigger::Used => (record.touched(now).unwrap_or_else(same), now),
            SessionTrigger::Escalated => {
                let renewal = SessionRenewal::Escalated;
                let renewed = record.renewed(TokenHash::of("another cookie"), renewal, now);
                (renewed.unwrap_or_else(same), now)
            }
            SessionTrigger::Revoked => {
                let revoked = record.revoked(RevocationReason::SignedOut, now);
                (revoked.unwrap_or_else(same), now)
            }
            SessionTrigger::LeftIdle => (same(), now.max(record.seen_at + record.idle)),
            SessionTrigger::GrewOld => {
                // busy to the end
                let mut busy = same();
                busy.seen_at = busy.seen_at.max(record.expires_at - NANOSECOND);
                (busy, now.max(record.expires_at))
            }
        }
    }

    /// S6: after any five things, a record stands where the table says, and never opens anything again once it was over.
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
                    assert_eq!(record.touched(now), None);
                    for renewal in [SessionRenewal::Escalated, SessionRenewal::Proven] {
                        assert_eq!(record.renewed(TokenHash::of("thief"), renewal, now), None);
                    }
                    assert_eq!(record.revoked(RevocationReason::SignedOut, now), None);
                    assert!(!record.is_to_be_touched(now));
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

    /// S2, 105: to the nanosecond, from the clock alone, and the limit that came first is the one that counts.
    #[test]
    fn a_session_ends_idle_or_old_at_the_exact_instant() {
        let session = session();
        let idle = start() + 30 * MINUTE;
        assert_eq!(session.state(idle - NANOSECOND), SessionState::Active);
        assert_eq!(session.state(idle), SessionState::IdleExpired);
        // left idle it stays, however old it becomes
        assert_eq!(session.state(session.expires_at), SessionState::IdleExpired);
        let mut busy = session.clone();
        while let Some(used) = busy.touched(busy.seen_at + 29 * MINUTE) {
            busy = used;
        }
        assert_eq!(busy.expires_at, start() + 8 * 60 * MINUTE);
        assert_eq!(busy.state(busy.expires_at - NANOSECOND), SessionState::Active);
        assert_eq!(busy.state(busy.expires_at), SessionState::AbsoluteExpired);
    }

    /// S2, 108: a use is written down once in a tenth of the idle timeout, and a clock that goes back takes nothing away.
    #[test]
    fn a_touch_is_rare_and_only_moves_forward() {
        let session = session();
        let due = start() + 3 * MINUTE;
        assert!(!session.is_to_be_touched(due - NANOSECOND));
        assert!(session.is_to_be_touched(due));
        assert!(!session.is_to_be_touched(start() + 30 * MINUTE));
        let touched = session.touched(due).unwrap();
        assert_eq!(touched.seen_at, due);
        assert_eq!(touched.touched(start()).unwrap().seen_at, due);
    }

    /// S4: a renewed session has another secret, the same name, and not a moment longer to live; who proved anew who they
    /// are has signed in then.
    #[test]
    fn a_renewed_session_has_another_secret_and_the_same_end() {
        let session = session();
        let now = start() + MINUTE;
        let hash = TokenHash::of("another cookie");
        let escalated = session.renewed(hash, SessionRenewal::Escalated, now).unwrap();
        let expected = SessionRecord {
            hash,
            renewed_from: Some(session.hash),
            seen_at: now,
            ..session.clone()
        };
        assert_eq!(escalated, expected);
        let proven = session.renewed(hash, SessionRenewal::Proven, now).unwrap();
        let expected = SessionRecord {
            auth_time: now,
            ..expected
        };
        assert_eq!(proven, expected);
        // by a clock that went back
        let again = proven
            .renewed(session.hash, SessionRenewal::Proven, start())
            .unwrap();
        assert_eq!(again.auth_time, now);
    }

    /// S1, S4: the secret before the last renewal still means the session, and none before that one.
    #[test]
    fn a_session_is_meant_by_its_last_two_secrets() {
        let secrets = ["cookie", "second", "third"].map(TokenHash::of);
        let mut session = session();
        for (renewals, secret) in secrets.iter().enumerate() {
            if renewals > 0 {
                session = session
                    .renewed(*secret, SessionRenewal::Escalated, start())
                    .unwrap();
            }
            for (place, secret) in secrets.iter().enumerate() {
                let last_two = place == renewals || place + 1 == renewals;
                assert_eq!(session.is_meant_by(secret), last_two, "{place} after {renewals}");
            }
        }
    }
}
