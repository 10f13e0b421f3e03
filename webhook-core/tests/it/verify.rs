//! What the verifier lets through, and every attack it does not.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use proptest::prelude::*;
use webhook_core::{
    event::Timestamp,
    receiver::{Verifier, VerifyFailure},
    secret::{Keyring, SigningSecret},
    signature::{Scheme, SignatureHeaders, Signer, Signers, ed25519::SecretKey},
};

const BODY: &str = r#"{"id":"evt_1","type":"charge.created","created":1700000000,"data":{"object":{}}}"#;
const SECONDS: u64 = 1_700_000_000;

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(SECONDS)
}

fn secret(byte: u8) -> SigningSecret {
    SigningSecret::from_bytes(&[byte; 32]).unwrap()
}

fn key(byte: u8) -> SecretKey {
    SecretKey::generate(&|bytes: &mut [u8]| bytes.fill(byte))
}

/// Both ends of every scheme.
fn pairs() -> [(Signer, Verifier); 4] {
    [
        (
            Signer::timestamp_body_hex(&secret(1)),
            Verifier::timestamp_body_hex(secret(1)),
        ),
        (
            Signer::id_timestamp_body_hex(&secret(1)),
            Verifier::id_timestamp_body_hex(secret(1)),
        ),
        (
            Signer::standard_webhooks(&secret(1)),
            Verifier::standard_webhooks(secret(1)),
        ),
        (Signer::ed25519(&key(1)), Verifier::ed25519(key(1).public_key())),
    ]
}

fn signed(signers: impl Into<Signers>, at: SystemTime, body: &[u8]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    signers
        .into()
        .sign(&"evt_1".parse().unwrap(), at, body)
        .insert_into(&mut headers);
    headers
}

fn reason(verifier: &Verifier, headers: &HeaderMap, body: &[u8]) -> Option<VerifyFailure> {
    verifier
        .verify(headers, Bytes::copy_from_slice(body), now())
        .err()
        .map(|error| error.reason())
}

/// W3: a message of a scheme verifies by that scheme and by no other.
#[test]
fn no_scheme_verifies_the_messages_of_another() {
    for (signer, _) in pairs() {
        let headers = signed(signer.clone(), now(), BODY.as_bytes());
        for (_, verifier) in pairs() {
            let verified = verifier.verify(&headers, Bytes::from(BODY), now());
            assert_eq!(
                verified.is_ok(),
                signer.scheme() == verifier.scheme(),
                "{} {}",
                signer.scheme(),
                verifier.scheme()
            );
        }
    }
}

/// W3: one header may carry tokens of every scheme, and every kind of receiver finds its own.
#[test]
fn a_header_with_tokens_of_all_schemes_verifies_by_each() {
    let signers = pairs().map(|(signer, _)| signer).into_iter();
    let signers = signers.fold(None, |all: Option<Signers>, signer| {
        Some(all.map_or_else(
            || Signers::from(signer.clone()),
            |all| all.with_also(signer.clone()).unwrap(),
        ))
    });
    let headers = signed(signers.unwrap(), now(), BODY.as_bytes());
    assert_eq!(
        headers["webhook-signature"].to_str().unwrap().split(' ').count(),
        4
    );
    for (_, verifier) in pairs() {
        assert_eq!(
            reason(&verifier, &headers, BODY.as_bytes()),
            None,
            "{}",
            verifier.scheme()
        );
    }
}

/// W4: bodies that are empty, not text or not JSON verify all the same, as the bytes they are.
#[test]
fn any_bytes_verify_if_they_are_what_was_signed() {
    for (signer, verifier) in pairs() {
        for body in [
            &b""[..],
            b"\0",
            b"\xff\xfe",
            b"{}\r\n",
            b"1.2.3.",
            &[0x61; 70_000],
        ] {
            let headers = signed(signer.clone(), now(), body);
            let verified = verifier
                .verify(&headers, Bytes::copy_from_slice(body), now())
                .unwrap();
            assert_eq!(verified.body(), body);
            assert_eq!(verified.timestamp(), now());
        }
    }
}

/// W4: the same JSON written otherwise is another message.
#[test]
fn a_body_that_was_serialised_again_is_refused() {
    let pretty = BODY.replace(':', ": ");
    for (signer, verifier) in pairs() {
        let headers = signed(signer, now(), BODY.as_bytes());
        for body in [
            pretty.as_str(),
            &format!("{BODY}\n"),
            &format!(" {BODY}"),
            &BODY.replace("evt_1", "evt_2"),
            "",
        ] {
            assert_eq!(
                reason(&verifier, &headers, body.as_bytes()),
                Some(VerifyFailure::Mismatch),
                "{body}"
            );
        }
    }
}

/// W5: 300 seconds are near enough, in both directions; 301 are not.
#[test]
fn the_tolerance_is_300_seconds_inclusive_in_both_directions() {
    for (signer, verifier) in pairs() {
        for (offset, expected) in [
            (-301, Some(VerifyFailure::TooOld)),
            (-300, None),
            (0, None),
            (300, None),
            (301, Some(VerifyFailure::TooNew)),
        ] {
            let at =
                SystemTime::from(Timestamp::from_seconds(SECONDS.saturating_add_signed(offset)).unwrap());
            assert_eq!(
                reason(&verifier, &signed(signer.clone(), at, b"{}"), b"{}"),
                expected,
                "{offset}"
            );
        }
    }
}

/// W5: the tolerance can be another one, none at all included; ignoring the time is said by name, not by a zero.
#[test]
fn the_tolerance_is_as_configured() {
    let [.., (signer, verifier), _] = pairs();
    let headers = |offset| signed(signer.clone(), now() + Duration::from_secs(offset), b"{}");
    let none = verifier.clone().with_tolerance(Duration::ZERO);
    assert_eq!(reason(&none, &headers(0), b"{}"), None);
    assert_eq!(reason(&none, &headers(1), b"{}"), Some(VerifyFailure::TooNew));
    let endless = verifier.clone().with_tolerance(Duration::MAX);
    assert_eq!(reason(&endless, &headers(1_000_000_000), b"{}"), None);
    assert_eq!(
        reason(
            &verifier.danger_ignore_timestamp(),
            &headers(1_000_000_000),
            b"{}"
        ),
        None
    );
}

/// W5: at the ends of time nothing overflows.
#[test]
fn the_ends_of_time_do_not_panic() {
    let far = Duration::from_secs(i64::MAX.unsigned_abs() / 2);
    let ends = [
        SystemTime::UNIX_EPOCH,
        SystemTime::UNIX_EPOCH.checked_add(far).unwrap(),
        SystemTime::UNIX_EPOCH.checked_sub(far).unwrap(),
    ];
    for (signer, verifier) in pairs() {
        for signed_at in ends {
            for verified_at in ends {
                let headers = signed(signer.clone(), signed_at, b"{}");
                let fresh = Timestamp::from(signed_at) == Timestamp::from(verified_at);
                assert_eq!(
                    verifier.verify(&headers, Bytes::from("{}"), verified_at).is_ok(),
                    fresh
                );
            }
        }
    }
}

/// W5: only the canonical writing of a timestamp is accepted, even where the sender signed another one.
#[test]
fn a_timestamp_in_another_writing_is_refused() {
    let [.., (signer, verifier), _] = pairs();
    for text in [
        "+1700000000",
        "01700000000",
        "1700000000.0",
        "1700000000.9",
        "1.7e9",
        "1_700_000_000",
        "1700000000abc",
        "0x6553f100",
        " 1700000000",
        "1700000000 ",
        "1700000000, 1700000000",
        "-1",
        "-0",
        "00",
        "",
        "1000000000000",
        "9223372036854775807",
        "-9223372036854775808",
        "18446744073709551616",
        "NaN",
        "inf",
    ] {
        let mut headers = signed(signer.clone(), now(), b"{}");
        headers.insert("webhook-timestamp", text.parse().unwrap());
        assert_eq!(
            reason(&verifier, &headers, b"{}"),
            Some(VerifyFailure::InvalidTimestamp),
            "{text}"
        );
    }
    let mut headers = signed(signer, now(), b"{}");
    headers.insert(
        "webhook-timestamp",
        HeaderValue::from_bytes("１７０００００００".as_bytes()).unwrap(),
    );
    assert_eq!(
        reason(&verifier, &headers, b"{}"),
        Some(VerifyFailure::InvalidTimestamp)
    );
}

/// W5: another time than was signed is refused as a mismatch, before anybody asks whether it is fresh.
#[test]
fn the_signature_is_checked_before_the_time() {
    for (signer, verifier) in pairs() {
        let mut headers = signed(signer, now(), b"{}");
        for text in ["1700000001", "0", "999999999999"] {
            headers.insert("webhook-timestamp", text.parse().unwrap());
            assert_eq!(
                reason(&verifier, &headers, b"{}"),
                Some(VerifyFailure::Mismatch),
                "{text}"
            );
        }
    }
}

/// W5: whatever is wrong, the error says the same.
#[test]
fn every_failure_looks_alike_from_outside() {
    let [.., (signer, verifier), _] = pairs();
    let old = signed(signer.clone(), now() - Duration::from_secs(301), b"{}");
    let errors = [
        (HeaderMap::new(), "{}"),
        (old, "{}"),
        (signed(signer, now(), b"{}"), "{ }"),
    ]
    .map(|(headers, body)| verifier.verify(&headers, Bytes::from(body), now()).unwrap_err());
    assert_eq!(
        errors.map(|error| error.to_string()),
        ["the webhook could not be verified"; 3]
    );
    assert!(
        errors
            .iter()
            .all(|error| std::error::Error::source(error).is_none())
    );
}

/// W2: each header must be there, and the id and the time once only.
#[test]
fn a_missing_or_repeated_header_is_refused() {
    for (signer, verifier) in pairs() {
        let headers = signed(signer, now(), b"{}");
        for name in ["webhook-id", "webhook-timestamp", "webhook-signature"] {
            let mut without = headers.clone();
            without.remove(name);
            assert_eq!(
                reason(&verifier, &without, b"{}"),
                Some(VerifyFailure::MissingHeader),
                "{name}"
            );
        }
        for name in ["webhook-id", "webhook-timestamp"] {
            let mut twice = headers.clone();
            twice.append(name, headers[name].clone());
            assert_eq!(
                reason(&verifier, &twice, b"{}"),
                Some(VerifyFailure::RepeatedHeader),
                "{name}"
            );
        }
        let mut two_lines = headers.clone();
        two_lines.insert("webhook-signature", "v1,other".parse().unwrap());
        two_lines.append("webhook-signature", headers["webhook-signature"].clone());
        assert_eq!(reason(&verifier, &two_lines, b"{}"), None);
    }
}

/// W2: tokens of unknown tags, and what is no token, are passed over; so is the comma that a proxy leaves.
#[test]
fn foreign_tokens_are_passed_over() {
    for (signer, verifier) in pairs() {
        let headers = signed(signer, now(), b"{}");
        let token = headers["webhook-signature"].to_str().unwrap();
        for (list, expected) in [
            (format!("v9,whatever {token}"), None),
            (format!("v1 , v1 v1,,, {token}"), None),
            (format!("v1,bm90IGEgc2lnbmF0dXJl, {token}"), None),
            (format!("{token},"), None),
            (format!("  {token}  "), None),
            (token.replace("v1", "v2"), Some(VerifyFailure::NoUsableSignature)),
            (token.replace("v1", "V1"), Some(VerifyFailure::NoUsableSignature)),
            (token.replace(',', "="), Some(VerifyFailure::NoUsableSignature)),
            (format!("{token},extra"), Some(VerifyFailure::NoUsableSignature)),
            (
                token.split(',').nth(1).unwrap().to_owned(),
                Some(VerifyFailure::NoUsableSignature),
            ),
            (String::new(), Some(VerifyFailure::NoUsableSignature)),
        ] {
            let mut headers = headers.clone();
            headers.insert("webhook-signature", list.parse().unwrap());
            assert_eq!(reason(&verifier, &headers, b"{}"), expected, "{list}");
        }
    }
}

/// W2: a right signature behind too many others is not looked for.
#[test]
fn more_than_sixteen_tokens_are_refused() {
    for (signer, verifier) in pairs() {
        let headers = signed(signer, now(), b"{}");
        let token = headers["webhook-signature"].to_str().unwrap();
        for (others, expected) in [
            (15, None),
            (16, Some(VerifyFailure::TooManySignatures)),
            (500, Some(VerifyFailure::TooManySignatures)),
        ] {
            let mut headers = headers.clone();
            headers.insert(
                "webhook-signature",
                format!("{}{token}", "v9,x ".repeat(others)).parse().unwrap(),
            );
            assert_eq!(reason(&verifier, &headers, b"{}"), expected, "{others}");
        }
    }
}

/// W2: a signature has one writing: 64 lowercase digits, or canonical padded base64.
#[test]
fn a_signature_in_another_writing_is_refused() {
    for (signer, verifier) in pairs() {
        let headers = signed(signer, now(), b"{}");
        let (tag, signature) = headers["webhook-signature"]
            .to_str()
            .unwrap()
            .split_once(',')
            .unwrap();
        let shorter = &signature[..signature.len() - 1];
        let swapped_case = |text: &str| -> String {
            text.chars()
                .map(|c| {
                    if c.is_ascii_lowercase() {
                        c.to_ascii_uppercase()
                    } else {
                        c.to_ascii_lowercase()
                    }
                })
                .collect()
        };
        for other in [
            shorter.to_owned(),
            format!("{signature}0"),
            format!("{signature}="),
            format!("0{signature}"),
            format!("{signature}{signature}"),
            signature.trim_end_matches('=').to_owned() + "A",
            swapped_case(signature),
            format!("0x{signature}"),
            format!("\"{signature}\""),
            format!("{signature}\t"),
        ] {
            let mut headers = headers.clone();
            headers.insert("webhook-signature", format!("{tag},{other}").parse().unwrap());
            assert!(reason(&verifier, &headers, b"{}").is_some(), "{other}");
        }
    }
}

/// W2: base64 whose unused bits are set, without padding, or in the alphabet for URLs is refused.
#[test]
fn base64_that_is_not_canonical_is_refused() {
    let [.., (signer, verifier), _] = pairs();
    let headers = signed(signer, now(), b"{}");
    let token = headers["webhook-signature"].to_str().unwrap();
    let (rest, last) = token.trim_end_matches('=').split_at(token.len() - 2);
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let next = alphabet.chars().nth(alphabet.find(last).unwrap() + 1).unwrap();
    for other in [
        format!("{rest}{next}="),
        format!("{rest}{last}"),
        format!("{rest}{last}=="),
        token.replace(['+', '/'], "-"),
    ] {
        let mut headers = headers.clone();
        headers.insert("webhook-signature", other.parse().unwrap());
        assert_eq!(
            reason(&verifier, &headers, b"{}").is_none(),
            other == token,
            "{other}"
        );
    }
}

/// W1: ids with a dot, and any that are not 1 to 256 visible characters, are refused before anything is computed.
#[test]
fn an_id_outside_the_grammar_is_refused() {
    for (signer, verifier) in pairs() {
        for id in [
            "",
            "evt.1",
            ".",
            "evt 1",
            "evt_1,evt_2 ",
            "evt\t1",
            &"e".repeat(257),
        ] {
            let mut headers = signed(signer.clone(), now(), b"{}");
            headers.insert("webhook-id", id.parse().unwrap());
            assert_eq!(
                reason(&verifier, &headers, b"{}"),
                Some(VerifyFailure::InvalidId),
                "{id}"
            );
        }
        let mut headers = signed(signer.clone(), now(), b"{}");
        headers.insert("webhook-id", HeaderValue::from_bytes(b"evt_\xe9").unwrap());
        assert_eq!(reason(&verifier, &headers, b"{}"), Some(VerifyFailure::InvalidId));
    }
}

/// W3: where the id is signed, another id is a mismatch.
#[test]
fn another_id_than_was_signed_is_refused() {
    for (signer, verifier) in pairs()
        .into_iter()
        .filter(|(signer, _)| signer.scheme().signs_id())
    {
        let mut headers = signed(signer, now(), BODY.as_bytes());
        headers.insert("webhook-id", "evt_2".parse().unwrap());
        assert_eq!(
            reason(&verifier, &headers, BODY.as_bytes()),
            Some(VerifyFailure::Mismatch)
        );
    }
}

/// W7: where the id is not signed, the authenticated one is the body's, and a header that says otherwise is refused.
#[test]
fn an_unsigned_id_must_agree_with_the_body() {
    let [(signer, verifier), ..] = pairs();
    let id = |header: &'static str, body: &'static str| {
        let mut headers = signed(signer.clone(), now(), body.as_bytes());
        headers.insert("webhook-id", HeaderValue::from_static(header));
        let verified = verifier.verify(&headers, Bytes::from(body), now()).unwrap();
        verified
            .authenticated_id()
            .map(|id| id.to_string())
            .map_err(|error| error.reason())
    };
    assert_eq!(id("evt_1", BODY), Ok("evt_1".to_owned()));
    assert_eq!(id("evt_2", BODY), Err(VerifyFailure::IdMismatch));
    assert_eq!(
        id("evt_1", r#"{"id":"evt_\u0031","unknown":[]}"#),
        Ok("evt_1".to_owned())
    );
    for body in [
        "",
        "{}",
        "null",
        r#"{"id":1}"#,
        r#"{"id":"evt_1","id":"evt_1"}"#,
        r#"["evt_1"]"#,
        r#"{"id":"evt_1"} x"#,
        r#"{"id":"evt.1"}"#,
    ] {
        assert_eq!(id("evt_1", body), Err(VerifyFailure::MissingEnvelopeId), "{body}");
    }
}

/// W7: where the id is signed, the header's is the authenticated one, whatever the body is.
#[test]
fn a_signed_id_is_the_headers() {
    let [_, (signer, verifier), ..] = pairs();
    let headers = signed(signer, now(), b"no envelope");
    let verified = verifier
        .verify(&headers, Bytes::from("no envelope"), now())
        .unwrap();
    assert_eq!(
        (
            verified.authenticated_id().unwrap().as_str(),
            verified.header_id()
        ),
        ("evt_1", "evt_1")
    );
    assert!(verified.envelope().is_err());
}

/// W6: each key of a ring verifies, the first and the eighth alike; a key outside does not.
#[test]
fn every_key_of_a_ring_verifies() {
    let ring = || Keyring::new((1..=8).map(secret)).unwrap();
    let keys = Keyring::new((1..=8).map(|byte| key(byte).public_key())).unwrap();
    let asymmetric = Verifier::ed25519(keys);
    for byte in 1..=9 {
        let expected = (byte == 9).then_some(VerifyFailure::Mismatch);
        let hmac = [
            (
                Signer::timestamp_body_hex(&secret(byte)),
                Verifier::timestamp_body_hex(ring()),
            ),
            (
                Signer::id_timestamp_body_hex(&secret(byte)),
                Verifier::id_timestamp_body_hex(ring()),
            ),
            (
                Signer::standard_webhooks(&secret(byte)),
                Verifier::standard_webhooks(ring()),
            ),
            (Signer::ed25519(&key(byte)), asymmetric.clone()),
        ];
        for (signer, verifier) in hmac {
            assert_eq!(
                reason(&verifier, &signed(signer, now(), b"{}"), b"{}"),
                expected,
                "{byte}"
            );
        }
    }
}

/// W6: a rotating sender signs with the old and the new secret, until the overlap is over.
#[test]
fn a_rotated_secret_signs_until_its_overlap_is_over() {
    let signers = Signers::from(Signer::standard_webhooks(&secret(1)))
        .rotate(Signer::standard_webhooks(&secret(2)), now(), Signers::OVERLAP)
        .unwrap();
    let verifies = |byte, at| {
        let verifier = Verifier::standard_webhooks(secret(byte));
        verifier
            .verify(&signed(signers.clone(), at, b"{}"), Bytes::from("{}"), at)
            .is_ok()
    };
    let end = now() + Signers::OVERLAP;
    assert!(verifies(1, now()) && verifies(2, now()));
    assert!(verifies(1, end - Duration::from_secs(1)));
    assert!(!verifies(1, end) && verifies(2, end));
}

/// W6: a rotation retires the signers of its own scheme only, drops those whose time is over, and keeps within eight.
#[test]
fn a_rotation_touches_its_own_scheme_only() {
    let rotate = |signers: Signers, byte, at| {
        signers.rotate(Signer::standard_webhooks(&secret(byte)), at, Signers::OVERLAP)
    };
    let mut signers = Signers::from(Signer::standard_webhooks(&secret(1)));
    signers = signers.with_also(Signer::timestamp_body_hex(&secret(1))).unwrap();
    for byte in 2..=7 {
        signers = rotate(signers, byte, now()).unwrap();
    }
    let current: Vec<Scheme> = signers
        .iter()
        .filter(|active| active.not_after.is_none())
        .map(|active| active.signer.scheme())
        .collect();
    assert_eq!(current, [Scheme::StandardWebhooks, Scheme::TimestampBodyHex]);
    assert_eq!(signers.iter().count(), 8);
    assert!(rotate(signers.clone(), 8, now()).is_err());
    assert_eq!(
        rotate(signers.clone(), 8, now() + Signers::OVERLAP)
            .unwrap()
            .iter()
            .count(),
        3
    );
    assert!(
        signers
            .rotate(
                Signer::ed25519(&key(1)),
                now(),
                Signers::MAX_OVERLAP + Duration::from_secs(1)
            )
            .is_err()
    );
    assert!(Signers::new([]).is_err());
}

/// W6: what a store keeps of a signer makes the same signer again.
#[test]
fn a_signer_comes_back_from_its_text() {
    for (signer, verifier) in pairs() {
        let again =
            Signer::from_text(signer.scheme().as_str().parse().unwrap(), &signer.expose_text()).unwrap();
        assert_eq!(reason(&verifier, &signed(again, now(), b"{}"), b"{}"), None);
    }
    assert!(Signer::from_text(Scheme::Ed25519, &secret(1).expose_whsec()).is_err());
    assert!(Signer::from_text(Scheme::StandardWebhooks, &key(1).expose_whsk()).is_err());
}

/// W3: a receiver that knows public keys takes no HMAC made with one of them as the secret.
#[test]
fn a_public_key_is_no_hmac_secret() {
    let public = key(1).public_key();
    let encoded = public.to_whpk().replacen("whpk_", "whsec_", 1);
    let forger = SigningSecret::from_whsec(&encoded).unwrap();
    let headers = signed(Signer::standard_webhooks(&forger), now(), b"{}");
    assert_eq!(
        reason(&Verifier::ed25519(public.clone()), &headers, b"{}"),
        Some(VerifyFailure::NoUsableSignature)
    );
    let mut relabelled = headers.clone();
    let token = headers["webhook-signature"]
        .to_str()
        .unwrap()
        .replacen("v1,", "v1a,", 1);
    relabelled.insert("webhook-signature", token.parse().unwrap());
    assert_eq!(
        reason(&Verifier::ed25519(public), &relabelled, b"{}"),
        Some(VerifyFailure::NoUsableSignature)
    );
}

/// W3: weak public keys are refused, and so is the signature that verifies every message under them.
#[test]
fn weak_keys_and_signatures_of_small_order_are_refused() {
    use base64::{Engine, prelude::BASE64_STANDARD};
    use webhook_core::signature::ed25519::PublicKey;

    let mut identity = [0; 32];
    identity[0] = 1;
    let weak = format!("whpk_{}", BASE64_STANDARD.encode(identity));
    assert!(PublicKey::from_whpk(&weak).is_err());

    let mut forgery = [0; 64];
    forgery[0] = 1;
    let mut headers = signed(Signer::ed25519(&key(1)), now(), b"{}");
    headers.insert(
        "webhook-signature",
        format!("v1a,{}", BASE64_STANDARD.encode(forgery))
            .parse()
            .unwrap(),
    );
    assert_eq!(
        reason(&Verifier::ed25519(key(1).public_key()), &headers, b"{}"),
        Some(VerifyFailure::Mismatch)
    );
}

/// W3: a scalar that is not reduced makes a second signature of the same message, which is refused.
#[test]
fn a_signature_with_a_larger_scalar_is_refused() {
    use base64::{Engine, prelude::BASE64_STANDARD};

    // the order of the group, least significant byte first
    const ORDER: [u8; 32] = [
        0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
    ];
    let mut headers = signed(Signer::ed25519(&key(1)), now(), b"{}");
    let token = headers["webhook-signature"]
        .to_str()
        .unwrap()
        .strip_prefix("v1a,")
        .unwrap();
    let mut signature = BASE64_STANDARD.decode(token).unwrap();
    let mut carry = 0;
    for (byte, order) in signature[32..].iter_mut().zip(ORDER) {
        let sum = u16::from(*byte) + u16::from(order) + carry;
        [*byte, _] = sum.to_le_bytes();
        carry = sum >> 8;
    }
    headers.insert(
        "webhook-signature",
        format!("v1a,{}", BASE64_STANDARD.encode(signature))
            .parse()
            .unwrap(),
    );
    assert_eq!(
        reason(&Verifier::ed25519(key(1).public_key()), &headers, b"{}"),
        Some(VerifyFailure::Mismatch)
    );
}

/// W3: an asymmetric key comes as a seed or as a pair whose halves agree.
#[test]
fn an_asymmetric_key_is_a_seed_or_a_pair_that_agrees() {
    use base64::{Engine, prelude::BASE64_STANDARD};

    let pair = key(1).expose_whsk();
    let bytes = BASE64_STANDARD
        .decode(pair.strip_prefix("whsk_").unwrap())
        .unwrap();
    let seed = format!("whsk_{}", BASE64_STANDARD.encode(&bytes[..32]));
    assert_eq!(SecretKey::from_whsk(&seed).unwrap().expose_whsk(), pair);
    let mut disagreeing = bytes.clone();
    disagreeing[40] ^= 1;
    for text in [
        format!("whsk_{}", BASE64_STANDARD.encode(disagreeing)),
        format!("{pair}\n"),
        pair.replace("whsk_", "whpk_"),
    ] {
        assert!(SecretKey::from_whsk(&text).is_err(), "{text}");
    }
    assert_eq!(format!("{:?}", key(1)), "SecretKey(..)");
}

/// W3: no secret shows when the ends are printed.
#[test]
fn neither_end_prints_its_secrets() {
    let encoded = secret(1).expose_whsec();
    let encoded = encoded.strip_prefix("whsec_").unwrap();
    for (signer, verifier) in pairs() {
        let printed = format!("{signer:?} {verifier:?}");
        assert!(
            !printed.contains(encoded) && !printed.contains("1, 1, 1"),
            "{printed}"
        );
    }
}

proptest! {
    /// W4: whatever bit of the body, the id, the time or the signature is flipped, the message is refused.
    #[test]
    fn no_flipped_bit_verifies(scheme in 0..4_usize, body: Vec<u8>, part in 0..4_usize, at: prop::sample::Index, bit in 0..8_u32) {
        let (signer, verifier) = pairs()[scheme].clone();
        let mut headers = signed(signer, now(), &body);
        let mut body = body;
        // where the id is not signed, a flipped one verifies, and `authenticated_id` refuses it
        prop_assume!(!(part == 1 && !verifier.scheme().signs_id()));
        let name = ["", "webhook-id", "webhook-timestamp", "webhook-signature"][part];
        if part == 0 {
            prop_assume!(!body.is_empty());
            let at = at.index(body.len());
            body[at] ^= 1 << bit;
        } else {
            let mut value = headers[name].as_bytes().to_vec();
            let at = at.index(value.len());
            value[at] ^= 1 << bit;
            let Ok(value) = HeaderValue::from_bytes(&value) else { return Ok(()) };
            headers.insert(name, value);
        }
        prop_assert!(reason(&verifier, &headers, &body).is_some());
    }

    /// W3: what is signed verifies, for any secret, id, time and body, by every scheme.
    #[test]
    fn what_is_signed_verifies(key in prop::collection::vec(any::<u8>(), 24..=64), id in "[!-\\-/-~]{1,256}", seconds in 0..=999_999_999_999_u64, body: Vec<u8>) {
        let secret = SigningSecret::from_bytes(&key).unwrap();
        let at = SystemTime::from(Timestamp::from_seconds(seconds).unwrap());
        for (signer, verifier) in [
            (Signer::timestamp_body_hex(&secret), Verifier::timestamp_body_hex(secret.clone())),
            (Signer::id_timestamp_body_hex(&secret), Verifier::id_timestamp_body_hex(secret.clone())),
            (Signer::standard_webhooks(&secret), Verifier::standard_webhooks(secret.clone())),
        ] {
            let mut headers = HeaderMap::new();
            let signed: SignatureHeaders = Signers::from(signer).sign(&id.parse().unwrap(), at, &body);
            signed.insert_into(&mut headers);
            prop_assert!(verifier.verify(&headers, body.clone().into(), at).is_ok());
        }
    }

    /// W2: no header makes the verifier panic or accept.
    #[test]
    fn no_headers_are_accepted_without_the_key(id: Vec<u8>, time: Vec<u8>, signature in prop_oneof![any::<Vec<u8>>(), "(v1|v1a|,| |=|[0-9a-fA-Z]){0,64}".prop_map(String::into_bytes)]) {
        let mut headers = HeaderMap::new();
        for (name, value) in [("webhook-id", id), ("webhook-timestamp", time), ("webhook-signature", signature)] {
            if let Ok(value) = HeaderValue::from_bytes(&value) {
                headers.append(name, value);
            }
        }
        for (_, verifier) in pairs() {
            prop_assert_ne!(reason(&verifier, &headers, b"no json"), None);
        }
    }
}
