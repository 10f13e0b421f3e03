#![no_main]

use http_conventions::paging::PageRules;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|query: &str| {
    if let Ok(asked) = PageRules::default().parse(Some(query)) {
        assert!((1..=100).contains(&asked.limit.get()));
    }
});
