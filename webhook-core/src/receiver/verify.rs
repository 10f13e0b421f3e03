//! Verification of signatures and timestamps.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, request::Parts};

use super::{Provider, Registration, Verified, VerifyError, VerifyFailure, handshake::is_equal, keys::Keys};
#[cfg(feature = "ed25519")]
use crate::signature::ed25519::PublicKey;
use crate::{
    event::{EventId, Timestamp},
    secret::{InvalidSecret, Keyring, SigningSecret},
    signature::{
        SignerScheme,
        mac::Mac,
        scheme::{Check, IdSource, Message, Scheme},
    },
};

/// Verifies the messages of one sender with any key of a ring.
///
/// - For the senders of [`providers`](super::providers) call
///   [`Provider::verifier`]; for another sender describe its [`Scheme`] and call
///   [`new`](Self::new).
/// - The verifier reads no clock: the caller passes the time.
/// - Verification with an HMAC over headers and body does not allocate.
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
    provider: Provider,
    keys: Keys,
    url: Option<Arc<str>>,
    tolerance: Tolerance,
    verify_token: Option<VerifyToken>,
    registration: Option<Registration>,
}

/// Token that Meta sends in its handshake. `Debug` does not print it.
#[derive(Clone)]
struct VerifyToken(Arc<str>);

impl fmt::Debug for VerifyToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("VerifyToken(..)")
    }
}

#[derive(Clone, Copy, Debug)]
enum Tolerance {
    /// Tolerance of the scheme.
    Default,
    Exactly(Duration),
    /// Timestamps are not compared with the clock.
    Ignored,
}

/// Head of a request. A [`HeaderMap`] alone suffices for schemes that sign no URL and no method.
#[derive(Clone, Copy, Debug)]
pub struct Head<'h> {
    /// Request method.
    pub method: &'h Method,
    /// Query of the request, without the question mark.
    pub query: Option<&'h str>,
    /// Request headers.
    pub headers: &'h HeaderMap,
}

impl<'h> From<&'h HeaderMap> for Head<'h> {
    /// Head of a `POST` without a query.
    fn from(headers: &'h HeaderMap) -> Self {
        Self {
            method: &Method::POST,
            query: None,
            headers,
        }
    }
}

impl<'h> From<&'h Parts> for Head<'h> {
    fn from(parts: &'h Parts) -> Self {
        Self {
            method: &parts.method,
            query: parts.uri.query(),
            headers: &parts.headers,
        }
    }
}

impl<'h, B> From<&'h Request<B>> for Head<'h> {
    fn from(request: &'h Request<B>) -> Self {
        Self {
            method: request.method(),
            query: request.uri().query(),
            headers: request.headers(),
        }
    }
}

impl Verifier {
    /// Creates a verifier for the sender `name` and its scheme. `keys` are one to eight secrets or
    /// public keys, as the sender hands them out; any of them may have signed.
    ///
    /// # Errors
    ///
    /// [`InvalidSecret`] if a key does not have the form of [`Scheme::key`], there are no keys or
    /// more than eight, or the scheme protects nothing: its signed text has no body, or no id or
    /// timestamp although the scheme relies on it.
    pub fn new(
        name: &'static str,
        scheme: &'static Scheme,
        keys: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Result<Self, InvalidSecret> {
        Provider::new(name, scheme).verifier(keys)
    }

    /// Creates a verifier for [`SignerScheme::TimestampBodyHex`].
    ///
    /// # Security
    ///
    /// This scheme does not sign `Webhook-Id`. An attacker who saw one message can replay it under
    /// another `Webhook-Id`. Detect duplicates by [`Verified::authenticated_id`], as the
    /// [`Receiver`](super::Receiver) does.
    #[must_use]
    pub fn timestamp_body_hex(secrets: impl Into<Keyring>) -> Self {
        Self::hmac(SignerScheme::TimestampBodyHex, &secrets.into())
    }

    /// Creates a verifier for [`SignerScheme::IdTimestampBodyHex`].
    #[must_use]
    pub fn id_timestamp_body_hex(secrets: impl Into<Keyring>) -> Self {
        Self::hmac(SignerScheme::IdTimestampBodyHex, &secrets.into())
    }

    /// Creates a verifier for [`SignerScheme::StandardWebhooks`].
    #[must_use]
    pub fn standard_webhooks(secrets: impl Into<Keyring>) -> Self {
        Self::hmac(SignerScheme::StandardWebhooks, &secrets.into())
    }

    /// Creates a verifier for [`SignerScheme::Ed25519`].
    #[cfg(feature = "ed25519")]
    #[must_use]
    pub fn ed25519(keys: impl Into<Keyring<PublicKey>>) -> Self {
        Self::with_keys(Provider::own(SignerScheme::Ed25519), Keys::Ed25519(keys.into()))
    }

    /// Sets the URL at which the sender reaches this receiver, with path and without query, for
    /// schemes that sign it. The query of each request is appended.
    #[must_use]
    pub fn with_url(mut self, url: &str) -> Self {
        self.url = Some(url.into());
        self
    }

    /// Sets the token that Meta repeats in its handshake. Without one the handshake is refused.
    #[must_use]
    pub fn with_verify_token(mut self, token: &str) -> Self {
        self.verify_token = Some(VerifyToken(token.into()));
        self
    }

    /// Sets the maximum difference between timestamp and clock, inclusive, in both directions.
    /// Default: that of the scheme, 300 seconds.
    #[must_use]
    pub fn with_tolerance(mut self, tolerance: Duration) -> Self {
        self.tolerance = Tolerance::Exactly(tolerance);
        self
    }

    /// Accepts timestamps of any age, to verify stored messages again.
    ///
    /// # Security
    ///
    /// An attacker who gets a message can replay it at any later time.
    #[must_use]
    pub fn danger_ignore_timestamp(mut self) -> Self {
        self.tolerance = Tolerance::Ignored;
        self
    }

    /// Sender whose messages this verifier accepts.
    #[must_use]
    pub fn provider(&self) -> &Provider {
        &self.provider
    }

    /// Verifies the exact bytes of a request; call it before the body is parsed.
    ///
    /// - `head` is a [`HeaderMap`], the [`Parts`] of a request, or a [`Request`].
    /// - The signature is checked before the age of the timestamp, so the check of the age reveals
    ///   nothing to a client without the key.
    /// - For HMAC, every signature is compared with the MAC of every secret, in constant time.
    ///
    /// # Errors
    ///
    /// [`VerifyError`], which looks the same for every reason. Log [`VerifyError::reason`].
    pub fn verify<'h>(
        &self,
        head: impl Into<Head<'h>>,
        body: Bytes,
        now: SystemTime,
    ) -> Result<Verified<'h>, VerifyError> {
        let head = head.into();
        let scheme = self.provider.scheme;
        let (message, signatures) = Message::read(scheme, self.url.as_deref(), head, &body)?;
        if let Some(id) = message.id
            && !self.provider.accepts_id(id)
        {
            return Err(VerifyFailure::InvalidId.into());
        }
        let timestamp = match (scheme.timestamp, message.timestamp.as_deref()) {
            (Some(field), Some(text)) => Some(field.unit.parse(text).ok_or(VerifyFailure::InvalidTimestamp)?),
            _ => None,
        };
        let signed = message.signed(scheme, true);
        let registered = self.registration.as_ref().and_then(Registration::key);
        let registered = registered.map(|key| Keys::Mac(key.into()));
        let keys = registered.as_ref().unwrap_or(&self.keys);
        keys.check(scheme.encoding, &signatures, signed.as_slice())?;
        if let Some((field, timestamp)) = scheme.timestamp.zip(timestamp) {
            self.check_time(timestamp, field.tolerance, now)?;
        }
        Ok(Verified {
            provider: self.provider,
            header_id: message.id.and(self.header_id(head.headers)),
            timestamp,
            url: self.url.clone(),
            head,
            body,
        })
    }

    /// MAC of `text` under the first key, for handshakes.
    pub(super) fn mac(&self, text: &[u8]) -> Option<Mac> {
        self.keys.first_mac(&[text])
    }

    pub(super) fn with_keys(provider: Provider, keys: Keys) -> Self {
        Self {
            provider,
            keys,
            url: None,
            tolerance: Tolerance::Default,
            verify_token: None,
            registration: None,
        }
    }

    pub(super) fn with_registration(mut self, registration: Registration) -> Self {
        self.registration = Some(registration);
        self
    }

    pub(super) fn registration(&self) -> Option<&Registration> {
        self.registration.as_ref()
    }

    pub(super) fn has_verify_token(&self, token: &str) -> bool {
        let own = self.verify_token.as_ref();
        own.is_some_and(|own| !own.0.is_empty() && is_equal(&own.0, token))
    }

    fn hmac(scheme: SignerScheme, secrets: &Keyring<SigningSecret>) -> Self {
        Self::with_keys(Provider::own(scheme), Keys::mac(Check::HmacSha256, secrets))
    }

    fn header_id<'h>(&self, headers: &'h HeaderMap) -> Option<&'h str> {
        let names = match &self.provider.scheme.id {
            IdSource::Header(names) => *names,
            IdSource::EnvelopeId { header } => std::slice::from_ref(header),
            IdSource::JsonPointer(_) | IdSource::SignedContent => &[],
        };
        let mut values = names.iter().filter_map(|name| headers.get(*name));
        values.next()?.to_str().ok()
    }

    fn check_time(
        &self,
        timestamp: Timestamp,
        default: Duration,
        now: SystemTime,
    ) -> Result<(), VerifyError> {
        let tolerance = match self.tolerance {
            Tolerance::Ignored => return Ok(()),
            Tolerance::Default => default,
            Tolerance::Exactly(tolerance) => tolerance,
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

impl Provider {
    /// Checks the grammar of an id, so that no two messages have the same signed text.
    fn accepts_id(&self, id: &str) -> bool {
        EventId::is_valid(id) || (self.is_lenient && EventId::is_valid(&id.replace('.', "_")))
    }
}
