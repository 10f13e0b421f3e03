//! Test cases of [`Outbox`](webhook_core::sender::Outbox) for bulkheads.

/// Test cases.
#[host_ports_conformance::kit(outbox_bulkhead)]
mod cases {
    use std::{collections::BTreeMap, sync::Arc, time::Duration};

    use bytes::Bytes;

    use crate::outbox::{answered, at, enqueue, lease, lease_due, lease_request, settlement};
    use webhook_core::ports::TransportErrorKind;
    use webhook_core::sender::{
        Attempt, AttemptResult, Bulkheads, Disposition, LeaseRequest, Leased, Outbox, Settlement, Standing,
    };

    /// Six endpoints, two of each standing, with three due deliveries each.
    async fn mixed(store: &dyn Outbox) {
        let endpoints = ["ans_1", "ans_2", "new_1", "new_2", "sil_1", "sil_2"];
        enqueue(store, "evt_0", &["ans_1", "ans_2", "sil_1", "sil_2"]).await;
        let outcomes = lease_due(store, at(0)).await.into_iter().map(|leased| {
            let is_silent = leased.delivery.id.endpoint.as_str().starts_with("sil");
            outcome(&leased, is_silent)
        });
        store.settle(outcomes.collect()).await.expect("the store works");
        for event in 1..=3 {
            enqueue(store, &format!("evt_{event}"), &endpoints).await;
        }
    }

    fn outcome(leased: &Leased, is_silent: bool) -> Settlement {
        let attempt = Attempt {
            started_at: at(0),
            duration: Duration::from_millis(5),
            ..answered(leased, 200, Bytes::new())
        };
        let (disposition, result) = if is_silent {
            let (kind, message) = (TransportErrorKind::Timeout, String::new());
            (
                Disposition::Retry { due_at: at(86_400) },
                AttemptResult::Failed { kind, message },
            )
        } else {
            (Disposition::Acked, attempt.result.clone())
        };
        Settlement {
            attempt: Some(Attempt { result, ..attempt }),
            ..settlement(leased, disposition)
        }
    }

    async fn counts(store: &dyn Outbox, bulkheads: Bulkheads, limit: usize) -> BTreeMap<&'static str, usize> {
        let request = LeaseRequest {
            bulkheads,
            ..lease_request(at(1), limit, 3)
        };
        let mut counts = BTreeMap::new();
        for leased in lease(store, request).await {
            *counts.entry(leased.standing.as_str()).or_default() += 1;
        }
        counts
    }

    fn bulkheads(unproven: usize, silent: usize, per_unproven: usize) -> Bulkheads {
        Bulkheads {
            unproven,
            silent,
            per_unproven,
        }
    }

    /// W27: a lease reports the standing of each endpoint after its last outcome.
    pub async fn lease_reports_standing_of_endpoints(store: &Arc<dyn Outbox>) {
        mixed(&**store).await;
        for leased in lease_due(&**store, at(1)).await {
            let expected = match leased.delivery.id.endpoint.as_str() {
                "ans_1" | "ans_2" => Standing::Answering,
                "sil_1" | "sil_2" => Standing::Silent,
                _ => Standing::Unproven,
            };
            assert_eq!(leased.standing, expected, "{}", leased.delivery.id);
        }
    }

    /// W27: silent and unproven endpoints get no more places than their bulkheads allow; answering
    /// endpoints get the rest, even if the others have waited longer.
    pub async fn lease_stays_within_bulkheads(store: &Arc<dyn Outbox>) {
        mixed(&**store).await;
        let counts = counts(&**store, bulkheads(3, 1, 3), 100).await;
        assert_eq!(
            (counts.get("answering"), counts.get("silent")),
            (Some(&6), Some(&1))
        );
        assert_eq!(counts.get("unproven"), Some(&2));
    }

    /// W27: if the bulkhead has no place, deliveries to its endpoints are not leased and all others
    /// are.
    pub async fn closed_bulkhead_leases_nothing(store: &Arc<dyn Outbox>) {
        mixed(&**store).await;
        let open = counts(&**store, bulkheads(0, 0, 3), 100).await;
        assert_eq!(open, BTreeMap::from([("answering", 6)]));
        let rest = counts(&**store, Bulkheads::OPEN, 100).await;
        // the health of a timed-out endpoint allows two at a time
        assert_eq!(rest, BTreeMap::from([("silent", 4), ("unproven", 6)]));
    }

    /// W27: while places are scarce, an endpoint that is not answering has one place.
    pub async fn unproven_endpoint_gets_one_place_while_scarce(store: &Arc<dyn Outbox>) {
        mixed(&**store).await;
        let first = counts(&**store, bulkheads(100, 100, 1), 100).await;
        let expected = BTreeMap::from([("answering", 6), ("silent", 2), ("unproven", 2)]);
        assert_eq!(first, expected);
        assert_eq!(
            counts(&**store, bulkheads(100, 100, 1), 100).await,
            BTreeMap::new()
        );
    }
}

pub use cases::*;
