//! Decides a claim on the stored record.

use std::time::SystemTime;

use super::{AfterCrash, Claim, Record, RequestOutcome, State};

/// Outcome of a claim.
#[derive(Clone, Debug, Eq, PartialEq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a claim has no further outcome, and hosts answer each"
)]
pub enum ClaimOutcome {
    /// The claimant holds the key and must run the request.
    Claimed,
    /// The key belongs to a different request.
    Mismatched,
    /// The same request holds the key, and its lease has not expired.
    InFlight {
        /// Expiry of the lease.
        lease_until: SystemTime,
    },
    /// The same request is settled.
    Settled(RequestOutcome),
}

/// Decides a claim on the record that is stored under its key.
///
/// Pure. A store calls it in the atomic step that loads the record. If it returns
/// [`ClaimOutcome::Claimed`], the store writes [`Claim::record`] in the same step.
///
/// # Security
///
/// The fingerprint is compared first: a different request learns nothing about the state of the
/// first one.
///
/// ```
/// use std::time::{Duration, SystemTime};
///
/// use http_conventions::idempotency::{
///     AfterCrash, Claim, ClaimOutcome, Fence, Fingerprint, RecordKey, RequestOutcome, decide,
/// };
///
/// let now = SystemTime::UNIX_EPOCH;
/// let (key, request) = (
///     RecordKey::from_bytes([1; 32]),
///     Fingerprint::from_bytes([2; 32]),
/// );
/// let (lease_until, expires_at) = (
///     now + Duration::from_secs(60),
///     now + Duration::from_secs(86_400),
/// );
/// let claim = Claim::new(
///     key,
///     request,
///     Fence::from_bytes([3; 16]),
///     lease_until,
///     expires_at,
/// );
///
/// assert_eq!(decide(None, &claim, now), ClaimOutcome::Claimed);
/// let held = claim.record();
/// assert_eq!(
///     decide(Some(held.clone()), &claim, now),
///     ClaimOutcome::InFlight { lease_until }
/// );
///
/// // the holder crashed: its lease has expired
/// assert_eq!(
///     decide(Some(held.clone()), &claim, lease_until),
///     ClaimOutcome::Settled(RequestOutcome::Indeterminate)
/// );
/// let again = claim.with_after_crash(AfterCrash::RunAgain);
/// assert_eq!(
///     decide(Some(held), &again, lease_until),
///     ClaimOutcome::Claimed
/// );
/// ```
#[must_use]
pub fn decide(existing: Option<Record>, claim: &Claim, now: SystemTime) -> ClaimOutcome {
    let Some(record) = existing.filter(|record| now < record.expires_at) else {
        return ClaimOutcome::Claimed;
    };
    if record.fingerprint != claim.fingerprint {
        return ClaimOutcome::Mismatched;
    }
    match (record.state, claim.after_crash) {
        (State::Settled(outcome), _) => ClaimOutcome::Settled(outcome),
        (State::InFlight { lease_until, .. }, _) if now < lease_until => {
            ClaimOutcome::InFlight { lease_until }
        }
        (State::InFlight { .. }, AfterCrash::Refuse) => ClaimOutcome::Settled(RequestOutcome::Indeterminate),
        (State::InFlight { .. }, AfterCrash::RunAgain) => ClaimOutcome::Claimed,
    }
}
