//! Test cases for implementations of [`Retention`](webhook_core::sender::Retention).
#![expect(clippy::expect_used, reason = "a case fails by panicking")]

/// Test cases.
#[host_ports_conformance::kit(retention)]
mod cases {
    use crate::outbox::{
        answered, at, delivery_id, enqueue, enqueue_of, lease_one, list, load, settle, settlement,
    };
    use std::sync::Arc;
    use webhook_core::{
        address::AddressPolicy,
        secret::SigningSecret,
        sender::{
            DeliveryFilter, Disposition, Endpoint, Enqueued, FailureReason, MissingRequest, Outbox, Owner,
            Page, Period, PurgeRequest, ReplayRequest, Retention, Settlement,
        },
        signature::Signer,
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

    /// W18: an event without live deliveries is deleted with its deliveries and log if it was
    /// created before the given time, but not exactly at that time; its id is then free.
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
            acknowledged: false,
            after: None,
            limit: usize::MAX,
            now: at(500),
            dry_run: false,
        };
        store.replay(&request).await.expect("the store works");
        let leased = lease_one(&**store, at(500)).await;
        settle(&**store, settlement(&leased, Disposition::Acked)).await;
        assert_eq!(purge(store, 500, true, 10).await, 0, "its second life is young");
        assert_eq!(purge(store, 501, true, 10).await, 1);
    }

    /// W18: events with failed deliveries stay as a whole, unless the host purges failed deliveries
    /// too.
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

    async fn expunge(store: &Arc<impl Retention>, before: u64, failed: bool, limit: usize) -> u64 {
        let request = PurgeRequest {
            before: at(before),
            failed,
            limit,
        };
        store.expunge(&request).await.expect("the store works")
    }

    /// W18: the bodies of old events are deleted alone: deliveries and log stay, nothing is
    /// replayed, and the id stays taken.
    pub async fn bodies_are_deleted_alone<S: Outbox + Retention>(store: &Arc<S>) {
        for n in 1..=3 {
            deliver(store, &format!("evt_{n}")).await;
        }
        enqueue(&**store, "evt_live", &["ep_1"]).await;
        assert_eq!(expunge(store, 0, false, 10).await, 0, "not older than itself");
        for expunged in [2, 1, 0] {
            assert_eq!(expunge(store, 1, false, 2).await, expunged);
        }
        assert_eq!(count(store).await, 4);
        let id = delivery_id("evt_1", "ep_1");
        assert_eq!(store.attempts(&id).await.expect("the store works").len(), 1);
        let all = ReplayRequest {
            filter: DeliveryFilter::default(),
            acknowledged: true,
            after: None,
            limit: usize::MAX,
            now: at(100),
            dry_run: false,
        };
        for dry_run in [true, false] {
            let replayed = store
                .replay(&ReplayRequest {
                    dry_run,
                    ..all.clone()
                })
                .await;
            assert_eq!(
                replayed.expect("the store works").count,
                0,
                "there is nothing to send"
            );
        }
        let again = enqueue_of("evt_1", "{}", &["ep_1"]);
        let again = store.enqueue(again).await.expect("the store works");
        assert_eq!(again, Enqueued::Duplicate, "the id stays taken");
        let live = lease_one(&**store, at(100)).await;
        assert_eq!(live.delivery.id, delivery_id("evt_live", "ep_1"));
        assert!(!live.event.body.is_empty());
        settle(&**store, settlement(&live, Disposition::Acked)).await;
        assert_eq!(purge(store, 1, false, 10).await, 4, "they can be purged");
    }

    /// W18: an endpoint that is registered later gets no event without a body.
    pub async fn expunged_events_are_not_missing<S: Outbox + Retention>(store: &Arc<S>) {
        deliver(store, "evt_1").await;
        deliver(store, "evt_2").await;
        assert_eq!(expunge(store, 1, false, 1).await, 1);
        let secret = SigningSecret::from_bytes(&[1; 32]).expect("32 bytes are a secret");
        let url = "https://example.com/hooks".parse().expect("a valid URL");
        let (id, owner) = ("ep_new".parse(), "acme".parse().map(Owner::Tenant));
        let (id, owner) = (id.expect("a valid id"), owner.expect("a valid id"));
        let signer = Signer::standard_webhooks(&secret);
        let endpoint = Endpoint::register(id, owner, &url, signer, &AddressPolicy::new());
        let request = MissingRequest {
            created: Period::default(),
            after: None,
            limit: 10,
            now: at(100),
            dry_run: false,
        };
        let missing = store
            .replay_missing(&endpoint.expect("a public URL"), &request)
            .await;
        assert_eq!(missing.expect("the store works").count, 1);
        assert!(!lease_one(&**store, at(100)).await.event.body.is_empty());
    }

    /// W18: failed deliveries whose event has no body count neither for the limit of a replay nor
    /// as others that match.
    pub async fn expunged_failures_do_not_count_for_a_limit<S: Outbox + Retention>(store: &Arc<S>) {
        let die = async |event: &str| {
            enqueue(&**store, event, &["ep_1"]).await;
            let leased = lease_one(&**store, at(0)).await;
            let dead = settlement(&leased, Disposition::Failed(FailureReason::AttemptsExhausted));
            settle(&**store, dead).await;
        };
        for number in 0..20 {
            die(&format!("evt_a{number}")).await;
            die(&format!("evt_z{number}")).await;
        }
        assert_eq!(expunge(store, 1, true, 100).await, 40);
        die("evt_m1").await;
        die("evt_m2").await;
        let request = ReplayRequest {
            filter: DeliveryFilter::default(),
            acknowledged: false,
            after: None,
            limit: 1,
            now: at(100),
            dry_run: false,
        };
        for expected in [(1, true), (1, false), (0, false)] {
            let replayed = store.replay(&request).await.expect("the store works");
            assert_eq!((replayed.count, replayed.has_more), expected);
        }
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
