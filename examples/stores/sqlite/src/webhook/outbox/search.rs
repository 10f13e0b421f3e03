//! Searches deliveries to list or to replay (W18).

use rusqlite::types::Value;
use rusqlite::{Connection, Transaction, params_from_iter};
use webhook_core::sender::{
    Delivery, DeliveryFilter, DeliveryId, DeliveryState, Page, ReplayRequest, Replayed,
};

use super::delivery;
use crate::column::{instants, limit};
use crate::database::DatabaseError;

pub(super) fn list(
    connection: &Connection,
    filter: &DeliveryFilter,
    page: &Page,
) -> Result<Vec<Delivery>, DatabaseError> {
    let mut search = Search::of(filter);
    search.start_after(page.after.as_ref());
    search.run(connection, limit(page.limit))
}

/// Replays the failed deliveries that match, or all final ones, whose event has a body.
pub(super) fn replay(
    transaction: &Transaction<'_>,
    request: &ReplayRequest,
) -> Result<Replayed, DatabaseError> {
    let mut search = Search::of(&request.filter);
    search.start_after(request.after.as_ref());
    search.require(if request.acknowledged { FINAL } else { FAILED }, NOTHING);
    search.require(
        "EXISTS (SELECT 1 FROM webhook_event AS whole WHERE whole.id = event AND whole.body IS NOT NULL)",
        NOTHING,
    );
    // one more than may be replayed shows if others are left
    let mut found = search.run(transaction, limit(request.limit.saturating_add(1)))?;
    let mut replayed = Replayed {
        has_more: found.len() > request.limit,
        ..Replayed::default()
    };
    found.truncate(request.limit);
    for mut delivery in found {
        let is_restarted = if request.acknowledged {
            delivery.resend(request.now)
        } else {
            delivery.replay(request.now)
        };
        if is_restarted {
            replayed.count += 1;
            if !request.dry_run {
                delivery::update(transaction, &delivery)?;
            }
            replayed.last = Some(delivery.id);
        }
    }
    Ok(replayed)
}

const NOTHING: [i64; 0] = [];

/// Conditions of the indexes `webhook_delivery_failed` and `webhook_delivery_live`, word for word.
const FAILED: &str = "state IN ('permanent_failure', 'dead_letter')";
const FINAL: &str = "state IN ('acked', 'permanent_failure', 'dead_letter')";
const LIVE: &str = "state IN ('ready', 'retry_scheduled', 'leased')";

/// Conditions that must all hold, and their values.
struct Search {
    rows: &'static str,
    conditions: Vec<String>,
    values: Vec<Value>,
}

impl Search {
    fn of(filter: &DeliveryFilter) -> Self {
        let mut search = Self {
            rows: Self::rows(filter),
            conditions: Vec::new(),
            values: Vec::new(),
        };
        if let Some(event) = &filter.event {
            search.require("event = ?", [event.as_str().to_owned()]);
        }
        if let Some(endpoint) = &filter.endpoint {
            search.require("endpoint = ?", [endpoint.as_str().to_owned()]);
        }
        if !filter.created.is_all() {
            let (first, last) = instants(&filter.created);
            search.require("created_at BETWEEN ? AND ?", [first, last]);
        }
        if !filter.states.is_empty() {
            let states = filter.states.iter().map(|state| state.as_str().to_owned());
            search.require(
                format!("state IN ({})", vec!["?"; states.len()].join(", ")),
                states,
            );
        }
        if all(filter, DeliveryState::is_failed) {
            search.require(FAILED, NOTHING);
        } else if all(filter, DeliveryState::is_live) {
            search.require(LIVE, NOTHING);
        }
        search
    }

    /// The smallest table or index for the filter, which SQLite cannot choose without statistics.
    fn rows(filter: &DeliveryFilter) -> &'static str {
        if !filter.created.is_all() {
            // the events of the period first, then their deliveries
            "webhook_event CROSS JOIN webhook_delivery ON event = id"
        } else if filter.event.is_none() && all(filter, DeliveryState::is_live) {
            "webhook_delivery INDEXED BY webhook_delivery_live"
        } else {
            "webhook_delivery"
        }
    }

    /// Restricts the search to deliveries behind this one.
    fn start_after(&mut self, last: Option<&DeliveryId>) {
        if let Some(last) = last {
            let last = [last.event.as_str(), last.endpoint.as_str()].map(str::to_owned);
            self.require("(event, endpoint) > (?, ?)", last);
        }
    }

    fn require<T: Into<Value>>(&mut self, condition: impl Into<String>, values: impl IntoIterator<Item = T>) {
        self.conditions.push(condition.into());
        self.values.extend(values.into_iter().map(Into::into));
    }

    fn run(mut self, connection: &Connection, rows: i64) -> Result<Vec<Delivery>, DatabaseError> {
        let conditions = if self.conditions.is_empty() {
            "TRUE".to_owned()
        } else {
            self.conditions.join(" AND ")
        };
        self.values.push(Value::Integer(rows));
        let mut statement = connection.prepare_cached(&format!(
            "SELECT event, endpoint, state, due_at, attempts, fence, started_at, reason, crashes, owner
             FROM {} WHERE {conditions} ORDER BY event, endpoint LIMIT ?",
            self.rows
        ))?;
        let found = statement.query_map(params_from_iter(self.values), delivery::from_row)?;
        Ok(found.collect::<Result<_, _>>()?)
    }
}

/// Returns `true` if the filter names states and all of them satisfy the condition.
fn all(filter: &DeliveryFilter, are: impl Fn(DeliveryState) -> bool) -> bool {
    !filter.states.is_empty() && filter.states.iter().copied().all(are)
}
