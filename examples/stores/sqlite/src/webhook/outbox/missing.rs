//! Creates deliveries of earlier events for an endpoint (W18).

use rusqlite::{Connection, Row, Transaction};
use webhook_core::event::EventType;
use webhook_core::sender::{Audience, Delivery, Endpoint, EventPlace, Missing, MissingRequest};

use super::{delivery, lane};
use crate::column::{Term, Time, instants, limit};
use crate::database::DatabaseError;

pub(super) fn replay(
    transaction: &Transaction<'_>,
    endpoint: &Endpoint,
    request: &MissingRequest,
) -> Result<Missing, DatabaseError> {
    let mut events = events(transaction, endpoint, request)?;
    let wanted = |event: &Event| {
        endpoint.delivery_of(&event.place.id, &event.event_type, &event.audience, request.now)
    };
    let missing = events
        .iter()
        .filter(|event| !event.has_delivery && event.has_body);
    let missing: Vec<Delivery> = missing.filter_map(wanted).collect();
    if !request.dry_run && !missing.is_empty() {
        lane::open(transaction, &endpoint.id)?;
        for delivery in &missing {
            delivery::insert(transaction, delivery)?;
        }
    }
    Ok(Missing {
        count: missing.len() as u64,
        next: events.pop().map(|last| last.place),
    })
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

/// The next events of the period, wanted or not.
fn events(
    connection: &Connection,
    endpoint: &Endpoint,
    request: &MissingRequest,
) -> Result<Vec<Event>, DatabaseError> {
    let mut statement = connection.prepare_cached(
        "SELECT created_at, id, event_type, audience, EXISTS (
             SELECT 1 FROM webhook_delivery WHERE event = webhook_event.id AND endpoint = ?1), body IS NOT NULL
         FROM webhook_event INDEXED BY webhook_event_created
         WHERE created_at BETWEEN max(?2, coalesce(?4, ?2)) AND ?3 AND (?4 IS NULL OR (created_at, id) > (?4, ?5))
         ORDER BY created_at, id LIMIT ?6",
    )?;
    let (first, last) = instants(&request.created);
    let after = request.after.as_ref();
    let values = (
        endpoint.id.as_str(),
        first,
        last,
        after.map(|place| Time(place.created_at)),
        after.map(|place| place.id.as_str()),
        limit(request.limit),
    );
    let found = statement.query_map(values, event)?;
    Ok(found.collect::<Result<_, _>>()?)
}

fn event(row: &Row<'_>) -> rusqlite::Result<Event> {
    let (Time(created_at), Term(id), Term(event_type)) = (row.get(0)?, row.get(1)?, row.get(2)?);
    Ok(Event {
        place: EventPlace { created_at, id },
        event_type,
        audience: row.get::<_, Term<_>>(3)?.0,
        has_delivery: row.get(4)?,
        has_body: row.get(5)?,
    })
}
