//! Searches deliveries to list or to replay (W18).

use std::collections::HashSet;

use sqlx::{PgConnection, PgPool, Postgres, QueryBuilder};
use webhook_core::sender::{
    Delivery, DeliveryFilter, DeliveryId, DeliveryState, Page, ReplayRequest, Replayed,
};

use super::delivery::{self, columns};
use crate::column::{instants, limit};
use crate::database::{DatabaseError, begin};

/// Limit of rows that a replay holds in memory.
const AT_ONCE: usize = 1_000;

/// The condition of the index `webhook_finished_failed`, word for word.
const FAILED: &str = "state IN ('permanent_failure', 'dead_letter')";

pub(super) async fn list(
    pool: &PgPool,
    filter: &DeliveryFilter,
    page: &Page,
) -> Result<Vec<Delivery>, DatabaseError> {
    let mut connection = pool.acquire().await?;
    Search::of(filter)
        .after(page.after.as_ref())
        .run(&mut connection, page.limit, "")
        .await
}

/// Replays the failed deliveries that match, or all final ones, whose event has a body, in one
/// transaction.
pub(super) async fn replay(pool: &PgPool, request: &ReplayRequest) -> Result<Replayed, DatabaseError> {
    let lock = if request.dry_run { "" } else { " FOR UPDATE" };
    let mut transaction = begin(pool).await?;
    let mut after = request.after.clone();
    let mut replayed = Replayed::default();
    let mut left = request.limit;
    while !replayed.has_more {
        let search = || Search::replayable(request).after(after.as_ref());
        // one more than may be replayed shows if others are left
        let rows = AT_ONCE.min(left.saturating_add(1));
        let mut found = search().run(&mut transaction, rows, lock).await?;
        let Some(last) = found.last() else {
            // concurrent calls may have replayed all rows that this one waited for
            if lock.is_empty() || search().run(&mut transaction, 1, "").await?.is_empty() {
                break;
            }
            continue;
        };
        after = Some(last.id.clone());
        let whole = with_body(&mut transaction, &found, lock).await?;
        found.retain(|delivery| whole.contains(delivery.id.event.as_str()));
        found.retain_mut(|delivery| {
            if request.acknowledged {
                delivery.resend(request.now)
            } else {
                delivery.replay(request.now)
            }
        });
        replayed.has_more = found.len() > left;
        found.truncate(left);
        left -= found.len();
        replayed.count += found.len() as u64;
        replayed.last = found.last().map(|last| last.id.clone()).or(replayed.last);
        if !request.dry_run {
            delivery::revive(&mut transaction, &found.iter().collect::<Vec<_>>()).await?;
        }
    }
    transaction.commit().await?;
    Ok(replayed)
}

/// Events of these deliveries that have a body. The statement sees what a concurrent call expunged
/// before the deliveries were locked.
async fn with_body(
    connection: &mut PgConnection,
    found: &[Delivery],
    lock: &'static str,
) -> Result<HashSet<String>, DatabaseError> {
    let events: Vec<&str> = found.iter().map(|delivery| delivery.id.event.as_str()).collect();
    let lock = if lock.is_empty() { "" } else { " FOR SHARE" };
    let mut query = QueryBuilder::<Postgres>::new("SELECT id FROM webhook_event WHERE id = ANY(");
    query.push_bind(events).push(") AND body IS NOT NULL").push(lock);
    let whole: Vec<String> = query.build_query_scalar().fetch_all(connection).await?;
    Ok(whole.into_iter().collect())
}

/// A query whose conditions must all hold.
struct Search(QueryBuilder<Postgres>);

impl Search {
    fn of(filter: &DeliveryFilter) -> Self {
        let mut search = Self::table(&filter.states);
        search.narrow(filter);
        search
    }

    /// Restricts the search to events with a body and the states that the request may replay.
    fn replayable(request: &ReplayRequest) -> Self {
        let mut search = Self::table(&[DeliveryState::DeadLetter]);
        if !request.acknowledged {
            search.0.push(" AND ").push(FAILED);
        }
        search.narrow(&request.filter);
        search
            .0
            .push(" AND EXISTS (SELECT FROM webhook_event WHERE id = event AND body IS NOT NULL)");
        search
    }

    /// The table with the rows in these states.
    fn table(states: &[DeliveryState]) -> Self {
        let of_live = |state: &DeliveryState| state.is_live();
        let table = if states.is_empty() || (states.iter().any(of_live) && !states.iter().all(of_live)) {
            "webhook_delivery"
        } else if states.iter().all(of_live) {
            "webhook_ready"
        } else {
            "webhook_finished"
        };
        let mut query = QueryBuilder::new(concat!("SELECT ", columns!(), " FROM "));
        query.push(table).push(" WHERE TRUE");
        Self(query)
    }

    fn narrow(&mut self, filter: &DeliveryFilter) {
        if let Some(event) = &filter.event {
            self.0.push(" AND event = ").push_bind(event.as_str());
        }
        if let Some(endpoint) = &filter.endpoint {
            self.0.push(" AND endpoint = ").push_bind(endpoint.as_str());
        }
        if !filter.created.is_all() {
            let (first, last) = instants(&filter.created);
            self.0
                .push(" AND EXISTS (SELECT FROM webhook_event WHERE id = event AND created_at BETWEEN ")
                .push_bind(first);
            self.0.push(" AND ").push_bind(last).push(")");
        }
        if !filter.states.is_empty() {
            let states: Vec<&str> = filter.states.iter().map(|state| state.as_str()).collect();
            self.0.push(" AND state = ANY(").push_bind(states).push(")");
            if filter.states.iter().copied().all(DeliveryState::is_failed) {
                self.0.push(" AND ").push(FAILED);
            }
        }
    }

    fn after(mut self, last: Option<&DeliveryId>) -> Self {
        if let Some(last) = last {
            self.0
                .push(" AND (event, endpoint) > (")
                .push_bind(last.event.as_str());
            self.0.push(", ").push_bind(last.endpoint.as_str()).push(")");
        }
        self
    }

    async fn run(
        mut self,
        connection: &mut PgConnection,
        rows: usize,
        lock: &'static str,
    ) -> Result<Vec<Delivery>, DatabaseError> {
        self.0
            .push(" ORDER BY event, endpoint LIMIT ")
            .push_bind(limit(rows))
            .push(lock);
        let found: Vec<delivery::Columns> = self.0.build_query_as().fetch_all(connection).await?;
        found.iter().map(delivery::from_columns).collect()
    }
}
