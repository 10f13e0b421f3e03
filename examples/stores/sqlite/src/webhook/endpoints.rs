//! Registered endpoints (W16, W24) in `webhook_endpoint`. `webhook_subscription` indexes the
//! patterns of their event types.

use std::num::NonZeroU32;

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension, Row, Transaction};
use webhook_core::event::EventType;
use webhook_core::ports::StoreError;
use webhook_core::sender::{
    Audience, Classification, ContentMode, Destination, Endpoint, EndpointId, EndpointQuery, EndpointState,
    EndpointStore, EndpointUpdate, EventFilter, EventPattern, Inserted, Owner, Rotated, Rotation,
    SecretsAtRest,
};

use crate::column::{Term, limit};
use crate::database::{Database, DatabaseError};
use crate::json::{Document, Json};

/// Subscription of an endpoint to all events; not a valid pattern.
const EVERY_TYPE: &str = "*";

/// Columns of an endpoint, in the order of [`Stored::from_row`].
macro_rules! columns {
    () => {
        "id, owner, url, events, secrets, state, classification, rate, content"
    };
}

#[async_trait]
impl EndpointStore for Database {
    async fn insert(&self, endpoint: Endpoint) -> Result<Inserted, StoreError> {
        let secrets = self.secrets.clone();
        let inserted = self.write(move |transaction| insert_in(transaction, &endpoint, &secrets));
        Ok(inserted.await?)
    }

    async fn load(&self, id: &EndpointId) -> Result<Option<Endpoint>, StoreError> {
        let (id, secrets) = (id.clone(), self.secrets.clone());
        Ok(self
            .read(move |connection| load(connection, &id, &secrets))
            .await?)
    }

    async fn load_many(&self, ids: &[EndpointId]) -> Result<Vec<Endpoint>, StoreError> {
        let (ids, secrets) = (ids.to_vec(), self.secrets.clone());
        let loaded = self.read(move |connection| -> Result<Vec<Endpoint>, DatabaseError> {
            let loaded = ids.iter().map(|id| load(connection, id, &secrets));
            loaded.filter_map(Result::transpose).collect()
        });
        Ok(loaded.await?)
    }

    async fn subscribers(
        &self,
        event_type: &EventType,
        audience: &Audience,
    ) -> Result<Vec<EndpointId>, StoreError> {
        let (event_type, audience) = (event_type.clone(), audience.clone());
        Ok(self
            .read(move |connection| subscribers(connection, &event_type, &audience))
            .await?)
    }

    async fn list_endpoints(&self, query: &EndpointQuery) -> Result<Vec<EndpointId>, StoreError> {
        let query = query.clone();
        Ok(self.read(move |connection| list(connection, &query)).await?)
    }

    async fn update(&self, id: &EndpointId, update: EndpointUpdate) -> Result<bool, StoreError> {
        let (id, secrets) = (id.clone(), self.secrets.clone());
        let updated = self.write(move |transaction| -> Result<_, DatabaseError> {
            let Some(mut endpoint) = load(transaction, &id, &secrets)? else {
                return Ok(false);
            };
            endpoint.update(update);
            write(transaction, UPDATE, &endpoint, &secrets)?;
            unsubscribe(transaction, &id)?;
            subscribe(transaction, &endpoint)?;
            Ok(true)
        });
        Ok(updated.await?)
    }

    async fn delete(&self, id: &EndpointId) -> Result<bool, StoreError> {
        let id = id.clone();
        let deleted = self.write(move |transaction| -> Result<_, DatabaseError> {
            unsubscribe(transaction, &id)?;
            let mut delete = transaction.prepare_cached("DELETE FROM webhook_endpoint WHERE id = ?1")?;
            Ok(delete.execute([id.as_str()])? > 0)
        });
        Ok(deleted.await?)
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
        let (id, rotation, secrets) = (id.clone(), rotation.clone(), self.secrets.clone());
        let rotated = self.write(move |transaction| rotate_in(transaction, &id, &rotation, &secrets));
        Ok(rotated.await?)
    }
}

/// Registers an endpoint in the caller's transaction, unless its id exists. `secrets` is
/// [`Database::secrets_at_rest`].
///
/// A host that registers endpoints by keyed requests completes the idempotency key in the same
/// transaction, with a settlement that does not contain the secret.
///
/// # Errors
///
/// [`DatabaseError`]. The caller must return it from the closure of [`Database::write`], which then
/// rolls back.
pub fn insert_in(
    transaction: &Transaction<'_>,
    endpoint: &Endpoint,
    secrets: &SecretsAtRest,
) -> Result<Inserted, DatabaseError> {
    if write(transaction, INSERT, endpoint, secrets)? == 0 {
        return Ok(Inserted::AlreadyExists);
    }
    subscribe(transaction, endpoint)?;
    Ok(Inserted::Inserted)
}

/// Rotates the secret of an endpoint in the caller's transaction, as [`EndpointStore::rotate`].
/// `secrets` is [`Database::secrets_at_rest`].
///
/// # Errors
///
/// [`DatabaseError`]. The caller must return it from the closure of [`Database::write`], which then
/// rolls back.
pub fn rotate_in(
    transaction: &Transaction<'_>,
    id: &EndpointId,
    rotation: &Rotation,
    secrets: &SecretsAtRest,
) -> Result<Rotated, DatabaseError> {
    let Some(mut endpoint) = load(transaction, id, secrets)? else {
        return Ok(Rotated::Unknown);
    };
    let rotated = endpoint.rotate(rotation);
    if rotated == Rotated::Rotated {
        write(transaction, UPDATE, &endpoint, secrets)?;
    }
    Ok(rotated)
}

const INSERT: &str = concat!(
    "INSERT INTO webhook_endpoint (",
    columns!(),
    ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (id) DO NOTHING"
);

/// The owner never changes.
const UPDATE: &str = "UPDATE webhook_endpoint
     SET url = ?3, events = ?4, secrets = ?5, state = ?6, classification = ?7, rate = ?8, content = ?9
     WHERE id = ?1 AND owner = ?2";

/// Writes an endpoint; returns the number of rows.
fn write(
    transaction: &Transaction<'_>,
    statement: &str,
    endpoint: &Endpoint,
    secrets: &SecretsAtRest,
) -> Result<usize, DatabaseError> {
    let events = match &endpoint.events {
        EventFilter::All => None,
        EventFilter::Only(_) => Some(Document::new(patterns(&endpoint.events))?.text),
    };
    Ok(transaction.prepare_cached(statement)?.execute((
        endpoint.id.as_str(),
        endpoint.owner.to_string(),
        endpoint.url.as_str(),
        events,
        secrets.write(&endpoint.id, &endpoint.signers, &endpoint.headers)?,
        endpoint.state.as_str(),
        endpoint.classification.as_str(),
        endpoint.rate.map(NonZeroU32::get),
        endpoint.content.as_str(),
    ))?)
}

/// Texts of the patterns that `webhook_subscription` has for a filter.
fn patterns(events: &EventFilter) -> Vec<&str> {
    match events {
        EventFilter::All => vec![EVERY_TYPE],
        EventFilter::Only(patterns) => patterns.iter().map(EventPattern::as_str).collect(),
    }
}

fn subscribe(transaction: &Transaction<'_>, endpoint: &Endpoint) -> Result<(), DatabaseError> {
    let mut subscribe = transaction
        .prepare_cached("INSERT INTO webhook_subscription (pattern, owner, endpoint) VALUES (?1, ?2, ?3)")?;
    let owner = endpoint.owner.to_string();
    for pattern in patterns(&endpoint.events) {
        subscribe.execute((pattern, &owner, endpoint.id.as_str()))?;
    }
    Ok(())
}

fn unsubscribe(transaction: &Transaction<'_>, id: &EndpointId) -> Result<(), DatabaseError> {
    let mut statement = transaction.prepare_cached("DELETE FROM webhook_subscription WHERE endpoint = ?1")?;
    statement.execute([id.as_str()])?;
    Ok(())
}

fn load(
    connection: &Connection,
    id: &EndpointId,
    secrets: &SecretsAtRest,
) -> Result<Option<Endpoint>, DatabaseError> {
    let mut statement = connection.prepare_cached(concat!(
        "SELECT ",
        columns!(),
        " FROM webhook_endpoint WHERE id = ?1"
    ))?;
    let found = statement.query_row([id.as_str()], Stored::from_row).optional()?;
    found.map(|stored| stored.read(secrets)).transpose()
}

/// Selects ids alone, so that an unreadable row does not stop its deliveries.
pub(super) fn subscribers(
    connection: &Connection,
    event_type: &EventType,
    audience: &Audience,
) -> Result<Vec<EndpointId>, DatabaseError> {
    let accepting: Vec<String> = EventPattern::accepting(event_type).collect();
    let accepting = Document::new([&[EVERY_TYPE.to_owned()], &*accepting].concat())?.text;
    let (owners, owner) = match audience.only() {
        Some(owner) => (
            "SELECT DISTINCT id FROM webhook_subscription AS subscribed JOIN webhook_endpoint ON id = endpoint
             WHERE pattern IN (SELECT value FROM json_each(?1)) AND subscribed.owner = ?2 AND state <> 'disabled'
             ORDER BY id",
            owner.clone(),
        ),
        None => (
            "SELECT DISTINCT id FROM webhook_subscription AS subscribed JOIN webhook_endpoint ON id = endpoint
             WHERE pattern IN (SELECT value FROM json_each(?1)) AND subscribed.owner <> ?2 AND state <> 'disabled'
             ORDER BY id",
            Owner::Operator,
        ),
    };
    let mut statement = connection.prepare_cached(owners)?;
    let ids = statement.query_map((accepting, owner.to_string()), |row| {
        row.get(0).map(|Term(id)| id)
    })?;
    Ok(ids.collect::<Result<_, _>>()?)
}

fn list(connection: &Connection, query: &EndpointQuery) -> Result<Vec<EndpointId>, DatabaseError> {
    let mut statement = connection.prepare_cached(if query.owner.is_some() {
        "SELECT id FROM webhook_endpoint WHERE owner = ?1 AND id > ?2 ORDER BY id LIMIT ?3"
    } else {
        "SELECT id FROM webhook_endpoint WHERE ?1 IS NULL AND id > ?2 ORDER BY id LIMIT ?3"
    })?;
    let owner = query.owner.as_ref().map(Owner::to_string);
    let after = query.after.as_ref().map_or("", EndpointId::as_str);
    let ids = statement.query_map((owner, after, limit(query.limit)), |row| {
        row.get(0).map(|Term(id)| id)
    })?;
    Ok(ids.collect::<Result<_, _>>()?)
}

/// A row with its secrets as stored.
struct Stored {
    endpoint: EndpointId,
    owner: Owner,
    url: Destination,
    events: EventFilter,
    secrets: String,
    state: EndpointState,
    classification: Classification,
    rate: Option<NonZeroU32>,
    content: ContentMode,
}

impl Stored {
    fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        let events = match row.get::<_, Option<Json<Vec<String>>>>(3)? {
            None => EventFilter::All,
            Some(Json(patterns)) => EventFilter::only(
                patterns
                    .into_iter()
                    .map(EventPattern::try_from)
                    .collect::<Result<Vec<_>, _>>()
                    .map_err(rusqlite::types::FromSqlError::other)?,
            ),
        };
        Ok(Self {
            endpoint: row.get::<_, Term<_>>(0)?.0,
            owner: row.get::<_, Term<_>>(1)?.0,
            url: row.get::<_, Term<_>>(2)?.0,
            events,
            secrets: row.get(4)?,
            state: row.get::<_, Term<_>>(5)?.0,
            classification: row.get::<_, Term<_>>(6)?.0,
            rate: row.get::<_, Option<u32>>(7)?.and_then(NonZeroU32::new),
            content: row.get::<_, Term<_>>(8)?.0,
        })
    }

    fn read(self, secrets: &SecretsAtRest) -> Result<Endpoint, DatabaseError> {
        let (signers, headers) = secrets.read(&self.endpoint, &self.secrets)?;
        Ok(Endpoint {
            id: self.endpoint,
            owner: self.owner,
            url: self.url,
            events: self.events,
            signers,
            state: self.state,
            classification: self.classification,
            rate: self.rate,
            headers,
            content: self.content,
        })
    }
}
