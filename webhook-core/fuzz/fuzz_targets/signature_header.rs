#![no_main]

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use libfuzzer_sys::fuzz_target;
use webhook_core::receiver::Verifier;
use webhook_core::secret::SigningSecret;

fuzz_target!(|input: (Vec<&[u8]>, &[u8])| {
    let secret = SigningSecret::from_bytes(&[7; 32]).expect("32 bytes");
    let mut headers = HeaderMap::new();
    let names = [
        "webhook-id",
        "webhook-timestamp",
        "webhook-signature",
        "webhook-signature",
    ];
    for (name, value) in names.into_iter().zip(input.0) {
        let value = HeaderValue::from_bytes(value).ok();
        headers.extend(value.map(|value| (HeaderName::from_static(name), value)));
    }
    let body = Bytes::copy_from_slice(input.1);
    // the fuzzer cannot guess a signature
    assert!(
        Verifier::standard_webhooks(secret)
            .verify(&headers, body, std::time::UNIX_EPOCH)
            .is_err()
    );
});
