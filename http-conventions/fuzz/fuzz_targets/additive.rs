#![no_main]

use http_conventions::versions::additive::{changes, Role};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|schemas: (&[u8], &[u8])| {
    let _changes = changes(schemas.0, schemas.1, Role::Both);
    assert!(changes(schemas.0, schemas.0, Role::Both).is_err() || changes(schemas.0, schemas.0, Role::Both) == Ok(vec![]));
});
