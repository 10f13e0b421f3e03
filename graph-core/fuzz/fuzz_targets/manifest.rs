#![no_main]

use graph_core::persisted::{DocumentId, Manifest};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let _read = Manifest::from_json(input);
    if let Ok(text) = std::str::from_utf8(input) {
        let id = DocumentId::from(text);
        assert_eq!(DocumentId::from(id.to_string()), id);
    }
});
