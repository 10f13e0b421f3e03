//! Causes of a failed verification, and their texts.

use std::{fmt, time::Duration};

use http::HeaderName;

use crate::signature::SignerScheme;

/// Result of a [`Diagnosis`](super::Diagnosis).
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Finding {
    /// The message is valid: a verifier with the same scheme, keys and tolerance accepts it.
    Verifies,
    /// The message is invalid, and at least one cause is known.
    Explained(Vec<Cause>),
    /// The message is invalid, and no cause was found: the secret differs, or the content of the
    /// body was changed.
    Unexplained,
}

/// Cause of a failed verification.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Cause {
    /// The header is missing.
    MissingHeader(HeaderName),
    /// The header is repeated.
    RepeatedHeader(HeaderName),
    /// `Webhook-Id` is not an [`EventId`](crate::event::EventId).
    IdFormat,
    /// `Webhook-Timestamp` is in milliseconds.
    TimestampInMilliseconds,
    /// `Webhook-Timestamp` is not a [`Timestamp`](crate::event::Timestamp) in canonical form.
    TimestampFormat,
    /// `Webhook-Signature` has more than 16 tokens or 4 KiB, or more than 4 Ed25519 signatures at
    /// an Ed25519 verifier.
    TooManySignatures,
    /// The signature matches, but is not written as `tag,signature` in the canonical form of its
    /// scheme.
    SignatureFormat,
    /// The message is signed by another scheme, or all its tokens have the tag of another scheme.
    OtherScheme(SignerScheme),
    /// The message is signed by this provider, or has its signature header.
    OtherProvider(&'static str),
    /// The scheme signs the URL, and none is set.
    NoUrl,
    /// The signature matches this URL instead of the configured one.
    Url(String),
    /// The sender signed other parts of the message, or the parts in another order.
    SignedText(SignedText),
    /// The message is signed with a retired secret.
    RetiredSecret,
    /// The sender decoded the text of the secret differently.
    Secret(SecretReading),
    /// The body differs from the one that was signed.
    Body(BodyChange),
    /// The signature matches, and its timestamp is this far in the past: a clock is wrong, or the
    /// message was delayed or replayed.
    SignedInThePast(Duration),
    /// The signature matches, and its timestamp is this far in the future: a clock is wrong.
    SignedInTheFuture(Duration),
    /// The signature matches, its scheme does not sign the id, and `Webhook-Id` differs from the
    /// `id` in the body.
    IdNotInBody,
}

/// Decoding of the secret at the sender, if it differs from that of the receiver.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum SecretReading {
    /// The sender used the text with `whsec_` as the key; the receiver decoded it.
    WhsecAsText,
    /// The sender used the text after `whsec_` as the key; the receiver decoded it.
    Base64AsText,
    /// The sender decoded the base64, with or without `whsec_`; the receiver used the text as the
    /// key.
    TextAsBase64,
    /// The sender decoded hexadecimal; the receiver used the text as the key.
    TextAsHex,
    /// The sender's secret ends with a newline, as if read from a file.
    WithNewline,
}

/// Difference between the body that arrived and the body that was signed.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum BodyChange {
    /// A newline was added at the end.
    NewlineAdded,
    /// A newline at the end was removed.
    NewlineRemoved,
    /// A byte order mark was added at the beginning.
    ByteOrderMarkAdded,
    /// `\n` became `\r\n`.
    LineEndingsToCrlf,
    /// `\r\n` became `\n`.
    LineEndingsToLf,
    /// The body was serialized again. The signed text had no white space.
    SignedCompact,
    /// The body was serialized again. The signed text had a space after each comma and colon.
    SignedSpaced,
    /// The body was serialized again. The signed text was indented by this number of spaces.
    SignedIndented(u8),
    /// The body was serialized again. The signed text, compact or spaced, had `\uXXXX` for all
    /// characters outside ASCII.
    SignedEscaped,
    /// The body was serialized again. The signed text, compact or spaced, had characters outside
    /// ASCII unescaped.
    SignedUnescaped,
    /// The body was serialized again. The signed text was compact, with `\/` for each `/`.
    SignedWithSlashesEscaped,
}

/// Parts of the message that were signed, joined by dots.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum SignedText {
    /// `id.timestamp.body`
    IdTimestampBody,
    /// `timestamp.body`
    TimestampBody,
    /// `timestamp.id.body`
    TimestampIdBody,
    /// `id.body`
    IdBody,
    /// The body alone.
    Body,
}

impl SignedText {
    pub(super) const ALL: [Self; 5] = [
        Self::IdTimestampBody,
        Self::TimestampBody,
        Self::TimestampIdBody,
        Self::IdBody,
        Self::Body,
    ];
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingHeader(name) => write!(f, "the header {name} is missing"),
            Self::RepeatedHeader(name) => write!(f, "the header {name} appears more than once"),
            Self::IdFormat => f.write_str("the id is not 1 to 256 visible ASCII characters without a dot"),
            Self::TimestampInMilliseconds => {
                f.write_str("the timestamp is in milliseconds instead of seconds")
            }
            Self::TimestampFormat => f.write_str("the timestamp does not have the form of its scheme"),
            Self::TooManySignatures => {
                f.write_str("there are more than 16 signatures, 4 KiB of signatures, or 4 Ed25519 signatures")
            }
            Self::SignatureFormat => {
                f.write_str("the signature matches, but is not in the canonical form of its scheme")
            }
            Self::OtherScheme(scheme) => write!(f, "the message is signed by another scheme: {scheme}"),
            Self::OtherProvider(name) => write!(f, "the message is signed by another provider: {name}"),
            Self::NoUrl => f.write_str("the signature covers the URL, and none is configured"),
            Self::Url(url) => write!(f, "the sender signed another URL: {url}"),
            Self::SignedText(text) => {
                write!(f, "the sender signed {text}, which no known scheme does")
            }
            Self::RetiredSecret => f.write_str("the message is signed with a retired secret"),
            Self::Secret(reading) => write!(f, "the sender decodes the secret differently: {reading}"),
            Self::Body(change) => change.fmt(f),
            Self::SignedInThePast(by) => {
                write!(
                    f,
                    "the message was signed {} s ago: a clock is wrong, or the message was delayed",
                    by.as_secs()
                )
            }
            Self::SignedInTheFuture(by) => write!(
                f,
                "the message was signed {} s in the future: a clock is wrong",
                by.as_secs()
            ),
            Self::IdNotInBody => {
                f.write_str("the scheme does not sign the id, and the `id` in the body differs or is missing")
            }
        }
    }
}

impl fmt::Display for SecretReading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::WhsecAsText => "as text with `whsec_`; this receiver decodes base64",
            Self::Base64AsText => "as text without `whsec_`; this receiver decodes base64",
            Self::TextAsBase64 => "as base64; this receiver uses the text",
            Self::TextAsHex => "as hexadecimal; this receiver uses the text",
            Self::WithNewline => "with a newline at the end",
        })
    }
}

impl fmt::Display for BodyChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let form = match self {
            Self::NewlineAdded => {
                return f.write_str("a newline was added to the end of the body after it was signed");
            }
            Self::NewlineRemoved => {
                return f.write_str("a newline at the end of the body was removed after it was signed");
            }
            Self::ByteOrderMarkAdded => {
                return f.write_str("a byte order mark was added to the body after it was signed");
            }
            Self::LineEndingsToCrlf => {
                return f.write_str("the line endings of the body became CR LF after it was signed");
            }
            Self::LineEndingsToLf => {
                return f.write_str("the line endings of the body were CR LF when it was signed");
            }
            Self::SignedCompact => "without white space",
            Self::SignedSpaced => "with a space after each comma and colon",
            Self::SignedIndented(by) => {
                return write!(
                    f,
                    "the body was serialized again: it was signed indented by {by} spaces"
                );
            }
            Self::SignedEscaped => "with all but ASCII escaped",
            Self::SignedUnescaped => "with all but ASCII as it is",
            Self::SignedWithSlashesEscaped => "with slashes escaped",
        };
        write!(f, "the body was serialized again: it was signed {form}")
    }
}

impl fmt::Display for SignedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::IdTimestampBody => "id.timestamp.body",
            Self::TimestampBody => "timestamp.body",
            Self::TimestampIdBody => "timestamp.id.body",
            Self::IdBody => "id.body",
            Self::Body => "the body alone",
        })
    }
}
