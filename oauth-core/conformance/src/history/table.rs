//! What each thing is, what can happen to it, and what it is then: total tables, with a line for each pair.

use oauth_core::store::{RedeemOutcome, RefreshTokenState, RotateOutcome};

/// Where an authorization code stands.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a table is total")]
pub enum CodeState {
    /// Never issued, purged, or dropped with everything of its subject or session.
    Absent,
    /// Good for one redemption.
    Fresh,
    /// It bought a family.
    Spent,
}

/// What happens to an authorization code.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a table is total")]
pub enum CodeTrigger {
    /// It is redeemed before it expires, while its session stands or where it names none.
    Redeemed,
    /// It is redeemed once it has expired.
    RedeemedLate,
    /// It is redeemed before it expires, and its session is over.
    RedeemedAfterSession,
    /// Its session or everything of its subject ends.
    GrantEnded,
}

/// What redeeming a code comes to.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a table is total")]
pub enum CodeAnswer {
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
    /// It was not redeemed.
    None,
}

impl CodeState {
    /// Every state.
    pub const ALL: [Self; 3] = [Self::Absent, Self::Fresh, Self::Spent];

    /// The state after `trigger`, and what its cause is answered.
    #[must_use]
    pub const fn after(self, trigger: CodeTrigger) -> (Self, CodeAnswer) {
        use CodeTrigger::{GrantEnded, Redeemed, RedeemedAfterSession, RedeemedLate};
        match (self, trigger) {
            (Self::Absent, Redeemed | RedeemedLate | RedeemedAfterSession) => {
                (Self::Absent, CodeAnswer::NotFound)
            }
            (Self::Absent | Self::Fresh, GrantEnded) => (Self::Absent, CodeAnswer::None),
            (Self::Fresh, Redeemed) => (Self::Spent, CodeAnswer::Redeemed),
            (Self::Fresh, RedeemedLate) => (Self::Fresh, CodeAnswer::Expired),
            (Self::Fresh, RedeemedAfterSession) => (Self::Fresh, CodeAnswer::SessionEnded),
            (Self::Spent, Redeemed | RedeemedLate | RedeemedAfterSession) => {
                (Self::Spent, CodeAnswer::AlreadyRedeemed)
            }
            // its tombstone outlives what it bought
            (Self::Spent, GrantEnded) => (Self::Spent, CodeAnswer::None),
        }
    }
}

impl CodeTrigger {
    /// Everything that can happen.
    pub const ALL: [Self; 4] = [
        Self::Redeemed,
        Self::RedeemedLate,
        Self::RedeemedAfterSession,
        Self::GrantEnded,
    ];
}

impl CodeAnswer {
    /// The answer of a store.
    ///
    /// # Panics
    ///
    /// If the outcome has no place in the table.
    #[must_use]
    #[expect(clippy::panic, reason = "a table is total")]
    pub const fn of(outcome: &RedeemOutcome) -> Self {
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

/// Where a refresh token stands in its family.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a table is total")]
pub enum LinkState {
    /// Never issued, or purged.
    Absent,
    /// The live leaf.
    Leaf,
    /// Rotated; its family stands.
    Tombstone,
    /// The leaf of a family that was revoked.
    DeadLeaf,
    /// A tombstone of a family that was revoked.
    DeadTombstone,
}

/// What happens to a refresh token.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a table is total")]
pub enum LinkTrigger {
    /// It is rotated before it and its family expire.
    Rotated,
    /// It is rotated once one of the two has expired.
    RotatedLate,
    /// Its family is revoked: by a theft, by its client, or with its session or subject.
    FamilyRevoked,
}

impl LinkState {
    /// Every state.
    pub const ALL: [Self; 5] = [
        Self::Absent,
        Self::Leaf,
        Self::Tombstone,
        Self::DeadLeaf,
        Self::DeadTombstone,
    ];

    /// The state of a token that was looked up.
    #[must_use]
    pub const fn of(found: Option<&RefreshTokenState>) -> Self {
        let Some(state) = found else {
            return Self::Absent;
        };
        match (state.token.rotated.is_some(), state.family.revoked.is_some()) {
            (false, false) => Self::Leaf,
            (true, false) => Self::Tombstone,
            (false, true) => Self::DeadLeaf,
            (true, true) => Self::DeadTombstone,
        }
    }

    /// The state after `trigger`, and what a rotation is answered.
    #[must_use]
    pub const fn after(self, trigger: LinkTrigger) -> (Self, Option<RotateOutcome>) {
        use LinkTrigger::{FamilyRevoked, Rotated, RotatedLate};
        match (self, trigger) {
            (Self::Absent, Rotated | RotatedLate) => (Self::Absent, Some(RotateOutcome::NotFound)),
            (Self::Absent, FamilyRevoked) => (Self::Absent, None),
            (Self::Leaf, Rotated) => (Self::Tombstone, Some(RotateOutcome::Rotated)),
            (Self::Leaf, RotatedLate) => (Self::Leaf, Some(RotateOutcome::Expired)),
            (Self::Leaf | Self::DeadLeaf, FamilyRevoked) => (Self::DeadLeaf, None),
            (Self::Tombstone, Rotated | RotatedLate) => (Self::Tombstone, Some(RotateOutcome::Superseded)),
            (Self::Tombstone | Self::DeadTombstone, FamilyRevoked) => (Self::DeadTombstone, None),
            (Self::DeadLeaf, Rotated | RotatedLate) => (Self::DeadLeaf, Some(RotateOutcome::FamilyRevoked)),
            (Self::DeadTombstone, Rotated | RotatedLate) => {
                (Self::DeadTombstone, Some(RotateOutcome::FamilyRevoked))
            }
        }
    }
}

impl LinkTrigger {
    /// Everything that can happen.
    pub const ALL: [Self; 3] = [Self::Rotated, Self::RotatedLate, Self::FamilyRevoked];
}
