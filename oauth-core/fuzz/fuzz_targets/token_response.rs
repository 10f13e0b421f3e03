#![no_main]

use std::time::SystemTime;

use http::Response;
use oauth_core::client::{Client, Provider};
use oauth_core::ports::entropy_fn;

libfuzzer_sys::fuzz_target!(|body: &[u8]| {
    let place = || "https://as.example/token".parse().expect("an endpoint");
    let provider = Provider::new("https://as.example".parse().expect("an issuer"), place(), place());
    let client = Client::new(provider, "web".parse().expect("a client"));
    let call = client.refresh(&"rt".parse().expect("a token"), &Default::default());
    let (_, pending) = call
        .start(&entropy_fn(|_| ()), SystemTime::UNIX_EPOCH)
        .expect("nothing to sign");
    let tokens = pending.finish(Response::new(body.to_vec().into()), SystemTime::UNIX_EPOCH);
    // the refresh token that was sent, or its replacement
    assert!(tokens.is_err() || tokens.is_ok_and(|tokens| tokens.refresh().is_some()));
});
