#![no_main]

use http_conventions::errors::ReceivedProblem;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| {
    let _read = ReceivedProblem::parse(body);
});
