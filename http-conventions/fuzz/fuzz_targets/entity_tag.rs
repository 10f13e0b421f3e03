#![no_main]

use http_conventions::caching::EntityTag;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|value: &[u8]| {
    if let Ok(tag) = EntityTag::parse(value) {
        assert_eq!(EntityTag::parse(tag.header_value().as_bytes()), Ok(tag));
    }
});
