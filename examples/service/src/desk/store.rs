//! Port of the desk's database.

use std::time::SystemTime;

use async_trait::async_trait;
use http_conventions::idempotency::{Receipt, Settlement};
use webhook_core::sender::{Endpoint, EndpointId, Inserted, Rotated, Rotation, StoredEvent, TraceParent};

use super::{
    ChargeColumn, ChargeFilter, DeskError, EventSeen, FamilySeen, HashedPassword, HourOfAttempts,
    HourOfCharges, PartialCharge, PartialCustomer, Placed, RefundFilter, RefundSeen, StoredKey, User, Window,
};
use crate::domain::{Charge, ChargeId, Customer, CustomerId, Refund, RefundId};

/// Deliveries that are due, also those whose lease has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Backlog {
    /// Number of the deliveries.
    pub(crate) deliveries: u64,
    /// Time at which the oldest of them became due.
    pub(crate) oldest: Option<SystemTime>,
}

/// Database of the desk.
///
/// # Contract
///
/// - Each verb is one atomic step. A verb that takes a `key` completes that idempotency key in the
///   transaction that writes its rows, and returns the receipt. If another request has taken over
///   the key, the verb writes nothing and returns [`DeskError::TakenOver`].
/// - An event is enqueued in the transaction that changes its charge.
/// - Every write that was acknowledged before a read begins is visible to it.
/// - The database assigns each charge, customer and refund a position; a row that is inserted after
///   the commit of another has the larger position.
#[async_trait]
pub(crate) trait DeskStore: Send + Sync {
    /// Creates the missing tables.
    async fn create_tables(&self) -> Result<(), DeskError>;

    /// Fails if the database does not respond or lacks the tables.
    async fn check(&self) -> Result<(), DeskError>;

    /// Reads the deliveries of webhooks that are due at `now`.
    async fn backlog(&self, now: SystemTime) -> Result<Backlog, DeskError>;

    /// Inserts a charge and enqueues its event. Fails with [`DeskError::Faulty`] if the customer is
    /// unknown.
    async fn insert_charge(
        &self,
        charge: Charge,
        event: StoredEvent,
        key: Option<Settlement>,
    ) -> Result<Option<Receipt>, DeskError>;

    /// Reads a charge.
    async fn charge(&self, id: ChargeId) -> Result<Option<Charge>, DeskError>;

    /// Reads the charges in `window` that match `filter`.
    async fn charges(&self, filter: ChargeFilter, window: Window) -> Result<Vec<Placed<Charge>>, DeskError>;

    /// Reads `columns`, and no others, of a charge.
    async fn partial_charge(
        &self,
        id: ChargeId,
        columns: Vec<ChargeColumn>,
    ) -> Result<Option<PartialCharge>, DeskError>;

    /// Reads `columns`, and no others, of the charges in `window` that match `filter`.
    async fn partial_charges(
        &self,
        filter: ChargeFilter,
        window: Window,
        columns: Vec<ChargeColumn>,
    ) -> Result<Vec<Placed<PartialCharge>>, DeskError>;

    /// Writes the mutable columns of a charge. Returns `false` if the stored version is not the
    /// preceding one.
    async fn update_charge(&self, charge: Charge) -> Result<bool, DeskError>;

    /// Inserts a pending refund, with the position of its request in a trace.
    async fn insert_refund(
        &self,
        refund: Refund,
        trace: Option<TraceParent>,
        key: Option<Settlement>,
    ) -> Result<Option<Receipt>, DeskError>;

    /// Reads a refund of a charge.
    async fn refund(&self, charge: ChargeId, id: RefundId) -> Result<Option<Refund>, DeskError>;

    /// Reads the refunds of a charge in `window`.
    async fn refunds(&self, charge: ChargeId, window: Window) -> Result<Vec<Placed<Refund>>, DeskError>;

    /// Reads the refunds of all charges in `window` that match `filter`.
    async fn all_refunds(
        &self,
        filter: RefundFilter,
        window: Window,
    ) -> Result<Vec<Placed<RefundSeen>>, DeskError>;

    /// Books the `limit` oldest pending refunds by [`Refund::book`], and enqueues an event for each
    /// change of a charge, in the trace of the refund. Concurrent calls, also of other processes,
    /// book each refund once.
    async fn book_refunds(&self, limit: u32, now: SystemTime) -> Result<Booked, DeskError>;

    /// Inserts a customer.
    async fn insert_customer(
        &self,
        customer: Customer,
        key: Option<Settlement>,
    ) -> Result<Option<Receipt>, DeskError>;

    /// Reads a customer.
    async fn customer(&self, id: CustomerId) -> Result<Option<Customer>, DeskError>;

    /// Reads the customers in `window`.
    async fn customers(&self, window: Window) -> Result<Vec<Placed<Customer>>, DeskError>;

    /// Reads the customers with these identifiers, with their names if `with_name` is `true`.
    /// Unknown identifiers are skipped; the order is unspecified.
    async fn partial_customers(
        &self,
        ids: Vec<CustomerId>,
        with_name: bool,
    ) -> Result<Vec<PartialCustomer>, DeskError>;

    /// Inserts a user. Does nothing and returns `false` if the subject or the email address is
    /// taken.
    async fn insert_user(&self, user: User, password: HashedPassword) -> Result<bool, DeskError>;

    /// Reads a user and the password hash by email address.
    async fn user_by_email(&self, email: &str) -> Result<Option<(User, HashedPassword)>, DeskError>;

    /// Reads a user by subject.
    async fn user_by_subject(&self, subject: &str) -> Result<Option<User>, DeskError>;

    /// Returns `true` if `password` is the stored hash of the user.
    async fn has_password(&self, subject: &str, password: &HashedPassword) -> Result<bool, DeskError>;

    /// Sets the password hash of a user, if the stored one is `current` or `current` is `None`.
    /// Returns `false` if nothing was written.
    async fn set_password(
        &self,
        subject: &str,
        current: Option<&HashedPassword>,
        new: &HashedPassword,
    ) -> Result<bool, DeskError>;

    /// Returns the secret with this name; the first call stores `fresh`. All processes get the same
    /// value.
    async fn host_secret(&self, name: &'static str, fresh: Vec<u8>) -> Result<Vec<u8>, DeskError>;

    /// Returns `true` if the database belongs to services with the demo; `None` before a claim.
    async fn has_demo(&self) -> Result<Option<bool>, DeskError>;

    /// Claims the database; the first call decides. Returns `true` if it belongs to services with
    /// the demo.
    async fn claim(&self, has_demo: bool) -> Result<bool, DeskError>;

    /// Reads the signing keys of a purpose, in ascending order of their numbers.
    async fn signing_keys(&self, purpose: &'static str) -> Result<Vec<StoredKey>, DeskError>;

    /// Inserts a signing key. Does nothing if its purpose has a key with its number.
    async fn insert_signing_key(&self, purpose: &'static str, key: StoredKey) -> Result<(), DeskError>;

    /// Deletes the signing keys of a purpose whose numbers are below `number`.
    async fn delete_signing_keys(&self, purpose: &'static str, number: u32) -> Result<(), DeskError>;

    /// Registers a webhook endpoint. Unless it returns [`Inserted::Inserted`], nothing was written.
    async fn register_endpoint(
        &self,
        endpoint: Endpoint,
        key: Option<Settlement>,
    ) -> Result<(Inserted, Option<Receipt>), DeskError>;

    /// Rotates the secret of a webhook endpoint. Unless it returns [`Rotated::Rotated`], nothing
    /// was written.
    async fn rotate_secret(
        &self,
        id: EndpointId,
        rotation: Rotation,
        key: Option<Settlement>,
    ) -> Result<(Rotated, Option<Receipt>), DeskError>;

    /// Reads the charges since `from`, by hour and currency, in order.
    async fn charges_by_hour(&self, from: SystemTime) -> Result<Vec<HourOfCharges>, DeskError>;

    /// Counts the charges of each status that a charge has.
    async fn charges_by_status(&self) -> Result<Vec<(String, u64)>, DeskError>;

    /// Counts the refunds of each status that a refund has.
    async fn refunds_by_status(&self) -> Result<Vec<(String, u64)>, DeskError>;

    /// Counts the deliveries of webhooks in each state that a delivery has.
    async fn deliveries_by_state(&self) -> Result<Vec<(String, u64)>, DeskError>;

    /// Counts the attempts to deliver to an endpoint since `from`, by hour, in order.
    async fn attempts_by_hour(
        &self,
        endpoint: EndpointId,
        from: SystemTime,
    ) -> Result<Vec<HourOfAttempts>, DeskError>;

    /// Counts the deliveries that ended without an acknowledgement.
    async fn failed_deliveries(&self) -> Result<u64, DeskError>;

    /// Reads the time at which the oldest unfinished delivery was accepted.
    async fn oldest_unfinished(&self) -> Result<Option<SystemTime>, DeskError>;

    /// Reads at most fifty events whose body names the charge, oldest first, among the first ten
    /// thousand since `from`.
    async fn events_of(&self, charge: ChargeId, from: SystemTime) -> Result<Vec<EventSeen>, DeskError>;

    /// Reads a webhook event.
    async fn event(&self, id: String) -> Result<Option<EventSeen>, DeskError>;

    /// Reads the fifty token families of a user that expire last. The order of a family's tokens is
    /// unspecified.
    async fn families_of(&self, subject: String) -> Result<Vec<FamilySeen>, DeskError>;

    /// Deletes the expired rows of all stores in the database.
    async fn delete_expired(&self, now: SystemTime) -> Result<(), DeskError>;
}

/// Result of [`book_refunds`](DeskStore::book_refunds).
#[derive(Debug, Default)]
pub(crate) struct Booked {
    /// Number of processed refunds.
    pub(crate) refunds: usize,
    /// Every version of a charge that was written, in order.
    pub(crate) changed: Vec<Charge>,
}
