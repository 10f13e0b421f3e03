#![no_main]

use http::{HeaderMap, HeaderValue, header::CONTENT_TYPE};
use http_conventions::Patch;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|content: &[u8]| {
    let document = serde_json::json!({"a": [1, {"b": null}], "c": "d"});
    for media_type in ["application/merge-patch+json", "application/json-patch+json"] {
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(media_type))]);
        let _changed = Patch::parse(&headers, content).map(|patch| patch.apply(&document));
    }
});
