//! Registered endpoints (W16) in `webhook_endpoint`; `webhook_subscription` indexes them by event
//! type.

use std::collections::BTreeSet;

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension, Row, Transaction};
use serde::Deserialize;
use webhook_core::event::{EventType, InvalidEventType};
use webhook_core::ports::StoreError;
use webhook_core::sender::{
    Classification, Destination, Endpoint, EndpointId, EndpointState, EndpointStore, EventFilter, Inserted,
    Rotated, Rotation, SignersAtRest,
};

use crate::column::Term;
use crate::database::{Database, DatabaseError};
use crate::json::{Document, Json};

/// Subscription of an endpoint to all events; not a valid event type.
const EVERY_TYPE: &str = "*";

#[async_trait]
impl EndpointStore for Database {
    async fn insert(&self, endpoint: Endpoint) -> Result<Inserted, StoreError> {
        let signers = self.signers.write(&endpoint.id, &endpoint.signers)?;
        Ok(self
            .write(move |transaction| insert(transaction, &endpoint, &signers))
            .await?)
    }

    async fn load(&self, id: &EndpointId) -> Result<Option<Endpoint>, StoreError> {
        let (id, signers) = (id.clone(), self.signers.clone());
        Ok(self
            .read(move |connection| load(connection, &id, &signers))
            .await?)
    }

    async fn load_many(&self, ids: &[EndpointId]) -> Result<Vec<Endpoint>, StoreError> {
        let (ids, signers) = (ids.to_vec(), self.signers.clone());
        let loaded = self.read(move |connection| -> Result<Vec<Endpoint>, DatabaseError> {
            let loaded = ids.iter().map(|id| load(connection, id, &signers));
            loaded.filter_map(Result::transpose).collect()
        });
        Ok(loaded.await?)
    }

    async fn subscribers(&self, event_type: &EventType) -> Result<Vec<EndpointId>, StoreError> {
        let event_type = event_type.clone();
        Ok(self
            .read(move |connection| subscribers(connection, &event_type))
            .await?)
    }

    async fn set_state(&self, id: &EndpointId, state: EndpointState) -> Result<bool, StoreError> {
        let id = id.clone();
        let set = self.write(move |transaction| -> Result<_, DatabaseError> {
            let mut statement =
                transaction.prepare_cached("UPDATE webhook_endpoint SET state = ?2 WHERE id = ?1")?;
            Ok(statement.execute((id.as_str(), state.as_str()))? > 0)
        });
        Ok(set.await?)
    }

    async fn rotate(&self, id: &EndpointId, rotation: &Rotation) -> Result<Rotated, StoreError> {
        let (id, rotation, signers) = (id.clone(), rotation.clone(), self.signers.clone());
        Ok(self
            .write(move |transaction| rotate(transaction, &id, &rotation, &signers))
            .await?)
    }
}

fn insert(
    transaction: &Transaction<'_>,
    endpoint: &Endpoint,
    signers: &str,
) -> Result<Inserted, DatabaseError> {
    let types = match &endpoint.events {
        EventFilter::All => None,
        EventFilter::Only(types) => Some(types.iter().map(EventType::as_str).collect::<Vec<_>>()),
    };
    let events = types
        .as_ref()
        .map(Document::new)
        .transpose()?
        .map(|types| types.text);
    let mut statement = transaction.prepare_cached(
        "INSERT INTO webhook_endpoint (id, url, events, signers, state, classification)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (id) DO NOTHING",
    )?;
    let (id, url) = (endpoint.id.as_str(), endpoint.url.as_str());
    let (state, classification) = (endpoint.state.as_str(), endpoint.classification.as_str());
    if statement.execute((id, url, events, signers, state, classification))? == 0 {
        return Ok(Inserted::AlreadyExists);
    }
    let mut subscribe = transaction
        .prepare_cached("INSERT INTO webhook_subscription (event_type, endpoint) VALUES (?1, ?2)")?;
    for event_type in types.unwrap_or_else(|| vec![EVERY_TYPE]) {
        subscribe.execute((event_type, id))?;
    }
    Ok(Inserted::Inserted)
}

fn load(
    connection: &Connection,
    id: &EndpointId,
    signers: &SignersAtRest,
) -> Result<Option<Endpoint>, DatabaseError> {
    let mut statement = connection.prepare_cached(
        "SELECT id, url, events, signers, state, classification FROM webhook_endpoint WHERE id = ?1",
    )?;
    let found = statement.query_row([id.as_str()], Stored::from_row).optional()?;
    found.map(|stored| stored.read(signers)).transpose()
}

/// Selects ids alone, so that an unreadable row does not stop its deliveries.
pub(super) fn subscribers(
    connection: &Connection,
    event_type: &EventType,
) -> Result<Vec<EndpointId>, DatabaseError> {
    let mut statement = connection.prepare_cached(
        "SELECT id FROM webhook_subscription JOIN webhook_endpoint ON id = endpoint
         WHERE event_type IN (?1, ?2) AND state <> 'disabled' ORDER BY id",
    )?;
    let ids = statement.query_map([event_type.as_str(), EVERY_TYPE], |row| {
        row.get(0).map(|Term(id)| id)
    })?;
    Ok(ids.collect::<Result<_, _>>()?)
}

fn rotate(
    transaction: &Transaction<'_>,
    id: &EndpointId,
    rotation: &Rotation,
    signers: &SignersAtRest,
) -> Result<Rotated, DatabaseError> {
    let Some(mut endpoint) = load(transaction, id, signers)? else {
        return Ok(Rotated::Unknown);
    };
    let rotated = endpoint.rotate(rotation);
    if rotated == Rotated::Rotated {
        transaction
            .prepare_cached("UPDATE webhook_endpoint SET signers = ?2 WHERE id = ?1")?
            .execute((id.as_str(), signers.write(id, &endpoint.signers)?))?;
    }
    Ok(rotated)
}

/// A row with its signers as stored.
struct Stored {
    endpoint: EndpointId,
    url: Destination,
    events: EventFilter,
    signers: String,
    state: EndpointState,
    classification: Classification,
}

impl Stored {
    fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        let (Term(endpoint), Term(url), Term(state)) = (row.get(0)?, row.get(1)?, row.get(4)?);
        let events = match row.get(2)? {
            None => EventFilter::All,
            Some(Json(EventTypes(types))) => EventFilter::Only(types),
        };
        Ok(Self {
            endpoint,
            url,
            events,
            signers: row.get(3)?,
            state,
            classification: row.get::<_, Term<_>>(5)?.0,
        })
    }

    fn read(self, signers: &SignersAtRest) -> Result<Endpoint, DatabaseError> {
        Ok(Endpoint {
            signers: signers.read(&self.endpoint, &self.signers)?,
            id: self.endpoint,
            url: self.url,
            events: self.events,
            state: self.state,
            classification: self.classification,
        })
    }
}

/// Event types of an endpoint, parsed from their column.
#[derive(Deserialize)]
#[serde(try_from = "Vec<String>")]
struct EventTypes(BTreeSet<EventType>);

impl TryFrom<Vec<String>> for EventTypes {
    type Error = InvalidEventType;

    fn try_from(types: Vec<String>) -> Result<Self, InvalidEventType> {
        types
            .into_iter()
            .map(EventType::try_from)
            .collect::<Result<_, _>>()
            .map(Self)
    }
}
