//! Test cases of [`Outbox`](webhook_core::sender::Outbox) for lists, attempt logs and replays.

/// Test cases.
#[host_ports_conformance::kit(outbox_inspect)]
mod cases {
    use std::sync::Arc;
    use std::time::Duration;

    use bytes::Bytes;

    use crate::outbox::{
        LEASE, TICK, answered, at, delivery_id, enqueue, enqueue_created, ids, lease_due, lease_one, list,
        load, names, settle, settlement,
    };
    use host_ports_conformance::race;
    use webhook_core::{
        ports::TransportErrorKind,
        sender::{
            Attempt, AttemptResult, Delivery, DeliveryFilter, DeliveryId, DeliveryState, Disposition,
            FailureReason, KEPT_ANSWER, Outbox, Page, Period, ReplayRequest, Settled, Settlement,
        },
    };

    async fn replay(store: &dyn Outbox, filter: DeliveryFilter, seconds: u64, dry_run: bool) -> u64 {
        let request = ReplayRequest {
            filter,
            acknowledged: false,
            after: None,
            limit: usize::MAX,
            now: at(seconds),
            dry_run,
        };
        store.replay(&request).await.expect("the store works").count
    }

    async fn replay_up_to(store: &dyn Outbox, limit: usize, dry_run: bool) -> (u64, bool) {
        let request = ReplayRequest {
            filter: DeliveryFilter::default(),
            acknowledged: false,
            after: None,
            limit,
            now: at(100),
            dry_run,
        };
        let replayed = store.replay(&request).await.expect("the store works");
        (replayed.count, replayed.has_more)
    }

    /// W18: a replay takes at most its limit, the first by id, and reports whether others are left.
    pub async fn replay_is_limited(store: &Arc<dyn Outbox>) {
        one_of_each(store).await;
        for (limit, expected) in [
            (0, (0, true)),
            (1, (1, true)),
            (2, (2, false)),
            (3, (2, false)),
            (usize::MAX, (2, false)),
        ] {
            assert_eq!(replay_up_to(store, limit, true).await, expected, "{limit}");
        }
        assert_eq!(replay_up_to(store, 0, false).await, (0, true));
        assert_eq!(replay_up_to(store, 1, false).await, (1, true));
        let failed = list(store, &DeliveryFilter::failed(), &Page::default()).await;
        assert_eq!(names(&failed), ["evt_2/ep_1"], "the first by id was replayed");
        assert_eq!(replay_up_to(store, 1, false).await, (1, false));
        assert_eq!(replay_up_to(store, 1, false).await, (0, false));
    }

    /// W18: replays that each continue behind the last delivery of the previous one reach all
    /// deliveries of the filter, also if those before have failed again, and each once.
    pub async fn replay_continues_behind_the_last_one(store: &Arc<dyn Outbox>) {
        for event in ["evt_1", "evt_2", "evt_3"] {
            enqueue(store, event, &["ep_1", "ep_2"]).await;
        }
        let fail_all = async |seconds| {
            for leased in lease_due(store, at(seconds)).await {
                let dead = Disposition::Failed(FailureReason::AttemptsExhausted);
                settle(store, settlement(&leased, dead)).await;
            }
        };
        fail_all(0).await;
        let mut request = ReplayRequest {
            filter: DeliveryFilter::failed().with_endpoint(delivery_id("evt_1", "ep_2").endpoint),
            acknowledged: false,
            after: None,
            limit: 2,
            now: at(100),
            dry_run: false,
        };
        let steps = [
            (2, Some("evt_2"), true),
            (1, Some("evt_3"), false),
            (0, None, false),
        ];
        for (count, last, has_more) in steps {
            let last = last.map(|event| delivery_id(event, "ep_2"));
            for dry_run in [true, false] {
                request.dry_run = dry_run;
                let replayed = store.replay(&request).await.expect("the store works");
                assert_eq!(
                    (replayed.count, replayed.has_more),
                    (count, has_more),
                    "{request:?}"
                );
                assert_eq!(replayed.last, last, "{request:?}");
            }
            // what was replayed fails again, and is behind the next call
            fail_all(100).await;
            request.after = last.or(request.after);
        }
        request.after = None;
        let replayed = store.replay(&request).await.expect("the store works");
        assert_eq!(
            (replayed.count, replayed.has_more),
            (2, true),
            "from the first again"
        );
    }

    /// W18: concurrent replays with a limit replay each delivery once, and none gives up while
    /// others are left.
    pub async fn of_32_concurrent_limited_replays_each_gets_its_part(store: &Arc<dyn Outbox>) {
        let endpoints: Vec<String> = (0..50).map(|number| format!("ep_{number:02}")).collect();
        let endpoints: Vec<&str> = endpoints.iter().map(String::as_str).collect();
        enqueue(store, "evt_1", &endpoints).await;
        for leased in lease_due(store, at(0)).await {
            let dead = Disposition::Failed(FailureReason::AttemptsExhausted);
            settle(store, settlement(&leased, dead)).await;
        }
        assert_eq!(replay_up_to(store, 50, true).await, (50, false));
        let counts = race(store, async |store, _| replay_up_to(&*store, 2, false).await.0).await;
        assert!(counts.iter().all(|count| *count <= 2), "{counts:?}");
        assert_eq!(counts.iter().sum::<u64>(), 50, "{counts:?}");
        assert_eq!(replay_up_to(store, 50, true).await, (0, false));
    }

    /// W18: a resend restarts acknowledged deliveries too, under the same id, and never one that is
    /// under way.
    pub async fn resend_restarts_final_deliveries(store: &Arc<dyn Outbox>) {
        one_of_each(store).await;
        let mut request = ReplayRequest {
            filter: DeliveryFilter::default(),
            acknowledged: true,
            after: None,
            limit: usize::MAX,
            now: at(100),
            dry_run: true,
        };
        assert_eq!(store.replay(&request).await.expect("the store works").count, 3);
        request.filter = DeliveryFilter::one(&delivery_id("evt_1", "ep_1"));
        request.dry_run = false;
        assert_eq!(store.replay(&request).await.expect("the store works").count, 1);
        let leased = lease_one(store, at(100)).await;
        assert_eq!(leased.delivery.id, delivery_id("evt_1", "ep_1"));
        assert_eq!((leased.delivery.attempts, leased.delivery.fence), (0, 2));
        assert_eq!(
            store.replay(&request).await.expect("the store works").count,
            0,
            "it is under way"
        );
        settle(store, settlement(&leased, Disposition::Acked)).await;
        request.acknowledged = false;
        assert_eq!(
            store.replay(&request).await.expect("the store works").count,
            0,
            "it is acknowledged"
        );
    }

    /// Four deliveries of two events: one acknowledged, one dead letter, one refused, one waiting.
    async fn one_of_each(store: &dyn Outbox) {
        let dispositions = [
            Disposition::Acked,
            Disposition::Failed(FailureReason::AttemptsExhausted),
            Disposition::Failed(FailureReason::Rejected),
            Disposition::Retry { due_at: at(500) },
        ];
        enqueue(store, "evt_1", &["ep_1", "ep_2"]).await;
        enqueue(store, "evt_2", &["ep_1", "ep_2"]).await;
        let mut leased = lease_due(store, at(0)).await;
        leased.sort_by(|a, b| a.delivery.id.cmp(&b.delivery.id));
        for (leased, disposition) in leased.iter().zip(dispositions) {
            settle(store, settlement(leased, disposition)).await;
        }
    }

    /// W18: every condition narrows a list, and each page continues after the previous page.
    pub async fn a_list_is_filtered_ordered_and_paged(store: &Arc<dyn Outbox>) {
        one_of_each(store).await;
        let all = ["evt_1/ep_1", "evt_1/ep_2", "evt_2/ep_1", "evt_2/ep_2"];
        let check = async |filter: DeliveryFilter, expected: &[&str]| {
            assert_eq!(
                names(&list(store, &filter, &Page::default()).await),
                expected,
                "{filter:?}"
            );
        };
        check(DeliveryFilter::default(), &all).await;
        check(DeliveryFilter::dead_letters(), &["evt_1/ep_2"]).await;
        check(DeliveryFilter::failed(), &["evt_1/ep_2", "evt_2/ep_1"]).await;
        check(
            DeliveryFilter::in_states([DeliveryState::RetryScheduled]),
            &["evt_2/ep_2"],
        )
        .await;
        let DeliveryId { event, endpoint } = delivery_id("evt_2", "ep_1");
        check(
            DeliveryFilter::default().with_event(event.clone()),
            &["evt_2/ep_1", "evt_2/ep_2"],
        )
        .await;
        check(
            DeliveryFilter::default().with_endpoint(endpoint.clone()),
            &["evt_1/ep_1", "evt_2/ep_1"],
        )
        .await;
        check(DeliveryFilter::failed().with_endpoint(endpoint), &["evt_2/ep_1"]).await;
        check(DeliveryFilter::dead_letters().with_event(event), &[]).await;
        check(DeliveryFilter::one(&delivery_id("evt_3", "ep_1")), &[]).await;

        let mut page = Page {
            after: None,
            limit: 3,
        };
        let first = list(store, &DeliveryFilter::default(), &page).await;
        page.after = first.last().map(|last| last.id.clone());
        let second = list(store, &DeliveryFilter::default(), &page).await;
        assert_eq!([names(&first), names(&second)].concat(), all);
        page = Page {
            after: Some(delivery_id("evt_1", "ep_9")),
            limit: 0,
        };
        assert!(list(store, &DeliveryFilter::default(), &page).await.is_empty());
    }

    /// Three events for both endpoints, which differ only in their id and creation time.
    async fn three_instants(store: &dyn Outbox) {
        enqueue_created(store, "evt_2", at(0), &["ep_1", "ep_2"]).await;
        enqueue_created(store, "evt_3", at(10), &["ep_1", "ep_2"]).await;
        enqueue_created(store, "evt_1", at(20), &["ep_1", "ep_2"]).await;
    }

    /// W18: a period includes its start and excludes its end.
    pub async fn a_list_is_narrowed_to_the_events_of_a_period(store: &Arc<dyn Outbox>) {
        three_instants(store).await;
        let check = async |filter: DeliveryFilter, expected: &[&str]| {
            let found = list(store, &filter, &Page::default()).await;
            assert_eq!(names(&found), expected, "{filter:?}");
        };
        let of = |period: Period| DeliveryFilter {
            created: period,
            ..DeliveryFilter::default().with_endpoint(delivery_id("evt_1", "ep_2").endpoint)
        };
        check(of((at(0)..at(10)).into()), &["evt_2/ep_2"]).await;
        check(of((at(0)..at(10) + TICK).into()), &["evt_2/ep_2", "evt_3/ep_2"]).await;
        check(of((at(0) + TICK..at(10)).into()), &[]).await;
        check(of((at(10)..at(10)).into()), &[]).await;
        check(of((at(20)..at(0)).into()), &[]).await;
        check(of((at(10)..).into()), &["evt_1/ep_2", "evt_3/ep_2"]).await;
        check(of((at(10) + TICK..).into()), &["evt_1/ep_2"]).await;
        check(of((..at(20)).into()), &["evt_2/ep_2", "evt_3/ep_2"]).await;
        check(of(Period::default()), &["evt_1/ep_2", "evt_2/ep_2", "evt_3/ep_2"]).await;

        let since = || DeliveryFilter::default().with_created(at(10)..);
        let event = delivery_id("evt_1", "ep_1").event;
        check(since().with_event(event.clone()), &["evt_1/ep_1", "evt_1/ep_2"]).await;
        check(
            DeliveryFilter::default().with_created(..at(20)).with_event(event),
            &[],
        )
        .await;
        check(DeliveryFilter::failed().with_created(at(0)..), &[]).await;
        let mut page = Page {
            after: None,
            limit: 3,
        };
        let first = list(store, &since(), &page).await;
        page.after = first.last().map(|last| last.id.clone());
        let rest = list(store, &since(), &page).await;
        assert_eq!(names(&first), ["evt_1/ep_1", "evt_1/ep_2", "evt_3/ep_1"]);
        assert_eq!(names(&rest), ["evt_3/ep_2"]);
    }

    /// W18: a replay by period selects failed deliveries by the time of their events, not of their
    /// failure, and works again after the next failure.
    pub async fn failed_deliveries_of_period_are_replayed(store: &Arc<dyn Outbox>) {
        three_instants(store).await;
        let fail = async |now| {
            let due = lease_due(store, now).await;
            for due in &due {
                let dead = Disposition::Failed(FailureReason::AttemptsExhausted);
                settle(store, settlement(due, dead)).await;
            }
            ids(&due)
        };
        fail(at(1_000)).await;
        let period = || DeliveryFilter::default().with_created(at(0)..at(20));
        let to_one = || period().with_endpoint(delivery_id("evt_1", "ep_2").endpoint);
        for now in [2_000, 3_000] {
            assert_eq!(replay(store, period(), now, true).await, 4);
            assert_eq!(replay(store, to_one(), now, false).await, 2);
            assert_eq!(fail(at(now)).await, ["evt_2/ep_2", "evt_3/ep_2"]);
        }
        let later = DeliveryFilter::default().with_created(at(20) + TICK..);
        assert_eq!(replay(store, later, 4_000, false).await, 0);
    }

    /// W18: the log has one row per attempt, with the bytes of the response, also for an attempt
    /// under a lost lease.
    pub async fn the_attempt_log_is_kept_in_order(store: &Arc<dyn Outbox>) {
        let id = delivery_id("evt_1", "ep_1");
        let attempts = async || store.attempts(&id).await.expect("the store works");
        assert_eq!(attempts().await, []);
        enqueue(store, "evt_1", &["ep_1"]).await;
        let lost = lease_one(store, at(0)).await;
        let second = lease_one(store, at(0) + LEASE).await;

        let answer: Vec<u8> = (0..=u8::MAX).cycle().take(KEPT_ANSWER).collect();
        let answered = answered(&second, 503, Bytes::from(answer));
        let retry = settlement(&second, Disposition::Retry { due_at: at(60) });
        let retry = Settlement {
            attempt: Some(answered.clone()),
            ..retry
        };
        assert_eq!(settle(store, retry.clone()).await, Settled::Applied);
        let another = Settlement {
            attempt: Some(Attempt {
                duration: Duration::ZERO,
                ..answered.clone()
            }),
            ..retry
        };
        assert_eq!(settle(store, another).await, Settled::Stale);
        let failed = Attempt {
            delivery: id.clone(),
            fence: lost.delivery.fence,
            started_at: at(0),
            duration: Duration::from_micros(10_000_001),
            result: AttemptResult::Failed {
                kind: TransportErrorKind::Timeout,
                message: "ünïcode, 'quotes' and \"more\"".to_owned(),
            },
        };
        let late = settlement(&lost, Disposition::Retry { due_at: at(60) });
        let late = Settlement {
            attempt: Some(failed.clone()),
            ..late
        };
        assert_eq!(settle(store, late).await, Settled::Stale);
        assert_eq!(attempts().await, [failed, answered]);
        assert_eq!(
            store
                .attempts(&delivery_id("evt_1", "ep_2"))
                .await
                .expect("the store works"),
            []
        );
    }

    /// W18: a replayed dead letter is due at once, with its whole schedule and lifetime.
    pub async fn a_dead_letter_is_replayed(store: &Arc<dyn Outbox>) {
        enqueue(store, "evt_1", &["ep_1"]).await;
        let leased = lease_one(store, at(0)).await;
        let dead = settlement(&leased, Disposition::Failed(FailureReason::LifetimeExpired));
        settle(store, dead).await;
        assert!(lease_due(store, at(100)).await.is_empty());
        assert_eq!(
            replay(store, DeliveryFilter::one(&leased.delivery.id), 200, false).await,
            1
        );
        let again = lease_one(store, at(200)).await;
        assert_eq!(again.event, leased.event);
        let expected = Delivery {
            fence: 1,
            ..Delivery::new(leased.delivery.id.clone(), at(200))
        };
        let as_leased = Delivery {
            state: DeliveryState::Leased,
            fence: 2,
            due_at: at(200) + LEASE,
            ..expected
        };
        assert_eq!(again.delivery, as_leased);
        assert_eq!(
            settle(store, settlement(&again, Disposition::Acked)).await,
            Settled::Applied
        );
    }

    /// W18: a dry run counts the deliveries that a replay would restart.
    pub async fn a_dry_run_counts_and_changes_nothing(store: &Arc<dyn Outbox>) {
        one_of_each(store).await;
        let before = list(store, &DeliveryFilter::default(), &Page::default()).await;
        assert_eq!(replay(store, DeliveryFilter::default(), 100, true).await, 2);
        assert_eq!(replay(store, DeliveryFilter::dead_letters(), 100, true).await, 1);
        assert_eq!(
            list(store, &DeliveryFilter::default(), &Page::default()).await,
            before
        );
        assert_eq!(replay(store, DeliveryFilter::default(), 100, false).await, 2);
    }

    /// W18: with any filter only failed deliveries are replayed.
    pub async fn only_failed_deliveries_are_replayed(store: &Arc<dyn Outbox>) {
        one_of_each(store).await;
        let live = DeliveryFilter::in_states([DeliveryState::Acked, DeliveryState::RetryScheduled]);
        assert_eq!(replay(store, live, 100, false).await, 0);
        let unknown = DeliveryFilter::one(&delivery_id("evt_9", "ep_1"));
        assert_eq!(replay(store, unknown, 100, false).await, 0);
        assert_eq!(replay(store, DeliveryFilter::default(), 100, false).await, 2);
        let mut replayed = ids(&lease_due(store, at(100)).await);
        replayed.sort();
        assert_eq!(replayed, ["evt_1/ep_2", "evt_2/ep_1"]);
        let acked = load(store, &delivery_id("evt_1", "ep_1"))
            .await
            .expect("it is kept");
        assert_eq!(acked.state, DeliveryState::Acked);
    }

    /// W18: of 32 concurrent replays of one dead letter exactly one counts it.
    pub async fn of_32_simultaneous_replays_one_counts(store: &Arc<dyn Outbox>) {
        enqueue(store, "evt_1", &["ep_1"]).await;
        let leased = lease_one(store, at(0)).await;
        let dead = settlement(&leased, Disposition::Failed(FailureReason::AttemptsExhausted));
        settle(store, dead).await;
        let counts = race(store, async |store, _| {
            replay(&*store, DeliveryFilter::dead_letters(), 100, false).await
        })
        .await;
        assert_eq!(counts.iter().sum::<u64>(), 1);
        lease_one(store, at(100)).await;
    }
}

pub use cases::*;
