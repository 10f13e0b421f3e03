#![no_main]

use libfuzzer_sys::fuzz_target;
use oauth_core::mtls::CertificateName;

fuzz_target!(|text: &str| {
    let Ok(name) = CertificateName::subject_dn(text) else {
        return;
    };
    // one name has one canonical spelling
    let spelled = name.to_string();
    let spelled = spelled.strip_prefix("subject:").unwrap_or_default();
    assert_eq!(CertificateName::subject_dn(spelled), Ok(name));
});
