#![no_main]

use libfuzzer_sys::fuzz_target;
use oauth_core::vocabulary::{RedirectUri, RegisteredRedirectUri};

fuzz_target!(|text: &str| {
    let Ok(uri) = text.parse::<RedirectUri>() else {
        return;
    };
    let loopback = RegisteredRedirectUri::loopback_any_port("http://127.0.0.1/callback");
    if loopback.is_ok_and(|registered| registered.matches(&uri)) {
        assert!(text.starts_with("http://127.0.0.1"));
    }
    let localhost = RegisteredRedirectUri::localhost_any_port("http://localhost/callback");
    if localhost.is_ok_and(|registered| registered.matches(&uri)) {
        assert!(text.starts_with("http://localhost"));
    }
});
