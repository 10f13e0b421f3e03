//! Signing keys of the service: stored once for all processes, and rotated by schedule.

use std::time::{Duration, SystemTime};

use oauth_core::jose::{InvalidKey, InvalidKeySet, KeySet, SigningKey, SigningKeys};
use oauth_core::ports::OsEntropy;
use thiserror::Error;

use super::plan::{KeyTimes, RotationPlan, RotationPolicy, plan};
use crate::desk::{Desk, DeskError, StoredKey};

const DAY: Duration = Duration::from_secs(86_400);

/// Time for which a key is published before it signs. Processes read the stored keys each minute,
/// and resource servers the published ones every five.
const PUBLISHED_AHEAD: Duration = DAY;

/// Time for which a key is published after it has signed: an hour, the longest lifetime of a
/// token, after the eight hours in which the ID token of a session is shown again at its end.
const PUBLISHED_AFTER: Duration = Duration::from_secs(9 * 3600);

/// Schedule of keys that each sign for this time.
///
/// # Errors
///
/// [`KeyError::Schedule`] outside of 2 to 365 days
pub(super) fn policy(signs_for: Duration) -> Result<RotationPolicy, KeyError> {
    match (2 * DAY..=365 * DAY).contains(&signs_for) {
        true => Ok(RotationPolicy {
            signs_for,
            published_ahead: PUBLISHED_AHEAD,
            published_after: PUBLISHED_AFTER,
        }),
        false => Err(KeyError::Schedule),
    }
}

/// Failure of the signing keys.
#[derive(Debug, Error)]
pub(in crate::app) enum KeyError {
    /// The database failed.
    #[error("the database of the signing keys failed")]
    Store(#[from] DeskError),
    /// A stored key is unreadable, or no key could be generated.
    #[error("a signing key is not usable")]
    Invalid(#[from] InvalidKey),
    /// A generated key has no exportable form.
    #[error("the signing key cannot be exported")]
    NotExportable,
    /// The stored keys are no set.
    #[error("the signing keys are no set")]
    NoSet(#[from] InvalidKeySet),
    /// The time for which a key signs is out of range.
    #[error("a key signs for 2 to 365 days")]
    Schedule,
    /// The database returned no key that it has just stored.
    #[error("the database has no signing key")]
    Missing,
}

/// Keys of one purpose.
#[derive(Clone, Copy)]
pub(super) struct Purpose {
    name: &'static str,
    generate: fn() -> Result<SigningKey, InvalidKey>,
}

/// Keys that sign access tokens.
pub(super) const ACCESS_TOKENS: Purpose = Purpose {
    name: "access-token",
    generate: || SigningKey::generate_es256(&OsEntropy),
};

/// Keys that sign ID tokens: many clients accept RS256 only.
pub(super) const ID_TOKENS: Purpose = Purpose {
    name: "id-token",
    generate: SigningKey::generate_rsa,
};

/// The stored keys of a purpose, in ascending order of their numbers.
pub(super) struct KeyChain(Vec<(KeyTimes, SigningKey)>);

impl KeyChain {
    /// Reads the keys, and takes the step of their plan: creates a key that is due, and deletes
    /// those that are no longer published. Concurrent calls, also of other processes, create a key
    /// once.
    pub(super) async fn load(
        desk: &Desk,
        purpose: Purpose,
        policy: RotationPolicy,
        now: SystemTime,
    ) -> Result<Self, KeyError> {
        let chain = Self::read(desk, purpose).await?;
        let RotationPlan {
            creation,
            delete_below,
            ..
        } = chain.plan(policy, now);
        let is_obsolete = |(key, _): &(KeyTimes, SigningKey)| key.number < delete_below;
        if chain.0.iter().any(is_obsolete) {
            desk.delete_signing_keys(purpose.name, delete_below).await?;
        }
        let Some(KeyTimes { number, signs_from }) = creation else {
            return Ok(chain);
        };
        // an RSA key takes long enough to stall a thread of the runtime
        let generated = tokio::task::spawn_blocking(purpose.generate).await;
        let pem = generated.map_err(|_| KeyError::Missing)??.to_pkcs8_pem();
        let pem = pem.ok_or(KeyError::NotExportable)?;
        let key = StoredKey::new(number, signs_from, pem.expose());
        desk.insert_signing_key(purpose.name, key).await?;
        // the key of another process, if that was faster
        let chain = Self::read(desk, purpose).await?;
        match chain.0.is_empty() {
            true => Err(KeyError::Missing),
            false => Ok(chain),
        }
    }

    async fn read(desk: &Desk, purpose: Purpose) -> Result<Self, KeyError> {
        let stored = desk.signing_keys(purpose.name).await?;
        let keys = stored.into_iter().map(|key| {
            let times = KeyTimes {
                number: key.number,
                signs_from: key.signs_from,
            };
            Ok((times, SigningKey::from_pkcs8_pem(&key.pem)?))
        });
        Ok(Self(keys.collect::<Result<_, KeyError>>()?))
    }

    /// Plan of the loaded keys at `now`.
    pub(super) fn plan(&self, policy: RotationPolicy, now: SystemTime) -> RotationPlan {
        let times: Vec<KeyTimes> = self.0.iter().map(|(times, _)| *times).collect();
        plan(&times, policy, now)
    }

    fn key(&self, number: Option<u32>) -> Option<&SigningKey> {
        let mut keys = self.0.iter().filter(|(times, _)| Some(times.number) == number);
        keys.next().map(|(_, key)| key)
    }

    /// Keys of an issuer by a plan of this chain.
    pub(super) fn signing_keys(&self, plan: &RotationPlan) -> Result<SigningKeys, KeyError> {
        let active = self.key(plan.active).ok_or(KeyError::Missing)?;
        let mut keys = SigningKeys::new(active.clone());
        if let Some(next) = self.key(plan.next) {
            keys = keys.with_next(next.clone());
        }
        for (number, until) in &plan.retired {
            if let Some(key) = self.key(Some(*number)) {
                keys = keys.with_retired(key.public_key().clone(), *until);
            }
        }
        Ok(keys)
    }

    /// Public keys whose tokens are accepted by a plan of this chain: also those of the next key,
    /// with which a process whose clock is ahead may sign.
    pub(super) fn accepted_keys(&self, plan: &RotationPlan) -> Result<KeySet, KeyError> {
        let retired = plan.retired.iter().map(|(number, _)| Some(*number));
        let numbers = [plan.active, plan.next].into_iter().chain(retired);
        let keys = numbers.filter_map(|number| self.key(number));
        Ok(KeySet::new(keys.map(|key| key.public_key().clone()))?)
    }
}
