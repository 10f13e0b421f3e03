//! What any [`Outbox`] must do.
#![expect(clippy::expect_used, clippy::panic, reason = "a case fails by panicking")]

mod enqueue;
mod health;
mod inspect;
mod lease;
mod missing;
pub mod retention;
mod settle;

use std::time::{Duration, SystemTime};

use bytes::Bytes;

pub use enqueue::{
    an_event_is_stored_with_all_its_deliveries, an_event_that_nobody_wants_is_stored_all_the_same,
    another_event_under_the_same_id_is_a_conflict, bodies_are_kept_byte_for_byte, hostile_ids_are_kept_apart,
    of_32_simultaneous_enqueues_one_is_stored, the_same_event_again_is_a_duplicate,
};
pub use health::{
    a_breaker_opens_and_its_probe_closes_it, a_delivery_that_crashes_its_holders_is_quarantined,
    an_endpoint_has_as_many_leases_as_it_bears, an_outcome_clears_the_count_of_crashes,
    five_days_of_failures_give_an_endpoint_up, suspects_come_one_at_a_time,
    what_does_not_count_teaches_nothing,
};
pub use inspect::{
    a_dead_letter_is_replayed, a_dry_run_counts_and_changes_nothing, a_list_is_filtered_ordered_and_paged,
    a_list_is_narrowed_to_the_events_of_a_period, of_32_simultaneous_replays_one_counts,
    only_what_failed_is_replayed, the_attempt_log_is_kept_in_order, what_failed_of_a_period_is_replayed,
};
pub use lease::{
    a_delivery_is_leased_again_from_the_exact_end_of_its_lease,
    a_delivery_is_leased_from_the_exact_instant_it_is_due, a_due_time_is_never_rounded_down,
    an_empty_outbox_has_nothing_due, endpoints_take_turns,
    next_due_is_the_earliest_moment_something_can_be_leased, no_endpoint_has_more_leases_than_it_may,
    no_more_than_the_limit_is_leased, of_32_simultaneous_leases_no_endpoint_has_more_than_it_may,
    of_32_simultaneous_leases_none_shares_a_delivery, the_endpoint_whose_turn_is_longest_ago_comes_first,
};
pub use missing::{
    a_delivery_in_any_state_is_not_missing, a_dry_run_counts_what_is_missing_and_makes_nothing,
    an_endpoint_gets_what_it_missed, missing_events_are_looked_at_in_pages,
    of_32_simultaneous_looks_each_missing_delivery_is_made_once, only_events_of_the_period_are_missing,
    only_what_the_endpoint_gets_is_missing,
};
pub use settle::{
    a_batch_is_answered_in_its_order, a_held_endpoint_is_skipped_until_the_exact_instant,
    a_hold_is_extended_and_never_shortened, a_late_acknowledgement_settles_a_live_delivery,
    a_lost_lease_writes_nothing, an_outcome_is_written_by_its_fence, an_unknown_delivery_leaves_no_trace,
    of_32_simultaneous_settlements_one_is_applied,
};

use crate::sender::{
    Attempt, AttemptResult, Delivery, DeliveryFilter, DeliveryId, Disposition, Enqueue, Enqueued,
    LeaseRequest, Leased, Leases, Outbox, Page, Settled, Settlement, StoredEvent,
};

/// Makes a test of each case: `outbox!(#[tokio::test] expression)`.
#[macro_export]
macro_rules! outbox {
    (#[$attribute:meta] $($store:tt)+) => {
        $crate::__kit_cases! { outbox [#[$attribute]] [$($store)+]:
            an_event_is_stored_with_all_its_deliveries
            an_event_that_nobody_wants_is_stored_all_the_same
            another_event_under_the_same_id_is_a_conflict
            bodies_are_kept_byte_for_byte
            hostile_ids_are_kept_apart
            of_32_simultaneous_enqueues_one_is_stored
            the_same_event_again_is_a_duplicate
            a_dead_letter_is_replayed
            a_dry_run_counts_and_changes_nothing
            a_list_is_filtered_ordered_and_paged
            a_list_is_narrowed_to_the_events_of_a_period
            of_32_simultaneous_replays_one_counts
            only_what_failed_is_replayed
            the_attempt_log_is_kept_in_order
            what_failed_of_a_period_is_replayed
            a_delivery_in_any_state_is_not_missing
            a_dry_run_counts_what_is_missing_and_makes_nothing
            an_endpoint_gets_what_it_missed
            missing_events_are_looked_at_in_pages
            of_32_simultaneous_looks_each_missing_delivery_is_made_once
            only_events_of_the_period_are_missing
            only_what_the_endpoint_gets_is_missing
            a_delivery_is_leased_from_the_exact_instant_it_is_due
            a_due_time_is_never_rounded_down
            a_delivery_is_leased_again_from_the_exact_end_of_its_lease
            an_empty_outbox_has_nothing_due
            endpoints_take_turns
            next_due_is_the_earliest_moment_something_can_be_leased
            no_endpoint_has_more_leases_than_it_may
            no_more_than_the_limit_is_leased
            of_32_simultaneous_leases_no_endpoint_has_more_than_it_may
            of_32_simultaneous_leases_none_shares_a_delivery
            the_endpoint_whose_turn_is_longest_ago_comes_first
            a_batch_is_answered_in_its_order
            a_held_endpoint_is_skipped_until_the_exact_instant
            a_hold_is_extended_and_never_shortened
            a_late_acknowledgement_settles_a_live_delivery
            a_lost_lease_writes_nothing
            an_outcome_is_written_by_its_fence
            an_unknown_delivery_leaves_no_trace
            of_32_simultaneous_settlements_one_is_applied
            a_breaker_opens_and_its_probe_closes_it
            a_delivery_that_crashes_its_holders_is_quarantined
            an_endpoint_has_as_many_leases_as_it_bears
            an_outcome_clears_the_count_of_crashes
            five_days_of_failures_give_an_endpoint_up
            suspects_come_one_at_a_time
            what_does_not_count_teaches_nothing
        }
    };
}

const LEASE: Duration = Duration::from_secs(40);
const TICK: Duration = Duration::from_millis(1);

/// The time of a case, in seconds from its beginning.
fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 + seconds)
}

fn delivery_id(event: &str, endpoint: &str) -> DeliveryId {
    DeliveryId {
        event: event.parse().expect("the case has a valid event id"),
        endpoint: endpoint.parse().expect("the case has a valid endpoint id"),
    }
}

/// An event that goes to these endpoints, accepted at the beginning.
fn enqueue_of(event: &str, body: impl Into<Bytes>, endpoints: &[&str]) -> Enqueue {
    let deliveries = endpoints
        .iter()
        .map(|endpoint| Delivery::new(delivery_id(event, endpoint), at(0)));
    Enqueue {
        event: StoredEvent {
            id: event.parse().expect("the case has a valid event id"),
            event_type: "charge.refunded".parse().expect("a valid type"),
            created_at: at(0),
            body: body.into(),
        },
        deliveries: deliveries.collect(),
    }
}

async fn enqueue(store: &dyn Outbox, event: &str, endpoints: &[&str]) {
    let enqueued = store.enqueue(enqueue_of(event, "{}", endpoints)).await;
    assert_eq!(enqueued.expect("the store works"), Enqueued::Enqueued);
}

/// An event that says it was created then, accepted at the beginning.
async fn enqueue_created(store: &dyn Outbox, event: &str, created_at: SystemTime, endpoints: &[&str]) {
    let mut enqueue = enqueue_of(event, "{}", endpoints);
    enqueue.event.created_at = created_at;
    let enqueued = store.enqueue(enqueue).await;
    assert_eq!(enqueued.expect("the store works"), Enqueued::Enqueued);
}

fn names(deliveries: &[Delivery]) -> Vec<String> {
    let ids = deliveries.iter().map(|delivery| delivery.id.to_string());
    ids.collect()
}

fn lease_request(now: SystemTime, limit: usize, per_endpoint: usize) -> LeaseRequest {
    LeaseRequest {
        now,
        until: now + LEASE,
        limit,
        per_endpoint,
        suspects: limit,
        quarantine_after: 5,
    }
}

async fn lease(store: &dyn Outbox, request: LeaseRequest) -> Vec<Leased> {
    let Leases { leased, set_aside } = store.lease(&request).await.expect("the store works");
    assert_eq!(set_aside, [], "nothing is set aside");
    leased
}

/// Leases all that is due.
async fn lease_due(store: &dyn Outbox, now: SystemTime) -> Vec<Leased> {
    lease(store, lease_request(now, 1_000, 1_000)).await
}

/// Leases the only delivery that is due.
async fn lease_one(store: &dyn Outbox, now: SystemTime) -> Leased {
    let mut leased = lease_due(store, now).await;
    assert_eq!(leased.len(), 1, "one delivery is due");
    leased.remove(0)
}

fn ids(leased: &[Leased]) -> Vec<String> {
    leased
        .iter()
        .map(|leased| leased.delivery.id.to_string())
        .collect()
}

fn settlement(leased: &Leased, disposition: Disposition) -> Settlement {
    Settlement {
        delivery: leased.delivery.id.clone(),
        fence: leased.delivery.fence,
        disposition,
        spent: !matches!(disposition, Disposition::Held { .. }),
        hold_endpoint_until: None,
        attempt: None,
    }
}

fn answered(leased: &Leased, status: u16, body: impl Into<Bytes>) -> Attempt {
    Attempt {
        delivery: leased.delivery.id.clone(),
        fence: leased.delivery.fence,
        started_at: at(leased.delivery.fence),
        duration: Duration::from_millis(250),
        result: AttemptResult::Answered {
            status: status.try_into().expect("a valid status"),
            body: body.into(),
        },
    }
}

async fn settle(store: &dyn Outbox, settlement: Settlement) -> Settled {
    let settled = store.settle(vec![settlement]).await.expect("the store works");
    assert_eq!(settled.len(), 1, "one answer for each settlement");
    settled.first().expect("there is one").settled
}

async fn load(store: &dyn Outbox, id: &DeliveryId) -> Option<Delivery> {
    let mut found = list(store, &DeliveryFilter::one(id), &Page::default()).await;
    found.pop()
}

async fn list(store: &dyn Outbox, filter: &DeliveryFilter, page: &Page) -> Vec<Delivery> {
    store.list(filter, page).await.expect("the store works")
}

async fn next_due(store: &dyn Outbox) -> Option<SystemTime> {
    store.next_due().await.expect("the store works")
}
