use std::time::SystemTime;

use super::{ResetTokenRecord, Revoked, SessionRecord, SessionRenewal};
use crate::secret::TokenHash;
use crate::vocabulary::Subject;

/// Outcome of a [`SessionChange`]. The checks are made in the order `NotFound`, `Over`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[must_use]
#[non_exhaustive]
pub enum SessionOutcome {
    /// The session was active and was changed.
    Done,
    /// The session has timed out or was ended; nothing changed.
    Over,
    /// No session has this secret; nothing changed.
    NotFound,
}

/// A change of an active session.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "the verbs of a store that change one session"
)]
pub enum SessionChange {
    /// Records a use: [`SessionStore::touch_session`](super::SessionStore::touch_session).
    Touch,
    /// Replaces the secret: [`SessionStore::renew_session`](super::SessionStore::renew_session).
    Renew {
        /// Hash of the new secret.
        hash: TokenHash,
        /// Reason of the renewal.
        renewal: SessionRenewal,
    },
}

impl SessionChange {
    /// Decides the change of `session` at `now`. `session` is the record that the store read, or
    /// `None` if the store found no record. Returns the new record, which the store writes in the
    /// same step; the outcome is then [`SessionOutcome::Done`].
    ///
    /// # Errors
    ///
    /// The outcome of a refusal: [`SessionOutcome::NotFound`] or [`SessionOutcome::Over`].
    pub fn decide(
        self,
        session: Option<&SessionRecord>,
        now: SystemTime,
    ) -> Result<SessionRecord, SessionOutcome> {
        let session = session.ok_or(SessionOutcome::NotFound)?;
        let changed = match self {
            Self::Touch => session.touch(now),
            Self::Renew { hash, renewal } => session.renew(hash, renewal, now),
        };
        changed.ok_or(SessionOutcome::Over)
    }
}

/// Outcome of redeeming a password-reset token. The checks are made in the order `NotFound`,
/// `Expired`.
#[derive(Clone, Debug, Eq, PartialEq)]
#[must_use]
#[non_exhaustive]
pub enum ResetOutcome {
    /// The token was deleted, and its user is signed out everywhere.
    Redeemed {
        /// User whose password may now be set.
        subject: Subject,
        /// Numbers of ended and deleted records of the user.
        revoked: Revoked,
    },
    /// The token has expired; nothing changed.
    Expired,
    /// The token does not exist or has no user: it was never issued, was redeemed before, was
    /// replaced by a newer token, or was issued for an unknown address. Nothing changed.
    NotFound,
}

impl ResetOutcome {
    /// Decides the redemption of `token` at `now`. `token` is the record that the store read, or
    /// `None` if the store found no record. Returns the subject. In the same step the store ends
    /// the sessions, token families, codes and reset tokens of this subject; the outcome is then
    /// [`ResetOutcome::Redeemed`].
    ///
    /// # Errors
    ///
    /// The outcome of a refusal: [`ResetOutcome::NotFound`], also for a token without a subject, or
    /// [`ResetOutcome::Expired`].
    pub fn decide(token: Option<&ResetTokenRecord>, now: SystemTime) -> Result<&Subject, Self> {
        let token = token.ok_or(Self::NotFound)?;
        let subject = token.subject.as_ref().ok_or(Self::NotFound)?;
        if now >= token.expires_at {
            return Err(Self::Expired);
        }
        Ok(subject)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session_timeouts::SessionTimeouts;
    use crate::store::{RevocationReason, SessionEnd, SessionId};
    use std::time::Duration;

    const NANOSECOND: Duration = Duration::from_nanos(1);

    fn now() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)
    }

    /// Two sessions that end at `now`, the first by its idle timeout, the second by its absolute
    /// timeout.
    fn sessions() -> [SessionRecord; 2] {
        let timeouts = SessionTimeouts::default();
        [timeouts.idle(), timeouts.absolute()].map(|before| {
            let id = SessionId::from_bytes([7; 16]);
            let subject = "ada".parse().unwrap();
            let hash = TokenHash::new("cookie");
            let mut session = SessionRecord::new(hash, id, subject, timeouts, now() - before);
            if before == timeouts.absolute() {
                session.seen_at = now() - NANOSECOND;
            }
            session
        })
    }

    /// S2, S4: a missing session is refused first, then a session that is over. Otherwise the
    /// change is made. All changes and states are tried.
    #[test]
    fn session_change_is_decided_in_documented_order() {
        let renewal = |renewal| SessionChange::Renew {
            hash: TokenHash::new("new cookie"),
            renewal,
        };
        for change in [
            SessionChange::Touch,
            renewal(SessionRenewal::Escalated),
            renewal(SessionRenewal::Proven),
        ] {
            assert_eq!(change.decide(None, now()), Err(SessionOutcome::NotFound));
            for session in sessions() {
                let active = now() - NANOSECOND;
                let changed = match change {
                    SessionChange::Touch => session.touch(active),
                    SessionChange::Renew { hash, renewal } => session.renew(hash, renewal, active),
                };
                assert_eq!(change.decide(Some(&session), active), Ok(changed.unwrap()));
                let mut ended = session.clone();
                ended.ended = Some(SessionEnd::new(RevocationReason::SignedOut, active));
                for (session, at) in [(&session, now()), (&ended, active), (&ended, now())] {
                    let over = Err(SessionOutcome::Over);
                    assert_eq!(change.decide(Some(session), at), over, "{session:?}");
                }
            }
        }
    }

    /// S5: a missing token or a token without a subject is refused first, then an expired token.
    /// All 6 combinations are tried.
    #[test]
    fn reset_is_decided_in_documented_order() {
        assert_eq!(ResetOutcome::decide(None, now()), Err(ResetOutcome::NotFound));
        let ada: Subject = "ada".parse().unwrap();
        for subject in [None, Some(ada)] {
            for (expires_at, is_expired) in [
                (now() - NANOSECOND, true),
                (now(), true),
                (now() + NANOSECOND, false),
            ] {
                let token = ResetTokenRecord {
                    hash: TokenHash::new("reset"),
                    subject: subject.clone(),
                    issued_at: now(),
                    expires_at,
                };
                let expected = match (&subject, is_expired) {
                    (None, _) => Err(ResetOutcome::NotFound),
                    (Some(_), true) => Err(ResetOutcome::Expired),
                    (Some(subject), false) => Ok(subject),
                };
                assert_eq!(ResetOutcome::decide(Some(&token), now()), expected, "{token:?}");
            }
        }
    }
}
