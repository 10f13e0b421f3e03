//! Query plans of all statements of the stores: no operation may scan a growing table.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::num::NonZeroU64;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use graph_core_conformance::persisted_store as persisted;
use http_conventions_conformance::{idempotency_store as idempotency, rate_limit_store as rate_limits};
use oauth_core_conformance::{
    attempt_store as attempts, client_store as clients, interaction_store as interactions,
    replay_store as replays, session_store as sessions, token_store as tokens,
};
use rusqlite::Connection;
use rusqlite::trace::{TraceEvent, TraceEventCodes};
use webhook_core_conformance::{
    dedupe_store as dedupe, endpoint_management, endpoint_store as endpoints, inbox_failures,
    inbox_store as inbox, outbox, retention,
};

use super::{Database, DatabaseError, connection, migration};

/// The allowed plan steps that scan or sort, with reasons.
const WALKS: &[(&str, &str)] = &[
    ("SCAN (subquery-1)", "the oldest events that no worker has taken"),
    (
        "SCAN (subquery-4)",
        "the endpoints with due deliveries, numbered in the order of their turns",
    ),
    ("SCAN (subquery-6)", "the numbered endpoints"),
    (
        "SCAN json_each VIRTUAL TABLE INDEX 1:",
        "the patterns that accept an event type, a few",
    ),
    (
        "SCAN graph_document USING COVERING INDEX graph_document_expired",
        "the sizes of the documents, 16,384 at most, before one is inserted",
    ),
    ("SCAN lane", "the endpoints, to find those with due deliveries"),
    ("SCAN sqlite_schema", "once, as the file is opened"),
    ("SCAN webhook_delivery", "a page of the list, by ascending id"),
    (
        "SCAN webhook_delivery USING INDEX webhook_delivery_failed",
        "what has failed, by ascending id",
    ),
    (
        "SCAN webhook_delivery USING INDEX webhook_delivery_live",
        "what is live, which is as much as waits, to be sorted by id",
    ),
    (
        "SCAN webhook_delivery USING INDEX webhook_delivery_leased",
        "what is leased, which is as much as dispatchers hold",
    ),
    ("SCAN webhook_instance", "has a row for each dispatcher"),
    ("SCAN webhook_lease", "has one row"),
    (
        "SCAN webhook_received USING INDEX webhook_received_new",
        "oldest first, what no worker has taken",
    ),
    (
        "USE TEMP B-TREE FOR DISTINCT",
        "the endpoints of one event type, each once",
    ),
    (
        "USE TEMP B-TREE FOR ORDER BY",
        "the endpoints of one event type; what is live, or of the events of a period, by ascending id",
    ),
];

#[derive(Clone, Default)]
struct Statements(Arc<Mutex<BTreeSet<String>>>);

impl Statements {
    /// An in-memory database that records its statements.
    fn noted(&self) -> Database {
        let mut connection = connection::memory().unwrap();
        migration::migrate_suite(&mut connection).unwrap();
        let statements = Arc::clone(&self.0);
        let note = move |event: TraceEvent<'_>| {
            if let TraceEvent::Stmt(statement, _) = event {
                statements.lock().unwrap().insert(statement.sql().into_owned());
            }
        };
        connection
            .trace_v2(TraceEventCodes::SQLITE_TRACE_STMT, Some(note))
            .unwrap();
        Database::start(connection, || Ok(None)).unwrap()
    }
}

macro_rules! kit_cases {
    ($seen:expr, $($case:path),+ $(,)?) => {
        $($case(&(Arc::new($seen.noted()) as _)).await;)+
    };
}

/// Plan steps of `statement` that scan a table or sort.
fn costly_steps(connection: &Connection, statement: &str) -> Result<Vec<String>, DatabaseError> {
    let mut plan = connection.prepare(&format!("EXPLAIN QUERY PLAN {statement}"))?;
    let steps = plan
        .raw_query()
        .mapped(|row| row.get::<_, String>(3))
        .collect::<Result<Vec<_>, _>>()?;
    let is_costly = |step: &String| {
        ["SCAN", "TEMP B-TREE", "AUTOMATIC"]
            .iter()
            .any(|word| step.contains(word))
    };
    Ok(steps.into_iter().filter(is_costly).collect())
}

/// X4: no operation scans a growing table, for any number of rows.
#[tokio::test]
#[expect(clippy::too_many_lines, reason = "a list of cases")]
async fn every_statement_of_the_stores_finds_its_rows_by_an_index() {
    let seen = Statements::default();
    kit_cases!(
        seen,
        idempotency::record_settles_once,
        idempotency::released_key_is_claimable,
        persisted::expired_text_is_kept_as_new,
        rate_limits::request_takes_from_all_buckets_or_none,
        dedupe::a_new_event_is_enqueued_and_its_repetition_is_a_duplicate,
        inbox::a_lost_lease_finishes_nothing,
        inbox_failures::dead_letters_are_listed_in_pages,
        inbox_failures::replayed_letter_is_queued_again,
        inbox_failures::retried_event_waits_for_its_time,
        endpoint_management::an_update_changes_what_it_names,
        endpoint_management::deleted_endpoint_is_gone,
        endpoint_management::endpoints_are_listed_in_pages,
        endpoint_management::subscribers_belong_to_the_audience,
        endpoints::enabled_subscribers_are_listed,
        endpoints::a_state_is_kept,
        endpoints::both_secrets_sign_until_the_exact_end_of_the_overlap,
        outbox::endpoints_take_turns,
        outbox::a_hold_is_extended_and_never_shortened,
        outbox::the_attempt_log_is_kept_in_order,
        outbox::a_list_is_filtered_ordered_and_paged,
        outbox::a_list_is_narrowed_to_the_events_of_a_period,
        outbox::failed_deliveries_of_period_are_replayed,
        outbox::missing_events_are_examined_in_pages,
        outbox::a_dead_letter_is_replayed,
        outbox::resend_restarts_final_deliveries,
        outbox::lane_can_be_read,
        outbox::next_due_is_the_earliest_moment_something_can_be_leased,
        outbox::silent_instance_loses_its_leases,
        outbox::fresh_deliveries_are_pulled_forward,
        outbox::a_delivery_that_crashes_its_holders_is_quarantined,
        outbox::suspects_come_one_at_a_time,
        outbox::a_breaker_opens_and_its_probe_closes_it,
    );
    retention::failed_deliveries_go_only_when_asked(&Arc::new(seen.noted())).await;
    retention::bodies_are_deleted_alone(&Arc::new(seen.noted())).await;
    kit_cases!(
        seen,
        clients::client_is_read_back_as_stored,
        interactions::an_interaction_is_taken_once,
        interactions::first_answer_spends_pushed_request,
        interactions::purge_drops_expired_interactions_only,
        replays::purge_drops_expired_names_only,
        sessions::a_reset_token_is_redeemed_once_and_ends_everything,
        sessions::expired_session_is_neither_touched_nor_renewed,
        sessions::purge_drops_ended_sessions_only,
        sessions::the_active_sessions_of_a_subject_are_listed,
        sessions::ending_session_revokes_its_grants,
        tokens::redeeming_code_stores_family_and_tokens,
        tokens::rotation_leaves_tombstone_and_one_active_token,
        tokens::tombstones_outlive_issued_tokens,
        tokens::revoking_a_family_ends_all_of_it_once,
        tokens::revoking_an_access_token_ends_it_alone,
    );
    // a capacity of a few names, so that the flood evicts some
    let few = || {
        let few = seen.noted().attempts_of("passwords");
        few.with_capacity(NonZeroU64::MIN.saturating_add(99))
    };
    attempts::expired_tallies_are_evicted_first(&(Arc::new(few()) as _)).await;
    let few = Arc::new(few()) as _;
    attempts::flood_of_names_keeps_closed_name_closed(&few).await;
    attempts::forgive_clears_attempts(&few).await;
    seen.noted().purge(SystemTime::UNIX_EPOCH).await.unwrap();
    let backlog = |connection: &Connection| crate::outbox::backlog(connection, SystemTime::UNIX_EPOCH);
    seen.noted().read(backlog).await.unwrap();

    let explained = seen.noted();
    let mut statements: Vec<String> = seen.0.lock().unwrap().iter().cloned().collect();
    // a setting has no plan, and some may not change inside a transaction
    statements.retain(|statement| !statement.starts_with("PRAGMA"));
    let mut walks = BTreeSet::new();
    for statement in statements {
        let steps = explained.read(move |connection| costly_steps(connection, &statement));
        walks.extend(steps.await.unwrap());
    }
    let expected = WALKS.iter().map(|(step, _reason)| (*step).to_owned());
    assert_eq!(walks, expected.collect::<BTreeSet<_>>());
}
