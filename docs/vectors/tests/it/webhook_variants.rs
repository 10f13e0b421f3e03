//! Requests at the edges of the schemes of this suite, signed by it.

use base64::{Engine, prelude::BASE64_STANDARD};
use webhook_core::{
    event::Timestamp,
    ports::entropy_fn,
    secret::SigningSecret,
    signature::{Signer, ed25519::SecretKey},
};

use crate::webhook_cases::{Body, Case};

const NOW: u64 = 1_700_000_000;
const BODY: &str = r#"{"id":"evt_1","type":"charge.created","created":1700000000,"data":{"object":{}}}"#;

fn secret(byte: u8) -> SigningSecret {
    SigningSecret::from_bytes(&[byte; 32]).unwrap()
}

fn key(byte: u8) -> SecretKey {
    SecretKey::generate(&entropy_fn(|bytes| bytes.fill(byte)))
}

fn token(signer: &Signer) -> String {
    let now = Timestamp::from_seconds(NOW).unwrap();
    signer.token(&"evt_1".parse().unwrap(), now, BODY.as_bytes())
}

/// A message of `signer`, with the three headers of Standard Webhooks.
fn signed(name: &str, scheme: &'static str, key: String, signature: &str) -> Case {
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    Case {
        keys: vec![key],
        headers: vec![
            header("webhook-id", "evt_1"),
            header("webhook-timestamp", &NOW.to_string()),
            header("webhook-signature", signature),
        ],
        body: Body::from(BODY.as_bytes()),
        ..Case::new(name, "this suite", scheme, NOW)
    }
}

fn base() -> Case {
    let signature = token(&Signer::standard_webhooks(&secret(1)));
    signed(
        "standard",
        "standard-webhooks",
        secret(1).expose_whsec(),
        &signature,
    )
}

/// Standard Webhooks with HMAC.
pub(crate) fn standard() -> Vec<Case> {
    [vec![base()], contents(), times(), headers(), signatures(), keys()].concat()
}

fn contents() -> Vec<Case> {
    let id = |text: &str| {
        let text = text.to_owned();
        move |case: &mut Case| *case.header("webhook-id") = text
    };
    vec![
        base().but("a changed byte", |case| {
            case.body = Body::from(BODY.replace("charge", "chargf").as_bytes());
        }),
        base().but("no body", |case| case.body = Body::from(&b""[..])),
        base().but("another id", id("evt_2")),
        base().but("an empty id", id("")),
        base().but("an id with a dot", id("evt.1")),
        base().but("an id with a space", id("evt 1")),
        base().but(
            "an id of 256 characters, not the signed one",
            id(&"e".repeat(256)),
        ),
        base().but("an id of 257 characters", id(&"e".repeat(257))),
    ]
}

fn times() -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, now) in [
        ("300 s old", NOW + 300),
        ("301 s old", NOW + 301),
        ("300 s ahead", NOW - 300),
        ("301 s ahead", NOW - 301),
    ] {
        cases.push(base().but(name, |case| case.now = now));
    }
    for (name, now) in [
        ("now", NOW),
        ("one second old", NOW + 1),
        ("one second ahead", NOW - 1),
    ] {
        cases.push(base().but(&format!("{name}, without tolerance"), |case| {
            (case.now, case.tolerance) = (now, Some(0));
        }));
    }
    // a tampered message is refused for its signature, so that its age reveals nothing
    cases.push(base().but("stale and tampered", |case| {
        (case.now, case.body) = (NOW + 301, Body::from(&b"{}"[..]));
    }));
    for text in [
        "+1700000000",
        "01700000000",
        "1700000000.0",
        "-1",
        "0x6553f100",
        "1000000000000",
        "",
        "2023-11-14T22:13:20Z",
    ] {
        cases.push(base().but(&format!("the timestamp {text:?}"), |case| {
            text.clone_into(case.header("webhook-timestamp"));
        }));
    }
    cases.push(base().but("another timestamp", |case| {
        "1700000001".clone_into(case.header("webhook-timestamp"));
    }));
    cases
}

fn headers() -> Vec<Case> {
    let mut cases = Vec::new();
    for name in ["webhook-id", "webhook-timestamp", "webhook-signature"] {
        cases.push(base().but(&format!("without {name}"), |case| case.remove(name)));
        cases.push(base().but(&format!("{name} twice"), |case| {
            let value = case.header(name).clone();
            case.append(name, &value);
        }));
    }
    cases
}

fn signatures() -> Vec<Case> {
    let right = token(&Signer::standard_webhooks(&secret(1)));
    let wrong = token(&Signer::standard_webhooks(&secret(2)));
    let digest = right.trim_start_matches("v1,").to_owned();
    let other_tag = format!("v2,{digest} ");
    // the last character before the padding holds two bits that must be zero
    let loose = format!("v1,{}9=", digest.get(..42).unwrap());
    let list = |name: &str, value: String| base().but(name, |case| *case.header("webhook-signature") = value);
    vec![
        list("a wrong signature", wrong.clone()),
        list("a wrong and the right signature", format!("{wrong} {right}")),
        list("spaces around signatures", format!("  {wrong}   {right} ")),
        list("a comma after a signature", format!("{right}, {wrong}")),
        list(
            "sixteen signatures, the last is right",
            format!("{}{right}", other_tag.repeat(15)),
        ),
        list("seventeen signatures", format!("{}{right}", other_tag.repeat(16))),
        list("more than 4096 bytes", format!("{right} v1,{}", "A".repeat(4096))),
        list("another tag", format!("v2,{digest}")),
        list("a tag in upper case", format!("V1,{digest}")),
        list("an equals sign for the comma", format!("v1={digest}")),
        list("no tag", digest.clone()),
        list("no padding", right.trim_end_matches('=').to_owned()),
        list("bits behind the last byte", loose),
        list("base64url", right.replace('+', "-").replace('/', "_")),
        list("hexadecimal", format!("v1,{}", "ab".repeat(32))),
        list(
            "a signature of 31 bytes",
            format!("v1,{}", BASE64_STANDARD.encode([1; 31])),
        ),
        list("an empty header", String::new()),
        base().but("a wrong and the right signature on two lines", |case| {
            wrong.clone_into(case.header("webhook-signature"));
            case.append("webhook-signature", &right);
        }),
    ]
}

fn keys() -> Vec<Case> {
    let text = |byte| secret(byte).expose_whsec();
    let ring = |name: &str, keys: Vec<String>| base().but(name, |case| case.keys = keys);
    vec![
        ring("a rotated secret, signed by the old one", vec![text(2), text(1)]),
        ring("a rotated secret, signed by neither", vec![text(2), text(3)]),
        ring(
            "eight secrets, the last is right",
            (2..9).chain([1]).map(text).collect(),
        ),
        ring("nine secrets", (1..10).map(text).collect()),
        ring("no secret", Vec::new()),
        ring("a secret without its prefix", vec![text(1).replace("whsec_", "")]),
        ring("a secret that is no base64", vec!["whsec_!".to_owned()]),
        ring(
            "a secret without padding",
            vec![text(1).trim_end_matches('=').to_owned()],
        ),
        ring("a secret with a newline", vec![format!("{}\n", text(1))]),
        ring("an empty secret", vec![String::new()]),
    ]
}

/// Standard Webhooks with Ed25519.
pub(crate) fn ed25519() -> Vec<Case> {
    let (right, wrong) = (token(&Signer::ed25519(&key(1))), token(&Signer::ed25519(&key(2))));
    let public = |byte| key(byte).public_key().to_whpk();
    let base = signed("ed25519", "standard-webhooks-ed25519", public(1), &right);
    let list = |name: &str, value: String| base.but(name, |case| *case.header("webhook-signature") = value);
    let mut identity = [0; 32];
    identity[0] = 1;
    let mut small_order = [0; 64];
    small_order[0] = 1;
    // an HMAC whose secret is the public key
    let forger = SigningSecret::from_whsec(&public(1).replace("whpk_", "whsec_")).unwrap();
    let forged = token(&Signer::standard_webhooks(&forger));
    vec![
        base.clone(),
        base.but("a changed byte", |case| case.body = Body::from(&b"{}"[..])),
        base.but("another key", |case| case.keys = vec![public(2)]),
        base.but("a rotated key, signed by the old one", |case| {
            case.keys = vec![public(2), public(1)];
        }),
        base.but("301 s old", |case| case.now = NOW + 301),
        list(
            "four signatures, the last is right",
            format!("{wrong} {wrong} {wrong} {right}"),
        ),
        list(
            "five signatures",
            format!("{wrong} {wrong} {wrong} {wrong} {right}"),
        ),
        list("an HMAC with the public key", forged.clone()),
        list(
            "an HMAC with the public key, tagged v1a",
            forged.replacen("v1,", "v1a,", 1),
        ),
        list(
            "a commitment of small order",
            format!("v1a,{}", BASE64_STANDARD.encode(small_order)),
        ),
        list("a scalar that is not reduced", larger_scalar(&right)),
        base.but("a public key of small order", |case| {
            case.keys = vec![format!("whpk_{}", BASE64_STANDARD.encode(identity))];
        }),
        base.but("a public key of 31 bytes", |case| {
            case.keys = vec![format!("whpk_{}", BASE64_STANDARD.encode([1; 31]))];
        }),
        base.but("a public key without its prefix", |case| {
            case.keys = vec![public(1).replace("whpk_", "")];
        }),
    ]
}

/// The signature with the order of the group added to its scalar.
fn larger_scalar(token: &str) -> String {
    const ORDER: [u8; 32] = [
        0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
    ];
    let mut signature = BASE64_STANDARD.decode(token.trim_start_matches("v1a,")).unwrap();
    let mut carry = 0;
    for (byte, order) in signature[32..].iter_mut().zip(ORDER) {
        let sum = u16::from(*byte) + u16::from(order) + carry;
        [*byte, _] = sum.to_le_bytes();
        carry = sum >> 8;
    }
    format!("v1a,{}", BASE64_STANDARD.encode(signature))
}

/// `timestamp.body` in hexadecimal: the id in the body must be that of the header.
pub(crate) fn envelope() -> Vec<Case> {
    let signer = Signer::timestamp_body_hex(&secret(1));
    let base = signed(
        "timestamp.body",
        "timestamp-body-hex",
        secret(1).expose_whsec(),
        &token(&signer),
    );
    let upper = token(&signer).replacen("v1,", "", 1).to_uppercase();
    vec![
        base.clone(),
        base.but("another id in the header", |case| {
            "evt_2".clone_into(case.header("webhook-id"));
        }),
        base.but("no id in the header", |case| case.remove("webhook-id")),
        base.but("a body without an id", |case| {
            let now = Timestamp::from_seconds(NOW).unwrap();
            *case.header("webhook-signature") = signer.token(&"evt_1".parse().unwrap(), now, b"{}");
            case.body = Body::from(&b"{}"[..]);
        }),
        base.but("hexadecimal in upper case", |case| {
            *case.header("webhook-signature") = format!("v1,{upper}");
        }),
    ]
}

/// Pairs `t=…,v1=…` in one header; the key is the text of the secret.
pub(crate) fn stripe() -> Vec<Case> {
    let key = "whsec_a_secret_of_the_dashboard";
    let signer = Signer::timestamp_body_hex(&SigningSecret::from_utf8(key).unwrap());
    let (right, wrong) = (token(&signer).replacen("v1,", "", 1), "ab".repeat(32));
    let base = Case {
        headers: vec![("stripe-signature".to_owned(), format!("t={NOW},v1={right}"))],
        ..signed("pairs", "stripe", key.to_owned(), "")
    };
    let value = |name: &str, value: String| base.but(name, |case| *case.header("stripe-signature") = value);
    vec![
        base.clone(),
        value(
            "a wrong and the right signature",
            format!("t={NOW},v1={wrong},v1={right}"),
        ),
        value("pairs of other names", format!("t={NOW},v0={wrong},v1={right},x")),
        value("white space around pairs", format!(" t={NOW} , v1={right} ")),
        value(
            "the signature before the timestamp",
            format!("v1={right},t={NOW}"),
        ),
        value("another name of the signature", format!("t={NOW},v0={right}")),
        value("two timestamps", format!("t={NOW},t={NOW},v1={right}")),
        value("no timestamp", format!("v1={right}")),
        value("a timestamp with a sign", format!("t=+{NOW},v1={right}")),
        value(
            "sixteen signatures",
            format!("t={NOW}{},v1={right}", format!(",v1={wrong}").repeat(15)),
        ),
        value(
            "seventeen signatures",
            format!("t={NOW}{},v1={right}", format!(",v1={wrong}").repeat(16)),
        ),
        base.but("a secret with a newline", |case| {
            case.keys = vec![format!("{key}\n")];
        }),
        base.but("a secret without its prefix", |case| {
            case.keys = vec![key.replace("whsec_", "")];
        }),
    ]
}

/// Two messages with one signature, from `webhook-sign.json`; the id with a dot is refused.
pub(crate) fn collision() -> Vec<Case> {
    let message = |name: &str, id: &str, timestamp: u64, body: &str| {
        let key = "whsec_Tzuc4RkLS09XuInUQYOD961sTKHBtWuXC/jM6hCEqG8=".to_owned();
        let signature = "v1,TNGZ1DKXIHpaNwhdpXJXSp/tmGBTQ2HtUQiSGT2soAY=";
        let mut case = signed(name, "standard-webhooks", key, signature);
        case.headers = vec![
            ("webhook-id".to_owned(), id.to_owned()),
            ("webhook-timestamp".to_owned(), timestamp.to_string()),
            ("webhook-signature".to_owned(), signature.to_owned()),
        ];
        (case.now, case.body) = (timestamp, Body::from(body.as_bytes()));
        case
    };
    vec![
        message("collision, id without a dot", "m", 1_700_000_000, "1700000001.{}"),
        message("collision, id with a dot", "m.1700000000", 1_700_000_001, "{}"),
    ]
}
