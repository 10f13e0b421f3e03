#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use webhook_core::event::Envelope;

fuzz_target!(|body: &[u8]| {
    let body = Bytes::copy_from_slice(body);
    if let Ok(event) = Envelope::parse(body.clone()) {
        assert_eq!(event.bytes(), &body);
    }
});
