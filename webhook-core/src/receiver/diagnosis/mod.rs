//! Diagnosis of failed verifications: likely causes, for logs and for the setup of a receiver.
//!
//! The diagnosis is opt-in and separate from the [`Verifier`](super::Verifier). The host gives it
//! the secrets; the [`Receiver`](super::Receiver) never calls it. A cause that explains the
//! signature was tried: with this cause, the signature matches. The diagnosis finds up to two
//! causes together, for example a retired secret and a body that was serialized again.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//! use webhook_core::{
//!     receiver::diagnosis::{BodyChange, Cause, Diagnosis},
//!     secret::SigningSecret,
//!     signature::{Signer, Signers},
//! };
//! use http::HeaderMap;
//!
//! let secret = SigningSecret::from_whsec("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")?;
//! let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
//! let mut headers = HeaderMap::new();
//! let signers = Signers::from(Signer::standard_webhooks(&secret));
//! signers.sign(&"evt_1".parse()?, now, b"{}").insert_into(&mut headers);
//!
//! let causes = Diagnosis::standard_webhooks(secret).causes(&headers, b"{}\n", now);
//! assert_eq!(causes, [Cause::Body(BodyChange::NewlineAdded)]);
//! let text = causes[0].to_string();
//! assert_eq!(text, "a newline was added to the end of the body after it was signed");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Security
//!
//! Never send a cause to the sender: an attacker without the key would learn which part was
//! correct. No cause contains key bytes.
//!
//! # Performance
//!
//! A diagnosis costs at most 230 MACs per secret, or 90 verifications per public key and signature.
//! No variant of the body is longer than 8 times the body plus 1 KiB, and bodies over 256 KiB have
//! no variants. Diagnose single messages on request, not every failure.

mod body;
mod cause;
mod headers;
mod provider;
mod secrets;

use std::time::{Duration, SystemTime};

use http::HeaderMap;

pub use self::cause::{BodyChange, Cause, Finding, SecretReading, SignedText};
use self::{
    headers::{Candidate, Message, Writing},
    provider::Suspected,
    secrets::Suspect,
};

#[cfg(feature = "ed25519")]
use crate::signature::{MAX_PUBLIC_KEY_SIGNATURES, ed25519::PublicKey};
use crate::{
    event::{Envelope, Timestamp},
    receiver::{Head, Provider},
    secret::{InvalidSecret, Keyring, SigningSecret},
    signature::{SignerScheme, scheme::TOLERANCE},
};

/// Maximum number of causes that are tried together.
const AT_ONCE: usize = 2;

/// Diagnoses messages for one scheme and its keys, retired secrets included.
#[derive(Clone, Debug)]
pub struct Diagnosis {
    keys: Keys,
    /// `None` for that of the scheme.
    tolerance: Option<Duration>,
}

#[derive(Clone, Debug)]
enum Keys {
    Hmac {
        scheme: SignerScheme,
        suspects: Vec<Suspect>,
    },
    #[cfg(feature = "ed25519")]
    Ed25519(Keyring<PublicKey>),
    Provider(Suspected),
}

impl Diagnosis {
    /// Creates a diagnosis for a provider, with the keys of its
    /// [`verifier`](Provider::verifier).
    ///
    /// # Errors
    ///
    /// [`InvalidSecret`], as for the verifier.
    pub fn provider(
        provider: Provider,
        keys: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Result<Self, InvalidSecret> {
        Ok(Self {
            keys: Keys::Provider(Suspected::new(provider, keys)?),
            tolerance: None,
        })
    }

    /// Sets the URL of the verifier of a provider.
    #[must_use]
    pub fn with_url(mut self, url: &str) -> Self {
        if let Keys::Provider(suspected) = &mut self.keys {
            suspected.url = Some(url.to_owned());
        }
        self
    }

    /// Creates a diagnosis for
    /// [`Verifier::timestamp_body_hex`](super::Verifier::timestamp_body_hex).
    #[must_use]
    pub fn timestamp_body_hex(secrets: impl Into<Keyring>) -> Self {
        Self::hmac(SignerScheme::TimestampBodyHex, &secrets.into())
    }

    /// Creates a diagnosis for
    /// [`Verifier::id_timestamp_body_hex`](super::Verifier::id_timestamp_body_hex).
    #[must_use]
    pub fn id_timestamp_body_hex(secrets: impl Into<Keyring>) -> Self {
        Self::hmac(SignerScheme::IdTimestampBodyHex, &secrets.into())
    }

    /// Creates a diagnosis for [`Verifier::standard_webhooks`](super::Verifier::standard_webhooks).
    #[must_use]
    pub fn standard_webhooks(secrets: impl Into<Keyring>) -> Self {
        Self::hmac(SignerScheme::StandardWebhooks, &secrets.into())
    }

    /// Creates a diagnosis for [`Verifier::ed25519`](super::Verifier::ed25519).
    #[cfg(feature = "ed25519")]
    #[must_use]
    pub fn ed25519(keys: impl Into<Keyring<PublicKey>>) -> Self {
        Self {
            keys: Keys::Ed25519(keys.into()),
            tolerance: None,
        }
    }

    /// Also tries secrets that were removed from the ring. A diagnosis for Ed25519 or for a
    /// provider ignores them.
    #[must_use]
    pub fn with_retired<'s>(mut self, secrets: impl IntoIterator<Item = &'s SigningSecret>) -> Self {
        match &mut self.keys {
            Keys::Hmac { suspects, .. } => {
                suspects.extend(
                    secrets
                        .into_iter()
                        .flat_map(|secret| Suspect::all_of(secret, true)),
                );
            }
            #[cfg(feature = "ed25519")]
            Keys::Ed25519(_) => {}
            Keys::Provider(_) => {}
        }
        self
    }

    /// Sets the tolerance of the verifier. Default: that of the scheme, 300 seconds.
    #[must_use]
    pub fn with_tolerance(mut self, tolerance: Duration) -> Self {
        self.tolerance = Some(tolerance);
        self
    }

    /// Verifies the message at `now` and, if it is invalid, searches for causes.
    #[must_use]
    pub fn finding<'h>(&self, head: impl Into<Head<'h>>, body: &[u8], now: SystemTime) -> Finding {
        let head = head.into();
        match &self.keys {
            Keys::Provider(suspected) => suspected.finding(head, body, now, self.tolerance),
            Keys::Hmac { scheme, .. } => self.own_finding(*scheme, head.headers, body, now),
            #[cfg(feature = "ed25519")]
            Keys::Ed25519(_) => self.own_finding(SignerScheme::Ed25519, head.headers, body, now),
        }
    }

    /// Finding for a scheme of this suite.
    fn own_finding(
        &self,
        scheme: SignerScheme,
        headers: &HeaderMap,
        body: &[u8],
        now: SystemTime,
    ) -> Finding {
        let message = match Message::read(headers) {
            Ok(message) => message,
            Err(causes) => return Finding::Explained(causes),
        };
        #[cfg(feature = "ed25519")]
        if scheme == SignerScheme::Ed25519 && message.ed25519.len() > MAX_PUBLIC_KEY_SIGNATURES {
            return Finding::Explained(vec![Cause::TooManySignatures]);
        }
        let mut causes = message.causes.clone();
        let explanation = self.explanation(&message, body);
        let is_signed = explanation.is_some();
        match explanation {
            Some(explanation) => {
                causes.extend(explanation);
                causes.extend(skew(message.time, now, self.tolerance.unwrap_or(TOLERANCE)));
                causes.extend(unsigned_id(scheme, &message, body));
            }
            None => causes.extend(message.foreign_tokens(scheme)),
        }
        match is_signed {
            _ if !causes.is_empty() => Finding::Explained(causes),
            true => Finding::Verifies,
            false => Finding::Unexplained,
        }
    }

    /// Causes of the [`finding`](Self::finding).
    ///
    /// The list is empty for a valid message, and for an invalid one without a known cause.
    #[must_use]
    pub fn causes<'h>(&self, head: impl Into<Head<'h>>, body: &[u8], now: SystemTime) -> Vec<Cause> {
        match self.finding(head, body, now) {
            Finding::Explained(causes) => causes,
            Finding::Verifies | Finding::Unexplained => Vec::new(),
        }
    }

    fn hmac(scheme: SignerScheme, secrets: &Keyring) -> Self {
        let suspects = secrets.iter().flat_map(|secret| Suspect::all_of(secret, false));
        Self {
            keys: Keys::Hmac {
                scheme,
                suspects: suspects.collect(),
            },
            tolerance: None,
        }
    }

    /// The smallest set of causes with which a signature matches.
    fn explanation(&self, message: &Message<'_>, body: &[u8]) -> Option<Vec<Cause>> {
        let bodies = body::variants(body);
        (0..=AT_ONCE).find_map(|count| {
            bodies.iter().find_map(|(change, body)| {
                let left = count.checked_sub(change.iter().count())?;
                let mut found = self.with_body(message, body, left)?;
                found.extend(change.map(Cause::Body));
                Some(found)
            })
        })
    }

    /// Exactly `left` causes, besides the body, with which a signature over `body` matches.
    fn with_body(&self, message: &Message<'_>, body: &[u8], left: usize) -> Option<Vec<Cause>> {
        match &self.keys {
            Keys::Hmac { scheme, suspects } => suspects.iter().find_map(|suspect| {
                let left = left.checked_sub(suspect.cause.iter().count())?;
                let mut found = with_key(*scheme, suspect, message, body, left)?;
                found.extend(suspect.cause.clone());
                Some(found)
            }),
            #[cfg(feature = "ed25519")]
            Keys::Ed25519(ring) => SignedText::ALL.into_iter().find_map(|text| {
                let cause = (text != SignedText::IdTimestampBody).then_some(Cause::SignedText(text));
                let pieces = message.pieces(text, body);
                let mut signatures = message.ed25519.iter();
                let is_right = cause.iter().count() == left
                    && signatures.any(|signature| ring.iter().any(|key| key.verifies(&pieces, signature)));
                is_right.then(|| cause.into_iter().collect())
            }),
            // a provider has a search of its own
            Keys::Provider(_) => None,
        }
    }
}

/// The difference between the signed timestamp and `now`, if it exceeds the tolerance.
fn skew(signed: Timestamp, now: SystemTime, tolerance: Duration) -> Option<Cause> {
    let (signed, now) = (signed.as_seconds(), Timestamp::from(now).as_seconds());
    let distance = Duration::from_secs(signed.abs_diff(now));
    match distance > tolerance {
        true if signed < now => Some(Cause::SignedInThePast(distance)),
        true => Some(Cause::SignedInTheFuture(distance)),
        false => None,
    }
}

/// If the scheme does not sign the id, the receiver requires the same id inside the body.
fn unsigned_id(scheme: SignerScheme, message: &Message<'_>, body: &[u8]) -> Option<Cause> {
    let agrees = Envelope::id_in(body).is_ok_and(|id| id.as_str() == message.id);
    (!scheme.signs_id() && !agrees).then_some(Cause::IdNotInBody)
}

/// Exactly `left` causes, besides body and key, with which a signature matches.
fn with_key(
    scheme: SignerScheme,
    suspect: &Suspect,
    message: &Message<'_>,
    body: &[u8],
    left: usize,
) -> Option<Vec<Cause>> {
    SignedText::ALL.into_iter().find_map(|text| {
        let fits = |candidate: &&Candidate| causes_of(scheme, text, candidate).len() == left;
        let mut candidates = message.hmac.iter().filter(fits).peekable();
        candidates.peek()?;
        let mac = suspect.key.mac(&message.pieces(text, body));
        let right = candidates.find(|candidate| candidate.mac == mac)?;
        Some(causes_of(scheme, text, right))
    })
}

/// Differences between `scheme` and a signature of `text` that is written like `candidate`.
fn causes_of(scheme: SignerScheme, text: SignedText, candidate: &Candidate) -> Vec<Cause> {
    let spoken = match (text, candidate.writing) {
        (SignedText::TimestampBody, Writing::Hex) => Some(SignerScheme::TimestampBodyHex),
        (SignedText::IdTimestampBody, Writing::Hex) => Some(SignerScheme::IdTimestampBodyHex),
        (SignedText::IdTimestampBody, Writing::Base64) => Some(SignerScheme::StandardWebhooks),
        _ => None,
    };
    let unlike = match spoken {
        Some(spoken) if spoken == scheme => None,
        Some(spoken) => Some(Cause::OtherScheme(spoken)),
        None => Some(Cause::SignedText(text)),
    };
    unlike
        .into_iter()
        .chain(candidate.is_sloppy.then_some(Cause::SignatureFormat))
        .collect()
}
