//! Test cases of [`Outbox`](webhook_core::sender::Outbox) for audiences and rates.

/// Test cases.
#[host_ports_conformance::kit(outbox_tenants)]
mod cases {
    use std::num::NonZeroU32;
    use std::sync::Arc;
    use std::time::{Duration, SystemTime};

    use crate::outbox::{
        TICK, answered, at, enqueue, enqueue_of, ids, lease, lease_due, lease_request, next_due, settle,
        settlement,
    };
    use webhook_core::{
        address::AddressPolicy,
        secret::SigningSecret,
        sender::{
            Attempt, Audience, Disposition, Endpoint, Enqueued, Leased, MissingRequest, Outbox, Owner,
            Period, Settlement, Standing,
        },
        signature::Signer,
    };

    fn tenant(text: &str) -> Owner {
        Owner::Tenant(text.parse().expect("the case has a valid tenant"))
    }

    async fn enqueue_for(store: &dyn Outbox, event: &str, audience: Audience) -> Enqueued {
        let mut enqueue = enqueue_of(event, "{}", &[]);
        enqueue.event.audience = audience;
        store.enqueue(enqueue).await.expect("the store works")
    }

    fn endpoint(owner: Owner) -> Endpoint {
        let secret = SigningSecret::from_bytes(&[1; 32]).expect("32 bytes are a secret");
        let url = "https://example.com/hooks".parse().expect("a valid URL");
        let id = "ep_new".parse().expect("a valid id");
        let signer = Signer::standard_webhooks(&secret);
        Endpoint::register(id, owner, &url, signer, &AddressPolicy::new()).expect("a public URL")
    }

    /// W23: the audience of an event is kept, and leased with it.
    pub async fn audience_is_leased_with_the_event(store: &Arc<dyn Outbox>) {
        let audiences = [
            ("evt_1", Audience::from(tenant("acme"))),
            ("evt_2", Audience::from(tenant("everyone"))),
            ("evt_3", Audience::operator()),
            ("evt_4", Audience::everyone()),
        ];
        for (event, audience) in &audiences {
            let mut enqueue = enqueue_of(event, "{}", &["ep_1"]);
            enqueue.event.audience = audience.clone();
            store.enqueue(enqueue).await.expect("the store works");
        }
        let mut leased = lease_due(store, at(0)).await;
        leased.sort_by(|one, other| one.event.id.cmp(&other.event.id));
        let found = leased.into_iter().map(|leased| leased.event.audience);
        let expected = audiences.map(|(_, audience)| audience);
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }

    /// W23: an event with the id of another one and another audience is a conflict, so a mistake of
    /// a producer does not widen an audience.
    pub async fn another_audience_is_a_conflict(store: &Arc<dyn Outbox>) {
        let acme = || Audience::from(tenant("acme"));
        assert_eq!(enqueue_for(store, "evt_1", acme()).await, Enqueued::Enqueued);
        assert_eq!(enqueue_for(store, "evt_1", acme()).await, Enqueued::Duplicate);
        for other in [Audience::everyone(), Audience::operator(), tenant("Acme").into()] {
            assert_eq!(enqueue_for(store, "evt_1", other).await, Enqueued::Conflict);
        }
    }

    /// W23: an endpoint that is registered later gets the earlier events of its audience only.
    pub async fn missing_events_stay_in_their_audience(store: &Arc<dyn Outbox>) {
        for (event, audience) in [
            ("evt_1", tenant("acme").into()),
            ("evt_2", tenant("zenith").into()),
            ("evt_3", Audience::operator()),
            ("evt_4", Audience::everyone()),
        ] {
            enqueue_for(store, event, audience).await;
        }
        let request = MissingRequest {
            created: Period::default(),
            after: None,
            limit: 10,
            now: at(0),
            dry_run: true,
        };
        for (owner, expected) in [(tenant("acme"), 2), (tenant("new"), 1), (Owner::Operator, 1)] {
            let missing = store.replay_missing(&endpoint(owner.clone()), &request).await;
            assert_eq!(missing.expect("the store works").count, expected, "{owner}");
        }
        let request = MissingRequest {
            dry_run: false,
            ..request
        };
        let missing = store.replay_missing(&endpoint(tenant("zenith")), &request).await;
        assert_eq!(missing.expect("the store works").count, 2);
        let leased = lease_due(store, at(0)).await;
        assert_eq!(ids(&leased), ["evt_2/ep_new", "evt_4/ep_new"]);
    }

    /// Settles a delivery that was sent at `now` to an endpoint with this rate.
    async fn deliver(store: &dyn Outbox, leased: &Leased, now: SystemTime, rate: Option<u32>) {
        let attempt = Attempt {
            started_at: now,
            duration: Duration::ZERO,
            ..answered(leased, 200, "")
        };
        let acked = Settlement {
            rate: rate.and_then(NonZeroU32::new),
            attempt: Some(attempt),
            ..settlement(leased, Disposition::Acked)
        };
        settle(store, acked).await;
    }

    /// W25: at two deliveries a second, no second has more, and at most two are leased at a time.
    pub async fn rate_bounds_deliveries(store: &Arc<dyn Outbox>) {
        for number in 0..9 {
            enqueue(store, &format!("evt_{number}"), &["ep_1"]).await;
        }
        enqueue(store, "evt_other", &["ep_2"]).await;
        let half = Duration::from_millis(500);
        // without an attempt the store does not know the rate
        let first = lease(store, lease_request(at(0), 1, 1)).await;
        deliver(store, first.first().expect("one is due"), at(0), Some(2)).await;
        let now = at(0) + half - TICK;
        assert_eq!(
            ids(&lease_due(store, now).await),
            ["evt_other/ep_2"],
            "it is held"
        );
        let lane = store.lane(&"ep_1".parse().expect("a valid id")).await;
        let lane = lane.expect("the store works").expect("it has deliveries");
        assert_eq!(
            (lane.rate, lane.paced_until),
            (NonZeroU32::new(2), Some(at(0) + half))
        );
        let mut now = at(0) + half;
        for _ in 0..3 {
            assert_eq!(next_due(store).await.map(|due| due <= now), Some(true));
            let leased = lease_due(store, now).await;
            assert_eq!(leased.len(), 2, "two at a time");
            for leased in &leased {
                deliver(store, leased, now, Some(2)).await;
            }
            assert!(lease_due(store, now + half * 2 - TICK).await.is_empty());
            now += half * 2;
        }
        let leased = lease_due(store, now).await;
        for leased in &leased {
            deliver(store, leased, now, None).await;
        }
        let lane = store.lane(&"ep_1".parse().expect("a valid id")).await;
        let lane = lane.expect("the store works").expect("it has deliveries");
        assert_eq!(
            (lane.rate, lane.paced_until),
            (None, None),
            "the rate was removed"
        );
    }

    /// W24: the state of an endpoint can be read; one without deliveries has none.
    pub async fn lane_can_be_read(store: &Arc<dyn Outbox>) {
        let id = "ep_1".parse().expect("a valid id");
        assert_eq!(store.lane(&id).await.expect("the store works"), None);
        enqueue(store, "evt_1", &["ep_1"]).await;
        let leased = lease_due(store, at(0)).await;
        let leased = leased.first().expect("one is due");
        let throttled = Settlement {
            hold_endpoint_until: Some(at(60)),
            attempt: Some(answered(leased, 429, "")),
            ..settlement(leased, Disposition::Held { due_at: at(60) })
        };
        settle(store, throttled).await;
        let lane = store
            .lane(&id)
            .await
            .expect("the store works")
            .expect("it has one");
        assert_eq!(
            (lane.held_until, lane.standing),
            (Some(at(60)), Standing::Answering)
        );
    }
}

pub use cases::*;
