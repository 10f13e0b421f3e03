#![no_main]

use libfuzzer_sys::fuzz_target;
use oauth_core::params::Params;

fuzz_target!(|form: &[u8]| {
    if let Ok(params) = Params::parse(form) {
        let _repeated = params.first_repeated(&[]);
        let _value = params.optional("scope");
    }
});
