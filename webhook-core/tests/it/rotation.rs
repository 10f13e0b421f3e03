//! Rotation: several keys at sender and receiver.

use std::time::Duration;

use bytes::Bytes;
use webhook_core::{
    receiver::{Verifier, VerifyFailure},
    secret::{Keyring, SigningSecret},
    signature::{Signer, SignerScheme, Signers},
};

use crate::ends::{key, now, pairs, reason, secret, signed};

/// W6: each key of a ring verifies, from the first to the eighth; a key outside does not.
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

/// W6: a repeated rotation changes nothing: no secret twice, none retired early.
#[test]
fn a_repeated_rotation_changes_nothing() {
    let rotate = |signers: Signers, at| {
        signers
            .rotate(Signer::standard_webhooks(&secret(2)), at, Signers::OVERLAP)
            .unwrap()
    };
    let written = |signers: &Signers| {
        signers
            .iter()
            .map(|active| (active.signer.expose_text(), active.not_after))
            .collect::<Vec<_>>()
    };
    let once = rotate(Signers::from(Signer::standard_webhooks(&secret(1))), now());
    let again = rotate(once.clone(), now() + Duration::from_secs(5));
    assert_eq!(written(&again), written(&once));
    assert_eq!(written(&once).len(), 2);
}

/// W6: a rotating sender signs with the old and the new secret, until the overlap ends.
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

/// W6: a rotation retires the signers of its own scheme only, drops ended ones, and keeps at most
/// eight.
#[test]
fn a_rotation_touches_its_own_scheme_only() {
    let rotate = |signers: Signers, byte, at| {
        signers.rotate(Signer::standard_webhooks(&secret(byte)), at, Signers::OVERLAP)
    };
    let mut signers = Signers::from(Signer::standard_webhooks(&secret(1)));
    signers = signers
        .with_signer(Signer::timestamp_body_hex(&secret(1)))
        .unwrap();
    for byte in 2..=7 {
        signers = rotate(signers, byte, now()).unwrap();
    }
    let current: Vec<SignerScheme> = signers
        .iter()
        .filter(|active| active.not_after.is_none())
        .map(|active| active.signer.scheme())
        .collect();
    assert_eq!(
        current,
        [SignerScheme::StandardWebhooks, SignerScheme::TimestampBodyHex]
    );
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

/// W6: a signer is rebuilt from the text that a store keeps.
#[test]
fn a_signer_comes_back_from_its_text() {
    for (signer, verifier) in pairs() {
        let again =
            Signer::from_text(signer.scheme().as_str().parse().unwrap(), &signer.expose_text()).unwrap();
        assert_eq!(reason(&verifier, &signed(again, now(), b"{}"), b"{}"), None);
    }
    assert!(Signer::from_text(SignerScheme::Ed25519, &secret(1).expose_whsec()).is_err());
    assert!(Signer::from_text(SignerScheme::StandardWebhooks, &key(1).expose_whsk()).is_err());
}

/// W6: a secret of any length is rebuilt from a store.
#[test]
fn a_signer_of_a_secret_of_any_length_comes_back_from_its_text() {
    for length in [1, 23, 65, 1_000] {
        let secret = SigningSecret::danger_from_bytes_of_any_length(&vec![7; length]).unwrap();
        let signer = Signer::standard_webhooks(&secret);
        let again = Signer::from_text(SignerScheme::StandardWebhooks, &signer.expose_text()).unwrap();
        let headers = signed(again, now(), b"{}");
        let verifier = Verifier::standard_webhooks(secret);
        assert_eq!(reason(&verifier, &headers, b"{}"), None, "{length}");
    }
    assert!(Signer::from_text(SignerScheme::StandardWebhooks, "whsec_").is_err());
}
