//! `webhook-signatures.json` and `webhook-providers.json`.

use std::collections::BTreeSet;

use serde_json::Value;
use webhook_core::{
    receiver::providers,
    signature::scheme::{Check, KeyText, Scheme, Source, TimestampSource},
};

use crate::{
    file::VectorFile,
    scheme::describe,
    webhook_cases::{Body, Case},
    webhook_known::{OWN, own, signed_by_providers, signed_by_references},
    webhook_variants::{collision, ed25519, envelope, standard, stripe},
};

fn judged(cases: Vec<Case>) -> Vec<Case> {
    let judge = |case: Case| {
        let scheme = own(case.scheme).1;
        case.judged(scheme)
    };
    cases.into_iter().map(judge).collect()
}

/// X11, W1, W2, W3, W4, W6, W9: the file says what the verifier decides; every signature of a
/// reference library is accepted.
#[test]
fn webhook_signatures_are_as_the_verifier_decides() {
    let known: Vec<Case> = signed_by_references()
        .into_iter()
        .map(|(case, scheme)| case.judged(scheme))
        .collect();
    assert_eq!(known.len(), 77);
    for case in &known {
        assert!(case.expect.accepted, "{}", case.name);
    }
    let made = [standard(), ed25519(), envelope(), stripe(), collision()].concat();
    let schemes: Vec<(&str, Value)> = OWN
        .iter()
        .map(|(name, scheme)| (*name, describe(scheme)))
        .collect();
    VectorFile::new(
        "webhook-signatures.json",
        "Webhooks signed by Standard Webhooks and its hexadecimal variants",
    )
    .with_table("schemes", &schemes)
    .with_cases("cases", &[known, judged(made)].concat())
    .check();
}

/// W19, W20: the file says what the verifier of each provider decides; every captured request is
/// accepted with the id of its fixture, and every change of it is refused.
#[test]
fn webhook_providers_are_as_the_verifier_decides() {
    let mut cases = Vec::new();
    let mut varied: Vec<&str> = Vec::new();
    for (captured, id) in signed_by_providers() {
        let scheme = scheme_of(captured.scheme);
        let judged = captured.clone().judged(scheme);
        assert!(judged.expect.accepted, "{}", judged.name);
        if id.is_some() {
            assert_eq!(judged.expect.id, id, "{}", judged.name);
        }
        cases.push(judged.clone());
        // Twilio signs the digest of a body that is no form
        let has_digest = captured
            .query
            .as_ref()
            .is_some_and(|query| query.contains("bodySHA256"));
        if has_digest || !varied.contains(&captured.scheme) {
            varied.push(captured.scheme);
            if scheme.key == KeyText::Hex {
                let upper = |case: &mut Case| case.keys = vec![case.keys[0].to_uppercase()];
                let upper = judged.but("the key in upper case", upper).judged(scheme);
                assert!(upper.expect.accepted, "{}", upper.name);
                cases.push(upper);
            }
            for changed in changes(&judged, scheme) {
                let changed = changed.judged(scheme);
                assert!(!changed.expect.accepted, "{}", changed.name);
                cases.push(changed);
            }
        }
    }
    let varied: BTreeSet<&str> = varied.into_iter().collect();
    assert_eq!(varied.len(), providers::ALL.len());
    let schemes: Vec<(&str, Value)> = providers::ALL
        .iter()
        .map(|provider| (provider.name(), describe(provider.scheme())))
        .collect();
    VectorFile::new(
        "webhook-providers.json",
        "Webhooks of providers, as their libraries and documents sign them",
    )
    .with_table("schemes", &schemes)
    .with_cases("cases", &cases)
    .check();
}

fn scheme_of(name: &str) -> &'static Scheme {
    providers::named(name).unwrap().scheme()
}

/// The request with another body, key, time and without its signature.
fn changes(case: &Case, scheme: &Scheme) -> Vec<Case> {
    let mut changed = Vec::new();
    if scheme.check != Check::Token {
        changed.push(case.but("a byte more in the body", |case| {
            case.body = Body::from([&case.body.bytes()[..], b" "].concat().as_slice());
        }));
    }
    if matches!(
        scheme.check,
        Check::HmacSha1 | Check::HmacSha256 | Check::HmacSha512 | Check::Token
    ) {
        changed.push(case.but("another key", |case| {
            for key in &mut case.keys {
                *key = another_key(key);
            }
        }));
    }
    if let Source::Headers(names) = scheme.signature.source {
        changed.push(case.but("no signature", |case| {
            for name in names {
                case.remove(name);
            }
        }));
    }
    if let Some(field) = scheme.timestamp {
        let (at, tolerance) = (case.signed_at.unwrap(), field.tolerance.as_secs());
        changed.push(case.but("a second too old", |case| case.now = at + tolerance + 1));
        changed.push(case.but("a second too new", |case| case.now = at - tolerance - 1));
        if let TimestampSource::Field(Source::Headers(names)) = field.source {
            changed.push(case.but("two timestamps", |case| {
                let name = names
                    .iter()
                    .find(|name| case.headers.iter().any(|(own, _)| own == *name));
                let name = *name.unwrap();
                let value = case.header(name).clone();
                case.append(name, &value);
            }));
        }
    }
    changed
}

/// A key of the same form: one character differs.
fn another_key(key: &str) -> String {
    let middle = key.len() / 2;
    let changed = key.char_indices().map(|(at, c)| match (at == middle, c) {
        (false, c) => c,
        (true, 'A') => 'B',
        (true, _) => 'A',
    });
    changed.collect()
}
