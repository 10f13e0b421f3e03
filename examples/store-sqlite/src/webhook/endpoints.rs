//! Registered endpoints (W16), in `webhook_endpoint`; `webhook_subscription` finds those of one event type.

use std::collections::BTreeSet;
use std::error::Error;
use std::time::SystemTime;

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension, Row, Transaction};
use serde::{Deserialize, Serialize};
use webhook_core::event::{EventType, InvalidEventType};
use webhook_core::ports::StoreError;
use webhook_core::sender::{
    Endpoint, EndpointId, EndpointState, EndpointStore, EventFilter, Inserted, Rotated, Rotation,
};
use webhook_core::signature::{ActiveSigner, Signer, Signers};

use crate::column::Term;
use crate::database::{Database, DatabaseError};
use crate::json::{Document, Json};

/// The subscription of an endpoint that gets everything; no event type is written like this.
const EVERY_TYPE: &str = "*";

#[async_trait]
impl EndpointStore for Database {
    async fn insert(&self, endpoint: Endpoint) -> Result<Inserted, StoreError> {
        Ok(self
            .write(move |transaction| insert(transaction, &endpoint))
            .await?)
    }

    async fn load(&self, id: &EndpointId) -> Result<Option<Endpoint>, StoreError> {
        let id = id.clone();
        Ok(self.read(move |connection| load(connection, &id)).await?)
    }

    async fn subscribed(&self, event_type: &EventType) -> Result<Vec<Endpoint>, StoreError> {
        let event_type = event_type.clone();
        Ok(self
            .read(move |connection| subscribed(connection, &event_type))
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
        let (id, rotation) = (id.clone(), rotation.clone());
        Ok(self
            .write(move |transaction| rotate(transaction, &id, &rotation))
            .await?)
    }
}

fn insert(transaction: &Transaction<'_>, endpoint: &Endpoint) -> Result<Inserted, DatabaseError> {
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
        "INSERT INTO webhook_endpoint (id, url, events, signers, state) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (id) DO NOTHING",
    )?;
    let (id, url) = (endpoint.id.as_str(), endpoint.url.as_str());
    if statement.execute((
        id,
        url,
        events,
        text_of(&endpoint.signers)?,
        endpoint.state.as_str(),
    ))? == 0
    {
        return Ok(Inserted::AlreadyExists);
    }
    let mut subscribe = transaction
        .prepare_cached("INSERT INTO webhook_subscription (event_type, endpoint) VALUES (?1, ?2)")?;
    for event_type in types.unwrap_or_else(|| vec![EVERY_TYPE]) {
        subscribe.execute((event_type, id))?;
    }
    Ok(Inserted::Inserted)
}

fn load(connection: &Connection, id: &EndpointId) -> Result<Option<Endpoint>, DatabaseError> {
    let mut statement = connection
        .prepare_cached("SELECT id, url, events, signers, state FROM webhook_endpoint WHERE id = ?1")?;
    Ok(statement.query_row([id.as_str()], endpoint).optional()?)
}

pub(super) fn subscribed(
    connection: &Connection,
    event_type: &EventType,
) -> Result<Vec<Endpoint>, DatabaseError> {
    let mut statement = connection.prepare_cached(
        "SELECT id, url, events, signers, state
         FROM webhook_subscription JOIN webhook_endpoint ON id = endpoint
         WHERE event_type IN (?1, ?2) AND state <> 'disabled' ORDER BY id",
    )?;
    let endpoints = statement.query_map([event_type.as_str(), EVERY_TYPE], endpoint)?;
    Ok(endpoints.collect::<Result<_, _>>()?)
}

fn rotate(
    transaction: &Transaction<'_>,
    id: &EndpointId,
    rotation: &Rotation,
) -> Result<Rotated, DatabaseError> {
    let Some(mut endpoint) = load(transaction, id)? else {
        return Ok(Rotated::Unknown);
    };
    let rotated = endpoint.rotate(rotation);
    if rotated == Rotated::Rotated {
        transaction
            .prepare_cached("UPDATE webhook_endpoint SET signers = ?2 WHERE id = ?1")?
            .execute((id.as_str(), text_of(&endpoint.signers)?))?;
    }
    Ok(rotated)
}

fn endpoint(row: &Row<'_>) -> rusqlite::Result<Endpoint> {
    let (Term(id), Term(url), Term(state)) = (row.get(0)?, row.get(1)?, row.get(4)?);
    let events = match row.get(2)? {
        None => EventFilter::All,
        Some(Json(EventTypes(types))) => EventFilter::Only(types),
    };
    let Json(StoredSigners(signers)) = row.get(3)?;
    Ok(Endpoint {
        id,
        url,
        events,
        signers,
        state,
    })
}

/// The types that an endpoint asked for, read back from their column.
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

/// A signer in its column.
#[derive(Deserialize, Serialize)]
struct StoredSigner {
    scheme: String,
    secret: String,
    not_after: Option<SystemTime>,
}

fn text_of(signers: &Signers) -> Result<String, DatabaseError> {
    let stored = signers.iter().map(|active| StoredSigner {
        scheme: active.signer.scheme().to_string(),
        secret: active.signer.expose_text(),
        not_after: active.not_after,
    });
    Ok(Document::new(stored.collect::<Vec<_>>())?.text)
}

/// The signers of an endpoint, read back from their column.
#[derive(Deserialize)]
#[serde(try_from = "Vec<StoredSigner>")]
struct StoredSigners(Signers);

impl TryFrom<Vec<StoredSigner>> for StoredSigners {
    type Error = Box<dyn Error + Send + Sync>;

    fn try_from(stored: Vec<StoredSigner>) -> Result<Self, Self::Error> {
        let active = stored.into_iter().map(|stored| -> Result<_, Self::Error> {
            let signer = Signer::from_text(stored.scheme.parse()?, &stored.secret)?;
            Ok(ActiveSigner {
                signer,
                not_after: stored.not_after,
            })
        });
        Ok(Self(Signers::new(active.collect::<Result<Vec<_>, _>>()?)?))
    }
}
