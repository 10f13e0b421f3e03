//! Test cases of [`Outbox`](webhook_core::sender::Outbox) for endpoint health and quarantine.

/// Test cases.
#[host_ports_conformance::kit(outbox_health)]
mod cases {
    use std::sync::Arc;
    use std::time::{Duration, SystemTime};

    use bytes::Bytes;

    use crate::outbox::{
        LEASE, TICK, answered, at, delivery_id, enqueue, enqueue_of, lease, lease_due, lease_one,
        lease_request, list, load, next_due, settlement,
    };
    use host_ports_conformance::race_of;
    use webhook_core::sender::{
        Attempt, DeliveryFilter, DeliveryState, Disposition, FailureReason, HealthEvent, LeaseRequest,
        Leased, Leases, Outbox, Page, Receipt, ReplayRequest, SetAside, Settled, Settlement,
    };

    const MINUTE: Duration = Duration::from_secs(60);
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);

    /// Settlement of an exchange that took no time.
    fn outcome(leased: &Leased, status: u16, disposition: Disposition, now: SystemTime) -> Settlement {
        let attempt = Attempt {
            started_at: now,
            duration: Duration::ZERO,
            ..answered(leased, status, Bytes::new())
        };
        Settlement {
            attempt: Some(attempt),
            ..settlement(leased, disposition)
        }
    }

    fn delivered(leased: &Leased, now: SystemTime) -> Settlement {
        outcome(leased, 200, Disposition::Acked, now)
    }

    /// Settlement of a failure that is retried at once.
    fn failed(leased: &Leased, now: SystemTime) -> Settlement {
        outcome(leased, 500, Disposition::Retry { due_at: now }, now)
    }

    async fn settle(store: &dyn Outbox, settlement: Settlement) -> Receipt {
        let receipts = store.settle(vec![settlement]).await.expect("the store works");
        *receipts.first().expect("one answer for each settlement")
    }

    /// An event whose delivery to `ep_1` has failed four times.
    async fn four_failures(store: &dyn Outbox) {
        enqueue(store, "evt_1", &["ep_1"]).await;
        for _ in 0..4 {
            let leased = lease_one(store, at(0)).await;
            let receipt = settle(store, failed(&leased, at(0))).await;
            assert_eq!((receipt.settled, receipt.health), (Settled::Applied, None));
        }
    }

    /// W15: a delivery that crashes its dispatchers becomes a dead letter after five lost leases,
    /// and can be replayed.
    pub async fn a_delivery_that_crashes_its_holders_is_quarantined(store: &Arc<dyn Outbox>) {
        enqueue(store, "evt_1", &["ep_1"]).await;
        let mut now = at(0);
        for crashes in 0..5 {
            assert_eq!(lease_one(store, now).await.delivery.crashes, crashes);
            now += LEASE;
        }
        let mut others = enqueue_of("evt_2", "{}", &["ep_1", "ep_2"]);
        for delivery in &mut others.deliveries {
            delivery.due_at = now;
        }
        store.enqueue(others).await.expect("the store works");
        let request = lease_request(now, 2, 100);
        let Leases { leased, set_aside } = store.lease(&request).await.expect("the store works");
        let id = delivery_id("evt_1", "ep_1");
        let expected = SetAside {
            delivery: id.clone(),
            reason: FailureReason::Quarantined,
        };
        assert_eq!(
            (leased.len(), set_aside),
            (2, vec![expected]),
            "a quarantined delivery uses no place"
        );
        let dead = list(store, &DeliveryFilter::dead_letters(), &Page::default()).await;
        let [dead] = dead.as_slice() else {
            panic!("one is dead")
        };
        assert_eq!(
            (&dead.id, dead.reason, dead.fence),
            (&id, Some(FailureReason::Quarantined), 5)
        );

        let replay = ReplayRequest {
            filter: DeliveryFilter::one(&id),
            acknowledged: false,
            after: None,
            limit: usize::MAX,
            now,
            dry_run: false,
        };
        assert_eq!(store.replay(&replay).await.expect("the store works").count, 1);
        let again = lease_one(store, now).await;
        assert_eq!((again.delivery.crashes, again.delivery.fence), (0, 6));
    }

    /// W15: suspects are leased one at a time and do not block the deliveries behind them.
    pub async fn suspects_come_one_at_a_time(store: &Arc<dyn Outbox>) {
        for n in 0..3 {
            enqueue(store, &format!("evt_{n}"), &["ep_1", "ep_2"]).await;
        }
        for lost in 0..2 {
            let all = lease_due(store, at(0) + lost * LEASE).await;
            assert!(all.len() == 6 && all.iter().all(|leased| !leased.delivery.is_suspect()));
        }
        let now = at(0) + 2 * LEASE;
        for n in 3..6 {
            enqueue(store, &format!("evt_{n}"), &["ep_1"]).await;
        }
        let look = async |limit, suspects| {
            let request = LeaseRequest {
                suspects,
                ..lease_request(now, limit, 100)
            };
            let leased = lease(store, request).await;
            let found = leased.iter().filter(|leased| leased.delivery.is_suspect());
            (found.count(), leased.len())
        };
        assert_eq!(look(1, 1).await, (1, 1), "a suspect comes first");
        assert_eq!(look(100, 0).await, (0, 3), "it is not waited for");
        assert_eq!(look(100, 1).await, (1, 1), "the other endpoint has its turn");
        assert_eq!(
            look(100, 100).await,
            (2, 2),
            "an endpoint has no more leases than it may"
        );
        assert_eq!(next_due(store).await, Some(now), "two are left");
    }

    /// W15: any settlement resets the count of lost leases.
    pub async fn an_outcome_clears_the_count_of_crashes(store: &Arc<dyn Outbox>) {
        enqueue(store, "evt_1", &["ep_1"]).await;
        lease_one(store, at(0)).await;
        let leased = lease_one(store, at(0) + LEASE).await;
        assert_eq!(leased.delivery.crashes, 1);
        let held = settlement(&leased, Disposition::Held { due_at: at(100) });
        settle(store, held).await;
        assert_eq!(lease_one(store, at(100)).await.delivery.crashes, 0);
    }

    /// W17: successes raise the concurrency limit of an endpoint, and signs of overload halve it.
    pub async fn concurrency_limit_follows_outcomes(store: &Arc<dyn Outbox>) {
        for n in 0..20 {
            enqueue(store, &format!("evt_{n:02}"), &["ep_1"]).await;
        }
        let four = lease_due(store, at(0)).await;
        assert_eq!(four.len(), 4);
        let settled = race_of(4, store, {
            let four = four.clone();
            async move |store, index| {
                let leased = four.get(index).expect("one for each racer");
                settle(&*store, delivered(leased, at(0))).await
            }
        })
        .await;
        assert!(settled.iter().all(|receipt| receipt.settled == Settled::Applied));
        let five = lease_due(store, at(0)).await;
        assert_eq!(five.len(), 5, "no simultaneous success is forgotten");
        let [first, rest @ ..] = five.as_slice() else {
            panic!("five are under way")
        };
        let wait = Disposition::Held { due_at: at(60) };
        let throttled = Settlement {
            spent: false,
            ..outcome(first, 429, wait, at(0) + TICK)
        };
        // every settlement of a batch changes the health
        let batch = [throttled]
            .into_iter()
            .chain(rest.iter().map(|leased| delivered(leased, at(0))));
        store.settle(batch.collect()).await.expect("the store works");
        assert_eq!(
            lease(store, lease_request(at(1), 100, 100)).await.len(),
            3,
            "two, and one for a full window since"
        );
        assert!(lease(store, lease_request(at(1), 100, 100)).await.is_empty());
    }

    /// W17: the open breaker holds the endpoint without counted attempts, allows one probe after
    /// the pause, and closes when the probe gets a response.
    pub async fn a_breaker_opens_and_its_probe_closes_it(store: &Arc<dyn Outbox>) {
        four_failures(store).await;
        let opening = lease_one(store, at(0)).await;
        enqueue(store, "evt_2", &["ep_1", "ep_2"]).await;
        let until = at(0) + MINUTE;
        let opened = settle(store, failed(&opening, at(0))).await.health;
        assert_eq!(opened, Some(HealthEvent::BreakerOpened { until }));
        let other = lease_one(store, until - TICK).await;
        assert_eq!(other.delivery.id, delivery_id("evt_2", "ep_2"));
        settle(store, delivered(&other, at(0))).await;
        assert_eq!(store.next_due().await.expect("the store works"), Some(until));

        let probe = lease_one(store, until).await;
        let later = until + 2 * MINUTE;
        let opened = settle(store, failed(&probe, until)).await.health;
        assert_eq!(opened, Some(HealthEvent::BreakerOpened { until: later }));
        assert!(lease_due(store, later - TICK).await.is_empty());
        let probe = lease_one(store, later).await;
        let closed = settle(store, delivered(&probe, later)).await.health;
        assert_eq!(closed, Some(HealthEvent::BreakerClosed));
        assert_eq!(
            lease_due(store, later).await.len(),
            1,
            "the other one, which the breaker held"
        );
    }

    /// W17: repeated and stale settlements do not change the health.
    pub async fn stale_outcomes_do_not_change_health(store: &Arc<dyn Outbox>) {
        enqueue(store, "evt_1", &["ep_1"]).await;
        let leased = lease_one(store, at(0)).await;
        let failure = failed(&leased, at(0));
        settle(store, failure.clone()).await;
        for _ in 0..10 {
            let receipt = settle(store, failure.clone()).await;
            assert_eq!((receipt.settled, receipt.health), (Settled::Stale, None));
        }
        lease_one(store, at(0)).await;
    }

    /// W17: an endpoint that fails for five days is reported as disabled, at the exact instant.
    pub async fn five_days_of_failures_disable_endpoint(store: &Arc<dyn Outbox>) {
        four_failures(store).await;
        let early = lease_one(store, at(0) + 5 * DAY - TICK).await;
        let opened = settle(store, failed(&early, at(0) + 5 * DAY - TICK)).await.health;
        assert!(matches!(opened, Some(HealthEvent::BreakerOpened { .. })));
        let probe = lease_one(store, at(0) + 6 * DAY).await;
        let failing_since = at(0);
        let given_up = settle(store, failed(&probe, at(0) + 5 * DAY)).await.health;
        assert_eq!(given_up, Some(HealthEvent::Disabled { failing_since }));
        let again = lease_one(store, at(0) + 7 * DAY).await;
        let given_up = settle(store, failed(&again, at(0) + 7 * DAY)).await.health;
        assert_eq!(
            given_up,
            Some(HealthEvent::Disabled { failing_since }),
            "until it is disabled"
        );
        let disabled = settlement(&again, Disposition::Failed(FailureReason::EndpointDisabled));
        let receipt = settle(store, disabled).await;
        assert_eq!((receipt.settled, receipt.health), (Settled::Stale, None));
        let anew = lease_one(store, at(0) + 8 * DAY).await;
        assert_eq!(settle(store, failed(&anew, at(0) + 8 * DAY)).await.health, None);
        let waiting = load(store, &delivery_id("evt_1", "ep_1"))
            .await
            .expect("it is kept");
        assert_eq!(waiting.state, DeliveryState::RetryScheduled);
    }
}

pub use cases::*;
