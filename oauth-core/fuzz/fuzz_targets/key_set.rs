#![no_main]

use libfuzzer_sys::fuzz_target;
use oauth_core::jose::KeySet;

fuzz_target!(|document: &[u8]| {
    if let Ok(keys) = KeySet::parse(document) {
        assert!(KeySet::parse(keys.to_json().as_bytes()).is_ok());
    }
});
