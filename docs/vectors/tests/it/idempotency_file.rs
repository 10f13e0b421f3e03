//! `idempotency.json`.

use std::time::{Duration, SystemTime};

use base64::{Engine, prelude::BASE64_STANDARD};
use http::{HeaderMap, Method, Request, header::CONTENT_TYPE};
use http_conventions::idempotency::{
    AfterCrash, Claim, ClaimOutcome, Fence, Fingerprint, IDEMPOTENCY_KEY, IdempotencyKey, KeyScope, Record,
    RecordKey, RequestOutcome, State, decide,
};
use serde::Serialize;

use crate::file::{Case, VectorFile};

#[derive(Serialize)]
struct Values {
    /// Values of the field, one a line.
    values: Vec<String>,
}

/// The key, `null` without a field, or `invalid`.
#[derive(Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Parsed {
    Key(String),
    Absent,
    Invalid,
}

fn key(name: &str, values: &[&str]) -> Case<Values, Parsed> {
    let mut headers = HeaderMap::new();
    for value in values {
        headers.append(IDEMPOTENCY_KEY, value.parse().unwrap());
    }
    let expect = match IdempotencyKey::from_headers(&headers) {
        Ok(Some(key)) => Parsed::Key(key.as_str().to_owned()),
        Ok(None) => Parsed::Absent,
        Err(_) => Parsed::Invalid,
    };
    let values = values.iter().map(ToString::to_string).collect();
    Case::new(name, Values { values }, expect)
}

fn keys() -> Vec<Case<Values, Parsed>> {
    let draft = "8e03978e-40d5-43dd-bc93-6894a57f9324";
    let source = "draft-ietf-httpapi-idempotency-key-header, section 2.1";
    let quoted = format!("\"{draft}\"");
    vec![
        key("a quoted string", &[&quoted]).known(source, &Parsed::Key(draft.to_owned())),
        key("the same without quotes", &[draft]),
        key("no field", &[]),
        key("two fields", &[draft, draft]),
        key("white space around it", &[" a "]),
        key("white space in it", &["a b"]),
        key("white space in quotes", &["\"a b\""]),
        key("escapes", &[r#""a\"b\\c""#]),
        key("another escape", &[r#""a\bc""#]),
        key("no closing quote", &["\"a"]),
        key("a parameter", &["\"a\";b=c"]),
        key("a list", &["a,b"]),
        key("an empty value", &[""]),
        key("an empty string", &["\"\""]),
        key("255 characters", &[&"k".repeat(255)]),
        key("256 characters", &[&"k".repeat(256)]),
        key("255 quoted characters", &[&format!("\"{}\"", "k".repeat(255))]),
    ]
}

#[derive(Serialize)]
struct Hashed {
    method: &'static str,
    /// Path and query.
    target: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_type: Option<&'static str>,
    /// In base64.
    body: String,
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn fingerprint(
    method: &'static str,
    target: &'static str,
    content_type: Option<&'static str>,
    body: &[u8],
) -> Case<Hashed, String> {
    let mut request = Request::builder().method(method).uri(target).body(body).unwrap();
    if let Some(content_type) = content_type {
        let value = content_type.parse().unwrap();
        request.headers_mut().insert(CONTENT_TYPE, value);
    }
    let input = Hashed {
        method,
        target,
        content_type,
        body: BASE64_STANDARD.encode(body),
    };
    let kind = content_type.unwrap_or("no type");
    let name = format!("{method} {target}, {kind}, {} bytes", body.len());
    Case::new(&name, input, hex(Fingerprint::of(&request).as_bytes()))
}

#[derive(Serialize)]
struct Scoped {
    principal: &'static str,
    method: &'static str,
    route: &'static str,
    key: &'static str,
}

fn record_key(principal: &'static str, route: &'static str, key: &'static str) -> Case<Scoped, String> {
    let parsed = IdempotencyKey::parse(key.as_bytes()).unwrap();
    let record = RecordKey::new(KeyScope::new(principal, route), &Method::POST, &parsed);
    let input = Scoped {
        principal,
        method: "POST",
        route,
        key,
    };
    Case::new(
        &format!("{principal}, {route}, {key}"),
        input,
        hex(record.as_bytes()),
    )
}

const NOW: u64 = 1_800_000_000;

/// Record under the key of the claim.
#[derive(Clone, Copy, Serialize)]
struct Stored {
    is_same_request: bool,
    /// Expiry of the lease, if the request is in flight.
    #[serde(skip_serializing_if = "Option::is_none")]
    lease_until: Option<u64>,
    expires_at: u64,
}

#[derive(Serialize)]
struct Claimed {
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<Stored>,
    may_run_again: bool,
    now: u64,
}

fn decision(name: &str, record: Option<Stored>, may_run_again: bool) -> Case<Claimed, &'static str> {
    let at = |seconds: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    let claim = Claim::new(
        RecordKey::from_bytes([1; 32]),
        Fingerprint::from_bytes([2; 32]),
        Fence::from_bytes([3; 16]),
        at(NOW + 60),
        at(NOW + 86_400),
    );
    let claim = if may_run_again {
        claim.with_after_crash(AfterCrash::RunAgain)
    } else {
        claim
    };
    let existing = record.map(|stored| Record {
        fingerprint: Fingerprint::from_bytes([if stored.is_same_request { 2 } else { 9 }; 32]),
        state: match stored.lease_until {
            Some(seconds) => State::InFlight {
                fence: Fence::from_bytes([4; 16]),
                lease_until: at(seconds),
            },
            None => State::Settled(RequestOutcome::Unreplayable { status: 201 }),
        },
        expires_at: at(stored.expires_at),
    });
    let expect = match decide(existing, &claim, at(NOW)) {
        ClaimOutcome::Claimed => "claimed",
        ClaimOutcome::Mismatched => "mismatched",
        ClaimOutcome::InFlight { .. } => "in-flight",
        ClaimOutcome::Settled(RequestOutcome::Indeterminate) => "outcome-unknown",
        ClaimOutcome::Settled(_) => "settled",
    };
    let input = Claimed {
        record,
        may_run_again,
        now: NOW,
    };
    Case::new(name, input, expect)
}

fn decisions() -> Vec<Case<Claimed, &'static str>> {
    let mut cases = vec![decision("no record", None, false)];
    for (request, is_same_request) in [("same", true), ("another", false)] {
        for (state, lease_until) in [
            ("settled", None),
            ("lease ends in a second", Some(NOW + 1)),
            ("lease ends now", Some(NOW)),
        ] {
            for (expiry, expires_at) in [("kept", NOW + 1), ("expires now", NOW)] {
                for (policy, may_run_again) in [("refuse", false), ("run again", true)] {
                    let record = Stored {
                        is_same_request,
                        lease_until,
                        expires_at,
                    };
                    let name = format!("{request} request, {state}, {expiry}, {policy}");
                    cases.push(decision(&name, Some(record), may_run_again));
                }
            }
        }
    }
    cases
}

/// X11, H6: the file says how keys are read and hashed, and what a claim decides.
#[test]
fn idempotency_is_as_the_crate_decides() {
    let json = Some("application/json");
    let fingerprints = [
        fingerprint("POST", "/v1/charges", json, br#"{"amount":100}"#),
        fingerprint("POST", "/v1/charges", json, br#"{ "amount":100}"#),
        fingerprint("POST", "/v1/charges?a=b", json, br#"{"amount":100}"#),
        fingerprint("PATCH", "/v1/charges", json, br#"{"amount":100}"#),
        fingerprint("POST", "/v1/charges", None, b""),
        fingerprint("POST", "/v1/charges", Some(""), b""),
        fingerprint("POST", "/v1/charges", Some("application/octet-stream"), b"\0\xff"),
    ];
    let record_keys = [
        record_key("acct_1", "/v1/charges", "abc"),
        record_key("acct_1", "/v1/charges", "abd"),
        record_key("acct_1/", "v1/charges", "abc"),
        record_key("", "/v1/charges", "abc"),
    ];
    VectorFile::new(
        "idempotency.json",
        "Idempotency-Key: its value, the hashes that a store keeps, and claims",
    )
    .with_cases("keys", &keys())
    .with_cases("fingerprints", &fingerprints)
    .with_cases("record_keys", &record_keys)
    .with_cases("decisions", &decisions())
    .check();
}
