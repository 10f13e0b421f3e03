#![no_main]

use http_conventions::tracing::TracePosition;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|value: &[u8]| {
    if let Ok(position) = TracePosition::parse(value) {
        assert_eq!(position.to_string().parse(), Ok(position));
        assert_eq!(TracePosition::parse(position.header_value().as_bytes()), Ok(position));
    }
});
