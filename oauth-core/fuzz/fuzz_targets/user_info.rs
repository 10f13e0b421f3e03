#![no_main]

use std::{str::FromStr, time::SystemTime};

use http::Response;
use oauth_core::client::{Client, Provider};
use oauth_core::jose::IdTokenClaims;
use oauth_core::ports::entropy_fn;

fn word<T: FromStr>(text: &str) -> T {
    text.parse().unwrap_or_else(|_| panic!("a word"))
}

libfuzzer_sys::fuzz_target!(|body: &[u8]| {
    let (now, place) = (SystemTime::UNIX_EPOCH, || word("https://as.example/o"));
    let provider =
        Provider::new(word("https://as.example"), place(), place()).with_userinfo_endpoint(place());
    let ada = IdTokenClaims {
        issuer: word("https://as.example"),
        subject: word("ada"),
        audience: word("web"),
        nonce: None,
        issued_at: now,
        expires_at: now,
        auth_time: None,
        email: None,
        email_verified: None,
        name: None,
        claims: Default::default(),
    };
    let call = Client::new(provider, word("web")).refresh(&word("rt"), &Default::default());
    let (_, pending) = call.start(&entropy_fn(|_| ()), now).expect("nothing to sign");
    let granted = Response::new(br#"{"access_token":"at","token_type":"Bearer"}"#.as_slice().into());
    let call = pending
        .finish(granted, now)
        .expect("tokens")
        .user_info(&ada)
        .expect("an endpoint");
    let (_, pending) = call.start(&entropy_fn(|_| ()), now).expect("nothing to sign");
    let told = pending.finish(Response::new(body.to_vec().into()), now);
    assert!(told.is_err() || told.is_ok_and(|told| told.subject() == &ada.subject));
});
