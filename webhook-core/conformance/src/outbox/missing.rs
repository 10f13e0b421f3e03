//! Test cases of [`Outbox`](webhook_core::sender::Outbox) for replays of missing deliveries.

/// Test cases.
#[host_ports_conformance::kit(outbox_missing)]
mod cases {
    use std::sync::Arc;
    use std::time::SystemTime;

    use crate::outbox::{
        TICK, at, delivery_id, enqueue, enqueue_created, enqueue_of, ids, lease_due, list, names, settle,
        settlement,
    };
    use host_ports_conformance::race;
    use webhook_core::{
        address::AddressPolicy,
        secret::SigningSecret,
        sender::{
            Delivery, DeliveryFilter, Disposition, Endpoint, EndpointState, Enqueued, EventFilter,
            EventPlace, FailureReason, Missing, MissingRequest, Outbox, Owner, Page, Period,
        },
        signature::Signer,
    };

    /// An endpoint that subscribes to all events.
    fn endpoint(id: &str) -> Endpoint {
        let secret = SigningSecret::from_bytes(&[1; 32]).expect("32 bytes are a secret");
        let url = "https://example.com/hooks".parse().expect("a valid URL");
        let id = id.parse().expect("the case has a valid id");
        Endpoint::register(
            id,
            Owner::Tenant("acme".parse().expect("a valid tenant")),
            &url,
            Signer::standard_webhooks(&secret),
            &AddressPolicy::new(),
        )
        .expect("a public URL")
    }

    fn request(created: Period, now: SystemTime) -> MissingRequest {
        MissingRequest {
            created,
            after: None,
            limit: 1_000,
            now,
            dry_run: false,
        }
    }

    async fn replay_missing(store: &dyn Outbox, endpoint: &Endpoint, request: &MissingRequest) -> Missing {
        let missing = store.replay_missing(endpoint, request).await;
        missing.expect("the store works")
    }

    /// Creates all missing deliveries; returns their number.
    async fn replay_all(store: &dyn Outbox, endpoint: &Endpoint, now: SystemTime) -> u64 {
        let request = request(Period::default(), now);
        replay_missing(store, endpoint, &request).await.count
    }

    async fn all(store: &dyn Outbox) -> Vec<Delivery> {
        list(store, &DeliveryFilter::default(), &Page::default()).await
    }

    /// W18: an endpoint that was registered later gets new deliveries of earlier events, whatever
    /// their age.
    pub async fn late_endpoint_gets_earlier_events(store: &Arc<dyn Outbox>) {
        let unwanted = enqueue_of("evt_1", r#"{"a": 1}"#, &[]);
        let event = unwanted.event.clone();
        store.enqueue(unwanted).await.expect("the store works");
        enqueue(store, "evt_2", &["ep_1"]).await;
        let years = at(100_000_000);
        assert_eq!(replay_all(store, &endpoint("ep_2"), years).await, 2);
        let expected = [
            Delivery::new(delivery_id("evt_1", "ep_2"), years),
            Delivery::new(delivery_id("evt_2", "ep_1"), at(0)),
            Delivery::new(delivery_id("evt_2", "ep_2"), years),
        ];
        assert_eq!(all(store).await, expected);
        assert_eq!(replay_all(store, &endpoint("ep_2"), years + TICK).await, 0);
        assert_eq!(all(store).await, expected, "a repetition changes nothing");

        assert_eq!(ids(&lease_due(store, years - TICK).await), ["evt_2/ep_1"]);
        let due = lease_due(store, years).await;
        assert_eq!(ids(&due), ["evt_1/ep_2", "evt_2/ep_2"]);
        assert_eq!(due.first().map(|due| &due.event), Some(&event));
    }

    /// W18: a delivery in any state is not missing and stays unchanged.
    pub async fn a_delivery_in_any_state_is_not_missing(store: &Arc<dyn Outbox>) {
        let dispositions = [
            Some(Disposition::Acked),
            Some(Disposition::Failed(FailureReason::AttemptsExhausted)),
            Some(Disposition::Failed(FailureReason::Rejected)),
            Some(Disposition::Retry { due_at: at(500) }),
            None,
        ];
        for n in 0..dispositions.len() {
            enqueue(store, &format!("evt_{n}"), &["ep_1"]).await;
        }
        let mut leased = Vec::new();
        while leased.len() < dispositions.len() {
            let due = lease_due(store, at(0)).await;
            assert!(!due.is_empty(), "all of it is due");
            for due in due {
                if let Some(disposition) = dispositions.get(leased.len()).copied().flatten() {
                    settle(store, settlement(&due, disposition)).await;
                }
                leased.push(due);
            }
        }
        enqueue(store, "evt_waits", &["ep_1"]).await;
        let before = all(store).await;
        assert_eq!(replay_all(store, &endpoint("ep_1"), at(100)).await, 0);
        assert_eq!(all(store).await, before);
    }

    /// W18: filter and state of the endpoint decide if an event is missing, as for a new event.
    pub async fn only_subscribed_events_are_missing(store: &Arc<dyn Outbox>) {
        for (event, event_type) in [
            ("evt_1", "charge.created"),
            ("evt_2", "charge.refunded"),
            ("evt_3", "charge"),
        ] {
            let mut enqueue = enqueue_of(event, "{}", &[]);
            enqueue.event.event_type = event_type.parse().expect("a valid type");
            let enqueued = store.enqueue(enqueue).await;
            assert_eq!(enqueued.expect("the store works"), Enqueued::Enqueued);
        }
        let only = |types: &[&str]| {
            EventFilter::only(
                types
                    .iter()
                    .map(|name| name.parse().expect("the case has a valid type")),
            )
        };
        let in_state = |id, state| Endpoint {
            state,
            ..endpoint(id)
        };
        let cases = [
            (endpoint("ep_1").with_events(only(&[])), 0),
            (
                endpoint("ep_1").with_events(only(&["charge.refunded", "customer.created"])),
                1,
            ),
            // the filter of `ep_1` is wider now
            (
                endpoint("ep_1").with_events(only(&["charge.refunded", "charge"])),
                1,
            ),
            (in_state("ep_2", EndpointState::Disabled), 0),
            (in_state("ep_3", EndpointState::Paused), 3),
        ];
        for (endpoint, expected) in cases {
            assert_eq!(
                replay_all(store, &endpoint, at(1)).await,
                expected,
                "{endpoint:?}"
            );
        }
        let expected = [
            "evt_1/ep_3",
            "evt_2/ep_1",
            "evt_2/ep_3",
            "evt_3/ep_1",
            "evt_3/ep_3",
        ];
        assert_eq!(names(&all(store).await), expected);
    }

    /// W18: a dry run counts the missing deliveries, page by page, and creates none.
    pub async fn dry_run_counts_missing_deliveries_only(store: &Arc<dyn Outbox>) {
        enqueue(store, "evt_1", &["ep_1"]).await;
        enqueue(store, "evt_2", &[]).await;
        let before = all(store).await;
        let dry_run = MissingRequest {
            dry_run: true,
            ..request(Period::default(), at(100))
        };
        for _ in 0..2 {
            assert_eq!(replay_missing(store, &endpoint("ep_2"), &dry_run).await.count, 2);
            assert_eq!(replay_missing(store, &endpoint("ep_1"), &dry_run).await.count, 1);
        }
        assert_eq!(all(store).await, before);
        assert_eq!(ids(&lease_due(store, at(100)).await), ["evt_1/ep_1"]);
    }

    /// W18: only events created in the period count, its start included and its end excluded.
    pub async fn only_events_of_the_period_are_missing(store: &Arc<dyn Outbox>) {
        for (event, seconds) in [("evt_1", 20), ("evt_2", 0), ("evt_3", 10)] {
            enqueue_created(store, event, at(seconds), &[]).await;
        }
        let check = async |id: &str, period: Period, expected: &[&str]| {
            replay_missing(store, &endpoint(id), &request(period, at(100))).await;
            let made = DeliveryFilter::default().with_endpoint(endpoint(id).id);
            let made = list(store, &made, &Page::default()).await;
            let events: Vec<&str> = made.iter().map(|made| made.id.event.as_str()).collect();
            assert_eq!(events, expected, "{period:?}");
        };
        check("ep_1", (at(0) + TICK..at(10)).into(), &[]).await;
        check("ep_1", (at(20)..at(0)).into(), &[]).await;
        check("ep_1", (at(0)..at(10)).into(), &["evt_2"]).await;
        check("ep_2", (at(10)..at(20)).into(), &["evt_3"]).await;
        check("ep_3", (at(10)..).into(), &["evt_1", "evt_3"]).await;
        check("ep_4", (..at(20)).into(), &["evt_2", "evt_3"]).await;
        check("ep_5", Period::default(), &["evt_1", "evt_2", "evt_3"]).await;
    }

    /// W18: a call examines up to `limit` events, in the order of time and id; the next call
    /// continues.
    pub async fn missing_events_are_examined_in_pages(store: &Arc<dyn Outbox>) {
        let events = [
            ("evt_9", 0, false),
            ("evt_B", 10, false),
            ("evt_a", 10, true),
            ("evt_b", 10, false),
            ("evt_1", 20, false),
        ];
        for (event, seconds, has_delivery) in events.iter().rev() {
            let endpoints: &[&str] = if *has_delivery { &["ep_1"] } else { &["ep_2"] };
            enqueue_created(store, event, at(*seconds), endpoints).await;
        }
        let place = |index: usize| {
            let (event, seconds, _) = events.get(index)?;
            Some(EventPlace {
                created_at: at(*seconds),
                id: event.parse().expect("the case has a valid id"),
            })
        };
        let mut look = MissingRequest {
            limit: 2,
            ..request(Period::default(), at(100))
        };
        for dry_run in [true, false] {
            look.dry_run = dry_run;
            look.after = None;
            for (count, next) in [(2, place(1)), (1, place(3)), (1, place(4)), (0, None)] {
                let found = replay_missing(store, &endpoint("ep_1"), &look).await;
                assert_eq!(found, Missing { count, next }, "after {:?}", look.after);
                look.after = found.next;
            }
        }
        look.limit = 0;
        let nothing = Missing { count: 0, next: None };
        assert_eq!(replay_missing(store, &endpoint("ep_3"), &look).await, nothing);
    }

    /// W18: of 32 concurrent calls exactly one creates each delivery.
    pub async fn of_32_concurrent_calls_one_creates_each_missing_delivery(store: &Arc<dyn Outbox>) {
        for n in 0..5 {
            enqueue(store, &format!("evt_{n}"), &[]).await;
        }
        let counts = race(store, async |store, index| {
            let endpoint = endpoint(if index % 2 == 0 { "ep_1" } else { "ep_2" });
            replay_all(&*store, &endpoint, at(100)).await
        })
        .await;
        assert_eq!(counts.iter().sum::<u64>(), 10);
        assert_eq!(all(store).await.len(), 10);
    }
}

pub use cases::*;
