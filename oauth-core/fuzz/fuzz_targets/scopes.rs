#![no_main]

use libfuzzer_sys::fuzz_target;
use oauth_core::vocabulary::Scopes;

fuzz_target!(|text: &str| {
    if let Ok(scopes) = text.parse::<Scopes>() {
        assert_eq!(scopes.to_string().parse(), Ok(scopes));
    }
});
