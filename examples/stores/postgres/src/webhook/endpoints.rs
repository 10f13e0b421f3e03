//! Registered endpoints (W16) in `webhook_endpoint`; `webhook_subscription` indexes them by event
//! type.

use std::collections::BTreeSet;

use async_trait::async_trait;
use sqlx::{PgExecutor, PgPool, Postgres, Transaction};
use webhook_core::event::EventType;
use webhook_core::ports::StoreError;
use webhook_core::sender::{
    Endpoint, EndpointId, EndpointState, EndpointStore, EventFilter, Inserted, Rotated, Rotation,
    SignersAtRest,
};

use crate::column::term;
use crate::database::{Database, DatabaseError, begin};

/// Subscription of an endpoint to all events; not a valid event type.
const EVERY_TYPE: &str = "*";

#[async_trait]
impl EndpointStore for Database {
    async fn insert(&self, endpoint: Endpoint) -> Result<Inserted, StoreError> {
        let signers = self.signers.write(&endpoint.id, &endpoint.signers)?;
        let inserted = self.run(|pool| async move { insert(&pool, &endpoint, &signers).await });
        Ok(inserted.await?)
    }

    async fn load(&self, id: &EndpointId) -> Result<Option<Endpoint>, StoreError> {
        let (id, signers) = (id.clone(), self.signers.clone());
        let loaded = self.run(|pool| async move { load(&pool, &id, &signers).await });
        Ok(loaded.await?)
    }

    async fn load_many(&self, ids: &[EndpointId]) -> Result<Vec<Endpoint>, StoreError> {
        let (ids, signers) = (ids.to_vec(), self.signers.clone());
        let loaded = self.run(|pool| async move { load_many(&pool, &ids, &signers).await });
        Ok(loaded.await?)
    }

    async fn subscribers(&self, event_type: &EventType) -> Result<Vec<EndpointId>, StoreError> {
        let event_type = event_type.clone();
        let found = self.run(|pool| async move { subscribers(&pool, &event_type).await });
        Ok(found.await?)
    }

    async fn set_state(&self, id: &EndpointId, state: EndpointState) -> Result<bool, StoreError> {
        let id = id.clone();
        let set = self.run(move |pool| async move { set_state(&pool, &id, state).await });
        Ok(set.await?)
    }

    async fn rotate(&self, id: &EndpointId, rotation: &Rotation) -> Result<Rotated, StoreError> {
        let (id, rotation, signers) = (id.clone(), rotation.clone(), self.signers.clone());
        let rotated = self.run(|pool| async move { rotate(&pool, &id, &rotation, &signers).await });
        Ok(rotated.await?)
    }
}

async fn insert(pool: &PgPool, endpoint: &Endpoint, signers: &str) -> Result<Inserted, DatabaseError> {
    let types: Option<Vec<&str>> = match &endpoint.events {
        EventFilter::All => None,
        EventFilter::Only(types) => Some(types.iter().map(EventType::as_str).collect()),
    };
    let inserted: bool = sqlx::query_scalar(
        "WITH inserted AS (
             INSERT INTO webhook_endpoint (id, url, events, signers, state, classification)
             VALUES ($1, $2, $3, $4, $5, $7)
             ON CONFLICT (id) DO NOTHING RETURNING id
         ), subscribed AS (
             INSERT INTO webhook_subscription (event_type, endpoint)
             SELECT event_type, id FROM inserted CROSS JOIN unnest(coalesce($3, ARRAY[$6])) AS event_type
         )
         SELECT EXISTS (SELECT FROM inserted)",
    )
    .bind(endpoint.id.as_str())
    .bind(endpoint.url.as_str())
    .bind(types)
    .bind(signers)
    .bind(endpoint.state.as_str())
    .bind(EVERY_TYPE)
    .bind(endpoint.classification.as_str())
    .fetch_one(pool)
    .await?;
    Ok(if inserted {
        Inserted::Inserted
    } else {
        Inserted::AlreadyExists
    })
}

/// Columns in the order of the queries.
type Columns = (String, String, Option<Vec<String>>, String, String, String);

async fn load(
    pool: &PgPool,
    id: &EndpointId,
    signers: &SignersAtRest,
) -> Result<Option<Endpoint>, DatabaseError> {
    let found: Option<Columns> = sqlx::query_as(
        "SELECT id, url, events, signers, state, classification FROM webhook_endpoint WHERE id = $1",
    )
    .bind(id.as_str())
    .fetch_optional(pool)
    .await?;
    found.map(|columns| endpoint(columns, signers)).transpose()
}

async fn load_many(
    pool: &PgPool,
    ids: &[EndpointId],
    signers: &SignersAtRest,
) -> Result<Vec<Endpoint>, DatabaseError> {
    let ids: Vec<&str> = ids.iter().map(EndpointId::as_str).collect();
    let found: Vec<Columns> = sqlx::query_as(
        "SELECT id, url, events, signers, state, classification FROM webhook_endpoint WHERE id = ANY($1)",
    )
    .bind(ids)
    .fetch_all(pool)
    .await?;
    found
        .into_iter()
        .map(|columns| endpoint(columns, signers))
        .collect()
}

async fn load_locked(
    transaction: &mut Transaction<'_, Postgres>,
    id: &EndpointId,
    signers: &SignersAtRest,
) -> Result<Option<Endpoint>, DatabaseError> {
    let found: Option<Columns> = sqlx::query_as(
        "SELECT id, url, events, signers, state, classification FROM webhook_endpoint WHERE id = $1 FOR UPDATE",
    )
    .bind(id.as_str())
    .fetch_optional(&mut **transaction)
    .await?;
    found.map(|columns| endpoint(columns, signers)).transpose()
}

/// Selects ids alone, so that an unreadable row does not stop its deliveries.
pub(super) async fn subscribers(
    connection: impl PgExecutor<'_>,
    event_type: &EventType,
) -> Result<Vec<EndpointId>, DatabaseError> {
    let found: Vec<String> = sqlx::query_scalar(
        "SELECT id FROM webhook_subscription JOIN webhook_endpoint ON id = endpoint
         WHERE event_type IN ($1, $2) AND state <> 'disabled' ORDER BY id",
    )
    .bind(event_type.as_str())
    .bind(EVERY_TYPE)
    .fetch_all(connection)
    .await?;
    found.iter().map(|id| term(id)).collect()
}

async fn set_state(pool: &PgPool, id: &EndpointId, state: EndpointState) -> Result<bool, DatabaseError> {
    let set = sqlx::query("UPDATE webhook_endpoint SET state = $2 WHERE id = $1")
        .bind(id.as_str())
        .bind(state.as_str())
        .execute(pool)
        .await?;
    Ok(set.rows_affected() > 0)
}

async fn rotate(
    pool: &PgPool,
    id: &EndpointId,
    rotation: &Rotation,
    signers: &SignersAtRest,
) -> Result<Rotated, DatabaseError> {
    let mut transaction = begin(pool).await?;
    let Some(mut endpoint) = load_locked(&mut transaction, id, signers).await? else {
        return Ok(Rotated::Unknown);
    };
    let rotated = endpoint.rotate(rotation);
    if rotated == Rotated::Rotated {
        sqlx::query("UPDATE webhook_endpoint SET signers = $2 WHERE id = $1")
            .bind(id.as_str())
            .bind(signers.write(id, &endpoint.signers)?)
            .execute(&mut *transaction)
            .await?;
    }
    transaction.commit().await?;
    Ok(rotated)
}

fn endpoint(
    (id, url, events, stored, state, classification): Columns,
    signers: &SignersAtRest,
) -> Result<Endpoint, DatabaseError> {
    let types = |types: Vec<String>| {
        types
            .iter()
            .map(|text| term(text))
            .collect::<Result<BTreeSet<_>, _>>()
    };
    let id = term(&id)?;
    Ok(Endpoint {
        signers: signers.read(&id, &stored)?,
        id,
        url: term(&url)?,
        events: events
            .map(types)
            .transpose()?
            .map_or(EventFilter::All, EventFilter::Only),
        state: term(&state)?,
        classification: term(&classification)?,
    })
}
