//! Creates deliveries of earlier events for an endpoint (W18).

use sqlx::{PgConnection, PgPool};
use webhook_core::event::EventType;
use webhook_core::sender::{Audience, Delivery, Endpoint, EventPlace, Missing, MissingRequest};

use super::delivery::{self, batch, columns};
use super::lane;
use crate::column::{instants, limit, nanoseconds, term, time};
use crate::database::{DatabaseError, begin};

pub(super) async fn replay(
    pool: &PgPool,
    endpoint: &Endpoint,
    request: &MissingRequest,
) -> Result<Missing, DatabaseError> {
    let mut transaction = begin(pool).await?;
    if !request.dry_run {
        // serializes calls for one endpoint, and verbs that finish its deliveries
        lane::open(&mut transaction, &endpoint.id).await?;
        lane::hold(&mut transaction, &[endpoint.id.as_str()]).await?;
    }
    let mut events = events(&mut transaction, endpoint, request).await?;
    let wanted = |event: &Event| {
        endpoint.delivery_of(&event.place.id, &event.event_type, &event.audience, request.now)
    };
    let missing = events
        .iter()
        .filter(|event| !event.has_delivery && event.has_body);
    let missing: Vec<Delivery> = missing.filter_map(wanted).collect();
    let count = if request.dry_run {
        missing.len() as u64
    } else {
        insert(&mut transaction, &missing.iter().collect::<Vec<_>>()).await?
    };
    transaction.commit().await?;
    let next = events.pop().map(|last| last.place);
    Ok(Missing { count, next })
}

/// An event that the search visits.
struct Event {
    place: EventPlace,
    event_type: EventType,
    audience: Audience,
    has_delivery: bool,
    /// `false` once the body is expunged.
    has_body: bool,
}

/// Columns in the order of the query.
type Columns = (i64, String, String, String, bool, bool);

/// The next events of the period, wanted or not.
async fn events(
    connection: &mut PgConnection,
    endpoint: &Endpoint,
    request: &MissingRequest,
) -> Result<Vec<Event>, DatabaseError> {
    let (first, last) = instants(&request.created);
    let after = request.after.as_ref();
    let rows: Vec<Columns> = sqlx::query_as(
        "SELECT created_at, id, event_type, audience,
                EXISTS (SELECT FROM webhook_delivery WHERE event = webhook_event.id AND endpoint = $1),
                body IS NOT NULL
         FROM webhook_event
         WHERE (created_at, id) > ($2, $3) AND created_at BETWEEN $4 AND $5
         ORDER BY created_at, id LIMIT $6",
    )
    .bind(endpoint.id.as_str())
    .bind(after.map_or(i64::MIN, |place| nanoseconds(place.created_at)))
    // the empty string is before every id
    .bind(after.map_or("", |place| place.id.as_str()))
    .bind(first)
    .bind(last)
    .bind(limit(request.limit))
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(event).collect()
}

fn event(
    (created_at, id, event_type, audience, has_delivery, has_body): Columns,
) -> Result<Event, DatabaseError> {
    Ok(Event {
        place: EventPlace {
            created_at: time(created_at)?,
            id: term(&id)?,
        },
        event_type: term(&event_type)?,
        audience: term(&audience)?,
        has_delivery,
        has_body,
    })
}

/// Inserts deliveries for the endpoint of a locked lane; returns the number of events. An event
/// that is being purged gets none.
async fn insert(connection: &mut PgConnection, missing: &[&Delivery]) -> Result<u64, DatabaseError> {
    if missing.is_empty() {
        return Ok(0);
    }
    let insert = sqlx::query(concat!(
        "WITH held AS MATERIALIZED (
             SELECT id FROM webhook_event WHERE id = ANY($1) AND body IS NOT NULL FOR SHARE
         )
         INSERT INTO webhook_ready SELECT ",
        columns!(),
        " FROM ",
        batch!(),
        " WHERE EXISTS (SELECT FROM held WHERE held.id = batch.event)"
    ));
    let inserted = delivery::bind(insert, missing).execute(connection).await?;
    Ok(inserted.rows_affected())
}
