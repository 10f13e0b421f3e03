//! Signature schemes as values: the place of the signature, the signed text, the algorithm and the
//! encodings of a sender.
//!
//! A [`Scheme`] describes how one sender signs its webhooks. The
//! [`providers`](crate::receiver::providers) are such values; a host writes its own for a sender
//! that is not listed:
//!
//! ```
//! use webhook_core::{
//!     receiver::Verifier,
//!     signature::scheme::{
//!         Check, Encoding, Field, Grammar, IdSource, KeyText, Part, Scheme, Source,
//!     },
//! };
//!
//! /// `X-Acme-Signature: sha256=<hex of the HMAC-SHA256 of the body>`
//! static ACME: Scheme = Scheme {
//!     signature: Field {
//!         source: Source::Headers(&["x-acme-signature"]),
//!         grammar: Grammar::Whole { prefix: "sha256=" },
//!     },
//!     signed: &[Part::Body],
//!     check: Check::HmacSha256,
//!     encoding: Encoding::Hex,
//!     key: KeyText::Utf8,
//!     timestamp: None,
//!     id: IdSource::SignedContent,
//! };
//!
//! let verifier = Verifier::new("acme", &ACME, ["a secret of the host"])?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "receiver")]
mod form;
#[cfg(feature = "receiver")]
mod json;
#[cfg(feature = "receiver")]
mod message;
#[cfg(feature = "receiver")]
mod sign;
mod time;

use std::time::Duration;

use zeroize::Zeroizing;

#[cfg(feature = "receiver")]
pub use self::sign::{CannotSign, RequestSigner};
#[cfg(feature = "receiver")]
pub(crate) use self::{
    form::parameter,
    json::text_at,
    message::{Candidates, Message},
};

use crate::secret::{InvalidSecret, SigningSecret, base64_of, hex_of, whsec_or_base64};

/// Default tolerance of a timestamp: 5 minutes.
pub(crate) const TOLERANCE: Duration = Duration::from_secs(300);

/// Signature scheme of a sender.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Scheme {
    /// Place and grammar of the signatures.
    pub signature: Field,
    /// Signed text, as the concatenation of these parts. For [`Check::Token`] they only identify
    /// the content of the message.
    pub signed: &'static [Part],
    /// Algorithm.
    pub check: Check,
    /// Encoding of a signature.
    pub encoding: Encoding,
    /// Encoding of the secret or public key that the sender hands out.
    pub key: KeyText,
    /// Signed timestamp; `None` if the sender signs none, so that old messages cannot be refused.
    pub timestamp: Option<TimestampField>,
    /// Source of the id that detects duplicates.
    pub id: IdSource,
}

/// Place and grammar of the signatures of a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Field {
    /// Place of the value.
    pub source: Source,
    /// Grammar of the value.
    pub grammar: Grammar,
}

/// Place of a value in a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Source {
    /// Header of one of these names, in lower case. Signatures are read from all of them; a
    /// timestamp or an id from the first that is present.
    Headers(&'static [&'static str]),
    /// String in the JSON body, by its JSON pointer (RFC 6901).
    JsonPointer(&'static str),
}

/// Grammar of a signature field. White space around values is ignored.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Grammar {
    /// One signature after a prefix, which may be empty.
    Whole {
        /// Text before the signature, such as `sha256=`.
        prefix: &'static str,
    },
    /// `tag,signature` tokens, separated by spaces, as in Standard Webhooks.
    Tokens {
        /// Tag of the signatures; other tokens are skipped.
        tag: &'static str,
    },
    /// `name=value` pairs, such as `t=1700000000,v1=…`.
    Pairs {
        /// Name of the signatures; other pairs are skipped.
        signature: &'static str,
        /// Name of the timestamp, which must not be repeated.
        timestamp: Option<&'static str>,
        /// Character between two pairs.
        separator: char,
    },
}

/// Part of the signed text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Part {
    /// This text.
    Text(&'static str),
    /// Timestamp, as it was sent.
    Timestamp,
    /// Value of the header of [`IdSource::Header`], as it was sent.
    Id,
    /// Body, byte for byte.
    Body,
    /// Request method.
    Method,
    /// URL that the host [configured](crate::receiver::Verifier::with_url), with the query of the
    /// request.
    Url,
    /// Names and values of a form body, sorted by name. If the query has `bodySHA256`, this part is
    /// empty, and the digest of the body must match, as at Twilio.
    SortedForm,
}

/// Algorithm of a signature.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Check {
    /// HMAC with SHA-256.
    HmacSha256,
    /// HMAC with SHA-512.
    HmacSha512,
    /// HMAC with SHA-1. Known collisions of SHA-1 do not allow forging a MAC, but new senders
    /// should not use it.
    #[cfg(feature = "sha1")]
    HmacSha1,
    /// Ed25519.
    #[cfg(feature = "ed25519")]
    Ed25519,
    /// ECDSA with P-256 and SHA-256; the signature is the DER of the two numbers.
    #[cfg(feature = "ecdsa")]
    EcdsaP256Sha256,
    /// The secret itself, sent with each message and compared in constant time.
    ///
    /// # Security
    ///
    /// The token proves neither the body nor the time: a party that sees one message can forge
    /// others.
    Token,
}

/// Encoding of a signature.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Encoding {
    /// Lowercase hexadecimal.
    Hex,
    /// Padded base64 (RFC 4648 §4).
    Base64,
    /// The text itself, for [`Check::Token`].
    Text,
}

/// Encoding of a secret or public key.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum KeyText {
    /// The bytes of the text.
    Utf8,
    /// `whsec_` and padded base64; the prefix may be missing.
    Whsec,
    /// Padded base64.
    Base64,
    /// Hexadecimal.
    Hex,
    /// `whpk_` and padded base64: a public key of Standard Webhooks.
    Whpk,
    /// Base64 of a `SubjectPublicKeyInfo` (RFC 5280), with or without the lines of PEM.
    Spki,
}

/// Signed timestamp.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TimestampField {
    /// Place of the timestamp.
    pub source: TimestampSource,
    /// Unit and grammar.
    pub unit: TimeUnit,
    /// Maximum difference to the clock, inclusive, in both directions.
    pub tolerance: Duration,
}

/// Place of a timestamp.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TimestampSource {
    /// Header or member of the body.
    Field(Source),
    /// Pair of the signature field; see [`Grammar::Pairs`].
    Pair,
}

/// Unit of a timestamp.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TimeUnit {
    /// Seconds since 1970, in decimal without a leading zero.
    Seconds,
    /// Milliseconds since 1970, in decimal without a leading zero.
    Milliseconds,
    /// Date and time of RFC 3339.
    Rfc3339,
}

/// Source of the id that detects duplicates. The signature covers the id in each variant, except
/// under [`Check::Token`], which covers nothing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum IdSource {
    /// First of these headers. One part of the signed text must be [`Part::Id`].
    Header(&'static [&'static str]),
    /// `id` of the envelope, which must equal this header.
    EnvelopeId {
        /// Name of the header, which is not signed.
        header: &'static str,
    },
    /// String or number in the JSON body. If it is missing, the id is that of
    /// [`SignedContent`](Self::SignedContent).
    JsonPointer(&'static str),
    /// SHA-256 of the provider's name and the signed text without the timestamp, for senders whose
    /// id is not signed. Two events with the same content count as one.
    SignedContent,
}

impl Scheme {
    /// `timestamp.body` in lowercase hexadecimal; see
    /// [`SignerScheme::TimestampBodyHex`](super::SignerScheme::TimestampBodyHex).
    pub const TIMESTAMP_BODY_HEX: Self = Self {
        signed: &[Part::Timestamp, Part::Text("."), Part::Body],
        encoding: Encoding::Hex,
        id: IdSource::EnvelopeId { header: "webhook-id" },
        ..Self::STANDARD_WEBHOOKS
    };

    /// `id.timestamp.body` in lowercase hexadecimal; see
    /// [`SignerScheme::IdTimestampBodyHex`](super::SignerScheme::IdTimestampBodyHex).
    pub const ID_TIMESTAMP_BODY_HEX: Self = Self {
        encoding: Encoding::Hex,
        ..Self::STANDARD_WEBHOOKS
    };

    /// HMAC of Standard Webhooks; see
    /// [`SignerScheme::StandardWebhooks`](super::SignerScheme::StandardWebhooks).
    pub const STANDARD_WEBHOOKS: Self = Self {
        signature: Field {
            source: Source::Headers(&["webhook-signature"]),
            grammar: Grammar::Tokens { tag: "v1" },
        },
        signed: &[
            Part::Id,
            Part::Text("."),
            Part::Timestamp,
            Part::Text("."),
            Part::Body,
        ],
        check: Check::HmacSha256,
        encoding: Encoding::Base64,
        key: KeyText::Whsec,
        timestamp: Some(TimestampField::header(&["webhook-timestamp"], TimeUnit::Seconds)),
        id: IdSource::Header(&["webhook-id"]),
    };

    /// Ed25519 of Standard Webhooks.
    #[cfg(feature = "ed25519")]
    pub const STANDARD_WEBHOOKS_ED25519: Self = Self {
        signature: Field {
            source: Source::Headers(&["webhook-signature"]),
            grammar: Grammar::Tokens { tag: "v1a" },
        },
        check: Check::Ed25519,
        key: KeyText::Whpk,
        ..Self::STANDARD_WEBHOOKS
    };

    /// Contradiction between two fields, because of which the signature would not cover what the
    /// verifier relies on; `None` if there is none.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        let signs = |part| self.signed.contains(&part);
        let reads_body = matches!(
            self.timestamp.map(|field| field.source),
            Some(TimestampSource::Field(Source::JsonPointer(_)))
        );
        let is_named = matches!(
            self.signature.grammar,
            Grammar::Pairs {
                timestamp: Some(_),
                ..
            }
        );
        let in_pair = self.timestamp.map(|field| field.source) == Some(TimestampSource::Pair);
        if !signs(Part::Body) && !signs(Part::SortedForm) {
            Some("the signed text has no body")
        } else if matches!(self.id, IdSource::Header(_)) != signs(Part::Id) {
            Some("the header of the id and `Part::Id` belong together")
        } else if self.timestamp.is_some() != (signs(Part::Timestamp) || reads_body) {
            Some("the timestamp and `Part::Timestamp` belong together")
        } else if is_named != in_pair {
            Some("`TimestampSource::Pair` needs the name of the pair")
        } else if (self.check == Check::Token) != (self.encoding == Encoding::Text) {
            Some("`Check::Token` and `Encoding::Text` belong together")
        } else {
            None
        }
    }
}

impl KeyText {
    /// Parses a shared secret. Its length is not checked, because the sender chose it.
    pub(crate) fn secret(self, text: &str, is_lenient: bool) -> Result<SigningSecret, InvalidSecret> {
        if text.trim() != text {
            return Err(InvalidSecret("a secret begins or ends with white space"));
        }
        let bytes = match self {
            Self::Whsec => whsec_or_base64(text, is_lenient)?,
            Self::Base64 => base64_of(text, is_lenient)?,
            Self::Hex => hex_of(text)?,
            Self::Utf8 | Self::Whpk | Self::Spki => Zeroizing::new(text.as_bytes().to_vec()),
        };
        SigningSecret::danger_from_bytes_of_any_length(&bytes)
    }
}

impl TimestampField {
    /// Timestamp in a header, with a tolerance of 5 minutes.
    #[must_use]
    pub const fn header(names: &'static [&'static str], unit: TimeUnit) -> Self {
        Self {
            source: TimestampSource::Field(Source::Headers(names)),
            unit,
            tolerance: TOLERANCE,
        }
    }

    /// Sets the tolerance.
    #[must_use]
    pub const fn with_tolerance(self, tolerance: Duration) -> Self {
        Self { tolerance, ..self }
    }

    /// Timestamp in a pair of the signature field, with a tolerance of 5 minutes.
    #[must_use]
    pub const fn pair(unit: TimeUnit) -> Self {
        Self {
            source: TimestampSource::Pair,
            unit,
            tolerance: TOLERANCE,
        }
    }

    /// Timestamp in the JSON body, with a tolerance of 5 minutes.
    #[must_use]
    pub const fn json_pointer(pointer: &'static str, unit: TimeUnit) -> Self {
        Self {
            source: TimestampSource::Field(Source::JsonPointer(pointer)),
            unit,
            tolerance: TOLERANCE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// W19, W20: a scheme whose signature does not cover what the verifier relies on is refused.
    #[test]
    fn schemes_that_protect_nothing_are_refused() {
        let sound = Scheme::STANDARD_WEBHOOKS;
        assert_eq!(sound.fault(), None);
        let unsigned = [
            Scheme {
                signed: &[Part::Id, Part::Timestamp],
                ..sound
            },
            Scheme {
                signed: &[Part::Timestamp, Part::Body],
                ..sound
            },
            Scheme {
                signed: &[Part::Id, Part::Body],
                ..sound
            },
            Scheme {
                timestamp: Some(TimestampField::pair(TimeUnit::Seconds)),
                ..sound
            },
            Scheme {
                check: Check::Token,
                ..sound
            },
        ];
        for scheme in unsigned {
            assert!(scheme.fault().is_some(), "{scheme:?}");
        }
    }
}
