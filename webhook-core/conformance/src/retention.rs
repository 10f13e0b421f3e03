//! Test cases for implementations of [`Retention`](webhook_core::sender::Retention).
#![expect(clippy::expect_used, reason = "a case fails by panicking")]

/// Test cases.
#[host_ports_conformance::kit(retention)]
mod cases {
    use crate::outbox::{answered, at, delivery_id, enqueue, lease_one, list, load, settle, settlement};
    use std::sync::Arc;
    use webhook_core::sender::{
        DeliveryFilter, Disposition, FailureReason, Outbox, Page, PurgeRequest, ReplayRequest, Retention,
        Settlement,
    };

    async fn purge(store: &Arc<impl Retention>, before: u64, failed: bool, limit: usize) -> u64 {
        let request = PurgeRequest {
            before: at(before),
            failed,
            limit,
        };
        store.purge(&request).await.expect("the store works")
    }

    async fn deliver(store: &Arc<impl Outbox>, event: &str) {
        enqueue(&**store, event, &["ep_1"]).await;
        let leased = lease_one(&**store, at(0)).await;
        let attempt = Some(answered(&leased, 200, ""));
        let acked = settlement(&leased, Disposition::Acked);
        settle(&**store, Settlement { attempt, ..acked }).await;
    }

    async fn count(store: &Arc<impl Outbox>) -> usize {
        list(&**store, &DeliveryFilter::default(), &Page::default())
            .await
            .len()
    }

    /// W18: an old event without live deliveries is deleted with its deliveries and log, exactly
    /// when it is older; its id is then free.
    pub async fn purge_deletes_event_with_deliveries_and_log<S: Outbox + Retention>(store: &Arc<S>) {
        deliver(store, "evt_1").await;
        enqueue(&**store, "evt_unwanted", &[]).await;
        assert_eq!(purge(store, 0, true, 10).await, 0, "not older than itself");
        assert_eq!(purge(store, 1, false, 10).await, 2);
        let id = delivery_id("evt_1", "ep_1");
        assert_eq!(load(&**store, &id).await, None);
        assert_eq!(store.attempts(&id).await.expect("the store works"), []);
        assert_eq!(purge(store, 1, true, 10).await, 0);
        deliver(store, "evt_1").await;
        assert_eq!(store.attempts(&id).await.expect("the store works").len(), 1);
    }

    /// W18: an event with a waiting, leased or recently replayed delivery stays as a whole.
    pub async fn nothing_live_or_young_is_purged<S: Outbox + Retention>(store: &Arc<S>) {
        enqueue(&**store, "evt_1", &["ep_1"]).await;
        assert_eq!(purge(store, 1_000, true, 10).await, 0, "it is due");
        let leased = lease_one(&**store, at(0)).await;
        assert_eq!(purge(store, 1_000, true, 10).await, 0, "it is under way");
        let retry = settlement(&leased, Disposition::Retry { due_at: at(60) });
        settle(&**store, retry).await;
        assert_eq!(purge(store, 1_000, true, 10).await, 0, "it waits");
        let leased = lease_one(&**store, at(60)).await;
        let dead = settlement(&leased, Disposition::Failed(FailureReason::AttemptsExhausted));
        settle(&**store, dead).await;
        let request = ReplayRequest {
            filter: DeliveryFilter::default(),
            now: at(500),
            dry_run: false,
        };
        store.replay(&request).await.expect("the store works");
        let leased = lease_one(&**store, at(500)).await;
        settle(&**store, settlement(&leased, Disposition::Acked)).await;
        assert_eq!(purge(store, 500, true, 10).await, 0, "its second life is young");
        assert_eq!(purge(store, 501, true, 10).await, 1);
    }

    /// W18: events with failed deliveries stay as a whole, until the host asks for their deletion.
    pub async fn failed_deliveries_go_only_when_asked<S: Outbox + Retention>(store: &Arc<S>) {
        for (event, reason) in [
            ("evt_1", FailureReason::AttemptsExhausted),
            ("evt_2", FailureReason::Rejected),
            ("evt_3", FailureReason::Quarantined),
        ] {
            enqueue(&**store, event, &["ep_1"]).await;
            let leased = lease_one(&**store, at(0)).await;
            settle(&**store, settlement(&leased, Disposition::Failed(reason))).await;
        }
        deliver(store, "evt_4").await;
        assert_eq!(purge(store, 1, false, 10).await, 1);
        assert_eq!(count(store).await, 3);
        assert_eq!(purge(store, 1, true, 10).await, 3);
        assert_eq!(count(store).await, 0);
    }

    /// W18: a purge deletes at most its limit, and the next one continues.
    pub async fn a_purge_is_bounded<S: Outbox + Retention>(store: &Arc<S>) {
        for n in 0..5 {
            deliver(store, &format!("evt_{n}")).await;
        }
        assert_eq!(purge(store, 1, false, 0).await, 0);
        for purged in [2, 2, 1, 0] {
            assert_eq!(purge(store, 1, false, 2).await, purged);
        }
    }
}

pub use cases::*;
