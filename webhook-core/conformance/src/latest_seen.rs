//! Test cases for implementations of [`LatestSeen`](webhook_core::receiver::LatestSeen).
#![expect(clippy::expect_used, reason = "a case fails by panicking")]

/// Test cases.
#[host_ports_conformance::kit(latest_seen)]
mod cases {
    use host_ports_conformance::race;
    use std::sync::Arc;
    use webhook_core::receiver::{Advance, LatestSeen, Position, ResourceKey};

    fn key(source: &str, resource: &str) -> ResourceKey {
        ResourceKey {
            source: source.to_owned(),
            resource: resource.parse().expect("a resource id"),
        }
    }

    async fn advance(store: &dyn LatestSeen, resource: &ResourceKey, to: u64) -> Advance {
        let advance = store.advance(resource, Position::from(to)).await;
        advance.expect("the store works")
    }

    /// W9: an older event never becomes the latest, and an equal position is reported as equal.
    pub async fn a_resource_only_moves_forward(store: &Arc<dyn LatestSeen>) {
        let charge = key("s", "ch_1");
        for (to, expected) in [
            (5, Advance::Newer),
            (4, Advance::Older),
            (5, Advance::Same),
            (0, Advance::Older),
            (6, Advance::Newer),
            (5, Advance::Older),
            (6, Advance::Same),
        ] {
            assert_eq!(advance(store, &charge, to).await, expected, "{to}");
        }
        let untouched = key("s", "ch_2");
        assert_eq!(
            advance(store, &untouched, 0).await,
            Advance::Newer,
            "the first is newer, even 0"
        );
    }

    /// W9: senders and resources have separate positions.
    pub async fn resources_and_sources_are_kept_apart(store: &Arc<dyn LatestSeen>) {
        for resource in [key("a", "bc"), key("ab", "c"), key("c", "ab"), key("bc", "a")] {
            assert_eq!(advance(store, &resource, 9).await, Advance::Newer, "{resource:?}");
            assert_eq!(advance(store, &resource, 8).await, Advance::Older, "{resource:?}");
        }
    }

    /// W9: positions above `i64::MAX` are higher than all others, also in a store with signed
    /// integers.
    pub async fn positions_are_compared_as_unsigned_numbers(store: &Arc<dyn LatestSeen>) {
        let charge = key("s", "ch_1");
        let half = u64::MAX / 2;
        for to in [0, 1, 255, 256, half, half + 1, u64::MAX - 1, u64::MAX] {
            assert_eq!(advance(store, &charge, to).await, Advance::Newer, "{to}");
            assert_eq!(advance(store, &charge, to).await, Advance::Same, "{to}");
        }
        assert_eq!(advance(store, &charge, half).await, Advance::Older);
    }

    /// W9: of concurrent copies of one event exactly one is newer.
    pub async fn of_32_simultaneous_steps_to_one_position_one_is_newer(store: &Arc<dyn LatestSeen>) {
        let charge = key("s", "ch_1");
        let steps = race(store, async move |store, _| advance(&*store, &charge, 7).await).await;
        let newer = steps.iter().filter(|step| **step == Advance::Newer).count();
        let same = steps.iter().filter(|step| **step == Advance::Same).count();
        assert_eq!((newer, same), (1, 31));
    }

    /// W9: after concurrent events in any order the highest position remains.
    pub async fn simultaneous_steps_end_at_the_furthest(store: &Arc<dyn LatestSeen>) {
        let charge = key("s", "ch_1");
        let steps = race(store, async |store, to| {
            advance(&*store, &key("s", "ch_1"), to as u64).await
        })
        .await;
        assert_eq!(
            steps.last(),
            Some(&Advance::Newer),
            "nothing is further than the furthest"
        );
        assert!(!steps.contains(&Advance::Same), "all positions differ");
        assert_eq!(advance(store, &charge, 31).await, Advance::Same);
    }

    /// W9: resources are compared byte for byte, with any content.
    pub async fn hostile_resources_are_kept_apart(store: &Arc<dyn LatestSeen>) {
        let longest = "x".repeat(255);
        let shorter = "x".repeat(254);
        let names = [
            " ",
            "a",
            "A",
            "é",
            "e\u{301}",
            "'; --",
            "%",
            "_",
            longest.as_str(),
            shorter.as_str(),
        ];
        for (to, name) in (1..).zip(names) {
            assert_eq!(advance(store, &key("s", name), to).await, Advance::Newer, "{to}");
        }
        for (to, name) in (1..).zip(names) {
            assert_eq!(advance(store, &key("s", name), to).await, Advance::Same, "{to}");
        }
    }
}

pub use cases::*;
