#![no_main]

use http_conventions::content::RangeDecision;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u64, &[u8])| {
    if let RangeDecision::Partial(ranges) = RangeDecision::of(input.1, input.0) {
        let total: u128 = ranges.iter().map(|range| u128::from(range.length())).sum();
        assert!(!ranges.is_empty() && total <= u128::from(input.0));
    }
});
