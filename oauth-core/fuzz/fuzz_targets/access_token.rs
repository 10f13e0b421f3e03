#![no_main]

use std::time::SystemTime;

use libfuzzer_sys::fuzz_target;
use oauth_core::jose::{AccessTokenClaims, AccessTokenPolicy, KeySet};

fuzz_target!(|token: &str| {
    let keys = KeySet::parse(include_bytes!("key_set.json")).expect("a key set");
    let policy = AccessTokenPolicy::new(
        "https://as.example".parse().expect("an issuer"),
        "https://api.example".parse().expect("an audience"),
    );
    // no input carries a valid signature
    assert!(AccessTokenClaims::verify(token, &keys, &policy, SystemTime::UNIX_EPOCH).is_err());
});
