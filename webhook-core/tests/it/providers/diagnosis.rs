//! Causes of failed verifications by a provider's scheme.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::Request;
use webhook_core::receiver::{
    Provider,
    diagnosis::{BodyChange, Cause, Diagnosis, Finding, SecretReading},
    providers::{ALL, GITHUB, POLAR, SQUARE, STRIPE, SVIX},
};

use super::{URL, now, secret, signed, symmetric};

fn finding(provider: &Provider, secret: &str, request: &Request<Bytes>, at: SystemTime) -> Finding {
    let diagnosis = Diagnosis::provider(*provider, [secret]).unwrap().with_url(URL);
    diagnosis.finding(request, request.body(), at)
}

fn causes(provider: &Provider, request: &Request<Bytes>, at: SystemTime) -> Vec<Cause> {
    match finding(provider, &secret(provider, 1), request, at) {
        Finding::Explained(causes) => causes,
        other => panic!("{}: {other:?}", provider.name()),
    }
}

/// W5, W19: a valid request of every provider has no cause; one by another secret has no cause
/// that is true.
#[test]
fn valid_requests_verify_and_foreign_ones_stay_unexplained() {
    for provider in symmetric() {
        let good = signed(provider, 1, "evt_1", now());
        let name = provider.name();
        assert_eq!(
            finding(provider, &secret(provider, 1), &good, now()),
            Finding::Verifies,
            "{name}"
        );
        let foreign = signed(provider, 0, "evt_1", now());
        let found = finding(provider, &secret(provider, 1), &foreign, now());
        let names_another = match &found {
            Finding::Unexplained => true,
            Finding::Explained(causes) => causes
                .iter()
                .all(|cause| matches!(cause, Cause::OtherProvider(_))),
            Finding::Verifies => false,
        };
        assert!(names_another, "{name}: {found:?}");
    }
}

/// W5, W19: changes of the body, the URL and the clock are named.
#[test]
fn changes_on_the_way_are_named() {
    let mut request = signed(&GITHUB, 1, "evt_1", now());
    *request.body_mut() = [request.body(), &b"\n"[..]].concat().into();
    assert_eq!(
        causes(&GITHUB, &request, now()),
        [Cause::Body(BodyChange::NewlineAdded)]
    );

    let request = signed(&SQUARE, 1, "evt_1", now());
    let key = secret(&SQUARE, 1);
    let moved = Diagnosis::provider(SQUARE, [&key])
        .unwrap()
        .with_url(&format!("{URL}/"));
    let expected = Finding::Explained(vec![Cause::Url(URL.to_owned())]);
    assert_eq!(moved.finding(&request, request.body(), now()), expected);
    let without = Diagnosis::provider(SQUARE, [&key]).unwrap();
    let expected = Finding::Explained(vec![Cause::NoUrl]);
    assert_eq!(without.finding(&request, request.body(), now()), expected);

    let request = signed(&STRIPE, 1, "evt_1", now());
    let late = causes(&STRIPE, &request, now() + Duration::from_secs(301));
    assert_eq!(late.len(), 1, "{late:?}");
    assert!(late[0].to_string().contains("301"), "{late:?}");
}

/// W5, W19: a secret that was decoded differently, and a request of another provider, are named.
#[test]
fn mistakes_of_the_configuration_are_named() {
    // Polar's key is the text of the secret; Svix decodes it
    let text = secret(&SVIX, 1);
    let mut request = Request::post("/").body(Bytes::from("{}")).unwrap();
    let signer = SVIX.signer(&text).unwrap();
    signer.sign(&mut request, Some("msg_1"), now()).unwrap();
    for (old, new) in [
        ("svix-id", "webhook-id"),
        ("svix-timestamp", "webhook-timestamp"),
        ("svix-signature", "webhook-signature"),
    ] {
        let value = request.headers_mut().remove(old).unwrap();
        request.headers_mut().insert(new, value);
    }
    let found = finding(&POLAR, &text, &request, now());
    let decoded = Cause::Secret(SecretReading::TextAsBase64);
    assert_eq!(found, Finding::Explained(vec![decoded]));

    let request = signed(&STRIPE, 1, "evt_1", now());
    let found = finding(&GITHUB, &secret(&STRIPE, 1), &request, now());
    let Finding::Explained(causes) = found else {
        panic!("{found:?}");
    };
    assert!(causes.contains(&Cause::OtherProvider("stripe")), "{causes:?}");
}

/// W5: no diagnosis of any provider shows its secret.
#[test]
fn diagnosis_shows_no_secret() {
    for provider in ALL.iter().filter(|it| it.verifier([secret(it, 1)]).is_ok()) {
        let secret = secret(provider, 1);
        let diagnosis = Diagnosis::provider(*provider, [&secret]).unwrap();
        let request = Request::post("/").body(Bytes::from("{}")).unwrap();
        let finding = diagnosis.finding(&request, b"{}", now());
        let shown = format!("{diagnosis:?} {finding:?}");
        assert!(!shown.contains(&secret), "{}", provider.name());
    }
}
