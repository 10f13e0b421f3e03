//! Figures of the console: counts, events of a charge, token families of a user.

use std::cmp::Reverse;
use std::time::{Duration, SystemTime};

use oauth_core::store::{FamilyRevocation, RefreshTokenRecord, TokenFamily};
use webhook_core::sender::EndpointId;

use super::{Desk, DeskError};
use crate::domain::{ChargeId, Currency};

/// Charges of one hour in one currency.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HourOfCharges {
    /// Hours since the first instant of the query.
    pub hour: u32,
    /// Currency of the charges.
    pub currency: Currency,
    /// Number of the charges.
    pub count: u64,
    /// Sum in the currency's smallest unit.
    pub sum: u64,
}

impl HourOfCharges {
    pub(super) const fn new(hour: u32, currency: Currency, count: u64, sum: u64) -> Self {
        Self {
            hour,
            currency,
            count,
            sum,
        }
    }
}

/// Attempts to deliver to an endpoint within one hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HourOfAttempts {
    /// Hours since the first instant of the query.
    pub hour: u32,
    /// Attempts that were answered 2xx.
    pub acknowledged: u64,
    /// Attempts with another answer, or with none.
    pub failed: u64,
}

impl HourOfAttempts {
    pub(super) const fn new(hour: u32, acknowledged: u64, failed: u64) -> Self {
        Self {
            hour,
            acknowledged,
            failed,
        }
    }
}

/// A stored webhook event.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventSeen {
    /// Identifier of the event.
    pub id: String,
    /// Type of the event.
    pub event_type: String,
    /// Time of the event.
    pub created_at: SystemTime,
    /// Bytes that are signed and sent; empty once they are deleted.
    pub body: Vec<u8>,
}

impl EventSeen {
    pub(super) const fn new(id: String, event_type: String, created_at: SystemTime, body: Vec<u8>) -> Self {
        Self {
            id,
            event_type,
            created_at,
            body,
        }
    }
}

/// A token family with its refresh tokens, oldest first.
#[derive(Debug)]
#[non_exhaustive]
pub struct FamilySeen {
    /// The family.
    pub family: TokenFamily,
    /// Refresh tokens of the family.
    pub tokens: Vec<RefreshTokenSeen>,
}

/// A refresh token of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RefreshTokenSeen {
    /// Number of rotations before the token was issued.
    pub generation: u32,
    /// The token was replaced by the next one.
    pub is_rotated: bool,
}

/// Maximum number of events that are searched for a charge.
pub(super) const EVENTS_SEARCHED: u32 = 10_000;
/// Maximum number of families shown.
pub(super) const FAMILIES_SHOWN: u32 = 50;
/// Nanoseconds of an hour.
pub(super) const HOUR: i64 = 3_600_000_000_000;

/// A family and one of its refresh tokens, as their stores write them: JSON texts.
pub(super) struct FamilyRow<'a> {
    pub(super) family: &'a str,
    pub(super) revocation: Option<&'a str>,
    pub(super) token: Option<&'a str>,
    pub(super) is_rotated: bool,
}

impl FamilyRow<'_> {
    /// Adds the row to the families; the rows of a family are adjacent. Returns `None` for texts
    /// that no store has written.
    pub(super) fn add_to(&self, families: &mut Vec<FamilySeen>) -> Option<()> {
        let mut family: TokenFamily = serde_json::from_str(self.family).ok()?;
        if families.last().is_none_or(|last| last.family.id != family.id) {
            let revocation = self.revocation.map(serde_json::from_str::<FamilyRevocation>);
            family.revoked = revocation.transpose().ok()?;
            let tokens = Vec::new();
            families.push(FamilySeen { family, tokens });
        }
        if let (Some(token), Some(last)) = (self.token, families.last_mut()) {
            let token: RefreshTokenRecord = serde_json::from_str(token).ok()?;
            last.tokens.push(RefreshTokenSeen {
                generation: token.generation,
                is_rotated: self.is_rotated,
            });
        }
        Some(())
    }
}

impl Desk {
    /// Reads the charges since `from`, by hour and currency.
    ///
    /// # Errors
    ///
    /// Returns [`DeskError::Store`] if the database fails.
    pub async fn charges_by_hour(&self, from: SystemTime) -> Result<Vec<HourOfCharges>, DeskError> {
        self.store.charges_by_hour(from).await
    }

    /// Counts the charges of each status.
    ///
    /// # Errors
    ///
    /// Returns [`DeskError::Store`] if the database fails.
    pub async fn charges_by_status(&self) -> Result<Vec<(String, u64)>, DeskError> {
        self.store.charges_by_status().await
    }

    /// Counts the refunds of each status.
    ///
    /// # Errors
    ///
    /// Returns [`DeskError::Store`] if the database fails.
    pub async fn refunds_by_status(&self) -> Result<Vec<(String, u64)>, DeskError> {
        self.store.refunds_by_status().await
    }

    /// Counts the webhook deliveries in each state.
    ///
    /// # Errors
    ///
    /// Returns [`DeskError::Store`] if the database fails.
    pub async fn deliveries_by_state(&self) -> Result<Vec<(String, u64)>, DeskError> {
        self.store.deliveries_by_state().await
    }

    /// Counts the attempts to deliver to an endpoint since `from`, by hour. Hours without an
    /// attempt are left out.
    ///
    /// # Errors
    ///
    /// Returns [`DeskError::Store`] if the database fails.
    pub async fn attempts_by_hour(
        &self,
        endpoint: EndpointId,
        from: SystemTime,
    ) -> Result<Vec<HourOfAttempts>, DeskError> {
        self.store.attempts_by_hour(endpoint, from).await
    }

    /// Counts the webhook deliveries that ended without an acknowledgement.
    ///
    /// # Errors
    ///
    /// Returns [`DeskError::Store`] if the database fails.
    pub async fn failed_deliveries(&self) -> Result<u64, DeskError> {
        self.store.failed_deliveries().await
    }

    /// Reads the time at which the oldest unfinished delivery was accepted.
    ///
    /// # Errors
    ///
    /// Returns [`DeskError::Store`] if the database fails.
    pub async fn oldest_unfinished(&self) -> Result<Option<SystemTime>, DeskError> {
        self.store.oldest_unfinished().await
    }

    /// Reads at most fifty events about a charge, oldest first, among the first ten thousand since
    /// it was created.
    ///
    /// # Errors
    ///
    /// Returns [`DeskError::Store`] if the database fails.
    pub async fn events_of(
        &self,
        charge: ChargeId,
        created: SystemTime,
    ) -> Result<Vec<EventSeen>, DeskError> {
        // an event has the time of its charge in whole seconds
        let from = created.checked_sub(Duration::from_secs(1)).unwrap_or(created);
        self.store.events_of(charge, from).await
    }

    /// Reads a webhook event; its body is empty once it is deleted.
    ///
    /// # Errors
    ///
    /// Returns [`DeskError::Store`] if the database fails.
    pub async fn event(&self, id: String) -> Result<Option<EventSeen>, DeskError> {
        self.store.event(id).await
    }

    /// Reads the fifty token families of a user that expire last, newest first.
    ///
    /// # Errors
    ///
    /// Returns [`DeskError::Store`] if the database fails.
    pub async fn families_of(&self, subject: String) -> Result<Vec<FamilySeen>, DeskError> {
        let mut families = self.store.families_of(subject).await?;
        families.sort_by_key(|seen| Reverse(seen.family.created_at));
        for seen in &mut families {
            seen.tokens.sort_by_key(|token| token.generation);
        }
        Ok(families)
    }
}
