//! Changed requests of every provider.

use std::time::Duration;

use bytes::Bytes;
use webhook_core::{
    receiver::VerifyFailure,
    signature::scheme::{Check, Part, Source},
};

use super::{now, signed, symmetric, verifier, verify};

/// W19: every provider's own request is verified, with the first or the second of two secrets.
#[test]
fn every_provider_verifies_its_own_request() {
    let mut count = 0;
    for provider in symmetric() {
        let request = signed(provider, 1, "evt_1", now());
        for numbers in [&[1][..], &[0, 1], &[1, 0]] {
            let verified = verify(&verifier(provider, numbers), &request, now());
            assert!(verified.is_ok(), "{}: {verified:?}", provider.name());
        }
        count += 1;
    }
    assert!(count >= 30, "{count}");
}

/// W19: one changed byte of the body, another secret, a missing or a changed signature are refused.
#[test]
fn every_provider_refuses_changes() {
    for provider in symmetric() {
        let name = provider.name();
        let verifier = verifier(provider, &[1]);
        let good = signed(provider, 1, "evt_1", now());
        assert!(
            verify(&verifier, &signed(provider, 0, "evt_1", now()), now()).is_err(),
            "{name}"
        );
        if provider.scheme().check != Check::Token {
            let mut changed = good.clone();
            *changed.body_mut() = [&good.body()[..], b" "].concat().into();
            assert!(verify(&verifier, &changed, now()).is_err(), "{name}");
        }
        if let Source::Headers(headers) = provider.scheme().signature.source {
            for header in headers {
                let Some(value) = good.headers().get(*header) else {
                    continue;
                };
                let mut unsigned = good.clone();
                unsigned.headers_mut().remove(*header);
                let failure = verify(&verifier, &unsigned, now()).unwrap_err();
                assert_eq!(failure, VerifyFailure::MissingHeader, "{name}");
                for at in 0..value.len() {
                    let mut bytes = value.as_bytes().to_vec();
                    bytes[at] ^= 1;
                    let Ok(value) = bytes.as_slice().try_into() else {
                        continue;
                    };
                    let mut changed = good.clone();
                    changed.headers_mut().insert(*header, value);
                    assert!(verify(&verifier, &changed, now()).is_err(), "{name} {changed:?}");
                }
            }
        }
    }
}

/// W19: a signed timestamp is refused outside of the tolerance, and cannot be replaced.
#[test]
fn signed_timestamps_are_enforced() {
    let mut count = 0;
    for provider in symmetric() {
        let Some(field) = provider.scheme().timestamp else {
            continue;
        };
        count += 1;
        let request = signed(provider, 1, "evt_1", now());
        let verifier = verifier(provider, &[1]);
        let within = field.tolerance;
        for (at, failure) in [
            (now() + within, None),
            (now() - within, None),
            (
                now() + within + Duration::from_secs(1),
                Some(VerifyFailure::TooOld),
            ),
            (
                now() - within - Duration::from_secs(1),
                Some(VerifyFailure::TooNew),
            ),
        ] {
            let found = verify(&verifier, &request, at).err();
            assert_eq!(found, failure, "{} {field:?}", provider.name());
        }
    }
    assert!(count >= 15, "{count}");
}

/// W19: another method, another path and another query are refused where the sender signs them.
#[test]
fn signed_urls_and_methods_are_enforced() {
    let mut count = 0;
    for provider in symmetric().filter(|it| it.scheme().signed.contains(&Part::Url)) {
        count += 1;
        let name = provider.name();
        let good = signed(provider, 1, "evt_1", now());
        let own = verifier(provider, &[1]);
        assert!(verify(&own, &good, now()).is_ok(), "{name}");
        let mut changed = good.clone();
        *changed.uri_mut() = "/hooks?x=2".parse().unwrap();
        assert_eq!(
            verify(&own, &changed, now()).unwrap_err(),
            VerifyFailure::Mismatch,
            "{name}"
        );
        let other = own.clone().with_url("https://example.com/other");
        assert_eq!(
            verify(&other, &good, now()).unwrap_err(),
            VerifyFailure::Mismatch,
            "{name}"
        );
        let without = provider.verifier([super::secret(provider, 1)]).unwrap();
        assert_eq!(
            verify(&without, &good, now()).unwrap_err(),
            VerifyFailure::NoUrl,
            "{name}"
        );
        if provider.scheme().signed.contains(&Part::Method) {
            let mut changed = good.clone();
            *changed.method_mut() = http::Method::PUT;
            assert!(verify(&own, &changed, now()).is_err(), "{name}");
        }
    }
    assert!(count >= 4, "{count}");
}

/// W19: a form of Twilio is signed by its sorted pairs; its JSON by a digest in the signed query.
#[cfg(feature = "sha1")]
#[test]
fn twilio_signs_forms_and_digests() {
    use webhook_core::receiver::providers::TWILIO;

    let secret = super::secret(&TWILIO, 1);
    let signer = TWILIO.signer(&secret).unwrap().with_url(super::URL);
    let verifier = verifier(&TWILIO, &[1]);
    let mut form = http::Request::post("/hooks")
        .body(Bytes::from("To=%2B1&From=a+b&To=%2B1"))
        .unwrap();
    signer.sign(&mut form, None, now()).unwrap();
    assert!(verify(&verifier, &form, now()).is_ok());
    *form.body_mut() = Bytes::from("To=%2B2&From=a+b&To=%2B1");
    assert!(verify(&verifier, &form, now()).is_err());
    // the digest of `{}`
    let query = "bodySHA256=44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
    let mut json = http::Request::post(format!("/hooks?{query}"))
        .body(Bytes::from("{}"))
        .unwrap();
    signer.sign(&mut json, None, now()).unwrap();
    assert!(verify(&verifier, &json, now()).is_ok());
    *json.body_mut() = Bytes::from("{ }");
    assert_eq!(
        verify(&verifier, &json, now()).unwrap_err(),
        VerifyFailure::Mismatch
    );
}

/// W19: a signature field with two timestamps is refused, whichever of them is signed.
#[test]
fn repeated_timestamp_pair_is_refused() {
    use webhook_core::receiver::providers::STRIPE;

    let request = signed(&STRIPE, 1, "evt_1", now());
    let field = request.headers()["stripe-signature"].to_str().unwrap();
    for changed in [format!("t=1,{field}"), format!("{field},t=1")] {
        let mut request = request.clone();
        request
            .headers_mut()
            .insert("stripe-signature", changed.parse().unwrap());
        let failure = verify(&verifier(&STRIPE, &[1]), &request, now()).unwrap_err();
        assert_eq!(failure, VerifyFailure::RepeatedHeader);
    }
}
