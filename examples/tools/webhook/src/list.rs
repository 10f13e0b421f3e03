//! `webhook --list`: the providers, and what each signs.

use webhook_core::{
    receiver::{Handshake, Provider, providers},
    signature::scheme::{Check, Grammar, IdSource, Part, Source},
};

use crate::{Failure, args::Args, show};

pub(crate) fn run(words: Vec<String>) -> Result<(), Failure> {
    Args::parse(words, &[], &[])?.without_operands()?;
    for provider in providers::ALL {
        show::line(&row(provider));
    }
    Ok(())
}

/// Name, algorithm, place of the signature, signed text, id, handshake.
fn row(provider: &Provider) -> String {
    let scheme = provider.scheme();
    let signed: Vec<String> = scheme.signed.iter().map(part).collect();
    let signed = match scheme.check {
        Check::Token => "nothing".to_owned(),
        _ => signed.join(" "),
    };
    let id = match scheme.id {
        IdSource::Header(names) => names.first().copied().unwrap_or_default(),
        IdSource::EnvelopeId { .. } => "/id",
        IdSource::JsonPointer(pointer) => pointer,
        IdSource::SignedContent => "digest",
    };
    let handshake = match provider.handshake() {
        Handshake::None => String::new(),
        _ => "; has a handshake".to_owned(),
    };
    format!(
        "{:<18} {:<11} {}; signs {signed}; id: {id}{handshake}",
        provider.name(),
        check(scheme.check),
        place(provider),
    )
}

fn check(check: Check) -> &'static str {
    match check {
        Check::HmacSha256 => "HMAC-SHA256",
        Check::HmacSha512 => "HMAC-SHA512",
        Check::HmacSha1 => "HMAC-SHA1",
        Check::Ed25519 => "Ed25519",
        Check::EcdsaP256Sha256 => "ECDSA P-256",
        Check::Token => "token",
        _ => "other",
    }
}

/// Header or body member with the signature, and the form of the signature.
fn place(provider: &Provider) -> String {
    let field = provider.scheme().signature;
    let place = match field.source {
        Source::Headers([first, .., last]) => format!("{first}, … {last}"),
        Source::Headers(names) => names.concat(),
        Source::JsonPointer(pointer) => format!("body {pointer}"),
    };
    match field.grammar {
        Grammar::Whole { prefix } => format!("{place}: {prefix}…"),
        Grammar::Tokens { tag } => format!("{place}: {tag},…"),
        Grammar::Pairs { signature, .. } => format!("{place}: {signature}=…"),
    }
}

fn part(part: &Part) -> String {
    match part {
        Part::Text(text) => format!("{text:?}"),
        Part::Timestamp => "timestamp".to_owned(),
        Part::Id => "id".to_owned(),
        Part::Body => "body".to_owned(),
        Part::Method => "method".to_owned(),
        Part::Url => "URL".to_owned(),
        Part::SortedForm => "sorted form".to_owned(),
    }
}
