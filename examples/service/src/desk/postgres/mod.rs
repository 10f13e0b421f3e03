//! The desk in PostgreSQL, in the same schema as the stores of the crates, for several processes.
//!
//! A list shows rows by position, and transactions may commit in another order than that of their
//! positions: a client that polls for newer rows can miss one that committed late.

mod charges;
mod customers;
mod figures;
mod refunds;
mod rows;
mod signing_keys;
mod users;

use std::future::Future;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use host_store_postgres::sqlx::{self, PgConnection, Postgres, Transaction};
use host_store_postgres::{Database, DatabaseError, endpoints, idempotency, outbox};
use http_conventions::idempotency::{Receipt, Settlement};
use tokio::time::timeout;
use webhook_core::ports::StoreError;
use webhook_core::sender::{Endpoint, EndpointId, Inserted, Rotated, Rotation, StoredEvent, TraceParent};

use super::store::{Backlog, Booked, DeskStore};
use super::{
    ChargeColumn, ChargeFilter, DeskError, EventSeen, FamilySeen, HashedPassword, HourOfAttempts,
    HourOfCharges, PartialCharge, PartialCustomer, Placed, RefundFilter, RefundSeen, StoredKey, User, Window,
    partial,
};
use crate::domain::{Charge, ChargeId, Customer, CustomerId, Refund, RefundId};

/// SQL scripts that create the desk's tables.
const STEPS: &[&str] = &[include_str!("schema.sql")];

/// Limit of a verb. A connection that a network has cut never responds.
const LIMIT: Duration = Duration::from_secs(15);

impl From<DatabaseError> for DeskError {
    fn from(error: DatabaseError) -> Self {
        Self::Store(StoreError::from(error))
    }
}

impl From<sqlx::Error> for DeskError {
    fn from(error: sqlx::Error) -> Self {
        DatabaseError::from(error).into()
    }
}

#[async_trait]
impl DeskStore for Database {
    async fn create_tables(&self) -> Result<(), DeskError> {
        Ok(self.migrate("desk", STEPS).await?)
    }

    async fn check(&self) -> Result<(), DeskError> {
        limited(async {
            let query = sqlx::query("SELECT 1 FROM charge LIMIT 1");
            query.fetch_optional(self.pool()).await?;
            Ok(())
        })
        .await
    }

    async fn backlog(&self, now: SystemTime) -> Result<Backlog, DeskError> {
        limited(async {
            let due = outbox::backlog(self.pool(), now).await?;
            Ok(Backlog {
                deliveries: due.deliveries,
                oldest: due.oldest,
            })
        })
        .await
    }

    async fn insert_charge(
        &self,
        charge: Charge,
        event: StoredEvent,
        key: Option<Settlement>,
    ) -> Result<Option<Receipt>, DeskError> {
        limited(async {
            let mut transaction = begin(self).await?;
            charges::insert(&mut transaction, &charge).await?;
            outbox::send_in(&mut transaction, event, charge.created).await?;
            let receipt = complete(&mut transaction, key.as_ref()).await?;
            transaction.commit().await?;
            Ok(receipt)
        })
        .await
    }

    async fn charge(&self, id: ChargeId) -> Result<Option<Charge>, DeskError> {
        limited(charges::select_one(self.pool(), rows::CHARGE, &id, rows::charge)).await
    }

    async fn charges(&self, filter: ChargeFilter, window: Window) -> Result<Vec<Placed<Charge>>, DeskError> {
        let select = charges::select(self.pool(), rows::CHARGE, &filter, window, rows::charge);
        limited(select).await
    }

    async fn partial_charge(
        &self,
        id: ChargeId,
        columns: Vec<ChargeColumn>,
    ) -> Result<Option<PartialCharge>, DeskError> {
        let list = partial::select_list(&columns);
        let read = |row: &_| rows::partial_charge(row, &columns);
        limited(charges::select_one(self.pool(), &list, &id, read)).await
    }

    async fn partial_charges(
        &self,
        filter: ChargeFilter,
        window: Window,
        columns: Vec<ChargeColumn>,
    ) -> Result<Vec<Placed<PartialCharge>>, DeskError> {
        let list = partial::select_list(&columns);
        let read = |row: &_| rows::partial_charge(row, &columns);
        limited(charges::select(self.pool(), &list, &filter, window, read)).await
    }

    async fn update_charge(&self, charge: Charge) -> Result<bool, DeskError> {
        limited(charges::update(self.pool(), &charge)).await
    }

    async fn insert_refund(
        &self,
        refund: Refund,
        trace: Option<TraceParent>,
        key: Option<Settlement>,
    ) -> Result<Option<Receipt>, DeskError> {
        limited(async {
            let mut transaction = begin(self).await?;
            refunds::insert(&mut *transaction, &refund, trace).await?;
            let receipt = complete(&mut transaction, key.as_ref()).await?;
            transaction.commit().await?;
            Ok(receipt)
        })
        .await
    }

    async fn refund(&self, charge: ChargeId, id: RefundId) -> Result<Option<Refund>, DeskError> {
        limited(refunds::load(self.pool(), &charge, &id)).await
    }

    async fn refunds(&self, charge: ChargeId, window: Window) -> Result<Vec<Placed<Refund>>, DeskError> {
        limited(refunds::select(self.pool(), &charge, window)).await
    }

    async fn all_refunds(
        &self,
        filter: RefundFilter,
        window: Window,
    ) -> Result<Vec<Placed<RefundSeen>>, DeskError> {
        limited(refunds::select_all(self.pool(), &filter, window)).await
    }

    async fn book_refunds(&self, limit: u32, now: SystemTime) -> Result<Booked, DeskError> {
        limited(async {
            let mut transaction = begin(self).await?;
            let booked = refunds::book(&mut transaction, limit, now).await?;
            transaction.commit().await?;
            Ok(booked)
        })
        .await
    }

    async fn insert_customer(
        &self,
        customer: Customer,
        key: Option<Settlement>,
    ) -> Result<Option<Receipt>, DeskError> {
        limited(async {
            let mut transaction = begin(self).await?;
            customers::insert(&mut *transaction, &customer).await?;
            let receipt = complete(&mut transaction, key.as_ref()).await?;
            transaction.commit().await?;
            Ok(receipt)
        })
        .await
    }

    async fn customer(&self, id: CustomerId) -> Result<Option<Customer>, DeskError> {
        limited(customers::load(self.pool(), &id)).await
    }

    async fn customers(&self, window: Window) -> Result<Vec<Placed<Customer>>, DeskError> {
        limited(customers::select(self.pool(), window)).await
    }

    async fn partial_customers(
        &self,
        ids: Vec<CustomerId>,
        with_name: bool,
    ) -> Result<Vec<PartialCustomer>, DeskError> {
        limited(customers::select_by_ids(self.pool(), &ids, with_name)).await
    }

    async fn insert_user(&self, user: User, password: HashedPassword) -> Result<bool, DeskError> {
        limited(users::insert(self.pool(), &user, &password)).await
    }

    async fn user_by_email(&self, email: &str) -> Result<Option<(User, HashedPassword)>, DeskError> {
        limited(users::load_with_hash(self.pool(), email)).await
    }

    async fn user_by_subject(&self, subject: &str) -> Result<Option<User>, DeskError> {
        limited(users::load(self.pool(), subject)).await
    }

    async fn has_password(&self, subject: &str, password: &HashedPassword) -> Result<bool, DeskError> {
        limited(users::has_password(self.pool(), subject, password)).await
    }

    async fn set_password(
        &self,
        subject: &str,
        current: Option<&HashedPassword>,
        new: &HashedPassword,
    ) -> Result<bool, DeskError> {
        limited(users::set_password(self.pool(), subject, current, new)).await
    }

    async fn host_secret(&self, name: &'static str, fresh: Vec<u8>) -> Result<Vec<u8>, DeskError> {
        limited(async {
            // waits for a concurrent insert of this name
            sqlx::query("INSERT INTO host_secret (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING")
                .bind(name)
                .bind(fresh)
                .execute(self.pool())
                .await?;
            let value = sqlx::query_scalar("SELECT value FROM host_secret WHERE name = $1").bind(name);
            Ok(value.fetch_one(self.pool()).await?)
        })
        .await
    }

    async fn has_demo(&self) -> Result<Option<bool>, DeskError> {
        limited(async {
            let query = sqlx::query_scalar("SELECT has_demo FROM desk_claim");
            Ok(query.fetch_optional(self.pool()).await?)
        })
        .await
    }

    async fn claim(&self, has_demo: bool) -> Result<bool, DeskError> {
        limited(async {
            // waits for a concurrent claim
            sqlx::query(
                "INSERT INTO desk_claim (the_only, has_demo) VALUES (TRUE, $1) ON CONFLICT DO NOTHING",
            )
            .bind(has_demo)
            .execute(self.pool())
            .await?;
            let query = sqlx::query_scalar("SELECT has_demo FROM desk_claim");
            Ok(query.fetch_one(self.pool()).await?)
        })
        .await
    }

    async fn signing_keys(&self, purpose: &'static str) -> Result<Vec<StoredKey>, DeskError> {
        limited(signing_keys::select(self.pool(), purpose)).await
    }

    async fn insert_signing_key(&self, purpose: &'static str, key: StoredKey) -> Result<(), DeskError> {
        limited(signing_keys::insert(self.pool(), purpose, &key)).await
    }

    async fn delete_signing_keys(&self, purpose: &'static str, number: u32) -> Result<(), DeskError> {
        limited(signing_keys::delete_below(self.pool(), purpose, number)).await
    }

    async fn register_endpoint(
        &self,
        endpoint: Endpoint,
        key: Option<Settlement>,
    ) -> Result<(Inserted, Option<Receipt>), DeskError> {
        limited(async {
            let mut transaction = begin(self).await?;
            let inserted = endpoints::insert_in(&mut transaction, &endpoint, self.secrets_at_rest()).await?;
            let key = key.filter(|_| inserted == Inserted::Inserted);
            let receipt = complete(&mut transaction, key.as_ref()).await?;
            transaction.commit().await?;
            Ok((inserted, receipt))
        })
        .await
    }

    async fn rotate_secret(
        &self,
        id: EndpointId,
        rotation: Rotation,
        key: Option<Settlement>,
    ) -> Result<(Rotated, Option<Receipt>), DeskError> {
        limited(async {
            let mut transaction = begin(self).await?;
            let rotated =
                endpoints::rotate_in(&mut transaction, &id, &rotation, self.secrets_at_rest()).await?;
            let key = key.filter(|_| rotated == Rotated::Rotated);
            let receipt = complete(&mut transaction, key.as_ref()).await?;
            transaction.commit().await?;
            Ok((rotated, receipt))
        })
        .await
    }

    async fn charges_by_hour(&self, from: SystemTime) -> Result<Vec<HourOfCharges>, DeskError> {
        limited(figures::by_hour(self.pool(), from)).await
    }

    async fn charges_by_status(&self) -> Result<Vec<(String, u64)>, DeskError> {
        limited(figures::counts(self.pool(), figures::BY_STATUS)).await
    }

    async fn refunds_by_status(&self) -> Result<Vec<(String, u64)>, DeskError> {
        limited(figures::counts(self.pool(), figures::REFUNDS_BY_STATUS)).await
    }

    async fn deliveries_by_state(&self) -> Result<Vec<(String, u64)>, DeskError> {
        limited(figures::counts(self.pool(), figures::BY_STATE)).await
    }

    async fn attempts_by_hour(
        &self,
        endpoint: EndpointId,
        from: SystemTime,
    ) -> Result<Vec<HourOfAttempts>, DeskError> {
        limited(figures::attempts_by_hour(self.pool(), &endpoint, from)).await
    }

    async fn failed_deliveries(&self) -> Result<u64, DeskError> {
        limited(figures::failed_deliveries(self.pool())).await
    }

    async fn oldest_unfinished(&self) -> Result<Option<SystemTime>, DeskError> {
        limited(figures::oldest_unfinished(self.pool())).await
    }

    async fn events_of(&self, charge: ChargeId, from: SystemTime) -> Result<Vec<EventSeen>, DeskError> {
        limited(figures::events_of(self.pool(), &charge, from)).await
    }

    async fn event(&self, id: String) -> Result<Option<EventSeen>, DeskError> {
        limited(figures::event(self.pool(), &id)).await
    }

    async fn families_of(&self, subject: String) -> Result<Vec<FamilySeen>, DeskError> {
        limited(figures::families_of(self.pool(), &subject)).await
    }

    async fn delete_expired(&self, now: SystemTime) -> Result<(), DeskError> {
        self.purge(now).await?;
        Ok(())
    }
}

async fn begin(database: &Database) -> Result<Transaction<'static, Postgres>, DeskError> {
    Ok(database.pool().begin().await?)
}

/// Completes the idempotency key of a request, if it has one.
async fn complete(
    connection: &mut PgConnection,
    key: Option<&Settlement>,
) -> Result<Option<Receipt>, DeskError> {
    match key {
        Some(key) => Ok(Some(idempotency::complete_in(connection, key).await??)),
        None => Ok(None),
    }
}

/// Runs a verb for at most [`LIMIT`]. The outcome of a verb that was given up is unknown.
async fn limited<T>(verb: impl Future<Output = Result<T, DeskError>>) -> Result<T, DeskError> {
    timeout(LIMIT, verb).await.unwrap_or_else(|_elapsed| {
        let reason = format!("the database did not respond within {} s", LIMIT.as_secs());
        Err(DeskError::Store(StoreError::unavailable(reason)))
    })
}
