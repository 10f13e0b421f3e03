//! State tables of codes and refresh tokens. Each table is a function with a result for every pair
//! of state and trigger.

use oauth_core::store::{RedeemOutcome, RefreshTokenState, RotateOutcome};

/// The state of an authorization code.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a table is total")]
pub enum CodeState {
    /// Never issued, purged, or dropped with its session or subject.
    Absent,
    /// Can be redeemed once.
    Fresh,
    /// Redeemed for a token family.
    Spent,
}

/// An event in the life of an authorization code.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a table is total")]
pub enum CodeTrigger {
    /// A redemption before the expiry; the grant names an active session or no session.
    Redeemed,
    /// A redemption at or after the expiry.
    RedeemedLate,
    /// A redemption before the expiry, but after the end of the session.
    RedeemedAfterSession,
    /// The end of its session, or of everything of its subject.
    GrantEnded,
}

/// The result of redeeming a code.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a table is total")]
pub enum CodeOutcome {
    /// The store returned [`RedeemOutcome::Redeemed`].
    Redeemed,
    /// The store returned [`RedeemOutcome::AlreadyRedeemed`].
    AlreadyRedeemed,
    /// The store returned [`RedeemOutcome::Expired`].
    Expired,
    /// The store returned [`RedeemOutcome::SessionEnded`].
    SessionEnded,
    /// The store returned [`RedeemOutcome::NotFound`].
    NotFound,
    /// The trigger was no redemption, so it has no result.
    None,
}

impl CodeState {
    /// All states.
    pub const ALL: [Self; 3] = [Self::Absent, Self::Fresh, Self::Spent];

    /// Returns the state after `trigger`, and the result of the redemption.
    #[must_use]
    pub const fn after(self, trigger: CodeTrigger) -> (Self, CodeOutcome) {
        use CodeTrigger::{GrantEnded, Redeemed, RedeemedAfterSession, RedeemedLate};
        match (self, trigger) {
            (Self::Absent, Redeemed | RedeemedLate | RedeemedAfterSession) => {
                (Self::Absent, CodeOutcome::NotFound)
            }
            (Self::Absent | Self::Fresh, GrantEnded) => (Self::Absent, CodeOutcome::None),
            (Self::Fresh, Redeemed) => (Self::Spent, CodeOutcome::Redeemed),
            (Self::Fresh, RedeemedLate) => (Self::Fresh, CodeOutcome::Expired),
            (Self::Fresh, RedeemedAfterSession) => (Self::Fresh, CodeOutcome::SessionEnded),
            (Self::Spent, Redeemed | RedeemedLate | RedeemedAfterSession) => {
                (Self::Spent, CodeOutcome::AlreadyRedeemed)
            }
            // the record of the redeemed code outlives its tokens, to detect a replay
            (Self::Spent, GrantEnded) => (Self::Spent, CodeOutcome::None),
        }
    }
}

impl CodeTrigger {
    /// All triggers.
    pub const ALL: [Self; 4] = [
        Self::Redeemed,
        Self::RedeemedLate,
        Self::RedeemedAfterSession,
        Self::GrantEnded,
    ];
}

impl CodeOutcome {
    /// Converts the outcome of a store.
    ///
    /// # Panics
    ///
    /// If the outcome is a variant that [`CodeOutcome`] does not have.
    #[must_use]
    #[expect(clippy::panic, reason = "a table is total")]
    pub const fn from_outcome(outcome: &RedeemOutcome) -> Self {
        match outcome {
            RedeemOutcome::Redeemed => Self::Redeemed,
            RedeemOutcome::AlreadyRedeemed { .. } => Self::AlreadyRedeemed,
            RedeemOutcome::Expired => Self::Expired,
            RedeemOutcome::SessionEnded => Self::SessionEnded,
            RedeemOutcome::NotFound => Self::NotFound,
            _ => panic!("the table of codes has no such outcome"),
        }
    }
}

/// The state of a refresh token in its family.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a table is total")]
pub enum RefreshState {
    /// Never issued, or purged.
    Absent,
    /// The active token of its family.
    Active,
    /// Rotated, in an active family. The store keeps it to detect reuse.
    Tombstone,
    /// The last token of a revoked family.
    Revoked,
    /// A tombstone of a revoked family.
    RevokedTombstone,
}

/// An event in the life of a refresh token.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a table is total")]
pub enum RefreshTrigger {
    /// A rotation before the expiry of the token and of its family.
    Rotated,
    /// A rotation at or after the expiry of the token or of its family.
    RotatedLate,
    /// The revocation of its family: after a reuse, by its client, or with its session or subject.
    FamilyRevoked,
}

impl RefreshState {
    /// All states.
    pub const ALL: [Self; 5] = [
        Self::Absent,
        Self::Active,
        Self::Tombstone,
        Self::Revoked,
        Self::RevokedTombstone,
    ];

    /// Converts the result of a lookup.
    #[must_use]
    pub const fn from_lookup(found: Option<&RefreshTokenState>) -> Self {
        let Some(state) = found else {
            return Self::Absent;
        };
        match (state.token.rotated.is_some(), state.family.revoked.is_some()) {
            (false, false) => Self::Active,
            (true, false) => Self::Tombstone,
            (false, true) => Self::Revoked,
            (true, true) => Self::RevokedTombstone,
        }
    }

    /// Returns the state after `trigger`, and the result of the rotation; `None` if the trigger was
    /// no rotation.
    #[must_use]
    pub const fn after(self, trigger: RefreshTrigger) -> (Self, Option<RotateOutcome>) {
        use RefreshTrigger::{FamilyRevoked, Rotated, RotatedLate};
        match (self, trigger) {
            (Self::Absent, Rotated | RotatedLate) => (Self::Absent, Some(RotateOutcome::NotFound)),
            (Self::Absent, FamilyRevoked) => (Self::Absent, None),
            (Self::Active, Rotated) => (Self::Tombstone, Some(RotateOutcome::Rotated)),
            (Self::Active, RotatedLate) => (Self::Active, Some(RotateOutcome::Expired)),
            (Self::Active | Self::Revoked, FamilyRevoked) => (Self::Revoked, None),
            (Self::Tombstone, Rotated | RotatedLate) => (Self::Tombstone, Some(RotateOutcome::Superseded)),
            (Self::Tombstone | Self::RevokedTombstone, FamilyRevoked) => (Self::RevokedTombstone, None),
            (Self::Revoked, Rotated | RotatedLate) => (Self::Revoked, Some(RotateOutcome::FamilyRevoked)),
            (Self::RevokedTombstone, Rotated | RotatedLate) => {
                (Self::RevokedTombstone, Some(RotateOutcome::FamilyRevoked))
            }
        }
    }
}

impl RefreshTrigger {
    /// All triggers.
    pub const ALL: [Self; 3] = [Self::Rotated, Self::RotatedLate, Self::FamilyRevoked];
}
