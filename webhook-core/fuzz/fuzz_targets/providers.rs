#![no_main]

use std::time::{Duration, UNIX_EPOCH};

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request};
use libfuzzer_sys::fuzz_target;
use webhook_core::receiver::{Head, Verify, diagnosis::Diagnosis, providers};
use webhook_core::signature::scheme::{IdSource, KeyText, Source, TimestampSource};

// headers, query and body of a request to any provider: every grammar, every place of an id
fuzz_target!(|input: (u8, bool, Vec<&[u8]>, &str, &[u8])| {
    let (index, is_get, values, query, body) = input;
    let provider = providers::ALL[usize::from(index) % providers::ALL.len()];
    let scheme = provider.scheme();
    let key = match scheme.key {
        KeyText::Utf8 => "a key that the fuzzer cannot guess",
        KeyText::Whsec => "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        KeyText::Base64 => "1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=",
        _ => "d52880e28f61caa4c2a48a82e55f4751a92289a78009ea9f6532270c16ce8abe",
    };
    let Ok(verifier) = provider.verifier([key]) else {
        return;
    };
    let verifier = verifier.with_url("https://example.com/hooks");
    let of_source = |source| match source {
        Source::Headers(names) => names,
        Source::JsonPointer(_) => &[][..],
    };
    let time = match scheme.timestamp.map(|field| field.source) {
        Some(TimestampSource::Field(source)) => of_source(source),
        _ => &[],
    };
    let id = match scheme.id {
        IdSource::Header(names) => names,
        _ => &[],
    };
    let method = if is_get { "GET" } else { "POST" };
    let target = format!("/hooks?{query}");
    let request = Request::builder().method(method).uri(target).body(Bytes::copy_from_slice(body));
    let Ok(mut request) = request else {
        return;
    };
    let names = of_source(scheme.signature.source).iter().chain(time).chain(id).cycle();
    for (name, value) in names.zip(values.into_iter().take(32)) {
        if let Ok(value) = HeaderValue::from_bytes(value) {
            request.headers_mut().append(HeaderName::from_static(name), value);
        }
    }
    let now = UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    assert!(verifier.verify(&request, request.body().clone(), now).is_err());
    for is_verified in [false, true] {
        let _ = verifier.handshake(Head::from(&request), request.body(), is_verified, now);
    }
    if let Ok(diagnosis) = Diagnosis::provider(provider, [key]) {
        let _ = diagnosis.finding(&request, body, now);
    }
});
