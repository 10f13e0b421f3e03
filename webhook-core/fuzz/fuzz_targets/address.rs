#![no_main]

use libfuzzer_sys::fuzz_target;
use webhook_core::address::{AddressPolicy, Host};

fuzz_target!(|url: &str| {
    let policy = AddressPolicy::new();
    if let Ok(target) = policy.vet(url)
        && let Host::Ip(address) = target.host()
    {
        assert!(policy.vet_ip(*address).is_ok());
    }
});
