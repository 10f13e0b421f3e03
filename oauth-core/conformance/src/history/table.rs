//! State tables of codes and refresh tokens: total functions, with one line for each pair of state
//! and trigger.

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
    /// Redeemed before its expiry, and its grant names an active session or none.
    Redeemed,
    /// Redeemed at or after its expiry.
    RedeemedLate,
    /// Redeemed before its expiry, after the end of its session.
    RedeemedAfterSession,
    /// Its session, or everything of its subject, was ended.
    GrantEnded,
}

/// The result of redeeming a code.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a table is total")]
pub enum CodeOutcome {
    /// [`RedeemOutcome::Redeemed`].
    Redeemed,
    /// [`RedeemOutcome::AlreadyRedeemed`].
    AlreadyRedeemed,
    /// [`RedeemOutcome::Expired`].
    Expired,
    /// [`RedeemOutcome::SessionEnded`].
    SessionEnded,
    /// [`RedeemOutcome::NotFound`].
    NotFound,
    /// The code was not redeemed.
    None,
}

impl CodeState {
    /// All states.
    pub const ALL: [Self; 3] = [Self::Absent, Self::Fresh, Self::Spent];

    /// Returns the state after `trigger`, and the result for the caller.
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
            // its tombstone outlives the tokens that it was redeemed for
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
    /// If the outcome is not in the table.
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
    /// Rotated, in an active family: kept to detect reuse.
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
    /// Rotated before the expiry of the token and of its family.
    Rotated,
    /// Rotated at or after the expiry of either.
    RotatedLate,
    /// Its family was revoked: by a reuse, by its client, or with its session or subject.
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

    /// Returns the state after `trigger`, and the result of the rotation.
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
