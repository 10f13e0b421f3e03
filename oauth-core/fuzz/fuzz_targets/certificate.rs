#![no_main]

use libfuzzer_sys::fuzz_target;
use oauth_core::mtls::ClientCertificate;

fuzz_target!(|der: &[u8]| {
    if let Ok(certificate) = ClientCertificate::from_verified_der(der) {
        assert!(certificate.is_verified());
    }
});
