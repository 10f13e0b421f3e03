//! Why a message did not verify: a list of likely causes, for the log and for whoever sets up a receiver.
//!
//! Opt-in, and apart from the [`Verifier`](super::Verifier): it knows the secrets, and the [`Receiver`](super::Receiver) never
//! asks it. Each cause that is named was tried: with it, the signature is right. Two may be found together, such as a body
//! that was serialised again under an old secret.
//!
//! ```
//! use std::time::{Duration, SystemTime};
//! use webhook_core::{
//!     receiver::diagnosis::{BodyChange, Cause, Diagnosis}, secret::SigningSecret, signature::{Signer, Signers},
//! };
//! use http::HeaderMap;
//!
//! let secret = SigningSecret::from_whsec("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")?;
//! let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
//! let mut headers = HeaderMap::new();
//! Signers::from(Signer::standard_webhooks(&secret)).sign(&"evt_1".parse()?, now, b"{}").insert_into(&mut headers);
//!
//! let causes = Diagnosis::standard_webhooks(secret).causes(&headers, b"{}\n", now);
//! assert_eq!(causes, [Cause::Body(BodyChange::NewlineAdded)]);
//! assert_eq!(causes[0].to_string(), "the body arrived with a line break at its end that was not signed");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Security
//!
//! Never answer a sender with a cause: without the key it would learn what it got right. No cause holds key bytes. One
//! diagnosis costs at most 230 MACs a secret, or 90 verifications a public key and signature, of the body as it may have been,
//! so it is for messages that somebody asks about. Whoever wrote the body, none of what it may have been is longer than eight
//! times the body and 1 KiB, and bodies over 256 KiB are tried as they are only.

mod body;
mod cause;
mod headers;
mod secrets;

use std::time::{Duration, SystemTime};

use http::HeaderMap;

pub use self::cause::{BodyChange, Cause, Finding, SecretReading, SignedText};
use self::{
    headers::{Candidate, Message, Writing},
    secrets::Suspect,
};
use super::verify::TOLERANCE;
#[cfg(feature = "ed25519")]
use crate::signature::ed25519::{self, PublicKey};
use crate::{
    event::{Envelope, Timestamp},
    secret::{Keyring, SigningSecret},
    signature::Scheme,
};

/// More causes than this at once explain nothing.
const AT_ONCE: usize = 2;

/// What a receiver holds a message against: its scheme and its keys, those included that it gave up.
#[derive(Clone, Debug)]
pub struct Diagnosis {
    keys: Keys,
    tolerance: Duration,
}

#[derive(Clone, Debug)]
enum Keys {
    Hmac {
        scheme: Scheme,
        suspects: Vec<Suspect>,
    },
    #[cfg(feature = "ed25519")]
    Ed25519(Keyring<PublicKey>),
}

impl Diagnosis {
    /// Of messages for [`Verifier::timestamp_body_hex`](super::Verifier::timestamp_body_hex).
    #[must_use]
    pub fn timestamp_body_hex(secrets: impl Into<Keyring>) -> Self {
        Self::hmac(Scheme::TimestampBodyHex, &secrets.into())
    }

    /// Of messages for [`Verifier::id_timestamp_body_hex`](super::Verifier::id_timestamp_body_hex).
    #[must_use]
    pub fn id_timestamp_body_hex(secrets: impl Into<Keyring>) -> Self {
        Self::hmac(Scheme::IdTimestampBodyHex, &secrets.into())
    }

    /// Of messages for [`Verifier::standard_webhooks`](super::Verifier::standard_webhooks).
    #[must_use]
    pub fn standard_webhooks(secrets: impl Into<Keyring>) -> Self {
        Self::hmac(Scheme::StandardWebhooks, &secrets.into())
    }

    /// Of messages for [`Verifier::ed25519`](super::Verifier::ed25519).
    #[cfg(feature = "ed25519")]
    #[must_use]
    pub fn ed25519(keys: impl Into<Keyring<PublicKey>>) -> Self {
        Self {
            keys: Keys::Ed25519(keys.into()),
            tolerance: TOLERANCE,
        }
    }

    /// Tries secrets too that are no longer in the ring. They say nothing to an Ed25519 signature.
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
        }
        self
    }

    /// The tolerance of the verifier: 300 seconds unless told otherwise.
    #[must_use]
    pub fn with_tolerance(mut self, tolerance: Duration) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// Whether the message verifies at `now`, and if not, what explains that.
    #[must_use]
    pub fn finding(&self, headers: &HeaderMap, body: &[u8], now: SystemTime) -> Finding {
        let message = match Message::read(headers) {
            Ok(message) => message,
            Err(causes) => return Finding::Explained(causes),
        };
        #[cfg(feature = "ed25519")]
        if self.scheme() == Scheme::Ed25519 && message.ed25519.len() > ed25519::MAX_SIGNATURES {
            return Finding::Explained(vec![Cause::TooManySignatures]);
        }
        let mut causes = message.causes.clone();
        let explanation = self.explanation(&message, body);
        let is_signed = explanation.is_some();
        match explanation {
            Some(explanation) => {
                causes.extend(explanation);
                causes.extend(self.skew(message.time, now));
                causes.extend(self.unsigned_id(&message, body));
            }
            None => causes.extend(message.foreign_tokens(self.scheme())),
        }
        match is_signed {
            _ if !causes.is_empty() => Finding::Explained(causes),
            true => Finding::Verifies,
            false => Finding::Unexplained,
        }
    }

    /// The causes of a [`finding`](Self::finding) that has any. None are found for a message that verifies, and for one that
    /// nothing known explains, alike.
    #[must_use]
    pub fn causes(&self, headers: &HeaderMap, body: &[u8], now: SystemTime) -> Vec<Cause> {
        match self.finding(headers, body, now) {
            Finding::Explained(causes) => causes,
            Finding::Verifies | Finding::Unexplained => Vec::new(),
        }
    }

    fn hmac(scheme: Scheme, secrets: &Keyring) -> Self {
        let suspects = secrets.iter().flat_map(|secret| Suspect::all_of(secret, false));
        Self {
            keys: Keys::Hmac {
                scheme,
                suspects: suspects.collect(),
            },
            tolerance: TOLERANCE,
        }
    }

    fn scheme(&self) -> Scheme {
        match &self.keys {
            Keys::Hmac { scheme, .. } => *scheme,
            #[cfg(feature = "ed25519")]
            Keys::Ed25519(_) => Scheme::Ed25519,
        }
    }

    /// The smallest set of causes with which a signature is right.
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

    /// Exactly `left` causes, beside the body, with which a signature over `body` is right.
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
        }
    }

    /// How far the time of signing, which the signature has proven, is from now.
    fn skew(&self, signed: Timestamp, now: SystemTime) -> Option<Cause> {
        let (signed, now) = (signed.as_seconds(), Timestamp::from(now).as_seconds());
        let distance = Duration::from_secs(signed.abs_diff(now));
        match distance > self.tolerance {
            true if signed < now => Some(Cause::SignedInThePast(distance)),
            true => Some(Cause::SignedInTheFuture(distance)),
            false => None,
        }
    }

    /// Where the id is not signed, the receiver asks for the same one inside the body.
    fn unsigned_id(&self, message: &Message<'_>, body: &[u8]) -> Option<Cause> {
        let agrees = Envelope::id_in(body).is_ok_and(|id| id.as_str() == message.id);
        (!self.scheme().signs_id() && !agrees).then_some(Cause::IdNotInBody)
    }
}

/// Exactly `left` causes, beside body and key, with which a signature is right.
fn with_key(
    scheme: Scheme,
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

/// What is unlike `scheme` in a signature of `text` that is written like `candidate`.
fn causes_of(scheme: Scheme, text: SignedText, candidate: &Candidate) -> Vec<Cause> {
    let spoken = match (text, candidate.writing) {
        (SignedText::TimestampBody, Writing::Hex) => Some(Scheme::TimestampBodyHex),
        (SignedText::IdTimestampBody, Writing::Hex) => Some(Scheme::IdTimestampBodyHex),
        (SignedText::IdTimestampBody, Writing::Base64) => Some(Scheme::StandardWebhooks),
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
