//! Metrics hook of a dispatcher.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use http::StatusCode;
use webhook_core::sender::{DeliveryEvent, DeliveryMetrics, Disposition};

use super::fixture::{Fixture, answer, asking};

/// Stands for a turn whose store did not look for further due deliveries.
const NOT_LOOKED: Duration = Duration::MAX;

#[derive(Default)]
struct Recorded(Mutex<BTreeMap<&'static str, Vec<Duration>>>);

impl DeliveryMetrics for Recorded {
    fn record(&self, event: &DeliveryEvent<'_>) {
        let (name, value) = match event {
            DeliveryEvent::Leased { lag, .. } => ("lease lag", *lag),
            DeliveryEvent::Attempted { duration, .. } => ("attempt", *duration),
            DeliveryEvent::Settled {
                disposition: Disposition::Held { .. },
                ..
            } => ("held", Duration::ZERO),
            DeliveryEvent::Settled { .. } => ("settled", Duration::ZERO),
            DeliveryEvent::Turn { backlog_age, .. } => ("backlog age", backlog_age.unwrap_or(NOT_LOOKED)),
            _ => return,
        };
        self.0.lock().unwrap().entry(name).or_default().push(value);
    }
}

impl Recorded {
    fn of(&self, name: &str) -> Vec<Duration> {
        self.0.lock().unwrap().get(name).cloned().unwrap_or_default()
    }
}

/// W34: a hook gets the lag of each lease, each attempt, what is held, and the age of the backlog.
#[tokio::test]
async fn hook_gets_lag_attempts_holds_and_backlog() {
    let script = [
        answer(StatusCode::OK),
        asking(StatusCode::TOO_MANY_REQUESTS, "30"),
    ];
    let mut fixture = Fixture::scripted(script).with_endpoints(&["ep_1", "ep_2"]).await;
    let recorded = Arc::new(Recorded::default());
    fixture.dispatcher = fixture
        .dispatcher
        .with_metrics(recorded.clone())
        .with_concurrency(1);
    fixture.send("evt_1").await;
    let seconds = Duration::from_secs(7);
    fixture.clock.advance(seconds);
    fixture.run().await;
    assert_eq!(recorded.of("lease lag"), [seconds; 2]);
    assert_eq!(recorded.of("attempt").len(), 2);
    assert_eq!((recorded.of("settled").len(), recorded.of("held").len()), (1, 1));
    // the first two turns fill the only place
    assert_eq!(
        recorded.of("backlog age"),
        [NOT_LOOKED, NOT_LOOKED, Duration::ZERO]
    );
}
