//! Accepted messages, and attacks that the verifier refuses.

use std::time::SystemTime;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use proptest::prelude::*;
use webhook_core::{
    event::Timestamp,
    receiver::{Verifier, VerifyFailure},
    secret::SigningSecret,
    signature::{SignatureHeaders, Signer, Signers},
};

use crate::ends::{BODY, now, pairs, reason, secret, signed};

/// W3: a message of a scheme verifies by that scheme and by no other.
#[test]
fn no_scheme_verifies_the_messages_of_another() {
    for (signer, _) in pairs() {
        let headers = signed(signer.clone(), now(), BODY.as_bytes());
        for (_, verifier) in pairs() {
            let verified = verifier.verify(&headers, Bytes::from(BODY), now());
            assert_eq!(
                verified.is_ok(),
                signer.scheme().as_str() == verifier.provider().name(),
                "{} {}",
                signer.scheme(),
                verifier.provider().name()
            );
        }
    }
}

/// W3: one header may carry tokens of every scheme, and every receiver finds its own.
#[test]
fn a_header_with_tokens_of_all_schemes_verifies_by_each() {
    let signers = pairs().map(|(signer, _)| signer).into_iter();
    let signers = signers.fold(None, |all: Option<Signers>, signer| {
        Some(all.map_or_else(
            || Signers::from(signer.clone()),
            |all| all.with_signer(signer.clone()).unwrap(),
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
            verifier.provider().name()
        );
    }
}

/// W4: bodies that are empty, not text or not JSON verify as the bytes they are.
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
            assert_eq!(verified.timestamp(), Some(now()));
        }
    }
}

/// W4: the same JSON in another layout is another message.
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

/// W1: ids with a dot, and ids outside 1 to 256 visible characters, are refused before any
/// computation.
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

/// W3: if the id is signed, another id is a mismatch.
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

/// W7: if the id is not signed, the authenticated id is that of the body, and a different header is
/// refused.
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

/// W7: if the id is signed, the header is the authenticated id, with any body.
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
        ("evt_1", Some("evt_1"))
    );
    assert!(verified.envelope().is_err());
}

/// W3: `Debug` of signers and verifiers shows no secret.
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
    /// W4: any flipped bit of body, id, timestamp or signature is refused.
    #[test]
    fn no_flipped_bit_verifies(scheme in 0..4_usize, body: Vec<u8>, part in 0..4_usize, at: prop::sample::Index, bit in 0..8_u32) {
        let (signer, verifier) = pairs()[scheme].clone();
        let mut headers = signed(signer, now(), &body);
        let mut body = body;
        // if the id is not signed, a flipped id verifies, and `authenticated_id` refuses it
        prop_assume!(part != 1 || verifier.provider().name() != "timestamp-body-hex");
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

    /// W3: a signed message verifies, for any secret, id, time and body, by every scheme.
    #[test]
    fn signed_message_verifies(key in prop::collection::vec(any::<u8>(), 24..=64), id in "[!-\\-/-~]{1,256}", seconds in 0..=999_999_999_999_u64, body: Vec<u8>) {
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

    /// W2: no header causes a panic or is accepted without the key.
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
