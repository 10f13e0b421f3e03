#![no_main]

use std::time::UNIX_EPOCH;

use http::{HeaderMap, HeaderName, HeaderValue};
use libfuzzer_sys::fuzz_target;
use webhook_core::receiver::{Verifier, diagnosis::Diagnosis};
use webhook_core::secret::SigningSecret;
use webhook_core::signature::{Signer, Signers};

// a signed message with one header replaced or added
fuzz_target!(|input: (u8, &[u8], &[u8])| {
    let (place, value, body) = input;
    let secret = SigningSecret::from_bytes(&[7; 32]).expect("32 bytes");
    let signers = Signers::from(Signer::standard_webhooks(&secret));
    let mut headers = HeaderMap::new();
    let id = "evt_1".parse().expect("an id");
    signers.sign(&id, UNIX_EPOCH, b"{}").insert_into(&mut headers);
    let names = ["webhook-id", "webhook-timestamp", "webhook-signature"];
    if let (Some(name), Ok(value)) = (names.get(usize::from(place % 4)), HeaderValue::from_bytes(value)) {
        if place < 128 {
            headers.insert(HeaderName::from_static(name), value);
        } else {
            headers.append(HeaderName::from_static(name), value);
        }
    }
    let causes = Diagnosis::standard_webhooks(secret.clone()).causes(&headers, body, UNIX_EPOCH);
    let verified = Verifier::standard_webhooks(secret).verify(&headers, body.to_vec().into(), UNIX_EPOCH);
    // a valid message has no causes
    assert!(verified.is_err() || causes.is_empty());
});
