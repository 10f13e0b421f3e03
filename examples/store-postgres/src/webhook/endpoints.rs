//! Registered endpoints (W16), in `webhook_endpoint`; `webhook_subscription` finds those of one event type.

use std::collections::BTreeSet;
use std::error::Error;
use std::time::SystemTime;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use sqlx::{PgExecutor, PgPool, Postgres, Transaction};
use webhook_core::event::EventType;
use webhook_core::ports::StoreError;
use webhook_core::sender::{
    Endpoint, EndpointId, EndpointState, EndpointStore, EventFilter, Inserted, Rotated, Rotation,
};
use webhook_core::signature::{ActiveSigner, Signer, Signers};

use crate::column::term;
use crate::database::{Database, DatabaseError, DatabaseErrorKind, begin};

/// The subscription of an endpoint that gets everything; no event type is written like this.
const EVERY_TYPE: &str = "*";

#[async_trait]
impl EndpointStore for Database {
    async fn insert(&self, endpoint: Endpoint) -> Result<Inserted, StoreError> {
        let inserted = self.run(|pool| async move { insert(&pool, &endpoint).await });
        Ok(inserted.await?)
    }

    async fn load(&self, id: &EndpointId) -> Result<Option<Endpoint>, StoreError> {
        let id = id.clone();
        let loaded = self.run(|pool| async move { load(&pool, &id).await });
        Ok(loaded.await?)
    }

    async fn subscribed(&self, event_type: &EventType) -> Result<Vec<Endpoint>, StoreError> {
        let event_type = event_type.clone();
        let subscribed = self.run(|pool| async move { subscribed(&pool, &event_type).await });
        Ok(subscribed.await?)
    }

    async fn set_state(&self, id: &EndpointId, state: EndpointState) -> Result<bool, StoreError> {
        let id = id.clone();
        let set = self.run(move |pool| async move { set_state(&pool, &id, state).await });
        Ok(set.await?)
    }

    async fn rotate(&self, id: &EndpointId, rotation: &Rotation) -> Result<Rotated, StoreError> {
        let (id, rotation) = (id.clone(), rotation.clone());
        let rotated = self.run(|pool| async move { rotate(&pool, &id, &rotation).await });
        Ok(rotated.await?)
    }
}

async fn insert(pool: &PgPool, endpoint: &Endpoint) -> Result<Inserted, DatabaseError> {
    let types: Option<Vec<&str>> = match &endpoint.events {
        EventFilter::All => None,
        EventFilter::Only(types) => Some(types.iter().map(EventType::as_str).collect()),
    };
    let inserted: bool = sqlx::query_scalar(
        "WITH inserted AS (
             INSERT INTO webhook_endpoint (id, url, events, signers, state) VALUES ($1, $2, $3, $4, $5)
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
    .bind(text_of(&endpoint.signers)?)
    .bind(endpoint.state.as_str())
    .bind(EVERY_TYPE)
    .fetch_one(pool)
    .await?;
    Ok(if inserted {
        Inserted::Inserted
    } else {
        Inserted::AlreadyExists
    })
}

/// The columns in the order of the queries.
type Columns = (String, String, Option<Vec<String>>, String, String);

async fn load(pool: &PgPool, id: &EndpointId) -> Result<Option<Endpoint>, DatabaseError> {
    let found: Option<Columns> =
        sqlx::query_as("SELECT id, url, events, signers, state FROM webhook_endpoint WHERE id = $1")
            .bind(id.as_str())
            .fetch_optional(pool)
            .await?;
    found.map(endpoint).transpose()
}

async fn load_locked(
    transaction: &mut Transaction<'_, Postgres>,
    id: &EndpointId,
) -> Result<Option<Endpoint>, DatabaseError> {
    let found: Option<Columns> = sqlx::query_as(
        "SELECT id, url, events, signers, state FROM webhook_endpoint WHERE id = $1 FOR UPDATE",
    )
    .bind(id.as_str())
    .fetch_optional(&mut **transaction)
    .await?;
    found.map(endpoint).transpose()
}

pub(super) async fn subscribed(
    connection: impl PgExecutor<'_>,
    event_type: &EventType,
) -> Result<Vec<Endpoint>, DatabaseError> {
    let found: Vec<Columns> = sqlx::query_as(
        "SELECT id, url, events, signers, state
         FROM webhook_subscription JOIN webhook_endpoint ON id = endpoint
         WHERE event_type IN ($1, $2) AND state <> 'disabled' ORDER BY id",
    )
    .bind(event_type.as_str())
    .bind(EVERY_TYPE)
    .fetch_all(connection)
    .await?;
    found.into_iter().map(endpoint).collect()
}

async fn set_state(pool: &PgPool, id: &EndpointId, state: EndpointState) -> Result<bool, DatabaseError> {
    let set = sqlx::query("UPDATE webhook_endpoint SET state = $2 WHERE id = $1")
        .bind(id.as_str())
        .bind(state.as_str())
        .execute(pool)
        .await?;
    Ok(set.rows_affected() > 0)
}

async fn rotate(pool: &PgPool, id: &EndpointId, rotation: &Rotation) -> Result<Rotated, DatabaseError> {
    let mut transaction = begin(pool).await?;
    let Some(mut endpoint) = load_locked(&mut transaction, id).await? else {
        return Ok(Rotated::Unknown);
    };
    let rotated = endpoint.rotate(rotation);
    if rotated == Rotated::Rotated {
        sqlx::query("UPDATE webhook_endpoint SET signers = $2 WHERE id = $1")
            .bind(id.as_str())
            .bind(text_of(&endpoint.signers)?)
            .execute(&mut *transaction)
            .await?;
    }
    transaction.commit().await?;
    Ok(rotated)
}

fn endpoint((id, url, events, signers, state): Columns) -> Result<Endpoint, DatabaseError> {
    let types = |types: Vec<String>| {
        types
            .iter()
            .map(|text| term(text))
            .collect::<Result<BTreeSet<_>, _>>()
    };
    Ok(Endpoint {
        id: term(&id)?,
        url: term(&url)?,
        events: events
            .map(types)
            .transpose()?
            .map_or(EventFilter::All, EventFilter::Only),
        signers: signers_of(&signers).map_err(DatabaseError::corrupt)?,
        state: term(&state)?,
    })
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
    serde_json::to_string(&stored.collect::<Vec<_>>())
        .map_err(|error| DatabaseError::new(DatabaseErrorKind::Failed, error))
}

fn signers_of(text: &str) -> Result<Signers, Box<dyn Error + Send + Sync>> {
    let stored: Vec<StoredSigner> = serde_json::from_str(text)?;
    let active = stored
        .into_iter()
        .map(|stored| -> Result<_, Box<dyn Error + Send + Sync>> {
            let signer = Signer::from_text(stored.scheme.parse()?, &stored.secret)?;
            Ok(ActiveSigner {
                signer,
                not_after: stored.not_after,
            })
        });
    Ok(Signers::new(active.collect::<Result<Vec<_>, _>>()?)?)
}
