//! Named providers: signatures, ids and handshakes.

mod diagnosis;
mod fixtures;
mod footprint;
mod handshakes;
mod ids;
mod mutations;

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::Request;
use webhook_core::{
    receiver::{Provider, Verified, Verifier, VerifyFailure, providers},
    signature::scheme::{Check, KeyText},
};

const URL: &str = "https://example.com/hooks";

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)
}

/// A secret in the form of the provider; `number` makes it another one.
fn secret(provider: &Provider, number: u8) -> String {
    match provider.scheme().key {
        // 30 bytes, so that the base64 has no padding
        KeyText::Whsec => format!(
            "whsec_{}",
            "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS".to_owned() + &digit(number)
        ),
        KeyText::Base64 => "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS".to_owned() + &digit(number),
        _ => format!("0123456789abcdef0123456789abcde{number:x}"),
    }
}

fn digit(number: u8) -> String {
    char::from(b'a' + number).to_string()
}

/// Providers that a shared secret signs for.
fn symmetric() -> impl Iterator<Item = &'static Provider> {
    providers::ALL
        .iter()
        .filter(|provider| match provider.scheme().check {
            #[cfg(feature = "ed25519")]
            Check::Ed25519 => false,
            #[cfg(feature = "ecdsa")]
            Check::EcdsaP256Sha256 => false,
            _ => true,
        })
}

/// A body with the members that schemes read, and the secret where it is one of them.
fn body(secret: &str, id: &str) -> Bytes {
    let members = format!(
        r#""id":"{id}","event_id":"{id}","webhookTimestamp":1700000000000,"passcode":"{secret}","update_id":"{id}""#
    );
    let nested =
        format!(r#""event":{{"id":"{id}"}},"action":{{"id":"{id}"}},"value":[{{"clientState":"{secret}"}}]"#);
    format!("{{{members},{nested}}}").into()
}

/// A request that the provider's secret `number` signed.
fn signed(provider: &Provider, number: u8, id: &str, at: SystemTime) -> Request<Bytes> {
    let secret = secret(provider, number);
    let mut request = Request::post("/hooks?x=1").body(body(&secret, id)).unwrap();
    let signer = provider.signer(&secret).unwrap().with_url(URL);
    signer.sign(&mut request, Some(id), at).unwrap();
    request
}

fn verifier(provider: &Provider, numbers: &[u8]) -> Verifier {
    let secrets = numbers.iter().map(|number| secret(provider, *number));
    provider.verifier(secrets).unwrap().with_url(URL)
}

fn verify<'r>(
    verifier: &Verifier,
    request: &'r Request<Bytes>,
    at: SystemTime,
) -> Result<Verified<'r>, VerifyFailure> {
    let verified = verifier.verify(request, request.body().clone(), at);
    verified.map_err(|error| error.reason())
}
