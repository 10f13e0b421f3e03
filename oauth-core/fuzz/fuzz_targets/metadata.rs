#![no_main]

use libfuzzer_sys::fuzz_target;
use oauth_core::client::Provider;

fuzz_target!(|document: &[u8]| {
    let issuer = "https://as.example".parse().expect("an issuer");
    if let Ok(provider) = Provider::from_metadata(&issuer, document) {
        assert_eq!(provider.issuer(), &issuer);
    }
});
