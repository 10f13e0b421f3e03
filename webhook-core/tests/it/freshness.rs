//! Timestamps: format and tolerance.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use webhook_core::{event::Timestamp, receiver::VerifyFailure};

use crate::ends::{SECONDS, now, pairs, reason, signed};

/// W5: 300 seconds are accepted in both directions; 301 are not.
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

/// W5: the tolerance can be changed, also to zero; only the method with `danger` in its name
/// ignores the timestamp.
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

/// W5: the limits of the time range cause no overflow.
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

/// W5: only the canonical form of a timestamp is accepted, even if the sender signed another form.
#[test]
fn a_timestamp_in_another_writing_is_refused() {
    let [.., (signer, verifier), _] = pairs();
    let others = "+1700000000 01700000000 1700000000.0 1700000000.9 1.7e9 1_700_000_000 1700000000abc \
        0x6553f100 -1 -0 00 1000000000000 9223372036854775807 -9223372036854775808 18446744073709551616 NaN inf";
    for text in others
        .split(' ')
        .chain([" 1700000000", "1700000000 ", "1700000000, 1700000000", ""])
    {
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

/// W5: a changed timestamp is a mismatch, before its age is checked.
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

/// W5: every failure has the same message.
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
