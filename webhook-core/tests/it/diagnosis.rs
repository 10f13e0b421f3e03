//! Causes of failed signatures, and secrets that a diagnosis must not reveal.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request};
use proptest::prelude::*;
use webhook_core::{
    memory::MemoryInbox,
    receiver::{
        Receiver, Verifier,
        diagnosis::{BodyChange, Cause, Diagnosis, SecretReading, SignedText},
    },
    secret::{Keyring, SigningSecret},
    signature::{Signer, SignerScheme},
};

use crate::ends::{BODY, clock, key, now, pairs, secret, signed};

/// A diagnosis for each scheme, in the order of `pairs`.
fn diagnoses() -> [Diagnosis; 4] {
    [
        Diagnosis::timestamp_body_hex(secret(1)),
        Diagnosis::id_timestamp_body_hex(secret(1)),
        Diagnosis::standard_webhooks(secret(1)),
        Diagnosis::ed25519(key(1).public_key()),
    ]
}

fn causes(headers: &HeaderMap, body: &[u8]) -> Vec<Cause> {
    Diagnosis::standard_webhooks(secret(1)).causes(headers, body, now())
}

/// Headers with one value replaced.
fn with(headers: &HeaderMap, name: &'static str, value: &str) -> HeaderMap {
    let mut headers = headers.clone();
    headers.insert(name, value.parse().unwrap());
    headers
}

fn standard() -> HeaderMap {
    signed(Signer::standard_webhooks(&secret(1)), now(), BODY.as_bytes())
}

/// W5: neither a valid message nor an unexplained one has a cause.
#[test]
fn unexplained_message_has_no_causes() {
    for ((signer, _), diagnosis) in pairs().into_iter().zip(diagnoses()) {
        let headers = signed(signer, now(), BODY.as_bytes());
        assert_eq!(diagnosis.causes(&headers, BODY.as_bytes(), now()), []);
        assert_eq!(diagnosis.causes(&headers, b"{\"another\":1}", now()), []);
    }
    let foreign = signed(Signer::standard_webhooks(&secret(2)), now(), BODY.as_bytes());
    assert_eq!(causes(&foreign, BODY.as_bytes()), []);
}

/// W5: changes of the body in transit are found for every scheme.
#[test]
fn a_changed_body_is_recognised() {
    let pretty = "{\n  \"id\": \"evt_1\",\n  \"n\": [\n    1.50,\n    {}\n  ]\n}";
    let compact = r#"{"id":"evt_1","n":[1.50,{}]}"#;
    let accents = r#"{"id":"evt_1","n":"é"}"#;
    let escaped = r#"{"id":"evt_1","n":"\u00e9"}"#;
    for (was, arrived, change) in [
        (compact, format!("{compact}\n"), BodyChange::NewlineAdded),
        (compact, format!("{compact}\r\n"), BodyChange::NewlineAdded),
        (
            "{\"id\":\"evt_1\"}\n",
            "{\"id\":\"evt_1\"}".into(),
            BodyChange::NewlineRemoved,
        ),
        (
            compact,
            format!("\u{feff}{compact}"),
            BodyChange::ByteOrderMarkAdded,
        ),
        (
            pretty,
            pretty.replace('\n', "\r\n"),
            BodyChange::LineEndingsToCrlf,
        ),
        (
            &pretty.replace('\n', "\r\n"),
            pretty.into(),
            BodyChange::LineEndingsToLf,
        ),
        (compact, pretty.into(), BodyChange::SignedCompact),
        (pretty, compact.into(), BodyChange::SignedIndented(2)),
        (
            &pretty.replace("  ", "    "),
            compact.into(),
            BodyChange::SignedIndented(4),
        ),
        (
            r#"{"id": "evt_1", "n": [1]}"#,
            r#"{"id":"evt_1","n":[1]}"#.into(),
            BodyChange::SignedSpaced,
        ),
        (escaped, accents.into(), BodyChange::SignedEscaped),
        (accents, escaped.into(), BodyChange::SignedUnescaped),
        (
            r#"{"id":"evt_1","u":"a\/b"}"#,
            r#"{"id":"evt_1","u":"a/b"}"#.into(),
            BodyChange::SignedWithSlashesEscaped,
        ),
    ] {
        for ((signer, verifier), diagnosis) in pairs().into_iter().zip(diagnoses()) {
            let headers = signed(signer, now(), was.as_bytes());
            assert!(verifier.verify(&headers, arrived.clone().into(), now()).is_err());
            let mut found = diagnosis.causes(&headers, arrived.as_bytes(), now());
            // a byte order mark hides the id from a JSON parser
            found.retain(|cause| *cause != Cause::IdNotInBody);
            assert_eq!(
                found,
                [Cause::Body(change)],
                "{was} {}",
                verifier.provider().name()
            );
        }
    }
}

/// W5: a secret that the sender decodes differently is found, in both directions.
#[test]
fn other_decoding_of_secret_is_diagnosed() {
    let whsec = secret(1).expose_whsec();
    let base64 = whsec.trim_start_matches("whsec_");
    let hex = "0123456789abcdef".repeat(3);
    let text = |text: &str| SigningSecret::from_utf8(text).unwrap();
    let bytes = |bytes: &[u8]| SigningSecret::danger_from_bytes_of_any_length(bytes).unwrap();
    for (senders, ours, reading) in [
        (text(&whsec), secret(1), SecretReading::WhsecAsText),
        (text(base64), secret(1), SecretReading::Base64AsText),
        (secret(1), text(&whsec), SecretReading::TextAsBase64),
        (secret(1), text(base64), SecretReading::TextAsBase64),
        (
            bytes(&[1, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef].repeat(3)),
            text(&hex),
            SecretReading::TextAsHex,
        ),
        (
            bytes(format!("{whsec}\n").as_bytes()),
            text(&whsec),
            SecretReading::WithNewline,
        ),
    ] {
        let headers = signed(Signer::standard_webhooks(&senders), now(), BODY.as_bytes());
        let found = Diagnosis::standard_webhooks(ours).causes(&headers, BODY.as_bytes(), now());
        assert_eq!(found, [Cause::Secret(reading)]);
    }
}

/// W5: every scheme is found by the receivers of every other.
#[test]
fn another_scheme_is_recognised() {
    for (signer, _) in pairs() {
        let scheme = signer.scheme();
        let headers = signed(signer, now(), BODY.as_bytes());
        for (expected, diagnosis) in pairs().into_iter().zip(diagnoses()) {
            let expected = expected.0.scheme();
            let found = diagnosis.causes(&headers, BODY.as_bytes(), now());
            let cause = match (scheme, expected) {
                _ if scheme == expected => vec![],
                // a public key cannot check an HMAC
                (_, SignerScheme::Ed25519) => vec![Cause::SignatureFormat],
                _ => vec![Cause::OtherScheme(scheme)],
            };
            assert_eq!(found, cause, "{scheme} {expected}");
        }
    }
}

/// W5: a retired secret is found, and one in the ring is not reported as retired.
#[test]
fn a_retired_secret_is_recognised() {
    let ring = Keyring::new([secret(1), secret(2)]).unwrap();
    let diagnosis = Diagnosis::standard_webhooks(ring).with_retired([&secret(3), &secret(4)]);
    for (byte, expected) in [
        (1, vec![]),
        (2, vec![]),
        (4, vec![Cause::RetiredSecret]),
        (5, vec![]),
    ] {
        let headers = signed(Signer::standard_webhooks(&secret(byte)), now(), BODY.as_bytes());
        assert_eq!(
            diagnosis.causes(&headers, BODY.as_bytes(), now()),
            expected,
            "{byte}"
        );
    }
}

/// W5: a wrong clock is reported with its difference; the timestamp of an unsigned message is not
/// checked.
#[test]
fn a_skew_is_measured_only_when_the_signature_proves_the_time() {
    let skew = Duration::from_secs(17 * 60);
    for ((signer, _), diagnosis) in pairs().into_iter().zip(diagnoses()) {
        let headers = signed(signer, now(), BODY.as_bytes());
        let at = |time| diagnosis.causes(&headers, BODY.as_bytes(), time);
        assert_eq!(at(now() + skew), [Cause::SignedInThePast(skew)]);
        assert_eq!(at(now() - skew), [Cause::SignedInTheFuture(skew)]);
        assert_eq!(at(now() + Duration::from_secs(300)), []);
        assert_eq!(diagnosis.causes(&headers, b"forged", now() + skew), []);
    }
    let wide = Diagnosis::standard_webhooks(secret(1)).with_tolerance(skew);
    assert_eq!(wide.causes(&standard(), BODY.as_bytes(), now() + skew), []);
}

/// W5: a matching signature in another order or encoding than the header's grammar is found.
#[test]
fn valid_signature_in_wrong_encoding_is_diagnosed() {
    let headers = standard();
    let value = headers["webhook-signature"]
        .to_str()
        .unwrap()
        .strip_prefix("v1,")
        .unwrap();
    let unpadded = value.trim_end_matches('=');
    for written in [
        value.to_owned(),
        format!("{value},v1"),
        format!("v1={value}"),
        format!("t=1700000000,v1={value}"),
        format!("v1, {value}"),
        format!("v1,{unpadded}"),
        format!("v1,\"{value}\""),
        format!(
            "v1,{}",
            value.replace('+', "-").replace('/', "_").trim_end_matches('=')
        ),
    ] {
        let headers = with(&headers, "webhook-signature", &written);
        assert_eq!(
            causes(&headers, BODY.as_bytes()),
            [Cause::SignatureFormat],
            "{written}"
        );
    }
    let hex = signed(Signer::id_timestamp_body_hex(&secret(1)), now(), BODY.as_bytes());
    let upper = hex["webhook-signature"]
        .to_str()
        .unwrap()
        .to_uppercase()
        .replace("V1,", "v1,");
    let diagnosis = Diagnosis::id_timestamp_body_hex(secret(1));
    let found = diagnosis.causes(&with(&hex, "webhook-signature", &upper), BODY.as_bytes(), now());
    assert_eq!(found, [Cause::SignatureFormat]);
}

/// W5: parts that were joined in another order, or omitted, are found.
#[test]
fn other_signed_parts_are_recognised() {
    // `1700000000.evt_1.body` is signed by a sender that swaps id and time
    let mut swapped = HeaderMap::new();
    let signer = Signer::standard_webhooks(&secret(1));
    let time = webhook_core::event::Timestamp::from_seconds(1_700_000_001).unwrap();
    let token = signer.token(&"1700000000".parse().unwrap(), time, BODY.as_bytes());
    swapped.insert("webhook-id", "1700000001".parse().unwrap());
    swapped.insert("webhook-timestamp", "1700000000".parse().unwrap());
    swapped.insert("webhook-signature", token.parse().unwrap());
    let found = causes(&swapped, BODY.as_bytes());
    assert_eq!(found, [Cause::SignedText(SignedText::TimestampIdBody)]);
}

/// W2: each header that is missing, repeated or malformed is named.
#[test]
fn header_errors_are_named() {
    let headers = standard();
    for name in ["webhook-id", "webhook-timestamp", "webhook-signature"] {
        let mut without = headers.clone();
        without.remove(name);
        assert_eq!(
            causes(&without, BODY.as_bytes()),
            [Cause::MissingHeader(name.parse().unwrap())]
        );
    }
    for name in ["webhook-id", "webhook-timestamp"] {
        let mut twice = headers.clone();
        twice.append(name, "evt_1".parse().unwrap());
        assert_eq!(
            causes(&twice, BODY.as_bytes()),
            [Cause::RepeatedHeader(name.parse().unwrap())]
        );
    }
    let many = with(&headers, "webhook-signature", &"v1,a ".repeat(17));
    assert_eq!(causes(&many, BODY.as_bytes()), [Cause::TooManySignatures]);
    let dotted = with(&headers, "webhook-id", "a.b");
    assert_eq!(causes(&dotted, BODY.as_bytes()), [Cause::IdFormat]);
    let milliseconds = with(&headers, "webhook-timestamp", "1700000000000");
    assert_eq!(
        causes(&milliseconds, BODY.as_bytes()),
        [Cause::TimestampInMilliseconds]
    );
    let fraction = with(&headers, "webhook-timestamp", "1700000000.5");
    assert_eq!(causes(&fraction, BODY.as_bytes()), [Cause::TimestampFormat]);
    assert_eq!(causes(&HeaderMap::new(), b"").len(), 3);
}

/// W5: two mistakes at once are both named.
#[test]
fn two_causes_are_found_together() {
    let senders = SigningSecret::from_utf8(&secret(1).expose_whsec()).unwrap();
    let headers = signed(Signer::id_timestamp_body_hex(&senders), now(), BODY.as_bytes());
    let found = causes(&headers, BODY.as_bytes());
    let expected = [
        Cause::OtherScheme(SignerScheme::IdTimestampBodyHex),
        Cause::Secret(SecretReading::WhsecAsText),
    ];
    assert_eq!(found, expected);
    let late = now() + Duration::from_secs(900);
    let found =
        Diagnosis::standard_webhooks(secret(1)).causes(&standard(), format!("{BODY}\n").as_bytes(), late);
    assert_eq!(found[0], Cause::Body(BodyChange::NewlineAdded));
    assert_eq!(found[1], Cause::SignedInThePast(Duration::from_secs(900)));
}

/// W5: no cause reaches the wire: the sender gets the same response for all of them.
#[tokio::test]
async fn a_diagnosis_never_reaches_the_wire() {
    let verifier = Verifier::standard_webhooks(secret(1));
    let receiver = Receiver::builder("s", verifier, MemoryInbox::default(), clock());
    let receiver = receiver.build().unwrap();
    let mut answers = Vec::new();
    for (headers, body) in [
        (standard(), format!("{BODY}\n")),
        (
            signed(Signer::id_timestamp_body_hex(&secret(1)), now(), BODY.as_bytes()),
            BODY.into(),
        ),
        (
            signed(Signer::standard_webhooks(&secret(2)), now(), BODY.as_bytes()),
            BODY.into(),
        ),
        (
            signed(
                Signer::standard_webhooks(&secret(1)),
                now() - Duration::from_secs(3_600),
                BODY.as_bytes(),
            ),
            BODY.into(),
        ),
        (HeaderMap::new(), BODY.into()),
    ] {
        let mut request = Request::post("/").body(Bytes::from(body)).unwrap();
        *request.headers_mut() = headers;
        let answer = receiver.receive(request).await;
        answers.push((answer.status(), answer.headers().clone(), answer.body().clone()));
    }
    answers.dedup();
    assert_eq!(answers.len(), 1);
}

/// W5: neither the diagnosis nor a cause shows bytes of a key, in any encoding.
#[test]
fn a_diagnosis_reveals_no_key() {
    let senders = SigningSecret::from_utf8(&secret(b'k').expose_whsec()).unwrap();
    let headers = signed(Signer::standard_webhooks(&senders), now(), BODY.as_bytes());
    let diagnosis = Diagnosis::standard_webhooks(secret(b'k')).with_retired([&secret(b'r')]);
    let causes = diagnosis.causes(&headers, BODY.as_bytes(), now());
    let shown = format!("{diagnosis:?} {causes:?} {}", causes[0]);
    let whsec = secret(b'k').expose_whsec();
    for secret in [
        whsec.get(6..14).unwrap(),
        "kkkk",
        "rrrr",
        "107, 107",
        "6b6b",
        "6B6B",
    ] {
        assert!(!shown.contains(secret), "{shown}");
    }
}

/// W5: a client without the key cannot make a diagnosis write the 34 GB of this body's indented
/// form.
#[test]
fn a_body_of_brackets_does_not_exhaust_the_memory() {
    let brackets = format!("{}{}", "[".repeat(131_072), "]".repeat(131_072));
    assert_eq!(causes(&standard(), brackets.as_bytes()), []);
}

proptest! {
    /// W5: no headers and no body cause a panic, or explain an unsigned message.
    #[test]
    fn no_message_makes_a_diagnosis_panic(
        id in "[ -~]{0,12}", time in "[0-9.+ -]{0,14}", list in "[ -~]{0,90}", body in prop::collection::vec(any::<u8>(), 0..64)
    ) {
        let mut headers = HeaderMap::new();
        headers.insert("webhook-id", id.parse().unwrap());
        headers.insert("webhook-timestamp", time.parse().unwrap());
        headers.insert("webhook-signature", list.parse().unwrap());
        for diagnosis in diagnoses() {
            let proven = |cause: &Cause| matches!(cause, Cause::Body(_) | Cause::Secret(_) | Cause::RetiredSecret);
            prop_assert!(!diagnosis.causes(&headers, &body, now()).iter().any(proven));
        }
    }

    /// W5: JSON of any content in another layout is found.
    #[test]
    fn a_serialisation_is_recognised_whatever_the_content(strings in prop::collection::vec(".{0,12}", 1..6)) {
        let value = serde_json::json!({"id": "evt_1", "strings": strings});
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        let headers = signed(Signer::standard_webhooks(&secret(1)), now(), pretty.as_bytes());
        prop_assert_eq!(causes(&headers, value.to_string().as_bytes()), [Cause::Body(BodyChange::SignedIndented(2))]);
    }
}
