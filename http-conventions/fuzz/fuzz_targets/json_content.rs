#![no_main]

use std::collections::BTreeMap;

use http_conventions::content::JsonReader;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|content: &[u8]| {
    let _read = JsonReader::new().read_bytes::<BTreeMap<u8, Vec<(u8, Option<String>)>>>(content);
});
