//! Forgeries of the asymmetric scheme.

use base64::{Engine, prelude::BASE64_STANDARD};
use webhook_core::{
    receiver::{
        Verifier, VerifyFailure,
        diagnosis::{Cause, Diagnosis},
    },
    secret::{Keyring, SigningSecret},
    signature::{
        Signer, Signers,
        ed25519::{PublicKey, SecretKey},
    },
};

use crate::ends::{key, now, reason, signed};

/// W3: a receiver with public keys does not accept an HMAC keyed with one of them.
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

/// W3: weak public keys are refused, and so is the signature that is valid for every message under
/// them.
#[test]
fn weak_keys_and_signatures_of_small_order_are_refused() {
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

/// W3: a second signature of the same message, with a scalar that is not reduced, is refused.
#[test]
fn a_signature_with_a_larger_scalar_is_refused() {
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

/// W3: a secret key is a seed, or a seed with its public key.
#[test]
fn an_asymmetric_key_is_a_seed_or_a_pair_that_agrees() {
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

/// W2: a header with too many well-formed signatures is refused before any is tried, so a message
/// costs at most 4 verifications per key; the last of four is tried with the last of eight keys.
#[test]
fn more_than_four_asymmetric_signatures_are_refused_untried() {
    let ring = Keyring::new((1..=8).map(|byte| key(byte).public_key())).unwrap();
    let verifier = Verifier::ed25519(ring.clone());
    let diagnosis = Diagnosis::ed25519(ring);
    let headers = signed(Signer::ed25519(&key(8)), now(), b"{}");
    let right = headers["webhook-signature"].to_str().unwrap();
    let other = signed(Signer::ed25519(&key(9)), now(), b"{}");
    let wrong = other["webhook-signature"].to_str().unwrap();
    for (wrong, expected) in [
        (vec![wrong; 3], None),
        (vec![wrong; 4], Some(VerifyFailure::TooManySignatures)),
        (vec![wrong; 15], Some(VerifyFailure::TooManySignatures)),
        // a malformed signature costs nothing
        (
            [vec!["v1,x"; 10], vec!["v1a,x"; 2], vec![wrong; 3]].concat(),
            None,
        ),
    ] {
        // a valid one in front would end the search if any were tried
        for list in [
            [wrong.as_slice(), &[right]].concat(),
            [&[right], wrong.as_slice()].concat(),
        ] {
            let mut headers = headers.clone();
            headers.insert("webhook-signature", list.join(" ").parse().unwrap());
            assert_eq!(reason(&verifier, &headers, b"{}"), expected, "{list:?}");
            let causes = diagnosis.causes(&headers, b"{}", now());
            let explained = expected.map(|_| Cause::TooManySignatures);
            assert_eq!(causes, explained.into_iter().collect::<Vec<_>>());
        }
    }
}

/// W6: a sender writes at most as many Ed25519 signatures as a receiver tries.
#[test]
fn an_endpoint_has_at_most_four_asymmetric_signers() {
    let add = |signers: Signers, byte| signers.with_signer(Signer::ed25519(&key(byte)));
    let mut signers = Signers::from(Signer::ed25519(&key(1)));
    for byte in 2..=4 {
        signers = add(signers, byte).unwrap();
    }
    let verifier = Verifier::ed25519(key(1).public_key());
    assert_eq!(
        reason(&verifier, &signed(signers.clone(), now(), b"{}"), b"{}"),
        None
    );
    assert!(add(signers, 5).is_err());
}
