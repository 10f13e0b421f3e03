#![no_main]

use std::time::{Duration, SystemTime};

use http_conventions::limits::RetryAfter;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u32, &[u8])| {
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(input.0.into());
    let _read = RetryAfter::parse(input.1, now);
});
