//! Lenient parser of the headers, for messages of faulty senders.

use base64::{
    Engine,
    alphabet::{STANDARD, URL_SAFE},
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use http::{HeaderMap, HeaderName};

use super::{super::VerifyFailure, Cause, SignedText};
#[cfg(feature = "ed25519")]
use crate::signature::ed25519;
use crate::{
    event::{EventId, Timestamp},
    signature::{
        SignerScheme, WEBHOOK_ID, WEBHOOK_SIGNATURE, WEBHOOK_TIMESTAMP,
        mac::{self, Mac},
        scheme::{Candidates, Encoding, Field, Grammar, Scheme},
    },
};

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const MILLISECONDS_LENGTH: usize = 13;
/// Length of an HMAC-SHA256 in bytes.
const MAC_LENGTH: usize = 32;

/// Encoding of a MAC, strict or lenient.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Writing {
    Hex,
    Base64,
}

/// Possible MAC in `Webhook-Signature`.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) mac: Mac,
    pub(super) writing: Writing,
    /// A verifier would skip this token.
    pub(super) is_sloppy: bool,
}

/// Headers of a message that can be tried.
#[derive(Debug)]
pub(super) struct Message<'h> {
    pub(super) id: &'h str,
    timestamp: &'h str,
    pub(super) time: Timestamp,
    pub(super) hmac: Vec<Candidate>,
    #[cfg(feature = "ed25519")]
    pub(super) ed25519: Vec<ed25519_dalek::Signature>,
    #[cfg(feature = "ed25519")]
    has_v1: bool,
    /// Causes that do not depend on the signature.
    pub(super) causes: Vec<Cause>,
}

impl<'h> Message<'h> {
    /// Parses the headers; the error lists all missing and repeated headers.
    pub(super) fn read(headers: &'h HeaderMap) -> Result<Self, Vec<Cause>> {
        let signatures = tagged(headers, "v1");
        let (id, timestamp) = (single(headers, &WEBHOOK_ID), single(headers, &WEBHOOK_TIMESTAMP));
        let mut causes: Vec<Cause> = [&id, &timestamp]
            .into_iter()
            .filter_map(|part| part.clone().err())
            .collect();
        causes.extend(signatures.as_ref().err().cloned());
        let (Ok(id), Ok(timestamp), Ok(signatures)) = (id, timestamp, signatures) else {
            return Err(causes);
        };
        if !EventId::is_valid(id) {
            causes.push(Cause::IdFormat);
        }
        let (time, cause) = time_of(timestamp);
        causes.extend(cause);
        Ok(Self {
            id,
            timestamp,
            time,
            hmac: candidates(headers, &signatures),
            #[cfg(feature = "ed25519")]
            ed25519: tagged(headers, "v1a").map_or_else(
                |_| Vec::new(),
                |signatures| {
                    let read = |text| ed25519::read(Encoding::Base64, text);
                    signatures.iter().filter_map(read).collect()
                },
            ),
            #[cfg(feature = "ed25519")]
            has_v1: signatures.iter().next().is_some(),
            causes,
        })
    }

    /// Text that the sender may have signed.
    pub(super) fn pieces<'a>(&'a self, text: SignedText, body: &'a [u8]) -> [&'a [u8]; 5] {
        let (id, timestamp) = (self.id.as_bytes(), self.timestamp.as_bytes());
        match text {
            SignedText::IdTimestampBody => [id, b".", timestamp, b".", body],
            SignedText::TimestampBody => [b"", b"", timestamp, b".", body],
            SignedText::TimestampIdBody => [timestamp, b".", id, b".", body],
            SignedText::IdBody => [b"", b"", id, b".", body],
            SignedText::Body => [b"", b"", b"", b"", body],
        }
    }

    /// SignerScheme of all tokens, if no token is of `scheme`.
    pub(super) fn foreign_tokens(&self, scheme: SignerScheme) -> Option<Cause> {
        #[cfg(feature = "ed25519")]
        if scheme != SignerScheme::Ed25519 && !self.has_v1 && !self.ed25519.is_empty() {
            return Some(Cause::OtherScheme(SignerScheme::Ed25519));
        }
        let strict = |writing| self.hmac.iter().any(|it| it.writing == writing && !it.is_sloppy);
        let has_own = match scheme {
            SignerScheme::StandardWebhooks => strict(Writing::Base64),
            SignerScheme::TimestampBodyHex | SignerScheme::IdTimestampBodyHex => strict(Writing::Hex),
            #[cfg(feature = "ed25519")]
            SignerScheme::Ed25519 => !self.ed25519.is_empty(),
        };
        (!has_own).then_some(Cause::SignatureFormat)
    }
}

fn single<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<&'h str, Cause> {
    let mut values = headers.get_all(name).iter();
    let value = values.next().ok_or_else(|| Cause::MissingHeader(name.clone()))?;
    if values.next().is_some() {
        return Err(Cause::RepeatedHeader(name.clone()));
    }
    let malformed = if *name == WEBHOOK_ID {
        Cause::IdFormat
    } else {
        Cause::TimestampFormat
    };
    value.to_str().map_err(|_| malformed)
}

/// Signatures of `Webhook-Signature` with this tag, as a verifier reads them.
fn tagged<'h>(headers: &'h HeaderMap, tag: &'static str) -> Result<Candidates<'h>, Cause> {
    let field = Field {
        grammar: Grammar::Tokens { tag },
        ..Scheme::STANDARD_WEBHOOKS.signature
    };
    Candidates::read(&field, headers, b"").map_err(|failure| match failure {
        VerifyFailure::MissingHeader => Cause::MissingHeader(WEBHOOK_SIGNATURE),
        _ => Cause::TooManySignatures,
    })
}

/// Time that the text means, and the error in the text.
fn time_of(text: &str) -> (Timestamp, Option<Cause>) {
    if let Ok(time) = text.parse() {
        return (time, None);
    }
    let digits = text.trim();
    let seconds = digits
        .parse::<u64>()
        .ok()
        .filter(|_| digits.len() == MILLISECONDS_LENGTH);
    match seconds.and_then(|milliseconds| Timestamp::from_seconds(milliseconds / 1000)) {
        Some(time) => (time, Some(Cause::TimestampInMilliseconds)),
        None => {
            let whole = digits.split('.').next().unwrap_or_default();
            let time = whole.parse().ok().and_then(Timestamp::from_seconds);
            (
                time.unwrap_or(Timestamp::from(std::time::SystemTime::UNIX_EPOCH)),
                Some(Cause::TimestampFormat),
            )
        }
    }
}

/// All possible MACs of the header: first as a verifier parses it, then in any encoding.
fn candidates(headers: &HeaderMap, signatures: &Candidates<'_>) -> Vec<Candidate> {
    let strict = |encoding, writing| {
        let macs = signatures
            .iter()
            .filter_map(move |text| mac::read(encoding, MAC_LENGTH, text))
            .map(Mac::from);
        macs.map(move |mac| Candidate {
            mac,
            writing,
            is_sloppy: false,
        })
    };
    let lines = headers.get_all(WEBHOOK_SIGNATURE).iter();
    let pieces = lines.flat_map(|line| line.as_bytes().split(|byte| b" ,;\t\"'".contains(byte)));
    let sloppy = pieces.flat_map(|piece| {
        // `sha256=…`, `v1=…` and `v1:…` are tags of other senders; `=` also ends base64
        let cut = piece
            .iter()
            .position(|byte| b"=:".contains(byte))
            .map_or(0, |at| at + 1);
        [piece, piece.get(cut..).unwrap_or_default()]
            .into_iter()
            .filter_map(sloppy)
    });
    strict(Encoding::Hex, Writing::Hex)
        .chain(strict(Encoding::Base64, Writing::Base64))
        .chain(sloppy)
        .collect()
}

fn sloppy(text: &[u8]) -> Option<Candidate> {
    let candidate = |mac, writing| Candidate {
        mac,
        writing,
        is_sloppy: true,
    };
    if let Some(mac) = mac::read(Encoding::Hex, MAC_LENGTH, &text.to_ascii_lowercase()).map(Mac::from) {
        return Some(candidate(mac, Writing::Hex));
    }
    [STANDARD, URL_SAFE].iter().find_map(|alphabet| {
        let decoded = GeneralPurpose::new(alphabet, LENIENT).decode(text).ok()?;
        let is_mac = decoded.len() == MAC_LENGTH;
        is_mac.then(|| candidate(Mac::from(&*decoded), Writing::Base64))
    })
}
