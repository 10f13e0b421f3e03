//! The causes, as values and in words.

use std::{fmt, time::Duration};

use http::HeaderName;

use crate::signature::Scheme;

/// What a [`Diagnosis`](super::Diagnosis) comes to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Finding {
    /// Nothing is wrong: a verifier of the same scheme, keys and tolerance accepts the message.
    Verifies,
    /// It does not verify, and at least one reason is known.
    Explained(Vec<Cause>),
    /// It does not verify, and nothing known explains that: the secret is another one altogether, or the body was changed in its
    /// content.
    Unexplained,
}

/// One reason for which a message does not verify.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Cause {
    /// The header is missing.
    MissingHeader(HeaderName),
    /// The header appears more than once.
    RepeatedHeader(HeaderName),
    /// `Webhook-Id` is not an [`EventId`](crate::event::EventId).
    IdFormat,
    /// `Webhook-Timestamp` counts milliseconds.
    TimestampInMilliseconds,
    /// `Webhook-Timestamp` is not a [`Timestamp`](crate::event::Timestamp) in its canonical writing.
    TimestampFormat,
    /// `Webhook-Signature` has more than 16 tokens or 4 KiB, or more than 4 Ed25519 signatures where one is asked for.
    TooManySignatures,
    /// A signature is right but not written as `tag,signature` in the one writing of its scheme.
    SignatureFormat,
    /// It is signed by another scheme, or every token bears the tag of another one.
    OtherScheme(Scheme),
    /// Other parts of the message were signed, or in another order.
    SignedText(SignedText),
    /// It is signed with a secret that was given up.
    RetiredSecret,
    /// The sender reads the text of the secret in another way.
    Secret(SecretReading),
    /// The body is not, byte for byte, the one that was signed.
    Body(BodyChange),
    /// Rightly signed, so long ago: a clock is wrong, or the message waited or was presented again.
    SignedInThePast(Duration),
    /// Rightly signed, and so far in the future: a clock is wrong.
    SignedInTheFuture(Duration),
    /// Rightly signed by a scheme that leaves the id out, and `Webhook-Id` is not the `id` inside the body.
    IdNotInBody,
}

/// How the sender took the secret, where the receiver's reading is another.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum SecretReading {
    /// The text with its `whsec_`, as it is; the receiver decoded it.
    WhsecAsText,
    /// The text after `whsec_`, as it is; the receiver decoded it.
    Base64AsText,
    /// Decoded from base64, with or without `whsec_`; the receiver took the text.
    TextAsBase64,
    /// Decoded from hexadecimal; the receiver took the text.
    TextAsHex,
    /// With a line break at its end, as read from a file.
    WithNewline,
}

/// How the body that arrived differs from the one that was signed.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum BodyChange {
    /// A line break was added at its end.
    NewlineAdded,
    /// A line break at its end was lost.
    NewlineRemoved,
    /// A byte order mark was added at its beginning.
    ByteOrderMarkAdded,
    /// `\n` became `\r\n`.
    LineEndingsToCrlf,
    /// `\r\n` became `\n`.
    LineEndingsToLf,
    /// It was parsed and serialised again; the one signed is without white space.
    SignedCompact,
    /// It was parsed and serialised again; the one signed has a space after each comma and colon.
    SignedSpaced,
    /// It was parsed and serialised again; the one signed is indented by this many spaces.
    SignedIndented(u8),
    /// It was parsed and serialised again; the one signed, compact or spaced, has `\uXXXX` for all but ASCII.
    SignedEscaped,
    /// It was parsed and serialised again; the one signed, compact or spaced, has all but ASCII as it is.
    SignedUnescaped,
    /// It was parsed and serialised again, compact; the one signed has `\/` for each `/`.
    SignedWithSlashesEscaped,
}

/// Which parts of a message were signed, joined by dots.
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
                f.write_str("the timestamp counts milliseconds instead of seconds")
            }
            Self::TimestampFormat => f.write_str("the timestamp is not written as plain decimal seconds"),
            Self::TooManySignatures => {
                f.write_str("there are more than 16 signatures, or 4 KiB of them, or 4 of Ed25519")
            }
            Self::SignatureFormat => {
                f.write_str("the signature is right, but not written as its scheme says")
            }
            Self::OtherScheme(scheme) => write!(f, "it is signed by another scheme: {scheme}"),
            Self::SignedText(text) => {
                write!(f, "what was signed is {text}, in a form that no scheme here has")
            }
            Self::RetiredSecret => f.write_str("it is signed with a secret that was retired"),
            Self::Secret(reading) => write!(f, "the sender reads the secret in another way: {reading}"),
            Self::Body(change) => change.fmt(f),
            Self::SignedInThePast(by) => {
                write!(
                    f,
                    "it was signed {} s ago: a clock is off, or it was late",
                    by.as_secs()
                )
            }
            Self::SignedInTheFuture(by) => write!(
                f,
                "it was signed {} s in the future: a clock is off",
                by.as_secs()
            ),
            Self::IdNotInBody => {
                f.write_str("the scheme does not sign the id, and the body bears another one or none")
            }
        }
    }
}

impl fmt::Display for SecretReading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::WhsecAsText => "as text, with its `whsec_`, where this receiver decodes base64",
            Self::Base64AsText => "as text, without its `whsec_`, where this receiver decodes base64",
            Self::TextAsBase64 => "as base64, where this receiver takes the text",
            Self::TextAsHex => "as hexadecimal, where this receiver takes the text",
            Self::WithNewline => "with a line break at its end",
        })
    }
}

impl fmt::Display for BodyChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let form = match self {
            Self::NewlineAdded => {
                return f.write_str("the body arrived with a line break at its end that was not signed");
            }
            Self::NewlineRemoved => {
                return f.write_str("the body lost a line break at its end that was signed");
            }
            Self::ByteOrderMarkAdded => {
                return f.write_str("the body arrived with a byte order mark that was not signed");
            }
            Self::LineEndingsToCrlf => return f.write_str("the line breaks of the body became CR LF"),
            Self::LineEndingsToLf => {
                return f.write_str("the line breaks of the body were CR LF when it was signed");
            }
            Self::SignedCompact => "without white space",
            Self::SignedSpaced => "with a space after each comma and colon",
            Self::SignedIndented(by) => {
                return write!(
                    f,
                    "the body was serialised again: it was signed indented by {by} spaces"
                );
            }
            Self::SignedEscaped => "with all but ASCII escaped",
            Self::SignedUnescaped => "with all but ASCII as it is",
            Self::SignedWithSlashesEscaped => "with slashes escaped",
        };
        write!(f, "the body was serialised again: it was signed {form}")
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
