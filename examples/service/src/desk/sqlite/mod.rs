//! The desk in SQLite, in the same file as the stores of the crates.

mod charges;
mod customers;
mod figures;
mod refunds;
mod rows;
mod signing_keys;
mod users;

use std::time::SystemTime;

use async_trait::async_trait;
use host_store_sqlite::rusqlite::{self, OptionalExtension, Transaction, params};
use host_store_sqlite::{Database, DatabaseError, endpoints, idempotency, outbox};
use http_conventions::idempotency::{Receipt, Settlement};
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

impl From<DatabaseError> for DeskError {
    fn from(error: DatabaseError) -> Self {
        Self::Store(StoreError::from(error))
    }
}

impl From<rusqlite::Error> for DeskError {
    fn from(error: rusqlite::Error) -> Self {
        DatabaseError::from(error).into()
    }
}

#[async_trait]
impl DeskStore for Database {
    async fn create_tables(&self) -> Result<(), DeskError> {
        Ok(self.migrate("desk", STEPS).await?)
    }

    async fn check(&self) -> Result<(), DeskError> {
        self.read(|connection| {
            let mut query = connection.prepare_cached("SELECT 1 FROM charge LIMIT 1")?;
            query.exists(())?;
            Ok(())
        })
        .await
    }

    async fn backlog(&self, now: SystemTime) -> Result<Backlog, DeskError> {
        let due = self
            .read(move |connection| outbox::backlog(connection, now))
            .await?;
        Ok(Backlog {
            deliveries: due.deliveries,
            oldest: due.oldest,
        })
    }

    async fn insert_charge(
        &self,
        charge: Charge,
        event: StoredEvent,
        key: Option<Settlement>,
    ) -> Result<Option<Receipt>, DeskError> {
        self.write(move |transaction| {
            charges::insert(transaction, &charge)?;
            outbox::send_in(transaction, event, charge.created)?;
            complete(transaction, key.as_ref())
        })
        .await
    }

    async fn charge(&self, id: ChargeId) -> Result<Option<Charge>, DeskError> {
        self.read(move |connection| charges::load(connection, &id)).await
    }

    async fn charges(&self, filter: ChargeFilter, window: Window) -> Result<Vec<Placed<Charge>>, DeskError> {
        self.read(move |connection| charges::select(connection, rows::CHARGE, &filter, window, rows::charge))
            .await
    }

    async fn partial_charge(
        &self,
        id: ChargeId,
        columns: Vec<ChargeColumn>,
    ) -> Result<Option<PartialCharge>, DeskError> {
        self.read(move |connection| {
            let read = |row: &rusqlite::Row<'_>| rows::partial_charge(row, &columns);
            charges::select_one(connection, &partial::select_list(&columns), &id, read)
        })
        .await
    }

    async fn partial_charges(
        &self,
        filter: ChargeFilter,
        window: Window,
        columns: Vec<ChargeColumn>,
    ) -> Result<Vec<Placed<PartialCharge>>, DeskError> {
        self.read(move |connection| {
            let read = |row: &rusqlite::Row<'_>| rows::partial_charge(row, &columns);
            charges::select(connection, &partial::select_list(&columns), &filter, window, read)
        })
        .await
    }

    async fn update_charge(&self, charge: Charge) -> Result<bool, DeskError> {
        self.write(move |transaction| charges::update(transaction, &charge))
            .await
    }

    async fn insert_refund(
        &self,
        refund: Refund,
        trace: Option<TraceParent>,
        key: Option<Settlement>,
    ) -> Result<Option<Receipt>, DeskError> {
        self.write(move |transaction| {
            refunds::insert(transaction, &refund, trace)?;
            complete(transaction, key.as_ref())
        })
        .await
    }

    async fn refund(&self, charge: ChargeId, id: RefundId) -> Result<Option<Refund>, DeskError> {
        self.read(move |connection| refunds::load(connection, &charge, &id))
            .await
    }

    async fn refunds(&self, charge: ChargeId, window: Window) -> Result<Vec<Placed<Refund>>, DeskError> {
        self.read(move |connection| refunds::select(connection, &charge, window))
            .await
    }

    async fn all_refunds(
        &self,
        filter: RefundFilter,
        window: Window,
    ) -> Result<Vec<Placed<RefundSeen>>, DeskError> {
        self.read(move |connection| refunds::select_all(connection, &filter, window))
            .await
    }

    async fn book_refunds(&self, limit: u32, now: SystemTime) -> Result<Booked, DeskError> {
        self.write(move |transaction| refunds::book(transaction, limit, now))
            .await
    }

    async fn insert_customer(
        &self,
        customer: Customer,
        key: Option<Settlement>,
    ) -> Result<Option<Receipt>, DeskError> {
        self.write(move |transaction| {
            customers::insert(transaction, &customer)?;
            complete(transaction, key.as_ref())
        })
        .await
    }

    async fn customer(&self, id: CustomerId) -> Result<Option<Customer>, DeskError> {
        self.read(move |connection| customers::load(connection, &id))
            .await
    }

    async fn customers(&self, window: Window) -> Result<Vec<Placed<Customer>>, DeskError> {
        self.read(move |connection| customers::select(connection, window))
            .await
    }

    async fn partial_customers(
        &self,
        ids: Vec<CustomerId>,
        with_name: bool,
    ) -> Result<Vec<PartialCustomer>, DeskError> {
        self.read(move |connection| customers::select_by_ids(connection, &ids, with_name))
            .await
    }

    async fn insert_user(&self, user: User, password: HashedPassword) -> Result<bool, DeskError> {
        self.write(move |transaction| users::insert(transaction, &user, &password))
            .await
    }

    async fn user_by_email(&self, email: &str) -> Result<Option<(User, HashedPassword)>, DeskError> {
        let email = email.to_owned();
        self.read(move |connection| users::load_with_hash(connection, &email))
            .await
    }

    async fn user_by_subject(&self, subject: &str) -> Result<Option<User>, DeskError> {
        let subject = subject.to_owned();
        self.read(move |connection| users::load(connection, &subject))
            .await
    }

    async fn has_password(&self, subject: &str, password: &HashedPassword) -> Result<bool, DeskError> {
        let (subject, password) = (subject.to_owned(), password.clone());
        self.read(move |connection| users::has_password(connection, &subject, &password))
            .await
    }

    async fn set_password(
        &self,
        subject: &str,
        current: Option<&HashedPassword>,
        new: &HashedPassword,
    ) -> Result<bool, DeskError> {
        let (subject, current, new) = (subject.to_owned(), current.cloned(), new.clone());
        self.write(move |transaction| users::set_password(transaction, &subject, current.as_ref(), &new))
            .await
    }

    async fn host_secret(&self, name: &'static str, fresh: Vec<u8>) -> Result<Vec<u8>, DeskError> {
        self.write(move |transaction| {
            let mut query = transaction.prepare_cached("SELECT value FROM host_secret WHERE name = ?1")?;
            if let Some(value) = query.query_row([name], |row| row.get(0)).optional()? {
                return Ok(value);
            }
            let insert = "INSERT INTO host_secret (name, value) VALUES (?1, ?2)";
            transaction.execute(insert, params![name, fresh])?;
            Ok(fresh)
        })
        .await
    }

    async fn has_demo(&self) -> Result<Option<bool>, DeskError> {
        self.read(|connection| {
            let mut query = connection.prepare_cached("SELECT has_demo FROM desk_claim")?;
            Ok(query.query_row([], |row| row.get(0)).optional()?)
        })
        .await
    }

    async fn claim(&self, has_demo: bool) -> Result<bool, DeskError> {
        self.write(move |transaction| {
            let insert = "INSERT INTO desk_claim (the_only, has_demo) VALUES (1, ?1) ON CONFLICT DO NOTHING";
            transaction.execute(insert, [has_demo])?;
            Ok(transaction.query_row("SELECT has_demo FROM desk_claim", [], |row| row.get(0))?)
        })
        .await
    }

    async fn signing_keys(&self, purpose: &'static str) -> Result<Vec<StoredKey>, DeskError> {
        self.read(move |connection| signing_keys::select(connection, purpose))
            .await
    }

    async fn insert_signing_key(&self, purpose: &'static str, key: StoredKey) -> Result<(), DeskError> {
        self.write(move |transaction| signing_keys::insert(transaction, purpose, &key))
            .await
    }

    async fn delete_signing_keys(&self, purpose: &'static str, number: u32) -> Result<(), DeskError> {
        self.write(move |transaction| signing_keys::delete_below(transaction, purpose, number))
            .await
    }

    async fn register_endpoint(
        &self,
        endpoint: Endpoint,
        key: Option<Settlement>,
    ) -> Result<(Inserted, Option<Receipt>), DeskError> {
        let secrets = self.secrets_at_rest().clone();
        self.write(move |transaction| {
            let inserted = endpoints::insert_in(transaction, &endpoint, &secrets)?;
            let key = key.filter(|_| inserted == Inserted::Inserted);
            Ok((inserted, complete(transaction, key.as_ref())?))
        })
        .await
    }

    async fn rotate_secret(
        &self,
        id: EndpointId,
        rotation: Rotation,
        key: Option<Settlement>,
    ) -> Result<(Rotated, Option<Receipt>), DeskError> {
        let secrets = self.secrets_at_rest().clone();
        self.write(move |transaction| {
            let rotated = endpoints::rotate_in(transaction, &id, &rotation, &secrets)?;
            let key = key.filter(|_| rotated == Rotated::Rotated);
            Ok((rotated, complete(transaction, key.as_ref())?))
        })
        .await
    }

    async fn charges_by_hour(&self, from: SystemTime) -> Result<Vec<HourOfCharges>, DeskError> {
        self.read(move |connection| figures::by_hour(connection, from))
            .await
    }

    async fn charges_by_status(&self) -> Result<Vec<(String, u64)>, DeskError> {
        self.read(|connection| figures::counts(connection, figures::BY_STATUS))
            .await
    }

    async fn refunds_by_status(&self) -> Result<Vec<(String, u64)>, DeskError> {
        self.read(|connection| figures::counts(connection, figures::REFUNDS_BY_STATUS))
            .await
    }

    async fn deliveries_by_state(&self) -> Result<Vec<(String, u64)>, DeskError> {
        self.read(|connection| figures::counts(connection, figures::BY_STATE))
            .await
    }

    async fn attempts_by_hour(
        &self,
        endpoint: EndpointId,
        from: SystemTime,
    ) -> Result<Vec<HourOfAttempts>, DeskError> {
        self.read(move |connection| figures::attempts_by_hour(connection, &endpoint, from))
            .await
    }

    async fn failed_deliveries(&self) -> Result<u64, DeskError> {
        self.read(figures::failed_deliveries).await
    }

    async fn oldest_unfinished(&self) -> Result<Option<SystemTime>, DeskError> {
        self.read(figures::oldest_unfinished).await
    }

    async fn events_of(&self, charge: ChargeId, from: SystemTime) -> Result<Vec<EventSeen>, DeskError> {
        self.read(move |connection| figures::events_of(connection, &charge, from))
            .await
    }

    async fn event(&self, id: String) -> Result<Option<EventSeen>, DeskError> {
        self.read(move |connection| figures::event(connection, &id)).await
    }

    async fn families_of(&self, subject: String) -> Result<Vec<FamilySeen>, DeskError> {
        self.read(move |connection| figures::families_of(connection, &subject))
            .await
    }

    async fn delete_expired(&self, now: SystemTime) -> Result<(), DeskError> {
        self.purge(now).await?;
        Ok(())
    }
}

/// Completes the idempotency key of a request, if it has one.
fn complete(transaction: &Transaction<'_>, key: Option<&Settlement>) -> Result<Option<Receipt>, DeskError> {
    match key {
        Some(key) => Ok(Some(idempotency::complete_in(transaction, key)??)),
        None => Ok(None),
    }
}
