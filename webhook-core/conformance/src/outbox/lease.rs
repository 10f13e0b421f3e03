//! Test cases of [`Outbox`](webhook_core::sender::Outbox) for leases.

/// Test cases.
#[host_ports_conformance::kit(outbox_lease)]
mod cases {
    use std::sync::Arc;
    use std::{collections::BTreeSet, time::Duration};

    use crate::outbox::{
        LEASE, TICK, at, enqueue, enqueue_of, ids, lease, lease_due, lease_one, lease_request, next_due,
        settle, settlement,
    };
    use host_ports_conformance::race;
    use webhook_core::sender::{DeliveryState, Disposition, Outbox};

    /// W15: an empty outbox has nothing to lease, to list or to wait for.
    pub async fn an_empty_outbox_has_nothing_due(store: &Arc<dyn Outbox>) {
        assert!(lease_due(store, at(0)).await.is_empty());
        assert_eq!(next_due(store).await, None);
    }

    /// W15: a delivery can be leased from the exact instant it is due.
    pub async fn a_delivery_is_leased_from_the_exact_instant_it_is_due(store: &Arc<dyn Outbox>) {
        enqueue(store, "evt_1", &["ep_1"]).await;
        assert!(lease_due(store, at(0) - TICK).await.is_empty());
        let leased = lease_one(store, at(0)).await;
        assert_eq!(leased.delivery.state, DeliveryState::Leased);
        assert_eq!(
            (leased.delivery.fence, leased.delivery.due_at),
            (1, at(0) + LEASE)
        );
        let retry = settlement(&leased, Disposition::Retry { due_at: at(60) });
        settle(store, retry).await;
        assert!(lease_due(store, at(60) - TICK).await.is_empty());
        assert_eq!(lease_one(store, at(60)).await.delivery.fence, 2);
    }

    /// W14: a store may round times to microseconds, but never down.
    pub async fn a_due_time_is_never_rounded_down(store: &Arc<dyn Outbox>) {
        const MICROSECOND: Duration = Duration::from_micros(1);
        enqueue(store, "evt_1", &["ep_1"]).await;
        let leased = lease_one(store, at(0)).await;
        let due_at = at(60) + Duration::from_nanos(987_654_321);
        settle(store, settlement(&leased, Disposition::Retry { due_at })).await;
        let before = due_at - Duration::from_nanos(321);
        assert!(lease_due(store, before).await.is_empty());
        let woken = next_due(store).await.expect("it waits");
        assert!((due_at..=due_at + MICROSECOND).contains(&woken));
        let leased = lease_one(store, woken).await;
        let hold = due_at + LEASE;
        let mut held = settlement(&leased, Disposition::Retry { due_at });
        held.hold_endpoint_until = Some(hold);
        settle(store, held).await;
        assert!(
            lease_due(store, hold - Duration::from_nanos(321))
                .await
                .is_empty()
        );
        lease_one(store, hold + MICROSECOND).await;
    }

    /// W15: a lost lease blocks its delivery until the exact instant at which the lease ends.
    pub async fn a_delivery_is_leased_again_from_the_exact_end_of_its_lease(store: &Arc<dyn Outbox>) {
        enqueue(store, "evt_1", &["ep_1"]).await;
        lease_one(store, at(0)).await;
        assert!(lease_due(store, at(0) + LEASE - TICK).await.is_empty());
        let again = lease_one(store, at(0) + LEASE).await;
        assert_eq!((again.delivery.fence, again.delivery.attempts), (2, 0));
    }

    /// W17: endpoints take turns, so that an endpoint with a long queue leaves room for the others.
    pub async fn endpoints_take_turns(store: &Arc<dyn Outbox>) {
        for n in 0..50 {
            enqueue(store, &format!("evt_a{n:02}"), &["ep_busy"]).await;
        }
        enqueue(store, "evt_b", &["ep_quiet", "ep_small"]).await;
        let mut overdue = enqueue_of("evt_c", "{}", &["ep_busy"]);
        for delivery in &mut overdue.deliveries {
            delivery.due_at = at(0) - TICK;
        }
        store.enqueue(overdue).await.expect("the store works");
        let leased = lease(store, lease_request(at(0), 5, 5)).await;
        let to = |endpoint| {
            leased
                .iter()
                .filter(|leased| leased.delivery.id.endpoint.as_str() == endpoint)
                .count()
        };
        assert_eq!((to("ep_busy"), to("ep_quiet"), to("ep_small")), (3, 1, 1));
        // within an endpoint the order is that of the due time, then of the ids
        let busy = ids(&leased).into_iter().filter(|id| id.ends_with("ep_busy"));
        assert!(busy.eq(["evt_c/ep_busy", "evt_a00/ep_busy", "evt_a01/ep_busy"]));
    }

    /// W17: with more endpoints than places, every endpoint gets a turn before any endpoint gets a
    /// second one.
    pub async fn the_endpoint_whose_turn_is_longest_ago_comes_first(store: &Arc<dyn Outbox>) {
        let endpoints = ["ep_1", "ep_2", "ep_3", "ep_4", "ep_5"];
        for n in 0..2 {
            enqueue(store, &format!("evt_{n}"), &endpoints).await;
        }
        let mut served = Vec::new();
        for _ in 0..5 {
            let leased = lease(store, lease_request(at(0), 2, 2)).await;
            served.extend(
                leased
                    .into_iter()
                    .map(|leased| leased.delivery.id.endpoint.to_string()),
            );
        }
        let (first, second) = served.split_at(served.len() / 2);
        for turn in [first, second] {
            assert_eq!(
                turn.iter().collect::<BTreeSet<_>>().len(),
                5,
                "one turn each: {turn:?}"
            );
        }
    }

    /// W17: valid leases count against the limit of an endpoint, ended ones do not.
    pub async fn no_endpoint_has_more_leases_than_it_may(store: &Arc<dyn Outbox>) {
        for n in 0..6 {
            enqueue(store, &format!("evt_{n}"), &["ep_1"]).await;
        }
        let take = |now, per_endpoint| lease(store, lease_request(now, 100, per_endpoint));
        let first = take(at(0), 2).await;
        assert_eq!(first.len(), 2);
        assert!(take(at(1), 2).await.is_empty());
        assert_eq!(take(at(1), 3).await.len(), 1);
        let settled = first.first().map(|leased| settlement(leased, Disposition::Acked));
        settle(store, settled.expect("one was leased")).await;
        assert_eq!(take(at(2), 3).await.len(), 1);
        // the first of the remaining leases has ended; the other two are valid until later
        assert_eq!(take(at(0) + LEASE, 3).await.len(), 1);
        assert!(take(at(0) + LEASE, 3).await.is_empty());
    }

    /// W15: at most `limit` deliveries are leased; a limit of 0 leases none.
    pub async fn no_more_than_the_limit_is_leased(store: &Arc<dyn Outbox>) {
        for n in 0..5 {
            enqueue(store, &format!("evt_{n}"), &[&format!("ep_{n}"), "ep_9"]).await;
        }
        assert!(lease(store, lease_request(at(0), 0, 10)).await.is_empty());
        assert_eq!(lease(store, lease_request(at(0), 7, 10)).await.len(), 7);
        // a new endpoint has a concurrency limit of four
        assert_eq!(lease(store, lease_request(at(0), 7, 10)).await.len(), 2);
    }

    /// W15: 32 concurrent dispatchers lease each delivery at most once, and a later lease finds the
    /// skipped deliveries.
    pub async fn of_32_simultaneous_leases_none_shares_a_delivery(store: &Arc<dyn Outbox>) {
        for n in 0..50 {
            let endpoints = [format!("ep_{}", n % 25), "ep_25".to_owned()];
            let few = usize::from(n < 4) + 1;
            let endpoints: Vec<&str> = endpoints.iter().take(few).map(String::as_str).collect();
            enqueue(store, &format!("evt_{n}"), &endpoints).await;
        }
        let leased = race(store, async |store, _| {
            lease(&*store, lease_request(at(0), 4, 1_000)).await
        })
        .await;
        let mut leased = leased.concat();
        leased.extend(lease(store, lease_request(at(0), 1_000, 1_000)).await);
        assert_eq!(leased.len(), 54);
        assert_eq!(ids(&leased).into_iter().collect::<BTreeSet<_>>().len(), 54);
        assert!(leased.iter().all(|leased| leased.delivery.fence == 1));
    }

    /// W17: 32 concurrent dispatchers together respect the limit of an endpoint.
    pub async fn of_32_simultaneous_leases_no_endpoint_has_more_than_it_may(store: &Arc<dyn Outbox>) {
        for n in 0..50 {
            enqueue(store, &format!("evt_{n}"), &["ep_1", "ep_2"]).await;
        }
        let mut leased = race(store, async |store, _| {
            lease(&*store, lease_request(at(0), 4, 3)).await
        })
        .await
        .concat();
        leased.extend(lease(store, lease_request(at(0), 1_000, 3)).await);
        assert_eq!(leased.len(), 6);
        assert_eq!(ids(&leased).iter().filter(|id| id.ends_with("ep_1")).count(), 3);
    }

    /// W15: `next_due` is exact: at that time a delivery can be leased, and none before.
    pub async fn next_due_is_the_earliest_moment_something_can_be_leased(store: &Arc<dyn Outbox>) {
        enqueue(store, "evt_1", &["ep_1"]).await;
        assert_eq!(next_due(store).await, Some(at(0)));
        let first = lease_one(store, at(0)).await;
        assert_eq!(
            next_due(store).await,
            Some(at(0) + LEASE),
            "the lease may be lost"
        );
        settle(store, settlement(&first, Disposition::Retry { due_at: at(300) })).await;
        assert_eq!(next_due(store).await, Some(at(300)));

        enqueue(store, "evt_2", &["ep_2"]).await;
        let second = lease_one(store, at(0)).await;
        let mut held = settlement(&second, Disposition::Retry { due_at: at(100) });
        held.hold_endpoint_until = Some(at(200));
        settle(store, held).await;
        assert_eq!(
            next_due(store).await,
            Some(at(200)),
            "a held endpoint is due when the hold ends"
        );

        let second = lease_one(store, at(200)).await;
        settle(store, settlement(&second, Disposition::Acked)).await;
        assert_eq!(next_due(store).await, Some(at(300)));

        let first = lease_one(store, at(300)).await;
        let mut held = settlement(&first, Disposition::Retry { due_at: at(600) });
        held.hold_endpoint_until = Some(at(400));
        settle(store, held).await;
        assert_eq!(
            next_due(store).await,
            Some(at(600)),
            "the end of a hold is nothing to wake for"
        );
    }
}

pub use cases::*;
