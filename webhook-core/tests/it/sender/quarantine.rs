//! Quarantine of deliveries that crash their dispatchers.

use std::{pin::pin, time::Duration};

use futures_util::FutureExt;
use http::StatusCode;
use webhook_core::sender::{
    Delivery, DeliveryFilter, DeliveryState, Disposition, FailureReason, Handled, Outbox, Page,
};

use super::fixture::{Fixture, HangingTransport, answer, delivery_id};

/// Deadline and margin of a lease.
const LEASE: Duration = Duration::from_secs(40);

const POISON: &str = "ep-poison";

async fn in_state(fixture: &Fixture<HangingTransport>, state: DeliveryState) -> Vec<Delivery> {
    let filter = DeliveryFilter::in_states([state]);
    fixture.outbox.list(&filter, &Page::default()).await.unwrap()
}

/// Answers until no request is sent; `false` when the crashing delivery is sent and the process
/// ends.
async fn survives(fixture: &Fixture<HangingTransport>, handled: &mut Vec<Handled>) -> bool {
    let mut round = pin!(fixture.dispatcher.run_due());
    let mut answered = fixture.transport.hosts().len();
    loop {
        if let Some(report) = round.as_mut().now_or_never() {
            handled.extend(report.unwrap().handled);
            return true;
        }
        let hosts = fixture.transport.hosts();
        for (index, host) in hosts.iter().enumerate().skip(answered) {
            if host.starts_with(POISON) {
                return false;
            }
            fixture.transport.answer(index, answer(StatusCode::OK));
        }
        answered = hosts.len();
    }
}

/// W15: a delivery that crashes consecutive dispatchers is quarantined, and the host is informed.
#[tokio::test]
async fn crashing_delivery_is_quarantined() {
    let fixture = Fixture::over(HangingTransport::default())
        .with_endpoints(&["ep_1"])
        .await;
    fixture.send("evt_1").await;
    for _ in 0..5 {
        assert!(fixture.dispatcher.run_due().now_or_never().is_none());
        fixture.clock.advance(LEASE);
    }
    let report = fixture.run().await;
    let [handled] = report.handled.as_slice() else {
        panic!("one was set aside")
    };
    assert_eq!(handled.delivery, delivery_id("evt_1", "ep_1"));
    assert_eq!(handled.outcome, None);
    assert_eq!(
        handled.disposition,
        Disposition::Failed(FailureReason::Quarantined)
    );
    assert_eq!((fixture.transport.hosts().len(), report.next_due), (5, None));
}

/// W15: crashes with another cause quarantine at most one delivery in three crashes.
#[tokio::test]
async fn unrelated_crashes_quarantine_at_most_one_in_three() {
    let endpoints: Vec<String> = (0..16).map(|n| format!("ep_{n}")).collect();
    let endpoints: Vec<&str> = endpoints.iter().map(String::as_str).collect();
    let fixture = Fixture::over(HangingTransport::default());
    let fixture = fixture.with_endpoints(&endpoints).await;
    for n in 0..4 {
        fixture.send(&format!("evt_{n}")).await;
    }
    for deaths in 1..=40 {
        assert!(fixture.dispatcher.run_due().now_or_never().is_none());
        fixture.clock.advance(LEASE);
        let set_aside = in_state(&fixture, DeliveryState::DeadLetter).await.len();
        assert!(set_aside <= deaths / 3, "{set_aside} after {deaths} deaths");
    }
    assert!(!in_state(&fixture, DeliveryState::Leased).await.is_empty());
}

/// W15: among concurrent deliveries only the one that crashes its dispatchers is quarantined.
#[tokio::test]
async fn only_crashing_delivery_is_quarantined() {
    let endpoints: Vec<String> = (0..16).map(|n| format!("ep_{n}")).collect();
    let endpoints = endpoints.iter().map(String::as_str).chain(["ep_poison"]);
    let fixture = Fixture::over(HangingTransport::default());
    let fixture = fixture.with_endpoints(&endpoints.collect::<Vec<_>>()).await;
    fixture.send("evt_1").await;
    let mut handled = Vec::new();
    let mut deaths = 0;
    for _ in 0..40 {
        deaths += u32::from(!survives(&fixture, &mut handled).await);
        fixture.clock.advance(LEASE);
    }
    assert_eq!(deaths, 5);
    let set_aside = in_state(&fixture, DeliveryState::DeadLetter).await;
    let [poison] = set_aside.as_slice() else {
        panic!("{set_aside:?}")
    };
    assert_eq!(poison.id, delivery_id("evt_1", "ep_poison"));
    assert_eq!(poison.reason, Some(FailureReason::Quarantined));
    assert_eq!(in_state(&fixture, DeliveryState::Acked).await.len(), 16);
}
