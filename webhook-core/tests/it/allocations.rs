//! Allocations of the verifier.

use allocation_counter::measure;
use bytes::Bytes;
use webhook_core::secret::Keyring;
use webhook_core::{receiver::Verifier, signature::Signer};

use crate::ends::{BODY, now, pairs, secret, signed};

/// A client without the key cannot make a receiver allocate.
#[test]
fn verifying_allocates_nothing() {
    for (signer, verifier) in pairs() {
        let genuine = signed(signer, now(), BODY.as_bytes());
        let forged = signed(Signer::standard_webhooks(&secret(9)), now(), BODY.as_bytes());
        for (headers, accepted) in [(genuine, true), (forged, false)] {
            let body = Bytes::from_static(BODY.as_bytes());
            let mut verified = false;
            let allocated = measure(|| verified = verifier.verify(&headers, body, now()).is_ok());
            assert_eq!(verified, accepted, "{}", verifier.provider().name());
            assert_eq!(
                allocated.count_total,
                0,
                "{}, {accepted}",
                verifier.provider().name()
            );
        }
    }
}

#[test]
fn trying_every_key_of_a_full_ring_allocates_nothing() {
    let ring = Keyring::new((1..=8).map(secret)).unwrap();
    let verifier = Verifier::standard_webhooks(ring);
    let headers = signed(Signer::standard_webhooks(&secret(8)), now(), BODY.as_bytes());
    let body = Bytes::from_static(BODY.as_bytes());
    let allocated = measure(|| assert!(verifier.verify(&headers, body, now()).is_ok()));
    assert_eq!(allocated.count_total, 0);

    let counted = measure(|| drop(verifier.clone()));
    assert_ne!(counted.count_total, 0, "the counter counts");
}
