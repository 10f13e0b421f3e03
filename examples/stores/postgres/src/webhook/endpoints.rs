//! Registered endpoints (W16, W24) in `webhook_endpoint`. `webhook_subscription` indexes the
//! patterns of their event types.

use std::num::NonZeroU32;

use async_trait::async_trait;
use sqlx::postgres::PgArguments;
use sqlx::query::Query;
use sqlx::{PgConnection, PgExecutor, PgPool, Postgres, Transaction};
use webhook_core::event::EventType;
use webhook_core::ports::StoreError;
use webhook_core::sender::{
    Audience, Endpoint, EndpointId, EndpointQuery, EndpointState, EndpointStore, EndpointUpdate, EventFilter,
    EventPattern, Inserted, Owner, Rotated, Rotation, SecretsAtRest,
};

use crate::column::{limit, number, term};
use crate::database::{Database, DatabaseError, begin};

/// Subscription of an endpoint to all events; not a valid pattern.
const EVERY_TYPE: &str = "*";

#[async_trait]
impl EndpointStore for Database {
    async fn insert(&self, endpoint: Endpoint) -> Result<Inserted, StoreError> {
        let secrets = self.secrets.clone();
        let inserted = self.run(|pool| async move {
            let mut transaction = begin(&pool).await?;
            let inserted = insert_in(&mut transaction, &endpoint, &secrets).await?;
            transaction.commit().await?;
            Ok(inserted)
        });
        Ok(inserted.await?)
    }

    async fn load(&self, id: &EndpointId) -> Result<Option<Endpoint>, StoreError> {
        let (id, secrets) = (id.clone(), self.secrets.clone());
        let loaded = self.run(|pool| async move { load_many(&pool, &[id], &secrets).await });
        Ok(loaded.await?.pop())
    }

    async fn load_many(&self, ids: &[EndpointId]) -> Result<Vec<Endpoint>, StoreError> {
        let (ids, secrets) = (ids.to_vec(), self.secrets.clone());
        let loaded = self.run(|pool| async move { load_many(&pool, &ids, &secrets).await });
        Ok(loaded.await?)
    }

    async fn subscribers(
        &self,
        event_type: &EventType,
        audience: &Audience,
    ) -> Result<Vec<EndpointId>, StoreError> {
        let (event_type, audience) = (event_type.clone(), audience.clone());
        let found = self.run(|pool| async move { subscribers(&pool, &event_type, &audience).await });
        Ok(found.await?)
    }

    async fn list_endpoints(&self, query: &EndpointQuery) -> Result<Vec<EndpointId>, StoreError> {
        let query = query.clone();
        Ok(self.run(|pool| async move { list(&pool, &query).await }).await?)
    }

    async fn update(&self, id: &EndpointId, update: EndpointUpdate) -> Result<bool, StoreError> {
        let (id, secrets) = (id.clone(), self.secrets.clone());
        let updated = self.run(|pool| async move { change(&pool, &id, update, &secrets).await });
        Ok(updated.await?)
    }

    async fn delete(&self, id: &EndpointId) -> Result<bool, StoreError> {
        let id = id.clone();
        Ok(self.run(|pool| async move { delete(&pool, &id).await }).await?)
    }

    async fn set_state(&self, id: &EndpointId, state: EndpointState) -> Result<bool, StoreError> {
        let id = id.clone();
        let set = self.run(move |pool| async move { set_state(&pool, &id, state).await });
        Ok(set.await?)
    }

    async fn rotate(&self, id: &EndpointId, rotation: &Rotation) -> Result<Rotated, StoreError> {
        let (id, rotation, secrets) = (id.clone(), rotation.clone(), self.secrets.clone());
        let rotated = self.run(|pool| async move {
            let mut transaction = begin(&pool).await?;
            let rotated = rotate_in(&mut transaction, &id, &rotation, &secrets).await?;
            transaction.commit().await?;
            Ok(rotated)
        });
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
/// [`DatabaseError`]; the transaction can then only be rolled back.
pub async fn insert_in(
    transaction: &mut Transaction<'_, Postgres>,
    endpoint: &Endpoint,
    secrets: &SecretsAtRest,
) -> Result<Inserted, DatabaseError> {
    let insert = sqlx::query(
        "INSERT INTO webhook_endpoint (id, owner, url, events, secrets, state, classification, rate, content)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (id) DO NOTHING",
    );
    let inserted = bind(insert, endpoint, secrets)?
        .execute(&mut **transaction)
        .await?;
    if inserted.rows_affected() == 0 {
        return Ok(Inserted::AlreadyExists);
    }
    subscribe(transaction, &endpoint.id).await?;
    Ok(Inserted::Inserted)
}

/// Rotates the secret of an endpoint in the caller's transaction, as [`EndpointStore::rotate`].
/// `secrets` is [`Database::secrets_at_rest`]. The endpoint is locked until the transaction ends.
///
/// # Errors
///
/// [`DatabaseError`]; the transaction can then only be rolled back.
pub async fn rotate_in(
    transaction: &mut Transaction<'_, Postgres>,
    id: &EndpointId,
    rotation: &Rotation,
    secrets: &SecretsAtRest,
) -> Result<Rotated, DatabaseError> {
    let Some(mut endpoint) = load_locked(transaction, id, secrets).await? else {
        return Ok(Rotated::Unknown);
    };
    let rotated = endpoint.rotate(rotation);
    if rotated == Rotated::Rotated {
        write(transaction, &endpoint, secrets).await?;
    }
    Ok(rotated)
}

/// Binds the columns of an endpoint to `$1` to `$9`.
fn bind<'q>(
    query: Query<'q, Postgres, PgArguments>,
    endpoint: &Endpoint,
    secrets: &SecretsAtRest,
) -> Result<Query<'q, Postgres, PgArguments>, DatabaseError> {
    let patterns: Option<Vec<String>> = match &endpoint.events {
        EventFilter::All => None,
        EventFilter::Only(patterns) => Some(patterns.iter().map(EventPattern::to_string).collect()),
    };
    let secrets = secrets.write(&endpoint.id, &endpoint.signers, &endpoint.headers)?;
    Ok(query
        .bind(endpoint.id.to_string())
        .bind(endpoint.owner.to_string())
        .bind(endpoint.url.to_string())
        .bind(patterns)
        .bind(secrets)
        .bind(endpoint.state.as_str())
        .bind(endpoint.classification.as_str())
        .bind(endpoint.rate.map(|rate| i64::from(rate.get())))
        .bind(endpoint.content.as_str()))
}

/// Writes the rows of `webhook_subscription` from the row of the endpoint.
async fn subscribe(connection: &mut PgConnection, id: &EndpointId) -> Result<(), DatabaseError> {
    sqlx::query(
        "INSERT INTO webhook_subscription (pattern, owner, endpoint)
         SELECT pattern, owner, id
         FROM webhook_endpoint CROSS JOIN unnest(coalesce(events, ARRAY[$2])) AS pattern WHERE id = $1",
    )
    .bind(id.as_str())
    .bind(EVERY_TYPE)
    .execute(connection)
    .await?;
    Ok(())
}

async fn unsubscribe(connection: &mut PgConnection, id: &EndpointId) -> Result<(), DatabaseError> {
    sqlx::query("DELETE FROM webhook_subscription WHERE endpoint = $1")
        .bind(id.as_str())
        .execute(connection)
        .await?;
    Ok(())
}

/// Columns in the order of the queries.
type Columns = (
    String,
    String,
    String,
    Option<Vec<String>>,
    String,
    String,
    String,
    Option<i64>,
    String,
);

async fn load_many(
    executor: impl PgExecutor<'_>,
    ids: &[EndpointId],
    secrets: &SecretsAtRest,
) -> Result<Vec<Endpoint>, DatabaseError> {
    let ids: Vec<&str> = ids.iter().map(EndpointId::as_str).collect();
    let found: Vec<Columns> = sqlx::query_as(
        "SELECT id, owner, url, events, secrets, state, classification, rate, content FROM webhook_endpoint
         WHERE id = ANY($1)",
    )
    .bind(ids)
    .fetch_all(executor)
    .await?;
    let endpoints = found.into_iter().map(|columns| endpoint(columns, secrets));
    endpoints.collect()
}

async fn load_locked(
    connection: &mut PgConnection,
    id: &EndpointId,
    secrets: &SecretsAtRest,
) -> Result<Option<Endpoint>, DatabaseError> {
    sqlx::query("SELECT FROM webhook_endpoint WHERE id = $1 FOR UPDATE")
        .bind(id.as_str())
        .execute(&mut *connection)
        .await?;
    Ok(load_many(connection, std::slice::from_ref(id), secrets)
        .await?
        .pop())
}

/// Selects ids alone, so that an unreadable row does not stop its deliveries.
pub(super) async fn subscribers(
    connection: impl PgExecutor<'_>,
    event_type: &EventType,
    audience: &Audience,
) -> Result<Vec<EndpointId>, DatabaseError> {
    let mut accepting: Vec<String> = EventPattern::accepting(event_type).collect();
    accepting.push(EVERY_TYPE.to_owned());
    let (owners, owner) = match audience.only() {
        Some(owner) => (
            "SELECT DISTINCT id FROM webhook_subscription AS subscribed JOIN webhook_endpoint ON id = endpoint
             WHERE pattern = ANY($1) AND subscribed.owner = $2 AND state <> 'disabled' ORDER BY id",
            owner.to_string(),
        ),
        None => (
            "SELECT DISTINCT id FROM webhook_subscription AS subscribed JOIN webhook_endpoint ON id = endpoint
             WHERE pattern = ANY($1) AND subscribed.owner <> $2 AND state <> 'disabled' ORDER BY id",
            Owner::Operator.to_string(),
        ),
    };
    let found: Vec<String> = sqlx::query_scalar(owners)
        .bind(accepting)
        .bind(owner)
        .fetch_all(connection)
        .await?;
    found.iter().map(|id| term(id)).collect()
}

async fn list(pool: &PgPool, query: &EndpointQuery) -> Result<Vec<EndpointId>, DatabaseError> {
    let statement = if query.owner.is_some() {
        "SELECT id FROM webhook_endpoint WHERE owner = $1 AND id > $2 ORDER BY id LIMIT $3"
    } else {
        "SELECT id FROM webhook_endpoint WHERE $1::text IS NULL AND id > $2 ORDER BY id LIMIT $3"
    };
    let found: Vec<String> = sqlx::query_scalar(statement)
        .bind(query.owner.as_ref().map(Owner::to_string))
        .bind(query.after.as_ref().map_or("", EndpointId::as_str))
        .bind(limit(query.limit))
        .fetch_all(pool)
        .await?;
    found.iter().map(|id| term(id)).collect()
}

/// The owner never changes.
async fn write(
    connection: &mut PgConnection,
    endpoint: &Endpoint,
    secrets: &SecretsAtRest,
) -> Result<(), DatabaseError> {
    let update = sqlx::query(
        "UPDATE webhook_endpoint
         SET url = $3, events = $4, secrets = $5, state = $6, classification = $7, rate = $8, content = $9
         WHERE id = $1 AND owner = $2",
    );
    bind(update, endpoint, secrets)?.execute(connection).await?;
    Ok(())
}

async fn change(
    pool: &PgPool,
    id: &EndpointId,
    update: EndpointUpdate,
    secrets: &SecretsAtRest,
) -> Result<bool, DatabaseError> {
    let mut transaction = begin(pool).await?;
    let Some(mut endpoint) = load_locked(&mut transaction, id, secrets).await? else {
        return Ok(false);
    };
    endpoint.update(update);
    write(&mut transaction, &endpoint, secrets).await?;
    unsubscribe(&mut transaction, id).await?;
    subscribe(&mut transaction, id).await?;
    transaction.commit().await?;
    Ok(true)
}

async fn delete(pool: &PgPool, id: &EndpointId) -> Result<bool, DatabaseError> {
    let mut transaction = begin(pool).await?;
    // before its subscriptions, so that a concurrent update cannot add one
    sqlx::query("SELECT FROM webhook_endpoint WHERE id = $1 FOR UPDATE")
        .bind(id.as_str())
        .execute(&mut *transaction)
        .await?;
    unsubscribe(&mut transaction, id).await?;
    let deleted = sqlx::query("DELETE FROM webhook_endpoint WHERE id = $1")
        .bind(id.as_str())
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(deleted.rows_affected() > 0)
}

async fn set_state(pool: &PgPool, id: &EndpointId, state: EndpointState) -> Result<bool, DatabaseError> {
    let set = sqlx::query("UPDATE webhook_endpoint SET state = $2 WHERE id = $1")
        .bind(id.as_str())
        .bind(state.as_str())
        .execute(pool)
        .await?;
    Ok(set.rows_affected() > 0)
}

fn endpoint(
    (id, owner, url, events, stored, state, classification, rate, content): Columns,
    secrets: &SecretsAtRest,
) -> Result<Endpoint, DatabaseError> {
    let patterns = |texts: Vec<String>| texts.iter().map(|text| term(text)).collect::<Result<_, _>>();
    let id = term(&id)?;
    let (signers, headers) = secrets.read(&id, &stored)?;
    Ok(Endpoint {
        id,
        owner: term(&owner)?,
        url: term(&url)?,
        events: events
            .map(patterns)
            .transpose()?
            .map_or(EventFilter::All, EventFilter::Only),
        signers,
        state: term(&state)?,
        classification: term(&classification)?,
        rate: rate.map(number).transpose()?.and_then(NonZeroU32::new),
        headers,
        content: term(&content)?,
    })
}
