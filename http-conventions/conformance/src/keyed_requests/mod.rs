mod fixture;

pub(crate) use self::fixture::{Hesitant, LEASE, MOST_POLLS, hesitate, within};

#[host_ports_conformance::kit(keyed_requests)]
mod cases {
    use std::sync::Arc;

    use host_ports_conformance::{RACERS, race};
    use http_conventions::idempotency::{AfterCrash, IdempotencyStore};

    use super::fixture::{LEASE, MOST_POLLS, Seen, Service, within};

    /// H6, X5: one of 32 concurrent equal requests runs; the others get `409` in flight or its
    /// response.
    pub async fn one_of_32_equal_posts_runs(store: &Arc<dyn IdempotencyStore>) {
        let service = Arc::new(Service::new(Arc::clone(store), AfterCrash::Refuse));
        let seen = race(&service, async |service, _| service.post(0).await).await;
        assert_eq!(service.counts(), (1, 1), "{seen:?}");
        let count = |wanted| seen.iter().filter(|seen| **seen == wanted).count();
        assert_eq!(count(Seen::Made), 1, "{seen:?}");
        let others = count(Seen::InFlight) + count(Seen::Replayed);
        assert_eq!(others, RACERS - 1, "{seen:?}");
        assert_eq!(service.post(0).await, Seen::Replayed);
        assert_eq!(service.counts(), (0, 0));
    }

    /// H6: a request that is dropped at any poll runs at most once. After its lease a retry gets
    /// the response or 409 outcome unknown.
    pub async fn dropped_post_runs_at_most_once(store: &Arc<dyn IdempotencyStore>) {
        let service = Service::new(Arc::clone(store), AfterCrash::Refuse);
        for polls in 0.. {
            assert!(polls < MOST_POLLS, "a request comes to an end");
            let first = within(polls, service.post(polls)).await;
            let second = service.post(polls).await;
            service.clock.advance(LEASE);
            let third = service.post(polls).await;
            let (begun, made) = service.counts();
            assert!(
                begun <= 1 && made <= begun,
                "dropped after {polls}: {begun} runs, {made} charges"
            );
            let is_told = matches!(third, Seen::Replayed | Seen::OutcomeUnknown);
            assert!(is_told, "dropped after {polls}: {second:?}, then {third:?}");
            if third == Seen::Replayed {
                assert_eq!(made, 1, "dropped after {polls}");
            }
            if first.is_some() {
                assert_eq!((first, second, made), (Some(Seen::Made), Seen::Replayed, 1));
                assert!(
                    polls > 6,
                    "a claim, a handler and a completion wait more often than {polls} times"
                );
                return;
            }
        }
    }

    /// H6: with `AfterCrash::RunAgain`, a retry after the lease runs the request again and stores
    /// its response.
    pub async fn dropped_post_runs_again_where_the_host_allows(store: &Arc<dyn IdempotencyStore>) {
        let service = Service::new(Arc::clone(store), AfterCrash::RunAgain);
        for polls in 0.. {
            assert!(polls < MOST_POLLS, "a request comes to an end");
            let first = within(polls, service.post(polls)).await;
            service.clock.advance(LEASE);
            let second = service.post(polls).await;
            let third = service.post(polls).await;
            let (begun, _) = service.counts();
            assert!(begun <= 2, "dropped after {polls}: {begun} runs");
            assert!(
                matches!(second, Seen::Made | Seen::Replayed),
                "dropped after {polls}: {second:?}"
            );
            assert_eq!(third, Seen::Replayed, "dropped after {polls}");
            if first.is_some() {
                return;
            }
        }
    }
}

pub use cases::*;
