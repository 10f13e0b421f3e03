#![no_main]

use std::time::SystemTime;

use http::{HeaderMap, HeaderValue, Method};
use oauth_core::dpop::{HEADER, ProofPolicy, Target};

libfuzzer_sys::fuzz_target!(|proof: &[u8]| {
    if let Ok(value) = HeaderValue::from_bytes(proof) {
        let uri = "https://as.example/token".parse().expect("a target");
        let target = Target { method: &Method::POST, uri: &uri, access_token: None };
        let headers = HeaderMap::from_iter([(HEADER, value)]);
        let _ = ProofPolicy::new().verify(&headers, &target, SystemTime::UNIX_EPOCH);
    }
});
