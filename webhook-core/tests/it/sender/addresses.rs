//! Forbidden addresses.

use http::StatusCode;
use webhook_core::{
    address::{AddressPolicy, RefusedAddress},
    ports::{TransportError, TransportErrorKind},
    sender::{
        AttemptOutcome, AttemptResult, Destination, Disposition, Endpoint, EndpointStore, FailureReason,
        Outbox, Owner,
    },
};

use super::fixture::{Fixture, answer, delivery_id, endpoint, signer};

const PRIVATE: [&str; 9] = [
    "https://10.0.0.1/",
    "https://192.168.1.1/",
    "https://169.254.169.254/latest/meta-data",
    "https://127.0.0.1/",
    "https://2130706433/",
    "https://0x7f.1/",
    "https://[::1]/",
    "https://[::ffff:10.0.0.1]/",
    "https://localhost/",
];

/// W10: a private URL cannot be registered, in any notation.
#[test]
fn a_private_url_is_refused_at_registration() {
    for url in PRIVATE
        .iter()
        .chain(&["http://example.com/", "https://example.com:22/"])
    {
        let url: Destination = url.parse().unwrap();
        let id = "ep_1".parse().unwrap();
        let refused = Endpoint::register(
            id,
            Owner::Tenant("acme".parse().unwrap()),
            &url,
            signer(1),
            &AddressPolicy::new(),
        )
        .unwrap_err();
        // refused by the policy, not by the parser
        assert!(!matches!(refused, RefusedAddress::InvalidUrl));
    }
}

/// W10: a private URL that is in the store is refused before a request is sent, and the log names
/// the reason.
#[tokio::test]
async fn a_private_url_is_refused_at_every_attempt() {
    for url in PRIVATE {
        let fixture = Fixture::scripted([answer(StatusCode::OK)]);
        let inside = Endpoint {
            url: url.parse().unwrap(),
            ..endpoint("ep_1")
        };
        fixture.endpoints.insert(inside).await.unwrap();
        fixture.send("evt_1").await;
        let report = fixture.run().await;
        let refused = Disposition::Failed(FailureReason::AddressRefused);
        assert_eq!(report.handled[0].disposition, refused, "{url}");
        assert!(fixture.transport.requests().is_empty());
        let log = fixture
            .outbox
            .attempts(&delivery_id("evt_1", "ep_1"))
            .await
            .unwrap();
        let AttemptResult::Failed { kind, message } = &log[0].result else {
            panic!("nothing was answered")
        };
        assert_eq!(*kind, TransportErrorKind::RefusedAddress);
        assert!(message.starts_with("address of the host refused: "), "{message}");
    }
}

/// W10: a public name that resolves to a private address is refused by the transport, permanently.
#[tokio::test]
async fn name_of_private_address_is_refused_at_connect() {
    let fixture = Fixture::scripted([Err(TransportError::refused("10.0.0.1"))]);
    let fixture = fixture.with_endpoints(&["ep_1"]).await;
    fixture.send("evt_1").await;
    let report = fixture.run().await;
    let handled = &report.handled[0];
    assert_eq!(
        handled.outcome,
        Some(AttemptOutcome::Failed(TransportErrorKind::RefusedAddress))
    );
    assert_eq!(
        handled.disposition,
        Disposition::Failed(FailureReason::AddressRefused)
    );
    assert_eq!(report.next_due, None);
}

/// W10: a redirect is logged as a failed attempt and never followed.
#[tokio::test]
async fn a_redirect_is_not_followed() {
    let mut redirect = answer(StatusCode::PERMANENT_REDIRECT).unwrap();
    redirect
        .headers_mut()
        .insert("location", "https://10.0.0.1/".parse().unwrap());
    let fixture = Fixture::scripted([Ok(redirect)]).with_endpoints(&["ep_1"]).await;
    fixture.send("evt_1").await;
    let report = fixture.run().await;
    assert!(matches!(report.handled[0].disposition, Disposition::Retry { .. }));
    assert_eq!(fixture.transport.requests().len(), 1);
}
