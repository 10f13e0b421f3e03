#![no_main]

use http::{HeaderMap, HeaderValue};
use http_conventions::content::{CONTENT_DIGEST, Digests};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|value: &[u8]| {
    let Ok(value) = HeaderValue::from_bytes(value) else { return };
    let mut headers = HeaderMap::from_iter([(CONTENT_DIGEST, value)]);
    if let Ok(Some(digests)) = Digests::parse(&headers, &CONTENT_DIGEST) {
        headers.insert(CONTENT_DIGEST, digests.header_value());
        assert_eq!(Digests::parse(&headers, &CONTENT_DIGEST), Ok(Some(digests)));
    }
});
