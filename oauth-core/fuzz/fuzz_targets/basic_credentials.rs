#![no_main]

use http::HeaderValue;
use libfuzzer_sys::fuzz_target;
use oauth_core::basic::BasicCredentials;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(value) = HeaderValue::from_bytes(bytes) {
        let _read = BasicCredentials::parse(&value);
    }
});
