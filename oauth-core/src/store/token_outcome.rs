use std::time::SystemTime;

use super::{AuthorizationCodeRecord, FamilyId, RefreshTokenRecord, TokenFamily};

/// Outcome of [`TokenStore::redeem_code`](super::TokenStore::redeem_code). The checks are made in
/// the order `NotFound`, `AlreadyRedeemed`, `Expired`, `SessionEnded`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[must_use]
#[non_exhaustive]
pub enum RedeemOutcome {
    /// The code is now redeemed, and the token family and its tokens are stored.
    Redeemed,
    /// The code was redeemed before; nothing changed.
    AlreadyRedeemed {
        /// Token family that the first redemption created.
        family: FamilyId,
    },
    /// The code was not redeemed and has expired; nothing changed.
    Expired,
    /// The session that the grant names was ended, has timed out or does not exist; nothing
    /// changed.
    SessionEnded,
    /// No such code exists.
    NotFound,
}

impl RedeemOutcome {
    /// Decides the outcome of redeeming a code at `now`. `code` is the row that the store read, or
    /// `None` if the store found no code.
    ///
    /// On `Redeemed` the store writes the redemption in the step in which it read the row. On any
    /// other outcome it writes nothing.
    ///
    /// ```
    /// use std::time::{Duration, SystemTime};
    /// use oauth_core::store::{CodeSnapshot, RedeemOutcome};
    ///
    /// let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    /// let fresh = CodeSnapshot {
    ///     redeemed: None,
    ///     expires_at: now + Duration::from_secs(1),
    ///     is_session_active: true,
    /// };
    /// assert_eq!(RedeemOutcome::decide(Some(fresh), now), RedeemOutcome::Redeemed);
    /// assert_eq!(RedeemOutcome::decide(Some(fresh), fresh.expires_at), RedeemOutcome::Expired);
    /// assert_eq!(RedeemOutcome::decide(None, now), RedeemOutcome::NotFound);
    /// ```
    pub fn decide(code: Option<CodeSnapshot>, now: SystemTime) -> Self {
        let Some(code) = code else {
            return Self::NotFound;
        };
        if let Some(family) = code.redeemed {
            return Self::AlreadyRedeemed { family };
        }
        if now >= code.expires_at {
            return Self::Expired;
        }
        if !code.is_session_active {
            return Self::SessionEnded;
        }
        Self::Redeemed
    }
}

/// Part of a stored code that decides the outcome of a redemption.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store builds it; a new condition must not go unnoticed"
)]
pub struct CodeSnapshot {
    /// Token family that the redemption created; `None` if the code was not redeemed.
    pub redeemed: Option<FamilyId>,
    /// Instant from which the code is refused.
    pub expires_at: SystemTime,
    /// The result of [`Grant::is_session_active`](super::Grant::is_session_active).
    pub is_session_active: bool,
}

impl CodeSnapshot {
    /// Takes the snapshot from a whole record.
    #[must_use]
    pub const fn new(code: &AuthorizationCodeRecord, is_session_active: bool) -> Self {
        Self {
            redeemed: code.redeemed,
            expires_at: code.expires_at,
            is_session_active,
        }
    }
}

/// Outcome of [`TokenStore::rotate`](super::TokenStore::rotate). The checks are made in the order
/// `NotFound`, `FamilyRevoked`, `Superseded`, `Expired`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[must_use]
#[non_exhaustive]
pub enum RotateOutcome {
    /// The presented token is now marked as rotated, and the new refresh token and access token are
    /// stored.
    Rotated,
    /// The family was revoked; nothing changed.
    FamilyRevoked,
    /// The presented token was rotated before; nothing changed.
    Superseded,
    /// The token or its family has expired; nothing changed.
    Expired,
    /// No such token exists.
    NotFound,
}

impl RotateOutcome {
    /// Decides the outcome of rotating a refresh token at `now`. `token` is the snapshot of the
    /// rows that the store read, or `None` if the store found no token or no family of the token.
    ///
    /// On `Rotated` the store writes the rotation in the step in which it read the rows. On any
    /// other outcome it writes nothing.
    ///
    /// ```
    /// use std::time::{Duration, SystemTime};
    /// use oauth_core::store::{RefreshTokenSnapshot, RotateOutcome};
    ///
    /// let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    /// let leaf = RefreshTokenSnapshot {
    ///     is_family_revoked: false,
    ///     is_rotated: false,
    ///     expires_at: now + Duration::from_secs(1),
    /// };
    /// assert_eq!(RotateOutcome::decide(Some(leaf), now), RotateOutcome::Rotated);
    /// let tombstone = RefreshTokenSnapshot { is_rotated: true, ..leaf };
    /// let outcome = RotateOutcome::decide(Some(tombstone), leaf.expires_at);
    /// assert_eq!(outcome, RotateOutcome::Superseded);
    /// ```
    pub fn decide(token: Option<RefreshTokenSnapshot>, now: SystemTime) -> Self {
        let Some(token) = token else {
            return Self::NotFound;
        };
        if token.is_family_revoked {
            return Self::FamilyRevoked;
        }
        if token.is_rotated {
            return Self::Superseded;
        }
        if now >= token.expires_at {
            return Self::Expired;
        }
        Self::Rotated
    }
}

/// Part of a stored refresh token and its family that decides the outcome of a rotation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a store builds it; a new condition must not go unnoticed"
)]
pub struct RefreshTokenSnapshot {
    /// `true` if the family was revoked.
    pub is_family_revoked: bool,
    /// `true` if the token was rotated.
    pub is_rotated: bool,
    /// The earlier `expires_at` of the token and its family.
    pub expires_at: SystemTime,
}

impl RefreshTokenSnapshot {
    /// Takes the snapshot from the whole records of a token and its family.
    #[must_use]
    pub fn new(token: &RefreshTokenRecord, family: &TokenFamily) -> Self {
        Self {
            is_family_revoked: family.revoked.is_some(),
            is_rotated: token.rotated.is_some(),
            expires_at: token.expires_at.min(family.expires_at),
        }
    }
}

/// Outcome of revoking a token family or an access token.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[must_use]
#[non_exhaustive]
pub enum RevokeOutcome {
    /// The token or family was not revoked before and is revoked now.
    Revoked,
    /// The token or family was revoked before; the first instant and reason stay.
    AlreadyRevoked,
    /// No such token or family exists.
    NotFound,
}

impl RevokeOutcome {
    /// Decides the outcome of revoking a token family or an access token. `is_revoked` is the state
    /// that the store read, or `None` if the store found no such family or token.
    ///
    /// On `Revoked` the store writes the revocation in the step in which it read the row. On any
    /// other outcome it writes nothing. An expired family or token is revoked like a valid one.
    pub const fn decide(is_revoked: Option<bool>) -> Self {
        match is_revoked {
            None => Self::NotFound,
            Some(true) => Self::AlreadyRevoked,
            Some(false) => Self::Revoked,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const FAMILY: FamilyId = FamilyId::from_bytes([7; 16]);
    const NANOSECOND: Duration = Duration::from_nanos(1);

    fn now() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)
    }

    /// Expiry instants around `now`, each with `true` if a record with this expiry has expired.
    fn expiries() -> [(SystemTime, bool); 3] {
        [
            (now() - NANOSECOND, true),
            (now(), true),
            (now() + NANOSECOND, false),
        ]
    }

    /// O6, O10, S3: the checks are made in the order not found, already redeemed, expired, session
    /// ended. All 12 combinations are tried.
    #[test]
    fn redemption_is_decided_in_documented_order() {
        assert_eq!(RedeemOutcome::decide(None, now()), RedeemOutcome::NotFound);
        for redeemed in [None, Some(FAMILY)] {
            for (expires_at, is_expired) in expiries() {
                for is_session_active in [false, true] {
                    let code = CodeSnapshot {
                        redeemed,
                        expires_at,
                        is_session_active,
                    };
                    let expected = match (redeemed, is_expired, is_session_active) {
                        (Some(family), ..) => RedeemOutcome::AlreadyRedeemed { family },
                        (None, true, _) => RedeemOutcome::Expired,
                        (None, false, false) => RedeemOutcome::SessionEnded,
                        (None, false, true) => RedeemOutcome::Redeemed,
                    };
                    assert_eq!(RedeemOutcome::decide(Some(code), now()), expected, "{code:?}");
                }
            }
        }
    }

    /// O9, O10: the checks are made in the order not found, family revoked, already rotated,
    /// expired. All 12 combinations are tried.
    #[test]
    fn rotation_is_decided_in_documented_order() {
        assert_eq!(RotateOutcome::decide(None, now()), RotateOutcome::NotFound);
        for is_family_revoked in [false, true] {
            for is_rotated in [false, true] {
                for (expires_at, is_expired) in expiries() {
                    let token = RefreshTokenSnapshot {
                        is_family_revoked,
                        is_rotated,
                        expires_at,
                    };
                    let expected = match (is_family_revoked, is_rotated, is_expired) {
                        (true, ..) => RotateOutcome::FamilyRevoked,
                        (false, true, _) => RotateOutcome::Superseded,
                        (false, false, true) => RotateOutcome::Expired,
                        (false, false, false) => RotateOutcome::Rotated,
                    };
                    assert_eq!(RotateOutcome::decide(Some(token), now()), expected, "{token:?}");
                }
            }
        }
    }

    /// O13: only the first revocation changes the record, and a missing token is not revoked.
    #[test]
    fn revocation_is_decided_by_first_revocation() {
        for (is_revoked, expected) in [
            (None, RevokeOutcome::NotFound),
            (Some(false), RevokeOutcome::Revoked),
            (Some(true), RevokeOutcome::AlreadyRevoked),
        ] {
            assert_eq!(RevokeOutcome::decide(is_revoked), expected);
        }
    }
}
