//! The signers of one endpoint.

use std::time::{Duration, SystemTime};

use http::{HeaderMap, HeaderValue};

#[cfg(feature = "ed25519")]
use super::{MAX_PUBLIC_KEY_SIGNATURES, SignerScheme};
use super::{Signer, WEBHOOK_ID, WEBHOOK_SIGNATURE, WEBHOOK_TIMESTAMP};
use crate::event::{EventId, Timestamp};

const CAPACITY: usize = 8;

/// One to eight signers of one endpoint, newest first: current signers, and replaced signers until
/// their overlap ends.
///
/// A message carries one token of each signer, so that receivers can verify it with the old or the
/// new secret, and with any of the current schemes.
///
/// # Examples
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use webhook_core::{event::EventId, secret::SigningSecret, signature::{Signer, Signers}};
///
/// let old = SigningSecret::from_bytes(&[1; 32])?;
/// let new = SigningSecret::from_bytes(&[2; 32])?;
/// let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
/// let signers = Signers::from(Signer::standard_webhooks(&old))
///     .rotate(Signer::standard_webhooks(&new), now, Signers::OVERLAP)?;
///
/// let id: EventId = "evt_1".parse()?;
/// let tokens = |at| signers.sign(&id, at, b"{}").signature.to_str().unwrap().split(' ').count();
/// assert_eq!(tokens(now), 2);
/// assert_eq!(tokens(now + Signers::OVERLAP), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Signers(Vec<ActiveSigner>);

/// A signer and the end of its use. A store keeps the scheme, the secret as text, and the end.
#[derive(Clone, Debug)]
pub struct ActiveSigner {
    /// Signs the messages.
    pub signer: Signer,
    /// First instant at which the signer is no longer used; `None` for a current signer.
    pub not_after: Option<SystemTime>,
}

impl Signers {
    /// Default time for which a replaced secret signs beside the new one: 24 hours.
    pub const OVERLAP: Duration = Duration::from_secs(86_400);
    /// Maximum overlap: 7 days.
    pub const MAX_OVERLAP: Duration = Duration::from_secs(7 * 86_400);

    /// Creates the signers from the records of a store, newest first.
    ///
    /// # Errors
    ///
    /// [`InvalidSigners`] if there are more than eight signers, more than four of
    /// [`SignerScheme::Ed25519`], or no current signer.
    pub fn new(signers: impl IntoIterator<Item = ActiveSigner>) -> Result<Self, InvalidSigners> {
        let signers: Vec<ActiveSigner> = signers.into_iter().take(CAPACITY + 1).collect();
        if signers.len() > CAPACITY {
            return Err(InvalidSigners("an endpoint has at most eight signers"));
        }
        #[cfg(feature = "ed25519")]
        if signers
            .iter()
            .filter(|active| active.signer.scheme() == SignerScheme::Ed25519)
            .count()
            > MAX_PUBLIC_KEY_SIGNATURES
        {
            return Err(InvalidSigners("an endpoint has at most four Ed25519 signers"));
        }
        if signers.iter().all(|active| active.not_after.is_some()) {
            return Err(InvalidSigners("an endpoint has at least one current signer"));
        }
        Ok(Self(signers))
    }

    /// Adds a current signer, for receivers that verify another scheme.
    ///
    /// # Errors
    ///
    /// [`InvalidSigners`] if there would be more than eight signers, or more than four of
    /// [`SignerScheme::Ed25519`].
    pub fn with_signer(mut self, signer: Signer) -> Result<Self, InvalidSigners> {
        self.0.push(ActiveSigner {
            signer,
            not_after: None,
        });
        Self::new(self.0)
    }

    /// Makes `next` the current signer of its scheme.
    ///
    /// - The replaced signers of this scheme sign beside `next` for `overlap`.
    /// - Signers whose end has passed are removed.
    /// - If `next` is a current signer already, no signer is retired, so a rotation can be retried.
    ///
    /// # Errors
    ///
    /// [`InvalidSigners`] if there would be more than eight signers or more than four of
    /// [`SignerScheme::Ed25519`], or `overlap` is longer than 7 days.
    pub fn rotate(
        mut self,
        next: Signer,
        now: SystemTime,
        overlap: Duration,
    ) -> Result<Self, InvalidSigners> {
        let retires = now.checked_add(overlap).filter(|_| overlap <= Self::MAX_OVERLAP);
        let retires = retires.ok_or(InvalidSigners("an overlap is at most seven days"))?;
        self.0.retain(|active| active.signs_at(now));
        if self
            .0
            .iter()
            .any(|active| active.not_after.is_none() && active.signer.has_key_of(&next))
        {
            return Ok(self);
        }
        for active in self
            .0
            .iter_mut()
            .filter(|active| active.signer.scheme() == next.scheme())
        {
            active.not_after.get_or_insert(retires);
        }
        self.0.insert(
            0,
            ActiveSigner {
                signer: next,
                not_after: None,
            },
        );
        Self::new(self.0)
    }

    /// The signers, newest first.
    pub fn iter(&self) -> impl Iterator<Item = &ActiveSigner> {
        self.0.iter()
    }

    /// Signs `body` at `now` with every signer whose end has not passed; returns the headers of one
    /// attempt.
    #[must_use]
    pub fn sign(&self, id: &EventId, now: SystemTime, body: &[u8]) -> SignatureHeaders {
        let timestamp = Timestamp::from(now).to_string();
        let mut signature = String::with_capacity(self.0.len() * Signer::TOKEN_LENGTH);
        for active in self.0.iter().filter(|active| active.signs_at(now)) {
            if !signature.is_empty() {
                signature.push(' ');
            }
            active.signer.write_token(id, &timestamp, body, &mut signature);
        }
        SignatureHeaders {
            id: visible(id.as_str().to_owned()),
            timestamp: visible(timestamp),
            signature: visible(signature),
        }
    }
}

impl ActiveSigner {
    fn signs_at(&self, now: SystemTime) -> bool {
        self.not_after.is_none_or(|not_after| now < not_after)
    }
}

impl From<Signer> for Signers {
    fn from(signer: Signer) -> Self {
        Self(vec![ActiveSigner {
            signer,
            not_after: None,
        }])
    }
}

/// Headers of a signed message.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SignatureHeaders {
    /// Value of [`WEBHOOK_ID`].
    pub id: HeaderValue,
    /// Value of [`WEBHOOK_TIMESTAMP`].
    pub timestamp: HeaderValue,
    /// Value of [`WEBHOOK_SIGNATURE`].
    pub signature: HeaderValue,
}

impl SignatureHeaders {
    /// Inserts the three headers; existing values are replaced.
    pub fn insert_into(self, headers: &mut HeaderMap) {
        headers.insert(WEBHOOK_ID, self.id);
        headers.insert(WEBHOOK_TIMESTAMP, self.timestamp);
        headers.insert(WEBHOOK_SIGNATURE, self.signature);
    }
}

fn visible(text: String) -> HeaderValue {
    #[expect(
        clippy::expect_used,
        reason = "ids, timestamps and tokens are visible ASCII by their types"
    )]
    HeaderValue::try_from(text).expect("visible ASCII is a header value")
}

/// Error: the signers cannot be combined. The message names the reason.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidSigners(&'static str);
