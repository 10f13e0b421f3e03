#![no_main]

use http::{HeaderMap, HeaderValue, header};
use http_conventions::content::{ContentCoding, LanguageTag, MediaType, Negotiation, Offers};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|line: &[u8]| {
    let Ok(line) = HeaderValue::from_bytes(line) else { return };
    let names = [header::ACCEPT, header::ACCEPT_LANGUAGE, header::ACCEPT_ENCODING];
    let headers = HeaderMap::from_iter(names.map(|name| (name, line.clone())));
    let types = Offers::<MediaType>::parse("text/html;charset=utf-8", &["a/b;x=1"]).unwrap();
    let languages = Offers::<LanguageTag>::parse("en", &["de-CH"]).unwrap();
    let mut negotiation = Negotiation::new(&headers);
    let _chosen = (negotiation.media_type(&types), negotiation.language(&languages));
    let _chosen = negotiation.coding(&[ContentCoding::GZIP]);
});
