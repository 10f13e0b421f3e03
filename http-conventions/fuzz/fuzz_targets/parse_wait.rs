#![no_main]

use std::time::{Duration, SystemTime};

use http::{HeaderMap, HeaderName, HeaderValue};
use http_conventions::retry::parse_wait;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&[u8], &[u8])| {
    let field = |name, value| Some((HeaderName::from_static(name), HeaderValue::from_bytes(value).ok()?));
    let fields = [field("ratelimit", input.0), field("ratelimit-reset", input.1)];
    let headers = HeaderMap::from_iter(fields.into_iter().flatten());
    let wait = parse_wait(&headers, SystemTime::UNIX_EPOCH);
    assert!(wait.is_none_or(|wait| wait <= Duration::from_secs(1 << 31)));
});
