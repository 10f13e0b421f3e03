//! All that the messages to one endpoint are signed with.

use std::time::{Duration, SystemTime};

use http::{HeaderMap, HeaderValue};

#[cfg(feature = "ed25519")]
use super::{Scheme, ed25519};
use super::{Signer, WEBHOOK_ID, WEBHOOK_SIGNATURE, WEBHOOK_TIMESTAMP};
use crate::event::{EventId, Timestamp};

const CAPACITY: usize = 8;

/// One to eight signers, newest first: the current ones, and retired ones until their time is over.
///
/// A message carries one token of each, so that a receiver verifies whether it has changed to the new secret or not, and
/// whichever of the current schemes it speaks.
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

/// A signer and how long it is used: the record a store keeps, by scheme, secret text and time.
#[derive(Clone, Debug)]
pub struct ActiveSigner {
    /// What signs.
    pub signer: Signer,
    /// The first instant at which it signs no more; `None` for a current one.
    pub not_after: Option<SystemTime>,
}

impl Signers {
    /// How long a replaced secret signs beside the new one, unless the host says otherwise: 24 hours.
    pub const OVERLAP: Duration = Duration::from_secs(86_400);
    /// The longest overlap: 7 days.
    pub const MAX_OVERLAP: Duration = Duration::from_secs(7 * 86_400);

    /// Gathers signers, newest first, as a store gives them back.
    ///
    /// # Errors
    ///
    /// When there are more than eight, or more than four of [`Scheme::Ed25519`], or none of them is current.
    pub fn new(signers: impl IntoIterator<Item = ActiveSigner>) -> Result<Self, InvalidSigners> {
        let signers: Vec<ActiveSigner> = signers.into_iter().take(CAPACITY + 1).collect();
        if signers.len() > CAPACITY {
            return Err(InvalidSigners("an endpoint has at most eight signers"));
        }
        #[cfg(feature = "ed25519")]
        if signers
            .iter()
            .filter(|active| active.signer.scheme() == Scheme::Ed25519)
            .count()
            > ed25519::MAX_SIGNATURES
        {
            return Err(InvalidSigners("an endpoint has at most four Ed25519 signers"));
        }
        if signers.iter().all(|active| active.not_after.is_some()) {
            return Err(InvalidSigners("an endpoint has at least one current signer"));
        }
        Ok(Self(signers))
    }

    /// Signs with `signer` too, from now on: for receivers of another scheme.
    ///
    /// # Errors
    ///
    /// When there are eight already.
    pub fn with_also(mut self, signer: Signer) -> Result<Self, InvalidSigners> {
        self.0.push(ActiveSigner {
            signer,
            not_after: None,
        });
        Self::new(self.0)
    }

    /// Makes `next` the current signer of its scheme. The one it replaces signs beside it for `overlap`; those whose time is
    /// over are dropped. Where `next` is current already nothing retires, so a rotation whose answer was lost may be repeated.
    ///
    /// # Errors
    ///
    /// When eight are still in use, or `overlap` is more than seven days.
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

    /// The headers of one attempt to deliver `body`, signed at `now` by every signer whose time is not over.
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

/// What a signed message carries beside its body.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SignatureHeaders {
    /// The value of [`WEBHOOK_ID`].
    pub id: HeaderValue,
    /// The value of [`WEBHOOK_TIMESTAMP`].
    pub timestamp: HeaderValue,
    /// The value of [`WEBHOOK_SIGNATURE`].
    pub signature: HeaderValue,
}

impl SignatureHeaders {
    /// Puts the three headers into `headers`, in place of any that stand there.
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

/// Signers that cannot stand together; the text says why.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidSigners(&'static str);
