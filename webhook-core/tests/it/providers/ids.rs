//! Ids for the detection of duplicates.

use bytes::Bytes;
use http::Request;
use webhook_core::{
    receiver::providers::{self, GITHUB, GITLAB, SHOPIFY, SLACK, STRIPE, SVIX},
    signature::scheme::IdSource,
};

use super::{now, signed, symmetric, verifier, verify};

fn id_of(provider: &webhook_core::receiver::Provider, numbers: &[u8], request: &Request<Bytes>) -> String {
    let verifier = verifier(provider, numbers);
    let verified = verify(&verifier, request, now()).unwrap();
    verified.authenticated_id().unwrap().to_string()
}

/// W20: an id in an unsigned header changes nothing: a captured request keeps its id.
#[test]
fn unsigned_id_headers_change_no_id() {
    for (provider, header) in [(GITHUB, "x-github-delivery"), (SHOPIFY, "x-shopify-webhook-id")] {
        let mut request = signed(&provider, 1, "evt_1", now());
        let mut ids = Vec::new();
        for id in ["one", "two"] {
            request.headers_mut().insert(header, id.parse().unwrap());
            ids.push(id_of(&provider, &[1], &request));
        }
        assert_eq!(ids[0], ids[1], "{}", provider.name());
        assert!(ids[0].starts_with("sha256:"));
    }
}

/// W20: the id outlives a rotation of the secret and a new timestamp between two attempts.
#[test]
fn id_outlives_rotation_and_timestamp() {
    let later = now() + std::time::Duration::from_secs(60);
    for provider in symmetric() {
        let reads_token = provider.scheme().encoding == webhook_core::signature::scheme::Encoding::Text;
        let first = signed(provider, 0, "evt_1", now());
        let second = signed(provider, 1, "evt_1", later);
        let ids = [&first, &second].map(|request| id_of(provider, &[0, 1], request));
        // the bodies of these contain the secret
        if !reads_token {
            let mut second = second.clone();
            *second.body_mut() = first.body().clone();
        }
        let by_content = provider.scheme().id == IdSource::SignedContent;
        let same_body = first.body() == second.body();
        assert!(
            ids[0] == ids[1] || (by_content && !same_body),
            "{}",
            provider.name()
        );
    }
}

/// W20: two bodies under one token are two events.
#[test]
fn token_does_not_identify_an_event() {
    let ids = ["evt_1", "evt_2"].map(|id| id_of(&GITLAB, &[1], &signed(&GITLAB, 1, id, now())));
    assert_ne!(ids[0], ids[1]);
}

/// W20: two events with the same bytes have one id by content; other providers have other ids.
#[test]
fn content_ids_depend_on_provider_and_content() {
    let ids = [&GITHUB, &GITHUB, &SHOPIFY]
        .map(|provider| id_of(provider, &[1], &signed(provider, 1, "evt_1", now())));
    assert_eq!(ids[0], ids[1]);
    assert_ne!(ids[0], ids[2]);
    assert_ne!(ids[0], id_of(&GITHUB, &[1], &signed(&GITHUB, 1, "evt_2", now())));
}

/// W20: the id of a body is used if it is an id, and its digest otherwise.
#[test]
fn ids_in_bodies_are_read() {
    assert_eq!(id_of(&STRIPE, &[1], &signed(&STRIPE, 1, "evt_1", now())), "evt_1");
    assert_eq!(id_of(&SLACK, &[1], &signed(&SLACK, 1, "Ev1", now())), "Ev1");
    let dotted = id_of(&STRIPE, &[1], &signed(&STRIPE, 1, "evt.1", now()));
    assert!(dotted.starts_with("sha256:"), "{dotted}");
}

/// W20: an event whose other members change between two attempts keeps its digest.
#[test]
fn digest_of_an_event_with_id_ignores_other_members() {
    let digest = |body: &'static str| {
        let mut request = Request::post("/").body(Bytes::from(body)).unwrap();
        let signer = STRIPE.signer(&super::secret(&STRIPE, 1)).unwrap();
        signer.sign(&mut request, None, now()).unwrap();
        verify(&verifier(&STRIPE, &[1]), &request, now())
            .unwrap()
            .digest()
    };
    let first = digest(r#"{"id":"evt_1","pending_webhooks":2}"#);
    assert_eq!(first, digest(r#"{"id":"evt_1","pending_webhooks":1}"#));
    assert_ne!(first, digest(r#"{"id":"evt_2","pending_webhooks":1}"#));
}

/// W20: an ECDSA signature that an attacker changed to another valid one keeps the id.
#[cfg(feature = "ecdsa")]
#[test]
fn malleated_signature_keeps_the_id() {
    use base64::{Engine as _, prelude::BASE64_STANDARD};
    use p256::ecdsa::{Signature, SigningKey, signature::Signer as _};
    use webhook_core::receiver::providers::SENDGRID;

    let key = SigningKey::from_slice(&[7; 32]).unwrap();
    // the header of a `SubjectPublicKeyInfo` for P-256, and the point
    let header = "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE";
    let mut public = BASE64_STANDARD.decode(header).unwrap();
    public.pop();
    public.extend(key.verifying_key().to_sec1_point(false).as_bytes());
    let verifier = SENDGRID.verifier([BASE64_STANDARD.encode(public)]).unwrap();
    let first: Signature = key.sign(b"1700000000[]");
    let (r, s) = first.split_scalars();
    let second = Signature::from_scalars(r.to_bytes(), (-s).to_bytes()).unwrap();
    assert_ne!(first, second);
    let ids = [first, second].map(|signature| {
        let text = BASE64_STANDARD.encode(signature.to_der().as_bytes());
        let request = Request::post("/")
            .header("x-twilio-email-event-webhook-timestamp", "1700000000")
            .header("x-twilio-email-event-webhook-signature", text)
            .body(Bytes::from("[]"))
            .unwrap();
        let verified = verify(&verifier, &request, now()).unwrap();
        verified.authenticated_id().unwrap()
    });
    assert_eq!(ids[0], ids[1]);
}

/// W19: ids with dots and secrets without padding need `lenient`.
#[test]
fn lenient_is_named() {
    let request = signed(&SVIX, 1, "evt.1", now());
    assert!(verify(&verifier(&SVIX, &[1]), &request, now()).is_err());
    let lenient = SVIX.lenient().verifier([super::secret(&SVIX, 1)]).unwrap();
    let verified = verify(&lenient, &request, now()).unwrap();
    assert!(
        verified
            .authenticated_id()
            .unwrap()
            .as_str()
            .starts_with("sha256:")
    );
    for text in ["whsec_Zm9vYmE", "Zm9vYmE"] {
        assert!(SVIX.verifier([text]).is_err(), "{text}");
        assert!(SVIX.lenient().verifier([text]).is_ok(), "{text}");
    }
}

/// W19: names are unique, in lower case and sorted.
#[test]
fn providers_are_found_by_name() {
    let names: Vec<&str> = providers::ALL.iter().map(|provider| provider.name()).collect();
    assert!(names.is_sorted_by(|left, right| left < right), "{names:?}");
    for name in names {
        assert_eq!(providers::named(name).unwrap().name(), name);
        assert!(
            name.bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'),
            "{name}"
        );
    }
    assert!(providers::named("unlisted").is_none());
}
