use std::fmt;

use super::{History, order, rules};
use oauth_core::secret::TokenHash;
use oauth_core::store::FamilyId;

/// A rule of the ports that a store broke.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Violation {
    /// One code was redeemed for two families.
    TwoFamilies(TokenHash),
    /// One refresh token was rotated twice.
    TwoSuccessors(TokenHash),
    /// Two refresh tokens of one family were active at the same time.
    TwoActiveTokens(FamilyId),
    /// A family was used or shown as active after a confirmed revocation.
    RevokedFamilyUsed(FamilyId),
    /// A redeemed code or a rotated token (a tombstone) was presented again, and its family was
    /// still active at the last lookup.
    ReplayNotRevoked(FamilyId),
    /// No sequential order explains the responses to the verbs with these numbers.
    NoOrder(Vec<usize>),
}

impl History {
    /// Checks the history against every rule.
    ///
    /// # Errors
    ///
    /// The first [`Violation`] found.
    pub fn check(&self) -> Result<(), Violation> {
        let broken = rules::two_families(self)
            .or_else(|| rules::two_successors(self))
            .or_else(|| rules::two_active_tokens(self))
            .or_else(|| rules::revoked_family_used(self))
            .or_else(|| rules::replay_not_revoked(self))
            .or_else(|| order::unexplained(self).map(Violation::NoOrder));
        broken.map_or(Ok(()), Err)
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TwoFamilies(code) => write!(f, "code {code} was redeemed for two families"),
            Self::TwoSuccessors(token) => write!(f, "refresh token {token} was rotated twice"),
            Self::TwoActiveTokens(family) => write!(f, "family {family} had two active refresh tokens"),
            Self::RevokedFamilyUsed(family) => {
                write!(f, "family {family} was revoked, and was active later")
            }
            Self::ReplayNotRevoked(family) => {
                write!(
                    f,
                    "a used code or token of family {family} was presented again, and the family is active"
                )
            }
            Self::NoOrder(places) => write!(f, "no sequential order explains the verbs {places:?}"),
        }
    }
}
