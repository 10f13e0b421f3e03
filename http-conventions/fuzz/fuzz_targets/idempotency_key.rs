#![no_main]

use http_conventions::idempotency::IdempotencyKey;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|value: &[u8]| {
    let _read = IdempotencyKey::parse(value);
});
