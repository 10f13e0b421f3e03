//! Signature schemes as data.

use serde_json::{Value, json};
use webhook_core::signature::scheme::{
    Check, Encoding, Grammar, IdSource, KeyText, Part, Scheme, Source, TimeUnit, TimestampSource,
};

/// The scheme as an object of the table `schemes`.
pub(crate) fn describe(scheme: &Scheme) -> Value {
    let mut described = json!({
        "signature": { "from": source(scheme.signature.source), "grammar": grammar(scheme.signature.grammar) },
        "signed": scheme.signed.iter().map(part).collect::<Vec<_>>(),
        "check": check(scheme.check),
        "encoding": match scheme.encoding {
            Encoding::Hex => "hex",
            Encoding::Base64 => "base64",
            Encoding::Text => "text",
        },
        "key": match scheme.key {
            KeyText::Utf8 => "utf8",
            KeyText::Whsec => "whsec",
            KeyText::Base64 => "base64",
            KeyText::Hex => "hex",
            KeyText::Whpk => "whpk",
            KeyText::Spki => "spki",
        },
        "timestamp": scheme.timestamp.map(|field| json!({
            "from": match field.source {
                TimestampSource::Field(place) => source(place),
                TimestampSource::Pair => json!("pair"),
            },
            "unit": match field.unit {
                TimeUnit::Seconds => "seconds",
                TimeUnit::Milliseconds => "milliseconds",
                TimeUnit::Rfc3339 => "rfc3339",
            },
            "tolerance": field.tolerance.as_secs(),
        })),
        "id": match scheme.id {
            IdSource::Header(names) => json!({ "headers": names }),
            IdSource::EnvelopeId { header } => json!({ "envelope": header }),
            IdSource::JsonPointer(pointer) => json!({ "pointer": pointer }),
            IdSource::SignedContent => json!("signed-content"),
        },
    });
    // the order of members must not depend on the features of serde_json
    described.sort_all_objects();
    described
}

fn source(source: Source) -> Value {
    match source {
        Source::Headers(names) => json!({ "headers": names }),
        Source::JsonPointer(pointer) => json!({ "pointer": pointer }),
    }
}

fn grammar(grammar: Grammar) -> Value {
    match grammar {
        Grammar::Whole { prefix } => json!({ "prefix": prefix }),
        Grammar::Tokens { tag } => json!({ "tag": tag }),
        Grammar::Pairs {
            signature,
            timestamp,
            separator,
        } => json!({ "signature": signature, "timestamp": timestamp, "separator": separator }),
    }
}

fn part(part: &Part) -> Value {
    match *part {
        Part::Text(text) => json!({ "text": text }),
        Part::Timestamp => json!("timestamp"),
        Part::Id => json!("id"),
        Part::Body => json!("body"),
        Part::Method => json!("method"),
        Part::Url => json!("url"),
        Part::SortedForm => json!("sorted-form"),
    }
}

fn check(check: Check) -> &'static str {
    match check {
        Check::HmacSha256 => "hmac-sha256",
        Check::HmacSha512 => "hmac-sha512",
        Check::HmacSha1 => "hmac-sha1",
        Check::Ed25519 => "ed25519",
        Check::EcdsaP256Sha256 => "ecdsa-p256-sha256",
        Check::Token => "token",
        other => panic!("the format of docs/vectors has no name for {other:?}"),
    }
}
