//! Finding deliveries to look at or to send again (W18).

use rusqlite::types::Value;
use rusqlite::{Connection, Transaction, params_from_iter};
use webhook_core::sender::{Delivery, DeliveryFilter, DeliveryState, Page, ReplayRequest};

use super::delivery;
use crate::column::limit;
use crate::database::DatabaseError;

pub(super) fn list(
    connection: &Connection,
    filter: &DeliveryFilter,
    page: &Page,
) -> Result<Vec<Delivery>, DatabaseError> {
    let mut search = Search::of(filter);
    if let Some(after) = &page.after {
        search.require(
            "(event, endpoint) > (?, ?)",
            &[after.event.as_str(), after.endpoint.as_str()],
        );
    }
    search.run(connection, limit(page.limit))
}

/// Replays what matches and has failed.
pub(super) fn replay(transaction: &Transaction<'_>, request: &ReplayRequest) -> Result<u64, DatabaseError> {
    let mut search = Search::of(&request.filter);
    search.require(FAILED, &[]);
    let mut replayed = 0;
    for mut delivery in search.run(transaction, i64::MAX)? {
        if delivery.replay(request.now) {
            replayed += 1;
            if !request.dry_run {
                delivery::update(transaction, &delivery)?;
            }
        }
    }
    Ok(replayed)
}

/// The condition of the index `webhook_delivery_failed`, word for word.
const FAILED: &str = "state IN ('permanent_failure', 'dead_letter')";

/// Conditions that all must hold, and the values in them.
#[derive(Default)]
struct Search {
    conditions: Vec<String>,
    values: Vec<Value>,
}

impl Search {
    fn of(filter: &DeliveryFilter) -> Self {
        let mut search = Self::default();
        if let Some(event) = &filter.event {
            search.require("event = ?", &[event.as_str()]);
        }
        if let Some(endpoint) = &filter.endpoint {
            search.require("endpoint = ?", &[endpoint.as_str()]);
        }
        if !filter.states.is_empty() {
            let states: Vec<&str> = filter.states.iter().map(|state| state.as_str()).collect();
            search.require(
                format!("state IN ({})", vec!["?"; states.len()].join(", ")),
                &states,
            );
            if filter.states.iter().copied().all(DeliveryState::is_failed) {
                search.require(FAILED, &[]);
            }
        }
        search
    }

    fn require(&mut self, condition: impl Into<String>, values: &[&str]) {
        self.conditions.push(condition.into());
        self.values
            .extend(values.iter().map(|value| Value::from((*value).to_owned())));
    }

    fn run(mut self, connection: &Connection, rows: i64) -> Result<Vec<Delivery>, DatabaseError> {
        let conditions = if self.conditions.is_empty() {
            "TRUE".to_owned()
        } else {
            self.conditions.join(" AND ")
        };
        self.values.push(Value::Integer(rows));
        let mut statement = connection.prepare_cached(&format!(
            "SELECT event, endpoint, state, due_at, attempts, fence, started_at, reason, crashes
             FROM webhook_delivery WHERE {conditions} ORDER BY event, endpoint LIMIT ?",
        ))?;
        let found = statement.query_map(params_from_iter(self.values), delivery::from_row)?;
        Ok(found.collect::<Result<_, _>>()?)
    }
}
