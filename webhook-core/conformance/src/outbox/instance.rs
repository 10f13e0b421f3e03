//! Test cases of [`Outbox`](webhook_core::sender::Outbox) for owners of leases and turns.

/// Test cases.
#[host_ports_conformance::kit(outbox_instance)]
mod cases {
    use std::{collections::BTreeSet, sync::Arc, time::Duration};

    use crate::outbox::{
        answered, at, delivery_id, enqueue, enqueue_of, ids, lease, lease_due, lease_one, lease_request,
        load, next_due, settle, settlement,
    };
    use host_ports_conformance::race;
    use webhook_core::sender::{
        DeliveryState, Departure, Disposition, Heartbeat, InstanceId, LeaseRequest, Leased, Outbox, Settled,
        Settlement, Turn, TurnRequest,
    };

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);

    /// Joins the outbox; `None` if the store has no instances, which is allowed.
    async fn join(store: &dyn Outbox) -> Option<InstanceId> {
        store.join().await.expect("the store works")
    }

    fn owned(owner: InstanceId, limit: usize) -> LeaseRequest {
        LeaseRequest {
            owner: Some(owner),
            until: LeaseRequest::until_freed(),
            ..lease_request(at(0), limit, limit)
        }
    }

    async fn beat(store: &dyn Outbox, instance: InstanceId) -> Vec<Heartbeat> {
        store.beat(instance).await.expect("the store works")
    }

    async fn counter(store: &dyn Outbox, beating: InstanceId, instance: InstanceId) -> Option<u64> {
        let beats = beat(store, beating).await;
        let beat = beats.iter().find(|beat| beat.instance == instance);
        beat.map(|beat| beat.counter)
    }

    async fn leave(store: &dyn Outbox, instance: InstanceId, departure: Departure) -> u64 {
        let left = store.leave(instance, departure, at(5)).await;
        left.expect("the store works")
    }

    /// An event for one endpoint, leased by a new instance.
    async fn held(store: &dyn Outbox) -> Option<(InstanceId, Leased)> {
        let owner = join(store).await?;
        enqueue(store, "evt_1", &["ep_1"]).await;
        let mut leased = lease(store, owned(owner, 1)).await;
        assert_eq!(leased.len(), 1);
        Some((owner, leased.remove(0)))
    }

    /// W29: an outbox never assigns the same instance id twice, not even after the instance left.
    pub async fn instances_are_unique(store: &Arc<dyn Outbox>) {
        let Some(first) = join(store).await else { return };
        leave(store, first, Departure::Stopped).await;
        let joined = race(store, async |store, _| join(&*store).await).await;
        let joined: Vec<InstanceId> = joined.into_iter().flatten().collect();
        let unique: BTreeSet<_> = joined.iter().copied().chain([first]).collect();
        assert_eq!(unique.len(), joined.len() + 1);
    }

    /// W29: a heartbeat changes only the counter of its instance, and returns the counters of all
    /// instances.
    pub async fn heartbeat_changes_its_own_counter(store: &Arc<dyn Outbox>) {
        let Some(one) = join(store).await else { return };
        let other = join(store).await.expect("it has instances");
        let before = counter(store, other, one).await.expect("it has joined");
        assert_eq!(
            counter(store, other, one).await,
            Some(before),
            "only its own beats count"
        );
        assert_ne!(counter(store, one, one).await, Some(before));
        leave(store, one, Departure::Stopped).await;
        assert_eq!(counter(store, other, one).await, None);
        assert_eq!(
            counter(store, one, one).await,
            None,
            "a heartbeat does not join again"
        );
    }

    /// W29: the lease of an owner does not end by time.
    pub async fn lease_of_an_owner_has_no_end(store: &Arc<dyn Outbox>) {
        let Some((owner, leased)) = held(store).await else {
            return;
        };
        assert_eq!(leased.delivery.owner, Some(owner));
        for days in [1, 365, 3_650] {
            assert_eq!(ids(&lease_due(store, at(0) + DAY * days).await), [""; 0]);
        }
        let due = next_due(store).await;
        assert!(
            due.is_none_or(|due| due >= LeaseRequest::until_freed()),
            "{due:?}"
        );
    }

    /// W29: the leases of an instance that stops are due at once and do not count as lost.
    pub async fn stopped_instance_frees_its_leases(store: &Arc<dyn Outbox>) {
        let Some((owner, leased)) = held(store).await else {
            return;
        };
        assert_eq!(leave(store, owner, Departure::Stopped).await, 1);
        assert_eq!(leave(store, owner, Departure::Stopped).await, 0);
        let row = load(store, &leased.delivery.id).await.expect("it is stored");
        assert_eq!((row.state, row.owner), (DeliveryState::RetryScheduled, None));
        let again = lease_one(store, at(0)).await.delivery;
        assert_eq!((again.fence, again.crashes), (2, 0));
    }

    /// W29: the leases of a silent instance are due at once and count as lost.
    pub async fn silent_instance_loses_its_leases(store: &Arc<dyn Outbox>) {
        let Some((owner, _)) = held(store).await else {
            return;
        };
        let observer = join(store).await.expect("it has instances");
        let counter = counter(store, observer, owner).await.expect("it has joined");
        assert_eq!(leave(store, owner, Departure::Silent { counter }).await, 1);
        let again = lease_one(store, at(0)).await.delivery;
        assert_eq!((again.fence, again.crashes), (2, 1));
    }

    /// W29: an instance that sends a heartbeat after it was observed as silent keeps its leases.
    pub async fn beating_instance_keeps_its_leases(store: &Arc<dyn Outbox>) {
        let Some((owner, leased)) = held(store).await else {
            return;
        };
        let observer = join(store).await.expect("it has instances");
        let seen = counter(store, observer, owner).await.expect("it has joined");
        beat(store, owner).await;
        assert_eq!(leave(store, owner, Departure::Silent { counter: seen }).await, 0);
        assert!(counter(store, observer, owner).await.is_some());
        let row = load(store, &leased.delivery.id).await.expect("it is stored");
        assert_eq!((row.state, row.owner), (DeliveryState::Leased, Some(owner)));
    }

    /// W29: an instance that left gets no lease, because nothing would ever free that lease.
    pub async fn departed_instance_gets_no_lease(store: &Arc<dyn Outbox>) {
        let Some((owner, _)) = held(store).await else {
            return;
        };
        leave(store, owner, Departure::Stopped).await;
        assert_eq!(ids(&lease(store, owned(owner, 1)).await), [""; 0]);
        assert_eq!(lease_due(store, at(0)).await.len(), 1);
    }

    /// W15, W29: after its lease was freed, an owner can only report a 2xx.
    pub async fn freed_lease_settles_only_an_acknowledgement(store: &Arc<dyn Outbox>) {
        let Some((owner, leased)) = held(store).await else {
            return;
        };
        leave(store, owner, Departure::Stopped).await;
        let retry = settlement(&leased, Disposition::Retry { due_at: at(60) });
        assert_eq!(settle(store, retry).await, Settled::Stale);
        let acked = settlement(&leased, Disposition::Acked);
        assert_eq!(settle(store, acked).await, Settled::Late);
    }

    /// W29: a settlement by another owner with the same fencing token is stale.
    pub async fn fence_of_another_owner_is_stale(store: &Arc<dyn Outbox>) {
        let Some((owner, leased)) = held(store).await else {
            return;
        };
        let other = join(store).await.expect("it has instances");
        for foreign in [Some(other), None] {
            let retry = Settlement {
                owner: foreign,
                ..settlement(&leased, Disposition::Retry { due_at: at(60) })
            };
            assert_eq!(settle(store, retry).await, Settled::Stale);
        }
        let row = load(store, &leased.delivery.id).await.expect("it is stored");
        assert_eq!(row.owner, Some(owner));
    }

    /// W29: if an owner leases and leaves concurrently, no delivery stays leased in the end.
    pub async fn lease_and_departure_leave_nothing_held(store: &Arc<dyn Outbox>) {
        let Some(owner) = join(store).await else { return };
        for event in 0..32 {
            enqueue(store, &format!("evt_{event}"), &[&format!("ep_{event}")]).await;
        }
        race(store, async move |store, racer| {
            if racer % 4 == 0 {
                leave(&*store, owner, Departure::Stopped).await;
            } else {
                store.lease(&owned(owner, 2)).await.expect("the store works");
            }
        })
        .await;
        leave(store, owner, Departure::Stopped).await;
        let mut due = BTreeSet::new();
        loop {
            let leased = lease_due(store, at(10)).await;
            if leased.is_empty() {
                break;
            }
            due.extend(ids(&leased));
        }
        assert_eq!(due.len(), 32);
    }

    /// W15: a turn settles, then leases due deliveries, and returns the next due time.
    pub async fn turn_settles_then_leases(store: &Arc<dyn Outbox>) {
        enqueue(store, "evt_1", &["ep_1"]).await;
        enqueue(store, "evt_2", &["ep_1"]).await;
        let leased = lease(store, lease_request(at(0), 1, 1)).await;
        let [leased] = &leased[..] else {
            panic!("one is leased: {leased:?}")
        };
        let acked = Settlement {
            attempt: Some(answered(leased, 204, "")),
            ..settlement(leased, Disposition::Acked)
        };
        let turn = |settlements, lease| {
            let request = TurnRequest { settlements, lease };
            async { store.turn(request).await.expect("the store works") }
        };
        // the place of the endpoint is free only because the turn settles first
        let Turn {
            receipts,
            leases,
            next_due,
        } = turn(vec![acked.clone()], Some(lease_request(at(1), 2, 1))).await;
        assert_eq!(
            receipts.iter().map(|receipt| receipt.settled).collect::<Vec<_>>(),
            [Settled::Applied]
        );
        assert_eq!(ids(&leases.leased), ["evt_2/ep_1"]);
        let end = leases.leased.first().map(|leased| leased.delivery.due_at);
        assert_eq!(next_due, end);
        let repeated = turn(vec![acked], None).await;
        assert_eq!(
            repeated.receipts.first().map(|receipt| receipt.settled),
            Some(Settled::Stale)
        );
        assert!(repeated.leases.leased.is_empty());
    }

    /// W14, W15: in one turn, an endpoint that is held by its outcome gets no lease.
    pub async fn turn_holds_before_it_leases(store: &Arc<dyn Outbox>) {
        enqueue(store, "evt_1", &["ep_1"]).await;
        enqueue(store, "evt_2", &["ep_1"]).await;
        let leased = lease(store, lease_request(at(0), 1, 1)).await;
        let [leased] = &leased[..] else {
            panic!("one is leased: {leased:?}")
        };
        let throttled = Settlement {
            hold_endpoint_until: Some(at(60)),
            ..settlement(leased, Disposition::Held { due_at: at(60) })
        };
        let request = TurnRequest {
            settlements: vec![throttled],
            lease: Some(lease_request(at(1), 10, 10)),
        };
        let turn = store.turn(request).await.expect("the store works");
        assert_eq!(ids(&turn.leases.leased), [""; 0]);
        assert_eq!(turn.next_due, Some(at(60)));
    }

    /// W30: a delivery that a clock ahead of time accepted is pulled forward; a retry keeps its
    /// time.
    pub async fn fresh_deliveries_are_pulled_forward(store: &Arc<dyn Outbox>) {
        if join(store).await.is_none() {
            return;
        }
        enqueue(store, "evt_1", &["ep_1"]).await;
        let mut early = enqueue_of("evt_2", "{}", &["ep_2"]);
        for delivery in &mut early.deliveries {
            delivery.due_at = at(3_600);
        }
        store.enqueue(early).await.expect("the store works");
        let leased = lease_one(store, at(0)).await;
        let retry = settlement(&leased, Disposition::Retry { due_at: at(60) });
        settle(store, retry).await;
        assert_eq!(ids(&lease_due(store, at(1)).await), [""; 0]);
        let pulled = store.pull_forward(at(1)).await.expect("the store works");
        assert_eq!(pulled, 1);
        assert_eq!(ids(&lease_due(store, at(1)).await), ["evt_2/ep_2"]);
        assert_eq!(ids(&lease_due(store, at(30)).await), [""; 0]);
        let retried = load(store, &delivery_id("evt_1", "ep_1"))
            .await
            .expect("it is stored");
        assert_eq!(retried.due_at, at(60));
    }
}

pub use cases::*;
