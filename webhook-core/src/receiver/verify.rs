//! Verification of signatures and timestamps.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::HeaderMap;

use super::{Verified, VerifyError, VerifyFailure, keys::Keys};
#[cfg(feature = "ed25519")]
use crate::signature::ed25519::PublicKey;
use crate::{
    event::{EventId, Timestamp},
    secret::{Keyring, SigningSecret},
    signature::{
        Scheme, WEBHOOK_ID, WEBHOOK_SIGNATURE, WEBHOOK_TIMESTAMP,
        header::{SignatureList, TooLarge},
        hmac_sha256::MacKey,
    },
};

/// Default tolerance of the timestamp.
pub(super) const TOLERANCE: Duration = Duration::from_secs(300);

/// Verifies messages of one signature scheme with any key of a ring.
///
/// The verifier reads no clock: the caller passes the time. Verification does not allocate.
///
/// # Examples
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use bytes::Bytes;
/// use http::HeaderMap;
/// use webhook_core::{receiver::Verifier, secret::SigningSecret};
///
/// let secret = SigningSecret::from_whsec("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")?;
/// let verifier = Verifier::standard_webhooks(secret);
/// let mut headers = HeaderMap::new();
/// headers.insert("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek".parse()?);
/// headers.insert("webhook-timestamp", "1614265330".parse()?);
/// headers.insert("webhook-signature", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=".parse()?);
///
/// let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_614_265_330 + 300);
/// let body = Bytes::from(r#"{"test": 2432232314}"#);
/// let verified = verifier.verify(&headers, body.clone(), now)?;
/// assert_eq!(verified.body(), &body);
///
/// let a_second_later = now + Duration::from_secs(1);
/// assert!(verifier.verify(&headers, body, a_second_later).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Verifier {
    keys: Keys,
    tolerance: Option<Duration>,
}

impl Verifier {
    /// Creates a verifier for [`Scheme::TimestampBodyHex`].
    ///
    /// # Security
    ///
    /// This scheme does not sign `Webhook-Id`. An attacker who saw one message can replay it under
    /// another `Webhook-Id`. Detect duplicates by [`Verified::authenticated_id`], as the
    /// [`Receiver`](super::Receiver) does.
    #[must_use]
    pub fn timestamp_body_hex(secrets: impl Into<Keyring>) -> Self {
        Self::hmac(Scheme::TimestampBodyHex, &secrets.into())
    }

    /// Creates a verifier for [`Scheme::IdTimestampBodyHex`].
    #[must_use]
    pub fn id_timestamp_body_hex(secrets: impl Into<Keyring>) -> Self {
        Self::hmac(Scheme::IdTimestampBodyHex, &secrets.into())
    }

    /// Creates a verifier for [`Scheme::StandardWebhooks`].
    #[must_use]
    pub fn standard_webhooks(secrets: impl Into<Keyring>) -> Self {
        Self::hmac(Scheme::StandardWebhooks, &secrets.into())
    }

    /// Creates a verifier for [`Scheme::Ed25519`].
    #[cfg(feature = "ed25519")]
    #[must_use]
    pub fn ed25519(keys: impl Into<Keyring<PublicKey>>) -> Self {
        Self {
            keys: Keys::Ed25519(keys.into()),
            tolerance: Some(TOLERANCE),
        }
    }

    /// Sets the maximum difference between timestamp and clock, inclusive, in both directions.
    /// Default: 300 seconds.
    #[must_use]
    pub fn with_tolerance(mut self, tolerance: Duration) -> Self {
        self.tolerance = Some(tolerance);
        self
    }

    /// Accepts timestamps of any age, to verify stored messages again.
    ///
    /// # Security
    ///
    /// An attacker who gets a message can replay it at any later time.
    #[must_use]
    pub fn danger_ignore_timestamp(mut self) -> Self {
        self.tolerance = None;
        self
    }

    /// Scheme of the messages that this verifier accepts.
    #[must_use]
    pub fn scheme(&self) -> Scheme {
        self.keys.scheme()
    }

    /// Verifies the exact bytes of a request; call it before the body is parsed.
    ///
    /// - The signature is checked before the timestamp, so the timestamp check reveals nothing to a
    ///   client without the key.
    /// - For the HMAC schemes, every signature is compared with the MAC of every secret, in
    ///   constant time.
    ///
    /// # Errors
    ///
    /// [`VerifyError`], which looks the same for every reason. Log [`VerifyError::reason`].
    pub fn verify<'h>(
        &self,
        headers: &'h HeaderMap,
        body: Bytes,
        now: SystemTime,
    ) -> Result<Verified<'h>, VerifyError> {
        let Signed { id, time, signatures } = Signed::read(headers)?;
        let timestamp: Timestamp = time.parse().map_err(|_| VerifyFailure::InvalidTimestamp)?;
        let scheme = self.scheme();
        self.keys.check(&signatures, &scheme.signed(id, time, &body))?;
        self.check_time(timestamp, now)?;
        Ok(Verified {
            scheme,
            id,
            timestamp,
            body,
        })
    }

    fn hmac(scheme: Scheme, secrets: &Keyring<SigningSecret>) -> Self {
        Self {
            keys: Keys::Hmac {
                scheme,
                ring: secrets.map(MacKey::new),
            },
            tolerance: Some(TOLERANCE),
        }
    }

    fn check_time(&self, timestamp: Timestamp, now: SystemTime) -> Result<(), VerifyError> {
        let Some(tolerance) = self.tolerance else {
            return Ok(());
        };
        let (signed, now) = (timestamp.as_seconds(), Timestamp::from(now).as_seconds());
        if signed.abs_diff(now) <= tolerance.as_secs() {
            Ok(())
        } else if signed < now {
            Err(VerifyFailure::TooOld.into())
        } else {
            Err(VerifyFailure::TooNew.into())
        }
    }
}

/// The three headers, found in one pass over the header map.
struct Signed<'h> {
    id: &'h str,
    time: &'h str,
    signatures: SignatureList<'h>,
}

impl<'h> Signed<'h> {
    fn read(headers: &'h HeaderMap) -> Result<Self, VerifyFailure> {
        let (mut id, mut time, mut signatures) = (None, None, None);
        for (name, value) in headers {
            let repeated = if name == WEBHOOK_ID {
                id.replace(value)
            } else if name == WEBHOOK_TIMESTAMP {
                time.replace(value)
            } else {
                if name == WEBHOOK_SIGNATURE {
                    let list = signatures.get_or_insert_with(SignatureList::default);
                    list.add(value)
                        .map_err(|TooLarge| VerifyFailure::TooManySignatures)?;
                }
                None
            };
            if repeated.is_some() {
                return Err(VerifyFailure::RepeatedHeader);
            }
        }
        let (Some(id), Some(time), Some(signatures)) = (id, time, signatures) else {
            return Err(VerifyFailure::MissingHeader);
        };
        let id = id.to_str().ok().filter(|id| EventId::is_valid(id));
        Ok(Self {
            id: id.ok_or(VerifyFailure::InvalidId)?,
            time: time.to_str().map_err(|_| VerifyFailure::InvalidTimestamp)?,
            signatures,
        })
    }
}
