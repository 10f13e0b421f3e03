//! Panics of the host's ports.

use bytes::Bytes;
use http::{Request, StatusCode};
use webhook_core::{
    ports::TransportErrorKind,
    sender::{AttemptResult, DeliveryState, Outbox},
};

use super::fixture::{Fixture, answer, delivery_id};

/// W15: a panic of the transport costs its delivery an attempt, and no other exchange.
#[tokio::test]
async fn a_panic_of_the_transport_is_a_failed_attempt() {
    let transport = |request: Request<Bytes>| async move {
        assert!(
            request.uri().host() != Some("ep-bad.example.com"),
            "a bug of the host"
        );
        answer(StatusCode::OK)
    };
    let fixture = Fixture::answering(transport)
        .with_endpoints(&["ep_bad", "ep_good"])
        .await;
    fixture.send("evt_1").await;
    assert_eq!(fixture.run().await.handled.len(), 2);
    let good = fixture.load(&delivery_id("evt_1", "ep_good")).await;
    assert_eq!(good.state, DeliveryState::Acked);
    let bad = delivery_id("evt_1", "ep_bad");
    let stored = fixture.load(&bad).await;
    assert_eq!(
        (stored.state, stored.attempts),
        (DeliveryState::RetryScheduled, 1)
    );
    let log = fixture.outbox.attempts(&bad).await.unwrap();
    let AttemptResult::Failed { kind, message } = &log[0].result else {
        panic!("it failed")
    };
    assert_eq!(*kind, TransportErrorKind::Other);
    assert!(message.contains("a bug of the host"), "{message}");
}
