//! Requests with DPoP proofs: those that RFC 9449 prints, and proofs of an Ed25519 key.

use std::time::{Duration, SystemTime};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use ed25519_dalek::Signer as _;
use http::{HeaderMap, HeaderValue, Method};
use oauth_core::{
    dpop::{HEADER, Proof, ProofError, ProofPolicy, Target},
    jose::SigningKey,
    ports::entropy_fn,
    secret::TokenHash,
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::file::Case;

/// Access token that RFC 9449 prints.
pub(crate) const TOKEN: &str = "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU";
const URL: &str = "https://api.example/v1/charges";
const NOW: u64 = 1_800_000_000;
const SEED: [u8; 32] = [7; 32];
const RFC_PROOFS: &str = include_str!("rfc9449_proofs.json");

/// Request with proofs, and the policy of its server.
#[derive(Clone, Serialize)]
pub(crate) struct Request {
    proofs: Vec<String>,
    method: String,
    url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    access_token: Option<String>,
    now: u64,
    /// Maximum age of a proof in seconds.
    window: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Verdict {
    accepted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    thumbprint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

fn verdict(request: &Request) -> Verdict {
    let values = request
        .proofs
        .iter()
        .map(|proof| (HEADER, HeaderValue::from_str(proof).unwrap()));
    let headers: HeaderMap = values.collect();
    let (method, uri) = (
        request.method.parse::<Method>().unwrap(),
        request.url.parse().unwrap(),
    );
    let target = Target {
        method: &method,
        uri: &uri,
        access_token: request.access_token.as_deref(),
    };
    let policy = ProofPolicy::new().with_window(Duration::from_secs(request.window));
    let proven = policy.verify(&headers, &target, at(request.now));
    Verdict {
        accepted: proven.is_ok(),
        reason: proven.as_ref().err().copied().map(reason),
        thumbprint: proven.ok().map(|key| key.thumbprint().to_string()),
    }
}

fn reason(error: ProofError) -> &'static str {
    match error {
        ProofError::Missing => "missing",
        ProofError::Repeated => "repeated",
        ProofError::Malformed => "malformed",
        ProofError::WrongType => "wrong-type",
        ProofError::UnsupportedAlgorithm => "unsupported-algorithm",
        ProofError::UnusableKey => "unusable-key",
        ProofError::SignatureMismatch => "signature-mismatch",
        ProofError::WrongMethod => "wrong-method",
        ProofError::WrongUri => "wrong-uri",
        ProofError::TooOld => "too-old",
        ProofError::NotYetValid => "not-yet-valid",
        ProofError::WrongAccessToken => "wrong-access-token",
        other => panic!("the format of docs/vectors has no name for {other:?}"),
    }
}

fn case(name: &str, request: Request) -> Case<Request, Verdict> {
    let expect = verdict(&request);
    Case::new(name, request, expect)
}

fn key() -> SigningKey {
    SigningKey::generate_ed25519(&entropy_fn(|bytes| bytes.copy_from_slice(&SEED))).unwrap()
}

fn signed(header: &Value, claims: &Value) -> String {
    let text = |part: &Value| {
        let mut part = part.clone();
        part.sort_all_objects();
        BASE64_URL_SAFE_NO_PAD.encode(part.to_string())
    };
    let signed = format!("{}.{}", text(header), text(claims));
    let signature = ed25519_dalek::SigningKey::from_bytes(&SEED).sign(signed.as_bytes());
    format!("{signed}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature.to_bytes()))
}

/// Proofs of an Ed25519 key, whose signatures are the same in each run.
pub(crate) fn proofs() -> Vec<Case<Request, Verdict>> {
    let mut cases = [requests(), times(), segments()].concat();
    for (name, header, claims) in changed_proofs() {
        let proof = signed(&header, &claims);
        cases.push(but(name, |request| request.proofs = vec![proof]));
    }
    cases
}

/// A proof of the client and its request.
fn base() -> Request {
    let own = Proof::new(
        Method::POST,
        URL.parse().unwrap(),
        &entropy_fn(|bytes| bytes.fill(0)),
        at(NOW),
    );
    let own = own
        .with_access_token(TOKEN)
        .sign(&key())
        .unwrap()
        .expose()
        .to_owned();
    Request {
        proofs: vec![own],
        method: "POST".to_owned(),
        url: URL.to_owned(),
        access_token: Some(TOKEN.to_owned()),
        now: NOW,
        window: 60,
    }
}

fn but(name: &str, change: impl FnOnce(&mut Request)) -> Case<Request, Verdict> {
    let mut request = base();
    change(&mut request);
    case(name, request)
}

fn requests() -> Vec<Case<Request, Verdict>> {
    vec![
        but("a proof of the client", |_| ()),
        but("no proof", |request| request.proofs.clear()),
        but("two proofs", |request| {
            request.proofs.push(request.proofs[0].clone());
        }),
        but("another method", |request| "GET".clone_into(&mut request.method)),
        but("another path", |request| request.url.push('x')),
        but("another query", |request| request.url.push_str("?limit=2")),
        but("another spelling of the URL", |request| {
            "HTTPS://API.example:443/v1/%63harges".clone_into(&mut request.url);
        }),
        but("another access token", |request| {
            request.access_token = Some("other".to_owned());
        }),
        but("no access token", |request| request.access_token = None),
    ]
}

fn times() -> Vec<Case<Request, Verdict>> {
    vec![
        but("59 s old", |request| request.now = NOW + 59),
        but("60 s old", |request| request.now = NOW + 60),
        but("60 s old, window of 300 s", |request| {
            (request.now, request.window) = (NOW + 60, 300);
        }),
        but("301 s old, window of 900 s", |request| {
            (request.now, request.window) = (NOW + 301, 900);
        }),
        but("10 s ahead", |request| request.now = NOW - 10),
        but("11 s ahead", |request| request.now = NOW - 11),
    ]
}

fn segments() -> Vec<Case<Request, Verdict>> {
    let own = base().proofs.remove(0);
    let (signed, _) = own.rsplit_once('.').unwrap();
    vec![
        but("a changed signature", |request| {
            request.proofs = vec![format!("{signed}.{}", BASE64_URL_SAFE_NO_PAD.encode([1; 64]))];
        }),
        but("no signature", |request| {
            request.proofs = vec![format!("{signed}.")];
        }),
        but("a padded signature", |request| {
            request.proofs = vec![format!("{own}=")];
        }),
        but("two segments", |request| {
            request.proofs = vec!["e30.e30".to_owned()];
        }),
        but("four segments", |request| {
            request.proofs = vec![format!("{own}.e30")];
        }),
    ]
}

/// Headers and claims of proofs: the proper one, then each with one change.
fn changed_proofs() -> Vec<(&'static str, Value, Value)> {
    let jwk: Value = serde_json::from_str(&key().public_key().to_json()).unwrap();
    let header = json!({
        "typ": "dpop+jwt", "alg": "EdDSA", "jwk": { "kty": "OKP", "crv": "Ed25519", "x": jwk["x"] },
    });
    let claims = json!({
        "jti": "1", "htm": "POST", "htu": URL, "iat": NOW, "ath": TokenHash::new(TOKEN).to_string(),
    });
    let in_header = |name: &str, value: Value| {
        let mut changed = header.clone();
        changed[name] = value;
        changed
    };
    let in_claims = |name: &str, value: Value| {
        let mut changed = claims.clone();
        changed[name] = value;
        changed
    };
    let without = |name: &str| {
        let mut changed = claims.clone();
        changed.as_object_mut().unwrap().remove(name);
        changed
    };
    let mut private = header["jwk"].clone();
    private["d"] = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc".into();
    let own = || (header.clone(), claims.clone());
    let header_case = |name, member: &str, value: Value| (name, in_header(member, value), own().1);
    let claims_case = |name, claims: Value| (name, own().0, claims);
    vec![
        ("a proof by hand", own().0, own().1),
        header_case("a token of another type", "typ", json!("JWT")),
        header_case("an HMAC", "alg", json!("HS256")),
        header_case("no algorithm", "alg", json!("none")),
        header_case("RSA", "alg", json!("RS256")),
        header_case("the algorithm of another key", "alg", json!("ES256")),
        header_case("a private key", "jwk", private),
        header_case("no key", "jwk", Value::Null),
        header_case("a critical header", "crit", json!(["exp"])),
        claims_case("no jti", without("jti")),
        claims_case("an empty jti", in_claims("jti", json!(""))),
        claims_case("a jti of 256 bytes", in_claims("jti", json!("j".repeat(256)))),
        claims_case("a jti of 257 bytes", in_claims("jti", json!("j".repeat(257)))),
        claims_case("no htm", without("htm")),
        claims_case("a method in lower case", in_claims("htm", json!("post"))),
        claims_case("no htu", without("htu")),
        claims_case(
            "an htu with a query",
            in_claims("htu", json!(format!("{URL}?a=b"))),
        ),
        claims_case("an htu that is no URL", in_claims("htu", json!("/v1/charges"))),
        claims_case("no iat", without("iat")),
        claims_case("an iat of text", in_claims("iat", json!("1800000000"))),
        claims_case("no ath", without("ath")),
        claims_case("an expired proof", in_claims("exp", json!(NOW - 10))),
        claims_case(
            "a proof within the leeway of exp",
            in_claims("exp", json!(NOW - 9)),
        ),
        claims_case("a proof that begins in 11 s", in_claims("nbf", json!(NOW + 11))),
        claims_case("an unknown claim", in_claims("sub", json!("ada"))),
    ]
}

/// The three proofs that RFC 9449 prints, when made and an hour later.
pub(crate) fn printed() -> Vec<Case<Request, Verdict>> {
    let printed: Vec<Value> = serde_json::from_str(RFC_PROOFS).unwrap();
    let mut cases = Vec::new();
    for proof in &printed {
        let text = |name: &str| proof[name].as_str().map(str::to_owned);
        let request = Request {
            proofs: vec![text("proof").unwrap()],
            method: text("method").unwrap(),
            url: text("url").unwrap(),
            access_token: text("access_token"),
            now: proof["iat"].as_u64().unwrap(),
            window: 60,
        };
        let late = Request {
            now: request.now + 3600,
            ..request.clone()
        };
        let name = text("name").unwrap();
        let accepted = Verdict {
            accepted: true,
            thumbprint: Some("0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I".to_owned()),
            reason: None,
        };
        cases.push(case(&name, request).known("RFC 9449", &accepted));
        cases.push(case(&format!("{name}, an hour later"), late));
    }
    cases
}
