#![no_main]

use std::time::SystemTime;

use http_conventions::paging::{CursorBinding, CursorKey, CursorKeyring};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|cursor: &str| {
    let keys = CursorKeyring::new(CursorKey::new(1, [7; 32]));
    let binding = CursorBinding::new("/v1/charges", "ada");
    // the input cannot contain a valid signature
    assert!(keys.open(cursor, &binding, SystemTime::UNIX_EPOCH).is_err());
});
